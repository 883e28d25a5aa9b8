// SPDX-License-Identifier: Apache-2.0
// Writes and checks a filter blob.
#include "operators/conv/algorithms/filter_blob.h"

#include <string.h>

#include "operators/conv/algorithms/taps.h"

namespace octet {
namespace {

size_t array_bytes(const ConvShape& s) { return round_up(s.out_channels, 16) * sizeof(int32_t); }

// Refuses sizes that could overflow below or in an algorithm's plan.
bool sane(const FilterGeometry& g) {
  constexpr uint64_t kLargest = (uint64_t)1 << 31;
  const uint64_t sizes[] = {g.in_channels, g.out_channels, g.groups,     g.kernel_h,  g.kernel_w,
                            g.stride_h,    g.stride_w,     g.dilation_h, g.dilation_w};
  for (const uint64_t size : sizes)
    if (size == 0 || size > kLargest) return false;
  uint64_t depth;
  if (g.in_channels % g.groups || g.out_channels % g.groups || g.transposed > 1 ||
      __builtin_mul_overflow(g.kernel_h, g.kernel_w, &depth) ||
      __builtin_mul_overflow(depth, g.in_channels / g.groups, &depth) || depth > kLargest)
    return false;
  return !g.transposed || (g.stride_h <= kMaxPhases && g.stride_w <= kMaxPhases &&
                           g.stride_h * g.stride_w <= kMaxPhases);
}

}  // namespace

bool has_zero_points(const FilterView& f, ElementType element_type) {
  return element_type != ElementType::kS16 &&
         any_zero_point(f.zero_points, f.zero_point_count, f.stored, element_type);
}

bool has_int8_min(const ConvShape& s, const FilterView& f) {
  if (is_4bit(f.stored)) return false;
  const size_t count = s.taps() * s.group_in() * s.out_channels;  // dense, in whatever order
  return memchr(f.data, f.type() == ElementType::kU8 ? 0x00 : 0x80, count) != nullptr;
}

bool plan_filter(const WeightFormat& format, const ConvAlgorithm& implementation, uint8_t algorithm,
                 uint8_t type, const ConvShape& s, bool zero_points, Container* c) {
  if (format.layout.is_4bit()) return false;  // of products only
  // Sparse weights are packed minus their zero points
  if (format.layout.sparse() && (zero_points || !implementation.takes_sparse)) return false;
  const size_t weights = implementation.payload_bytes(format.layout, s);
  if (weights == 0 || s.out_channels > PTRDIFF_MAX / 16) return false;
  FilterGeometry g = {};
  copy_filter_shape(s, &g);
  g.algorithm = algorithm;
  g.padded_lines = implementation.pads_lines && s.padded_lines;
  *c = begin_container(BlobKind::kFilter, format, type, &g, sizeof g);
  return (!zero_points || add_section(SectionId::kZeroPoints, array_bytes(s), c)) &&
         add_section(SectionId::kSums, 2 * array_bytes(s), c) &&
         add_section(SectionId::kWeights, weights, c);
}

void write_filter(Container* c, const ConvAlgorithm& implementation, const ConvShape& s,
                  const FilterView& filter, const float* tap_ranges, void* blob) {
  const RhsLayout& layout = c->format->layout;
  if (int32_t* zero_points = (int32_t*)section_of(*c, SectionId::kZeroPoints, blob)) {
    memset(zero_points, 0, array_bytes(s));
    for (size_t o = 0; o < s.out_channels; ++o)
      zero_points[o] = filter.zero_point(o) + type_shift(filter.type(), layout.element_type);
  }
  int32_t* const positive = (int32_t*)section_of(*c, SectionId::kSums, blob);
  int32_t* const negative = positive + array_bytes(s) / sizeof(int32_t);
  memset(positive, 0, 2 * array_bytes(s));
  c->header.has_int8_min =
      implementation.pack(*c->format, s, filter, tap_ranges, {positive, negative},
                          section_of(*c, SectionId::kWeights, blob));
  seal_container(c, blob);
}

bool plan_filter_again(const Container& c, const ConvAlgorithm& implementation,
                       Container* planned) {
  const FilterGeometry g = c.read_geometry<FilterGeometry>();
  if (!sane(g)) return false;
  const ConvShape shape = filter_shape(c);
  const bool zero_points = c.find(SectionId::kZeroPoints);
  // int16 weights have no zero points; an s8 blob has a section of them only if some are not 0.
  const ElementType element_type = c.format->layout.element_type;
  if (zero_points && element_type == ElementType::kS16) return false;
  const ZeroPointRange any = {-128, 127};
  // A sum over a window that is copied with padded lines has bytes of no window
  if (g.padded_lines && (g.padded_lines > 1 || !implementation.pads_lines || zero_points ||
                         !may_read_lines(c.format->layout, shape)))
    return false;
  if (implementation.refuse(
          shape, zero_points && element_type == ElementType::kS8 ? any : ZeroPointRange{0, 0}))
    return false;
  return plan_filter(*c.format, implementation, g.algorithm, c.header.type, shape, zero_points,
                     planned);
}

ConvShape filter_shape(const Container& c) {
  ConvShape s = {};
  const FilterGeometry g = c.read_geometry<FilterGeometry>();
  copy_filter_shape(g, &s);
  s.padded_lines = g.padded_lines != 0;
  return s;
}

FilterSums filter_sums(const Container& c, const void* blob) {
  if (c.header.outline) return {};
  const int32_t* const positive = (const int32_t*)section_of(c, SectionId::kSums, blob);
  return {positive, positive + array_bytes(filter_shape(c)) / sizeof(int32_t),
          (const int32_t*)section_of(c, SectionId::kZeroPoints, blob)};
}

}  // namespace octet
