// SPDX-License-Identifier: Apache-2.0
// Draws each field of a random case.
#include "support/random_case.h"

#include "support/draw.h"
#include "support/reference.h"

namespace octet_test {
namespace {

octet_activation any_activation(Draw* d) {
  return (octet_activation)d->below(OCTET_ACTIVATION_RELU_N1_TO_1 + 1);
}

// The smallest padding with which the output has at least one element, and some more.
size_t enough_padding(Draw* d, size_t in, size_t reach) {
  return in >= reach ? d->below(3) : reach - in + d->below(2);
}

// Fewer images and lines, and shorter ones, than declared, where that leaves an output.
void draw_run(Draw* d, ConvCase* c) {
  const octet_conv2d_shape& s = c->shape;
  const size_t batch = 1 + d->below(s.batch_max), h = 1 + d->below(s.in_h_max),
               w = 1 + d->below(s.in_w_max);
  const ConvSizes sizes(s, batch, h, w);
  if (sizes.out_h > 0 && sizes.out_w > 0) c->batch = batch, c->in_h = h, c->in_w = w;
}

}  // namespace

GemmCase random_gemm(uint32_t seed, const MicroKernel* kernel) {
  Draw d(seed);
  GemmCase c;
  const size_t mr = kernel ? kernel->mr : 7, nr = kernel ? kernel->nr : 40,
               kr = kernel ? kernel->rhs_layout.kr : 4;
  c.seed = seed;
  c.kernel = kernel ? kernel->name : nullptr;
  c.m = 1 + d.below(3 * mr), c.n = 1 + d.below(2 * nr + 2),
  c.k = 1 + d.below(d.one_in(8) ? 300 : 5 * kr);
  c.batch = d.one_in(3) ? 1 + d.below(4) : 1;
  c.batching = d.any({Batching::kStrided, Batching::kInterleaved, Batching::kArrays});
  if (d.one_in(3)) c.m_declared = c.m + d.below(20 * mr);
  c.data = d.one_in(2) ? Data::kRandom : (Data)d.below(7);
  c.padded = d.one_in(2);
  c.concurrency = d.one_in(3) ? 1 + d.below(5) : 1;
  c.shared_rhs = d.one_in(3);
  c.order = d.any({OCTET_KN, OCTET_NK});
  c.rhs_zero_points = d.any({ZeroPoints::kNone, ZeroPoints::kTensor, ZeroPoints::kChannel});
  c.runtime_rhs = !(kernel && !takes_any_weights(*kernel)) && d.one_in(3);
  c.bias = d.one_in(2), c.per_channel = d.one_in(2);

  const bool int4 = kernel ? kernel->rhs_layout.is_4bit() : !c.runtime_rhs && d.one_in(4);
  Types seen;  // by the kernel
  do {
    c.rhs = int4 ? d.any({OCTET_S4, OCTET_U4}) : d.any({OCTET_S8, OCTET_U8});
    c.lhs = d.any({OCTET_S8, OCTET_U8, OCTET_F32});
    c.lhs_quant =
        c.lhs == OCTET_F32
            ? d.any({OCTET_LHS_SYMMETRIC, OCTET_LHS_ASYMMETRIC})
            : d.any({OCTET_LHS_STATIC, OCTET_LHS_STATIC, OCTET_LHS_PER_TENSOR, OCTET_LHS_PER_ROW});
    seen = {c.lhs != OCTET_F32                   ? c.lhs
            : c.lhs_quant == OCTET_LHS_SYMMETRIC ? OCTET_S8
                                                 : OCTET_U8,
            c.rhs};
  } while (kernel && !serves(*kernel, seen));
  if (c.lhs_quant == OCTET_LHS_STATIC)
    c.lhs_zero_point = d.any({0, least(c.lhs), most(c.lhs), least(c.lhs) + 77});

  c.dst = c.lhs == OCTET_F32
              ? OCTET_F32
              : d.any({OCTET_S32, OCTET_F32, OCTET_U8, OCTET_S8, OCTET_U8, OCTET_S8});
  if (c.dst != OCTET_S32) c.activation = any_activation(&d);
  if (c.dst == OCTET_F32) c.bias_f32 = d.one_in(2);
  if (is_8bit(c.dst)) {
    if (c.lhs_quant == OCTET_LHS_STATIC && d.one_in(3))
      c.requant = d.any({OCTET_REQUANT_TFLITE, OCTET_REQUANT_TFLITE, OCTET_REQUANT_DOUBLE});
    if (c.requant != OCTET_REQUANT_DOUBLE && d.one_in(3)) c.residual = d.any({OCTET_S8, OCTET_U8});
    if (c.residual) c.product_activation = any_activation(&d);
    c.residual_is_dst = c.residual && d.one_in(2);
    c.lut = d.one_in(4);
  }
  if (c.runtime_rhs && d.one_in(2)) {  // the object then has no array per column
    c.n_declared = c.n + d.below(9), c.k_declared = c.k + d.below(9);
    c.bias = c.per_channel = c.bias_f32 = false;
  }
  if (!c.runtime_rhs && !kernel && !int4)
    c.sparsity = d.any({OCTET_SPARSE_NONE, OCTET_SPARSE_2_4, OCTET_SPARSE_AUTO});
  return c;
}

ConvCase random_conv(uint32_t seed) {
  Draw d(seed);
  ConvCase c;
  c.seed = seed;
  octet_conv2d_shape& s = c.shape;
  const bool depthwise = d.one_in(4), winograd = !depthwise && d.one_in(2);
  s.transposed = !winograd && d.one_in(5);
  s.batch_max = d.one_in(4) ? 3 : 1;
  s.in_h_max = 1 + d.below(d.one_in(4) ? 19 : 8), s.in_w_max = 1 + d.below(d.one_in(4) ? 30 : 9);
  s.kernel_h = winograd ? 3 : 1 + d.below(4), s.kernel_w = winograd      ? 3
                                                           : d.one_in(2) ? s.kernel_h
                                                                         : 1 + d.below(6);
  s.stride_h = winograd ? 1 + d.below(2) : d.any<size_t>({1, 1, 2, 3}),
  s.stride_w = winograd ? s.stride_h : d.any<size_t>({1, 1, 2, 4});
  s.dilation_h = winograd ? 1 : d.any<size_t>({1, 1, 1, 2}),
  s.dilation_w = winograd ? 1 : d.any<size_t>({1, 1, 1, 3});
  s.groups = depthwise     ? 1 + d.below(40)
             : d.one_in(6) ? 4 + d.below(20)
                           : d.any<size_t>({1, 1, 1, 2, 3});
  s.in_channels = depthwise ? s.groups
                            : s.groups * (1 + d.below(s.groups > 3  ? 4
                                                      : d.one_in(4) ? 70
                                                                    : 18));
  s.out_channels = s.groups * (1 + d.below(depthwise || s.groups > 3 ? 3 : d.one_in(4) ? 90 : 20));
  if (s.transposed) {
    s.output_padding_h = d.below(s.stride_h), s.output_padding_w = d.below(s.stride_w);
    // The output without padding is at least 1 large; take less than that away.
    const size_t h = (s.in_h_max - 1) * s.stride_h + s.dilation_h * (s.kernel_h - 1) + 1,
                 w = (s.in_w_max - 1) * s.stride_w + s.dilation_w * (s.kernel_w - 1) + 1;
    s.pad_top = d.below(h < 3 ? h : 3),
    s.pad_bottom = d.below(h - s.pad_top < 3 ? h - s.pad_top : 3);
    s.pad_left = d.below(w < 3 ? w : 3),
    s.pad_right = d.below(w - s.pad_left < 3 ? w - s.pad_left : 3);
  } else {
    const bool wide = d.one_in(6);  // more padding than kernel
    s.pad_top = d.below(wide ? s.dilation_h * s.kernel_h + 3 : 3);
    s.pad_left = d.below(wide ? s.dilation_w * s.kernel_w + 3 : 3);
    s.pad_bottom = enough_padding(&d, s.in_h_max + s.pad_top, s.dilation_h * (s.kernel_h - 1) + 1);
    s.pad_right = enough_padding(&d, s.in_w_max + s.pad_left, s.dilation_w * (s.kernel_w - 1) + 1);
    if (wide) s.pad_bottom += d.below(s.dilation_h * s.kernel_h + 3);
  }
  if (d.one_in(3)) draw_run(&d, &c);

  c.lhs = d.any({OCTET_S8, OCTET_U8});
  c.rhs = d.any({OCTET_S8, OCTET_S8, OCTET_U8, OCTET_U8, OCTET_S4, OCTET_U4});
  c.lhs_fill = d.any({Fill::kRandom, Fill::kRandom, Fill::kEnds, Fill::kLeast, Fill::kMost});
  c.filter_fill = d.one_in(3) ? Fill::kRandom : (Fill)d.below(6);
  c.filter_zero_points =
      winograd && !d.one_in(4) ? FilterZeroPoints::kCentre : (FilterZeroPoints)d.below(8);
  c.runtime_quant = d.one_in(4);
  c.floats = d.one_in(6);
  if (!c.runtime_quant) c.lhs_zero_point = d.any({0, least(c.lhs), most(c.lhs), least(c.lhs) + 77});
  c.order = (octet_filter_order)d.below(4);
  c.lhs_layout = d.one_in(3) ? OCTET_NCHW : OCTET_NHWC,
  c.dst_layout = d.one_in(3) ? OCTET_NCHW : OCTET_NHWC;
  if (!c.lhs_layout && d.one_in(3)) c.lhs_extra = 1 + d.below(9);
  if (!c.dst_layout && d.one_in(3)) c.dst_extra = 1 + d.below(9);
  if (!c.dst_layout && d.one_in(3)) c.residual_extra = 1 + d.below(9);
  c.bias = !d.one_in(4), c.per_channel = d.one_in(2);
  c.dst = d.any({OCTET_S32, OCTET_F32, OCTET_U8, OCTET_S8, OCTET_U8, OCTET_S8});
  if (c.floats && c.runtime_quant) c.dst = OCTET_F32;
  if (c.dst != OCTET_S32) c.activation = any_activation(&d);
  if (c.dst == OCTET_F32) c.bias_f32 = d.one_in(2);
  if (is_8bit(c.dst)) {
    if (!c.runtime_quant && d.one_in(3))
      c.requant = d.any({OCTET_REQUANT_TFLITE, OCTET_REQUANT_TFLITE, OCTET_REQUANT_DOUBLE});
    if (c.requant != OCTET_REQUANT_DOUBLE && d.one_in(3)) c.residual = d.any({OCTET_S8, OCTET_U8});
    if (c.residual) c.product_activation = any_activation(&d);
    c.residual_is_dst = c.residual && d.one_in(2);
    c.lut = d.one_in(4);
  }
  c.sparse = !is_4bit(c.rhs) && d.one_in(3);
  return c;
}

}  // namespace octet_test
