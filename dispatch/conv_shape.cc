#include "dispatch/conv_shape.h"

#include "dispatch/check.h"

namespace octet {
namespace {

constexpr size_t kLargest = (size_t)1 << 31;

struct Field {
  const char* name;
  size_t value;
};

octet_status check_axis(const ConvShape& s, bool vertical, size_t in, const char* name, size_t* out, octet_error* error) {
  const size_t before = vertical ? s.pad_top : s.pad_left, after = vertical ? s.pad_bottom : s.pad_right;
  const size_t kernel = vertical ? s.kernel_h : s.kernel_w, stride = vertical ? s.stride_h : s.stride_w;
  const size_t dilation = vertical ? s.dilation_h : s.dilation_w, reach = dilation * (kernel - 1) + 1;
  const size_t extra = vertical ? s.output_padding_h : s.output_padding_w;
  const char* axis = vertical ? "h" : "w";
  const bool some = s.transposed ? (in - 1) * stride + reach + extra > before + after : in + before + after >= reach;
  if (!some)
    return fail(error, OCTET_BAD_SIZE, "%s: in_%s = %zu with kernel_%s = %zu, dilation_%s = %zu, stride_%s = %zu and padding %zu + %zu leaves no output", name,
                axis, in, axis, kernel, axis, dilation, axis, stride, before, after);
  *out = conv_out(in, before, after, kernel, stride, dilation, s.transposed, extra);
  if (*out > kLargest) return fail(error, OCTET_BAD_SIZE, "%s: the output would have out_%s = %zu, above 2^31", name, axis, *out);
  return OCTET_OK;
}

}  // namespace

octet_status output_size(const ConvShape& s, size_t in_h, size_t in_w, const char* name, size_t* out_h, size_t* out_w, octet_error* error) {
  OCTET_TRY(check_axis(s, true, in_h, name, out_h, error));
  return check_axis(s, false, in_w, name, out_w, error);
}

octet_status read_shape(const octet_conv2d_shape& d, const char* name, ConvShape* s, octet_error* error) {
  const Field nonzero[] = {{"batch_max", d.batch_max},   {"in_h_max", d.in_h_max},   {"in_w_max", d.in_w_max},     {"in_channels", d.in_channels},
                           {"out_channels", d.out_channels}, {"groups", d.groups},   {"kernel_h", d.kernel_h},     {"kernel_w", d.kernel_w},
                           {"stride_h", d.stride_h},     {"stride_w", d.stride_w},   {"dilation_h", d.dilation_h}, {"dilation_w", d.dilation_w}};
  for (const Field& f : nonzero)
    if (f.value == 0) return fail(error, OCTET_BAD_SIZE, "%s.%s is 0", name, f.name);
  const Field any[] = {{"pad_top", d.pad_top}, {"pad_bottom", d.pad_bottom}, {"pad_left", d.pad_left}, {"pad_right", d.pad_right}};
  for (const Field& f : nonzero)
    if (f.value > kLargest) return fail(error, OCTET_BAD_SIZE, "%s.%s is %zu; it ends at 2^31", name, f.name, f.value);
  for (const Field& f : any)
    if (f.value > kLargest) return fail(error, OCTET_BAD_SIZE, "%s.%s is %zu; it ends at 2^31", name, f.name, f.value);
  if (d.transposed != 0 && d.transposed != 1) return fail(error, OCTET_UNKNOWN_ENUM, "%s.transposed is %d, neither 0 nor 1", name, d.transposed);
  if (!d.transposed && (d.output_padding_h || d.output_padding_w))
    return fail(error, OCTET_UNSUPPORTED, "%s.output_padding_%s is for transposed convolutions", name, d.output_padding_h ? "h" : "w");
  if (d.transposed && (d.output_padding_h >= d.stride_h || d.output_padding_w >= d.stride_w))
    return fail(error, OCTET_BAD_SIZE, "%s.output_padding_h = %zu, output_padding_w = %zu: they must be below the strides %zu, %zu", name, d.output_padding_h,
                d.output_padding_w, d.stride_h, d.stride_w);
  if (d.in_channels % d.groups || d.out_channels % d.groups)
    return fail(error, OCTET_BAD_SIZE, "%s.groups = %zu does not divide in_channels = %zu and out_channels = %zu", name, d.groups, d.in_channels,
                d.out_channels);
  if (d.transposed && d.stride_h * d.stride_w > kMaxPhases)
    return fail(error, OCTET_UNSUPPORTED, "%s: stride_h x stride_w = %zu x %zu; those of a transposed convolution end at 65536 together", name, d.stride_h,
                d.stride_w);
  *s = {d.batch_max, d.in_h_max, d.in_w_max, d.in_channels, d.out_channels, d.groups, d.kernel_h, d.kernel_w, d.stride_h, d.stride_w, d.dilation_h,
        d.dilation_w, d.pad_top, d.pad_bottom, d.pad_left, d.pad_right, d.transposed != 0, d.output_padding_h, d.output_padding_w};

  // No accumulator could hold more depth, and all sums over weights fit int32.
  size_t depth;
  if (__builtin_mul_overflow(d.kernel_h, d.kernel_w, &depth) || __builtin_mul_overflow(depth, s->group_in(), &depth) || depth > INT32_MAX / 255)
    return fail(error, OCTET_BAD_SIZE, "%s: kernel_h x kernel_w x in_channels / groups is above %d, the most that int32 sums can hold", name, INT32_MAX / 255);
  size_t out_h, out_w;
  OCTET_TRY(output_size(*s, s->in_h, s->in_w, name, &out_h, &out_w, error));
  size_t bytes = 0;
  const auto product = [&bytes](size_t a, size_t b, size_t c, size_t d2, size_t e) {
    return !__builtin_mul_overflow(a, b, &bytes) && !__builtin_mul_overflow(bytes, c, &bytes) && !__builtin_mul_overflow(bytes, d2, &bytes) &&
           !__builtin_mul_overflow(bytes, e, &bytes) && bytes <= PTRDIFF_MAX / 4;
  };
  // Staged tensors have borders, and lines of blocks of channels are staged too.
  const size_t reach_h = s->pad_top + s->pad_bottom + s->in_h + s->stride_h, reach_w = s->pad_left + s->pad_right + s->in_w + s->stride_w;
  constexpr size_t kBlock = 1024;
  if (!product(s->batch, reach_h, reach_w, s->in_channels, kBlock) || !product(s->batch, out_h, out_w, s->out_channels, 4))
    return fail(error, OCTET_BAD_SIZE, "%s: the tensors leave size_t", name);
  return OCTET_OK;
}

}  // namespace octet

using namespace octet;

octet_status octet_conv2d_output_size(const octet_conv2d_shape* shape, size_t in_h, size_t in_w, size_t* out_h, size_t* out_w, octet_error* error) {
  if (!shape || !out_h || !out_w) return fail(error, OCTET_NULL_POINTER, "%s is null", !shape ? "shape" : !out_h ? "out_h" : "out_w");
  if (!in_h || !in_w) return fail(error, OCTET_BAD_SIZE, "%s is 0", in_h ? "in_w" : "in_h");
  octet_conv2d_shape sized = *shape;  // batch and channels do not matter
  sized.batch_max = sized.in_channels = sized.out_channels = sized.groups = 1;
  sized.in_h_max = in_h;
  sized.in_w_max = in_w;
  ConvShape s;
  OCTET_TRY(read_shape(sized, "shape", &s, error));
  return output_size(s, in_h, in_w, "shape", out_h, out_w, error);
}
