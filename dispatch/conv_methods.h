// The algorithms by their public names.
#pragma once

#include "dispatch/conv_names.h"
#include "kernels/conv/filter_blob.h"

namespace octet {

const ConvMethod* method_of(uint8_t algorithm);  // null: AUTO, no algorithm, or not built in

// Which operands an algorithm multiplies, hence which kernels and layouts it needs.
enum class ConvFamily : uint8_t { kBytes, kWords, kDepthwise };
ConvFamily family_of(octet_conv_algorithm algorithm);

// The layout of a tier for an algorithm.
RhsLayout conv_layout(octet_conv_algorithm algorithm, Isa isa, bool rhs_u8);
// That reads the layout; kScalar also for those that only tests use
Isa smallest_conv_isa(octet_conv_algorithm algorithm, const RhsLayout& layout);

BlobProblem read_filter_header(const void* blob, size_t bytes, FilterHeader* header);

}  // namespace octet
