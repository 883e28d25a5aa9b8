// SPDX-License-Identifier: Apache-2.0
// Turns the library's errors into Python's exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "octet/octet.h"

namespace octet::python {

// Throws a Python exception of this type, with this sentence. For threads that hold the GIL.
[[noreturn]] void fail(PyObject* type, const std::string& sentence);

// Throws the error unless the status is OCTET_OK. It becomes MemoryError where memory is missing,
// NotImplementedError where Octet lacks something, RuntimeError where an environment variable is
// wrong, else ValueError. For threads with and without the GIL.
inline void check(octet_status status, const octet_error& error) {
  if (status) throw error;
}

// Registers the function that makes Python's exceptions of octet_error.
void translate_errors();

}  // namespace octet::python
