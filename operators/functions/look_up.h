// SPDX-License-Identifier: Apache-2.0
// Functions of one byte by a table, and the tables that requantize for concatenations.
#pragma once

#include "operators/functions/function.h"

namespace octet {

octet_status create_look_up(const octet_lut_desc& desc, octet_function** function,
                            octet_error* error);

// As TensorFlow Lite's CONCATENATION or as ONNX's operators do it. Types are of 8 bits and alike.
void requantize_concat(const octet_quantized& in, const octet_quantized& out, bool tflite,
                       uint8_t* table);

}  // namespace octet
