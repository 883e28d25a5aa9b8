// SPDX-License-Identifier: Apache-2.0
// The object that octet_conv2d_create makes.
#pragma once

#include "dispatch/select/choice.h"
#include "operators/conv/schedule.h"

// A created convolution: the plan, and the values that run checks its arguments against. One
// allocation; the plan's arrays follow the object.
struct octet_conv2d {
  octet::ConvPlan plan;
  octet::Choice choice;
  bool measured;                 // the choice was measured on this machine
  double pixel_cycles;           // estimated cycles of one output pixel of the largest run
  octet::ConvSchedule declared;  // the schedule of runs with the declared sizes on one thread
  size_t groups;                 // the caller's groups; the plan's may be joined
  octet_layout lhs_layout, dst_layout;
  octet_type lhs_type, rhs_type, dst_type, residual_type;
  octet_lhs_quant lhs_quant;
  octet::Quantization quantization;  // for an f32 lhs; a dynamic one has only its range here
  // With a static zero point: in_channels bytes of it, rounded up to 64, plus 64. Of an s16 lhs two
  // such rows, whose zero points follow
  const uint8_t* zero_row;
  int32_t s16_zero_points[2];  // of images of high and of low bytes (ConvPlan::s16)
  const void* packed;
  size_t packed_bytes;
  int verbose;
  octet_allocator allocator;
  size_t bytes;  // bytes of the object and its arrays
};

namespace octet {
// Made of an outline: it has no weights, and does not run.
constexpr bool is_outline(const octet_conv2d& c) { return !c.plan.payload; }
// True if each image is quantized by its own range.
constexpr bool quantizes(const octet_conv2d& c) {
  return c.lhs_quant == OCTET_LHS_SYMMETRIC || c.lhs_quant == OCTET_LHS_ASYMMETRIC;
}
constexpr size_t zero_row_bytes(const ConvShape& shape) {
  return round_up(shape.in_channels, 64) + 64;
}
}  // namespace octet
