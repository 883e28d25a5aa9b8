// SPDX-License-Identifier: Apache-2.0
// Computes a convolution's pads from its sizes.
#include "dispatch/api/error.h"
#include "octet/helpers.h"

namespace octet {
namespace {

constexpr uint64_t kLargest = (uint64_t)1 << 31;

// One axis of a shape, in 64 bits, which hold a product of two such fields.
struct Axis {
  const char* name;  // suffix of the fields' names: "h", "w"
  uint64_t in, kernel, stride, dilation;
  size_t *before, *after, *output_padding;

  uint64_t reach() const { return dilation * (kernel - 1) + 1; }
  // Extent of the kernel's outermost taps: of a convolution in the input, for the output of SAME;
  // of a transposed one in the output.
  uint64_t convolved() const { return ((in - 1) / stride) * stride + reach(); }
  uint64_t scattered() const { return (in - 1) * stride + reach(); }
};

struct Pads {
  uint64_t before, after, output;
};

Pads split(uint64_t total, octet_padding padding) {
  const uint64_t half = total / 2, rest = total - half;
  if (padding == OCTET_PADDING_VALID) return {0, total, 0};
  return padding == OCTET_PADDING_SAME ? Pads{half, rest, 0} : Pads{rest, half, 0};
}

octet_status check(octet_padding padding, const octet_conv2d_shape* shape, octet_error* error) {
  if (!shape) return fail(error, OCTET_NULL_POINTER, "shape is null");
  if (padding < OCTET_PADDING_VALID || padding > OCTET_PADDING_SAME_LOWER)
    return fail(error, OCTET_UNKNOWN_ENUM, "padding is %d, not an octet_padding", (int)padding);
  if (shape->transposed != 0 && shape->transposed != 1)
    return fail(error, OCTET_UNKNOWN_ENUM, "shape.transposed is %d, neither 0 nor 1",
                shape->transposed);
  return OCTET_OK;
}

octet_status read_axis(octet_conv2d_shape* s, bool vertical, Axis* axis, octet_error* error) {
  *axis = vertical ? Axis{"h",           s->in_h_max, s->kernel_h,    s->stride_h,
                          s->dilation_h, &s->pad_top, &s->pad_bottom, &s->output_padding_h}
                   : Axis{"w",           s->in_w_max,  s->kernel_w,   s->stride_w,
                          s->dilation_w, &s->pad_left, &s->pad_right, &s->output_padding_w};
  const struct {
    const char *before, *after;
    uint64_t value;
  } fields[] = {{"in_", "_max", axis->in},
                {"kernel_", "", axis->kernel},
                {"stride_", "", axis->stride},
                {"dilation_", "", axis->dilation}};
  for (const auto& f : fields)
    if (f.value == 0 || f.value > kLargest)
      return fail(error, OCTET_BAD_SIZE, "shape.%s%s%s is %llu; it must be in 1..2^31", f.before,
                  axis->name, f.after, (unsigned long long)f.value);
  return OCTET_OK;
}

// Pads that a transposed convolution crops or adds to get this output size.
octet_status fit(const Axis& axis, uint64_t out, octet_padding padding, Pads* pads,
                 octet_error* error) {
  const uint64_t natural = axis.scattered();
  if (out > natural && out - natural >= axis.stride)
    return fail(error, OCTET_BAD_SIZE,
                "out_%s = %llu is too large: an input of %llu with this kernel, stride and "
                "dilation gives at most %llu",
                axis.name, (unsigned long long)out, (unsigned long long)axis.in,
                (unsigned long long)(natural + axis.stride - 1));
  *pads = out > natural ? Pads{0, 0, out - natural} : split(natural - out, padding);
  return OCTET_OK;
}

octet_status check_pads(const Axis& axis, const Pads& pads, octet_error* error) {
  if (pads.before <= kLargest && pads.after <= kLargest) return OCTET_OK;
  return fail(error, OCTET_BAD_SIZE, "shape: the pads along %s would be %llu and %llu, above 2^31",
              axis.name, (unsigned long long)pads.before, (unsigned long long)pads.after);
}

void set(const Axis& axis, const Pads& pads) {
  *axis.before = (size_t)pads.before;
  *axis.after = (size_t)pads.after;
  *axis.output_padding = (size_t)pads.output;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_conv2d_set_padding(octet_padding padding, octet_conv2d_shape* shape,
                                      octet_error* error) {
  OCTET_TRY(check(padding, shape, error));
  Axis axes[2];
  Pads pads[2] = {};
  for (int i = 0; i < 2; ++i) {
    OCTET_TRY(read_axis(shape, i == 0, &axes[i], error));
    const Axis& a = axes[i];
    if (padding == OCTET_PADDING_VALID) continue;
    if (shape->transposed)
      OCTET_TRY(fit(a, a.in * a.stride, padding, &pads[i], error));
    else if (a.convolved() > a.in)
      pads[i] = split(a.convolved() - a.in, padding);
    OCTET_TRY(check_pads(a, pads[i], error));
  }
  for (int i = 0; i < 2; ++i) set(axes[i], pads[i]);
  return OCTET_OK;
}

octet_status octet_conv2d_set_output_size(octet_padding padding, size_t out_h, size_t out_w,
                                          octet_conv2d_shape* shape, octet_error* error) {
  OCTET_TRY(check(padding, shape, error));
  if (!shape->transposed)
    return fail(error, OCTET_UNSUPPORTED,
                "shape.transposed is 0; only a transposed convolution is given its output size");
  if (!out_h || !out_w) return fail(error, OCTET_BAD_SIZE, "%s is 0", out_h ? "out_w" : "out_h");
  Axis axes[2];
  Pads pads[2];
  for (int i = 0; i < 2; ++i) {
    OCTET_TRY(read_axis(shape, i == 0, &axes[i], error));
    OCTET_TRY(fit(axes[i], i == 0 ? out_h : out_w, padding, &pads[i], error));
    OCTET_TRY(check_pads(axes[i], pads[i], error));
  }
  for (int i = 0; i < 2; ++i) set(axes[i], pads[i]);
  return OCTET_OK;
}
