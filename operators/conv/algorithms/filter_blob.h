// SPDX-License-Identifier: Apache-2.0
// The filter blob of a convolution, in the weight format of one algorithm. Its sections
// (packing/container.h):
//
//   zero points, s32[out], if any | positive s32[out], negative s32[out] |
//   the weights, as the algorithm packs them: panels.h, winograd.h, channelwise.h
//
// out = output channels rounded up to 16.
#pragma once

#include "operators/conv/algorithms/algorithm.h"
#include "packing/container.h"

namespace octet {

struct FilterGeometry {
  uint64_t in_channels, out_channels, groups;
  uint64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  uint8_t algorithm;  // octet_conv_algorithm
  uint8_t transposed;
  uint8_t padded_lines;  // of the direct algorithm; 0 in blobs that older versions packed
  uint8_t reserved[53];
};
static_assert(sizeof(FilterGeometry) == 128, "of the same size on every machine");

// Copies the fields of a shape that the weights determine, from or to a ConvShape.
template <typename From, typename To>
void copy_filter_shape(const From& from, To* to) {
  to->in_channels = (size_t)from.in_channels;
  to->out_channels = (size_t)from.out_channels;
  to->groups = (size_t)from.groups;
  to->kernel_h = (size_t)from.kernel_h;
  to->kernel_w = (size_t)from.kernel_w;
  to->stride_h = (size_t)from.stride_h;
  to->stride_w = (size_t)from.stride_w;
  to->dilation_h = (size_t)from.dilation_h;
  to->dilation_w = (size_t)from.dilation_w;
  to->transposed = from.transposed != 0;
}

// Lays the sections out. False if a size exceeds ptrdiff_t.
bool plan_filter(const WeightFormat& format, const ConvAlgorithm& implementation, uint8_t algorithm,
                 uint8_t type, const ConvShape& shape, bool zero_points, Container* container);
// Writes the blob that plan_filter laid out.
void write_filter(Container* container, const ConvAlgorithm& implementation, const ConvShape& shape,
                  const FilterView& filter, const float* tap_ranges, void* blob);

// For check_container: the plan that a blob's header asks for; `implementation` belongs to its
// algorithm.
bool plan_filter_again(const Container& container, const ConvAlgorithm& implementation,
                       Container* planned);

// The shape as far as the weights determine it: sizes and pads are 0
ConvShape filter_shape(const Container& container);
FilterSums filter_sums(const Container& container, const void* blob);

// true if a weight is -128 in s8
bool has_int8_min(const ConvShape& shape, const FilterView& filter);
// True if some weight's zero point is not 0 in this element type.
bool has_zero_points(const FilterView& filter, ElementType element_type);

}  // namespace octet
