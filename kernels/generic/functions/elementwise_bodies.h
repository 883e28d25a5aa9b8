// Makes a tier's ElementwiseOps, in the file that is compiled for the tier.
#pragma once

#include "kernels/generic/functions/add.h"
#include "kernels/generic/functions/elementwise.h"

namespace octet {
namespace {

constexpr ElementwiseOps elementwise_bodies() {
  ElementwiseOps ops = {};
  ops.add_tflite = add_tflite;
  ops.add_fixed = add_fixed;
  ops.add_float = add_float;
  ops.add_fused = add_fused<false>;
  ops.add_fused_far = add_fused<true>;
  return ops;
}

}  // namespace
}  // namespace octet
