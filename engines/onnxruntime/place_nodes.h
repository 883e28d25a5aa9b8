// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, as they stand between DequantizeLinear and QuantizeLinear.
#pragma once

#include "engines/onnxruntime/node.h"

namespace octet::onnxruntime {

void concat(const Form& f);
void reshape(const Form& f);
void flatten(const Form& f);
void squeeze(const Form& f);
void unsqueeze(const Form& f);
void identity(const Form& f);
void transpose(const Form& f);
void depth_to_space(const Form& f);
void space_to_depth(const Form& f);
void slice(const Form& f);
void split(const Form& f);

}  // namespace octet::onnxruntime
