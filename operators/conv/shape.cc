// SPDX-License-Identifier: Apache-2.0
// Checks the geometry of a convolution.
#include "operators/conv/shape.h"

#include "operators/common/check.h"

namespace octet {
namespace {

// Computed in 64 bits, which hold a product of two fields; size_t may have 32.
octet_status check_axis(const ConvShape& s, bool vertical, size_t in, const char* name, size_t* out,
                        octet_error* error) {
  const size_t before = vertical ? s.pad_top : s.pad_left,
               after = vertical ? s.pad_bottom : s.pad_right;
  const size_t kernel = vertical ? s.kernel_h : s.kernel_w,
               stride = vertical ? s.stride_h : s.stride_w;
  const size_t dilation = vertical ? s.dilation_h : s.dilation_w,
               extra = vertical ? s.output_padding_h : s.output_padding_w;
  const char* axis = vertical ? "h" : "w";
  const uint64_t reach = (uint64_t)dilation * (kernel - 1) + 1, pads = (uint64_t)before + after;
  const uint64_t larger_end =
      s.transposed ? (uint64_t)(in - 1) * stride + reach + extra : in + pads;
  const uint64_t smaller_end = s.transposed ? pads + 1 : reach;
  if (larger_end < smaller_end)
    return fail(error, OCTET_BAD_SIZE,
                "%s: in_%s = %zu with kernel_%s = %zu, dilation_%s = %zu, stride_%s = %zu and "
                "padding %zu + %zu leaves no output",
                name, axis, in, axis, kernel, axis, dilation, axis, stride, before, after);
  const uint64_t size = (larger_end - smaller_end) / (s.transposed ? 1 : stride) + 1;
  if (size > kLargest)
    return fail(error, OCTET_BAD_SIZE, "%s: the output would have out_%s = %llu, above 2^31", name,
                axis, (unsigned long long)size);
  *out = (size_t)size;
  return OCTET_OK;
}

// True if four objects of so many bytes fit in memory.
bool fits(uint64_t bytes) { return bytes <= PTRDIFF_MAX / 4; }
template <typename... Factors>
bool fits(uint64_t bytes, uint64_t factor, Factors... more) {
  return !__builtin_mul_overflow(bytes, factor, &bytes) && fits(bytes, more...);
}

// With these checks no array that create copies and no part of a workspace exceeds size_t, whatever
// the algorithm.
octet_status check_memory(const ConvShape& s, size_t out_h, size_t out_w, const char* name,
                          octet_error* error) {
  constexpr size_t kArrays = 64;  // bytes of all arrays over channels, per channel
  // upper bounds: rows of a tile, channels of a staged line
  constexpr size_t kRows = 16, kBlock = 64;
  const uint64_t high = (uint64_t)s.in_h + s.pad_top + s.pad_bottom + s.stride_h,
                 wide = (uint64_t)s.in_w + s.pad_left + s.pad_right + s.stride_w;
  // Staged tensors have borders. There are two sets of zero point rows, each row a cache line
  // longer.
  const bool tensors = fits(s.batch, high, wide, s.in_channels) &&
                       fits(s.batch, out_h, out_w, s.out_channels, 4) &&
                       fits(s.batch, (uint64_t)s.in_channels + 128);
  const bool arrays = fits(s.out_channels + kArrays, kArrays);
  // A tile's windows, gathered as int16, and their addresses. Groups may be joined to fill a panel.
  const uint64_t group = smaller(s.in_channels, kBlock * s.group_in());
  const bool windows = fits(s.taps(), group + 2 * kRows, 2 * kRows);
  const uint64_t lines = (uint64_t)s.dilation_h * (s.kernel_h - 1) + s.stride_h + 2;
  const bool staged_lines = s.transposed || fits(lines, wide, kBlock);
  if (tensors && arrays && windows && staged_lines) return OCTET_OK;
  return fail(error, OCTET_BAD_SIZE, "%s: %s leave size_t", name,
              !tensors  ? "the tensors"
              : !arrays ? "the arrays over out_channels"
                        : "the workspaces, for a kernel of this size,");
}

// Checks everything but whether tensors of this shape fit in memory.
octet_status read_geometry(const octet_conv2d_shape& d, const char* name, ConvShape* s,
                           octet_error* error) {
  for (const ShapeField& f : kShapeFields)
    if (f.kind < ShapeField::kPad && d.*f.value == 0)
      return fail(error, OCTET_BAD_SIZE, "%s.%s is 0", name, f.name);
  for (const ShapeField& f : kShapeFields)
    if (f.kind <= ShapeField::kPad && d.*f.value > kLargest)
      return fail(error, OCTET_BAD_SIZE, "%s.%s is %zu; it ends at 2^31", name, f.name, d.*f.value);
  if (d.transposed != 0 && d.transposed != 1)
    return fail(error, OCTET_UNKNOWN_ENUM, "%s.transposed is %d, neither 0 nor 1", name,
                d.transposed);
  if (!d.transposed && (d.output_padding_h || d.output_padding_w))
    return fail(error, OCTET_UNSUPPORTED, "%s.output_padding_%s is for transposed convolutions",
                name, d.output_padding_h ? "h" : "w");
  if (d.transposed && (d.output_padding_h >= d.stride_h || d.output_padding_w >= d.stride_w))
    return fail(error, OCTET_BAD_SIZE,
                "%s.output_padding_h = %zu, output_padding_w = %zu: they must be below the strides "
                "%zu, %zu",
                name, d.output_padding_h, d.output_padding_w, d.stride_h, d.stride_w);
  if (d.in_channels % d.groups || d.out_channels % d.groups)
    return fail(error, OCTET_BAD_SIZE,
                "%s.groups = %zu does not divide in_channels = %zu and out_channels = %zu", name,
                d.groups, d.in_channels, d.out_channels);
  if (d.transposed && (uint64_t)d.stride_h * d.stride_w > kMaxPhases)
    return fail(error, OCTET_UNSUPPORTED,
                "%s: stride_h x stride_w = %zu x %zu; those of a transposed convolution end at "
                "65536 together",
                name, d.stride_h, d.stride_w);
  *s = {d.batch_max,  d.in_h_max,        d.in_w_max,         d.in_channels,     d.out_channels,
        d.groups,     d.kernel_h,        d.kernel_w,         d.stride_h,        d.stride_w,
        d.dilation_h, d.dilation_w,      d.pad_top,          d.pad_bottom,      d.pad_left,
        d.pad_right,  d.transposed != 0, d.output_padding_h, d.output_padding_w};

  // A larger depth could overflow an accumulator; with this limit all sums over weights fit int32.
  size_t depth;
  if (__builtin_mul_overflow(d.kernel_h, d.kernel_w, &depth) ||
      __builtin_mul_overflow(depth, s->group_in(), &depth) || depth > INT32_MAX / 255)
    return fail(error, OCTET_BAD_SIZE,
                "%s: kernel_h x kernel_w x in_channels / groups is above %d, the most that int32 "
                "sums can hold",
                name, INT32_MAX / 255);
  return OCTET_OK;
}

}  // namespace

const ShapeField kShapeFields[] = {
    {ShapeField::kSize, "batch_max", &octet_conv2d_shape::batch_max},
    {ShapeField::kSize, "in_h_max", &octet_conv2d_shape::in_h_max},
    {ShapeField::kSize, "in_w_max", &octet_conv2d_shape::in_w_max},
    {ShapeField::kWeights, "in_channels", &octet_conv2d_shape::in_channels},
    {ShapeField::kWeights, "out_channels", &octet_conv2d_shape::out_channels},
    {ShapeField::kWeights, "groups", &octet_conv2d_shape::groups},
    {ShapeField::kWeights, "kernel_h", &octet_conv2d_shape::kernel_h},
    {ShapeField::kWeights, "kernel_w", &octet_conv2d_shape::kernel_w},
    {ShapeField::kWeights, "stride_h", &octet_conv2d_shape::stride_h},
    {ShapeField::kWeights, "stride_w", &octet_conv2d_shape::stride_w},
    {ShapeField::kWeights, "dilation_h", &octet_conv2d_shape::dilation_h},
    {ShapeField::kWeights, "dilation_w", &octet_conv2d_shape::dilation_w},
    {ShapeField::kPad, "pad_top", &octet_conv2d_shape::pad_top},
    {ShapeField::kPad, "pad_bottom", &octet_conv2d_shape::pad_bottom},
    {ShapeField::kPad, "pad_left", &octet_conv2d_shape::pad_left},
    {ShapeField::kPad, "pad_right", &octet_conv2d_shape::pad_right},
    {ShapeField::kOutput, "output_padding_h", &octet_conv2d_shape::output_padding_h},
    {ShapeField::kOutput, "output_padding_w", &octet_conv2d_shape::output_padding_w},
};

octet_status output_size(const ConvShape& s, size_t in_h, size_t in_w, const char* name,
                         size_t* out_h, size_t* out_w, octet_error* error) {
  OCTET_TRY(check_axis(s, true, in_h, name, out_h, error));
  return check_axis(s, false, in_w, name, out_w, error);
}

octet_status read_shape(const octet_conv2d_shape& d, const char* name, ConvShape* s,
                        octet_error* error) {
  OCTET_TRY(read_geometry(d, name, s, error));
  size_t out_h, out_w;
  OCTET_TRY(output_size(*s, s->in_h, s->in_w, name, &out_h, &out_w, error));
  return check_memory(*s, out_h, out_w, name, error);
}

}  // namespace octet

using namespace octet;

octet_status octet_conv2d_output_size(const octet_conv2d_shape* shape, size_t in_h, size_t in_w,
                                      size_t* out_h, size_t* out_w, octet_error* error) {
  if (!shape || !out_h || !out_w)
    return fail(error, OCTET_NULL_POINTER, "%s is null",
                !shape   ? "shape"
                : !out_h ? "out_h"
                         : "out_w");
  if (!in_h || !in_w) return fail(error, OCTET_BAD_SIZE, "%s is 0", in_h ? "in_w" : "in_h");
  octet_conv2d_shape sized = *shape;  // batch and channels have no effect here
  sized.batch_max = sized.in_channels = sized.out_channels = sized.groups = 1;
  sized.in_h_max = in_h;
  sized.in_w_max = in_w;
  ConvShape s;
  OCTET_TRY(read_geometry(sized, "shape", &s, error));
  return output_size(s, in_h, in_w, "shape", out_h, out_w, error);
}
