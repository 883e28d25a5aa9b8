// Makes tables that requantize for concatenations.
#pragma once

#include "octet/functions.h"

namespace octet {

// As TensorFlow Lite's CONCATENATION or as ONNX's operators do it. Types are of 8 bits and alike.
void requantize_concat(const octet_quantized& in, const octet_quantized& out, bool tflite,
                       uint8_t* table);

}  // namespace octet
