#pragma once

#include "dispatch/select/choice.h"
#include "operators/conv/schedule.h"

// A created convolution: the plan, and what run checks its arguments against. One allocation; the
// plan's arrays follow the object.
struct octet_conv2d {
  octet::ConvPlan plan;
  octet::Choice choice;
  bool measured;                 // the choice was, on this machine
  double pixel_cycles;           // estimated, of an output pixel of the largest run
  octet::ConvSchedule declared;  // of runs of the largest sizes on one thread
  size_t groups;                 // as the caller has them: the plan's may be joined
  octet_layout lhs_layout, dst_layout;
  octet_type lhs_type, rhs_type, dst_type, residual_type;
  octet_lhs_quant lhs_quant;
  octet::Quantization quantization;  // of an f32 lhs; dynamic ones have only its range
  // With a static zero point: in_channels of them, rounded up to 64 and 64 more
  const uint8_t* zero_row;
  const void* packed;
  size_t packed_bytes;
  int verbose;
  octet_allocator allocator;
  size_t bytes;  // of the object and its arrays
};

namespace octet {
// Each image by its own range.
constexpr bool quantizes(const octet_conv2d& c) {
  return c.lhs_quant == OCTET_LHS_SYMMETRIC || c.lhs_quant == OCTET_LHS_ASYMMETRIC;
}
constexpr size_t zero_row_bytes(const ConvShape& shape) {
  return round_up(shape.in_channels, 64) + 64;
}
}  // namespace octet
