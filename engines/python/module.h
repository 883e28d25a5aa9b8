// SPDX-License-Identifier: Apache-2.0
// The parts of the extension module, each of which adds its functions and classes.
#pragma once

#include <nanobind/nanobind.h>

namespace octet::python {

void bind_machine(nanobind::module_& m);
void bind_matmul(nanobind::module_& m);
void bind_arithmetic(nanobind::module_& m);
void bind_product(nanobind::module_& m);
void bind_convolution(nanobind::module_& m);
void bind_weights4(nanobind::module_& m);

}  // namespace octet::python
