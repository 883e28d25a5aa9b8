// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of octet_conv2d_run.
#include "operators/conv/call.h"
#include "operators/conv/shape.h"

namespace octet {
namespace {

// Checks a tensor of pixels. Computes the bytes between pixels and the bytes from first to last.
octet_status check_tensor(const char* name, const void* data, size_t stride, octet_layout layout,
                          size_t pixels, size_t channels, octet_type type, size_t* pixel_bytes,
                          Extent* extent, octet_error* error) {
  const size_t element = element_bytes(type);
  if (!data) return fail(error, OCTET_NULL_POINTER, "args.%s is null", name);
  if ((uintptr_t)data % element)
    return fail(error, OCTET_MISALIGNED, "args.%s is at %p; it must be a multiple of %zu", name,
                data, element);
  if (layout == OCTET_NCHW && stride)
    return fail(error, OCTET_BAD_STRIDE,
                "args.%s_stride = %zu: an NCHW tensor is dense, its stride is 0", name, stride);
  if (stride == 0) stride = channels;
  if (stride < channels)
    return fail(error, OCTET_BAD_STRIDE,
                "args.%s_stride = %zu is smaller than a pixel of %zu channels", name, stride,
                channels);
  size_t bytes;
  if (!span_bytes(1, 0, pixels, stride, channels, element, &bytes))
    return fail(error, OCTET_BAD_SIZE, "args.%s: %zu pixels with stride %zu leave size_t", name,
                pixels, stride);
  *pixel_bytes = (pixels == 1 ? channels : stride) * element;
  *extent = extent_of(data, bytes);
  return OCTET_OK;
}

octet_status check_overlap(const octet_conv2d& conv, const ConvCall& e, octet_error* error) {
  const octet_conv2d_args& a = e.args;
  const size_t batch = e.sizes.batch;
  const Extent workspace = extent_of(a.workspace, a.workspace_bytes),
               packed = extent_of(conv.packed, conv.packed_bytes);
  const Extent zero_points = extent_of(a.lhs_zero_points, batch * sizeof(int32_t)),
               scales = extent_of(a.lhs_scales, batch * sizeof(float));
  const struct {
    const char *a_name, *b_name;
    const Extent &a, &b;
  } pairs[] = {{"args.dst", "args.lhs", e.dst, e.lhs},
               {"args.dst", "the packed weights", e.dst, packed},
               {"args.dst", "args.workspace", e.dst, workspace},
               {"args.dst", "args.lhs_zero_points", e.dst, zero_points},
               {"args.dst", "args.lhs_scales", e.dst, scales},
               {"args.workspace", "args.lhs", workspace, e.lhs},
               {"args.workspace", "args.residual", workspace, e.residual},
               {"args.workspace", "args.lhs_zero_points", workspace, zero_points},
               {"args.workspace", "args.lhs_scales", workspace, scales},
               {"args.workspace", "the packed weights", workspace, packed}};
  for (const auto& p : pairs)
    if (meet(p.a, p.b)) return fail(error, OCTET_OVERLAP, "%s overlaps %s", p.a_name, p.b_name);
  const bool in_place = a.residual == a.dst && e.residual_pixel == e.dst_pixel;
  if (!in_place && meet(e.dst, e.residual))
    return fail(error, OCTET_OVERLAP, "args.dst overlaps args.residual, without being exactly it");
  return OCTET_OK;
}

octet_status check_lhs_quant(const octet_conv2d& conv, const ConvCall& call, octet_error* error) {
  const octet_conv2d_args& a = call.args;
  if (conv.lhs_quant != OCTET_LHS_PER_TENSOR) {
    if (!a.lhs_zero_points && !a.lhs_scales) return OCTET_OK;
    return fail(error, OCTET_UNSUPPORTED, "args.%s is only for OCTET_LHS_PER_TENSOR",
                a.lhs_scales ? "lhs_scales" : "lhs_zero_points");
  }
  return check_lhs_quants(a.lhs_zero_points, a.lhs_scales, call.sizes.batch, conv.lhs_type,
                          conv.dst_type, error);
}

// *z was computed with the declared pads.
octet_status check_pads(const octet_conv2d_pads& pads, ConvSizes* z, octet_error* error) {
  const struct {
    const char* name;
    size_t value;
    size_t ConvShape::*to;
  } fields[] = {{"top", pads.top, &ConvShape::pad_top},
                {"bottom", pads.bottom, &ConvShape::pad_bottom},
                {"left", pads.left, &ConvShape::pad_left},
                {"right", pads.right, &ConvShape::pad_right}};
  for (const auto& f : fields) {
    if (f.value > kLargest)
      return fail(error, OCTET_BAD_SIZE, "args.pads.%s is %zu; it ends at 2^31", f.name, f.value);
    z->shape.*f.to = f.value;
  }
  const size_t most_h = z->out_h, most_w = z->out_w;
  OCTET_TRY(output_size(z->shape, z->in_h, z->in_w, "args.pads", &z->out_h, &z->out_w, error));
  if (z->out_h <= most_h && z->out_w <= most_w) return OCTET_OK;
  return fail(
      error, OCTET_SIZE_ABOVE_MAXIMUM,
      "args.pads makes %zu x %zu of %zu x %zu, the declared pads make %zu x %zu: neither may "
      "get larger",
      z->out_h, z->out_w, z->in_h, z->in_w, most_h, most_w);
}

}  // namespace

octet_status check_sizes(const octet_conv2d& conv, const octet_conv2d_args& a, const char* prefix,
                         ConvSizes* sizes, octet_error* error) {
  const ConvShape& s = conv.plan.shape;
  *sizes = {
      a.batch ? a.batch : s.batch, a.in_h ? a.in_h : s.in_h, a.in_w ? a.in_w : s.in_w, 0, 0, s};
  const struct {
    const char* name;
    size_t got, most;
  } fields[] = {{"batch", sizes->batch, s.batch},
                {"in_h", sizes->in_h, s.in_h},
                {"in_w", sizes->in_w, s.in_w}};
  for (const auto& f : fields)
    if (f.got > f.most)
      return fail(error, OCTET_SIZE_ABOVE_MAXIMUM, "%s%s = %zu is above the declared %s_max = %zu",
                  prefix, f.name, f.got, f.name, f.most);
  OCTET_TRY(output_size(s, sizes->in_h, sizes->in_w, *prefix ? "args" : "the sizes", &sizes->out_h,
                        &sizes->out_w, error));
  if (a.pads) OCTET_TRY(check_pads(*a.pads, sizes, error));
  if ((a.out_h && a.out_h != sizes->out_h) || (a.out_w && a.out_w != sizes->out_w))
    return fail(
        error, OCTET_BAD_SIZE,
        "args.out_h = %zu, args.out_w = %zu, but this convolution makes %zu x %zu of %zu x %zu",
        a.out_h, a.out_w, sizes->out_h, sizes->out_w, sizes->in_h, sizes->in_w);
  return OCTET_OK;
}

octet_status check_call(const octet_conv2d& conv, ConvCall* call, octet_error* error) {
  const octet_conv2d_args& a = call->args;
  const ConvShape& s = conv.plan.shape;
  const ConvSizes& z = call->sizes;
  const size_t inputs = z.batch * z.in_h * z.in_w, outputs = z.batch * z.out_h * z.out_w;
  OCTET_TRY(check_tensor("lhs", a.lhs, a.lhs_stride, conv.lhs_layout, inputs, s.in_channels,
                         conv.lhs_type, &call->lhs_pixel, &call->lhs, error));
  OCTET_TRY(check_tensor("dst", a.dst, a.dst_stride, conv.dst_layout, outputs, s.out_channels,
                         conv.dst_type, &call->dst_pixel, &call->dst, error));
  if (conv.residual_type)
    OCTET_TRY(check_tensor("residual", a.residual, a.residual_stride, conv.dst_layout, outputs,
                           s.out_channels, conv.residual_type, &call->residual_pixel,
                           &call->residual, error));
  else if (a.residual)
    return fail(error, OCTET_UNSUPPORTED,
                "args.residual: this convolution was created without one");
  OCTET_TRY(check_lhs_quant(conv, *call, error));
  return check_overlap(conv, *call, error);
}

octet_status check_workspace(const octet_conv2d_args& a, size_t bytes, octet_error* error) {
  if (bytes == SIZE_MAX)
    return fail(error, OCTET_BAD_SIZE, "args.concurrency = %zu: the workspace leaves size_t",
                a.concurrency);
  return check_workspace(a.workspace, a.workspace_bytes, bytes, error);
}

}  // namespace octet
