// SPDX-License-Identifier: Apache-2.0
// The extension module octet._octet.
#include "engines/python/module.h"

#include "engines/python/errors.h"
#include "engines/threads/threads.h"

OCTET_ENGINES_OFFER_POOL

NB_MODULE(_octet, m) {
  m.doc() =
      "Octet's products and convolutions of int8 arrays. The package octet is what to import.";
  octet::python::translate_errors();
  octet::python::bind_machine(m);
  octet::python::bind_matmul(m);
  octet::python::bind_arithmetic(m);
  octet::python::bind_product(m);
  octet::python::bind_convolution(m);
  octet::python::bind_weights4(m);
}
