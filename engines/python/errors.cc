// SPDX-License-Identifier: Apache-2.0
// Chooses the Python exception for each status of the library.
#include "engines/python/errors.h"

namespace nb = nanobind;

namespace octet::python {
namespace {

PyObject* exception_of(octet_status status) {
  switch (status) {
    case OCTET_OUT_OF_MEMORY: return PyExc_MemoryError;
    case OCTET_UNSUPPORTED: return PyExc_NotImplementedError;
    case OCTET_BAD_ENVIRONMENT: return PyExc_RuntimeError;
    default: return PyExc_ValueError;
  }
}

}  // namespace

void fail(PyObject* type, const std::string& sentence) {
  PyErr_SetString(type, sentence.c_str());
  throw nb::python_error();
}

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const octet_error& error) {
      PyErr_SetString(exception_of(error.status), error.message);
    }
  });
}

}  // namespace octet::python
