// SPDX-License-Identifier: Apache-2.0
// Lists the rules by which convolutions must be refused, and the algorithms that can compute one.
#include "fuzz/convolution.h"
#include "fuzz/spoil.h"

namespace octet_fuzz {
namespace {

// ---- shapes

struct ShapeSpoiler : SpoilerBase {
  octet_conv2d_shape* s;
};
using H = ShapeSpoiler;

constexpr Rule<H> kShapeRules[] = {
    {"a size of 0",
     [](H& h) {
       octet_conv2d_shape& s = *h.s;
       return h.set(h.c->any({&s.batch_max, &s.in_h_max, &s.in_w_max, &s.in_channels,
                              &s.out_channels, &s.groups, &s.kernel_h, &s.kernel_w, &s.stride_h,
                              &s.stride_w, &s.dilation_h, &s.dilation_w}),
                    0);
     }},
    {"a size beyond all memory",
     [](H& h) {
       octet_conv2d_shape& s = *h.s;
       return h.set(
           h.c->any({&s.batch_max, &s.in_h_max, &s.in_w_max, &s.in_channels, &s.out_channels,
                     &s.groups, &s.kernel_h, &s.kernel_w, &s.stride_h, &s.stride_w, &s.dilation_h,
                     &s.dilation_w, &s.pad_top, &s.pad_bottom, &s.pad_left, &s.pad_right}),
           SIZE_MAX - h.c->below(9));
     }},
    {"a kernel that reaches beyond the input",
     [](H& h) {
       octet_conv2d_shape& s = *h.s;
       return !s.transposed &&
              h.set(&s.kernel_h, s.in_h_max + s.pad_top + s.pad_bottom + 1 + h.c->below(9));
     }},
    {"padding that leaves nothing",
     [](H& h) {
       return h.s->transposed &&
              h.set(&h.s->pad_top, h.s->in_h_max * h.s->stride_h + h.s->kernel_h * h.s->dilation_h);
     }},
    {"groups that do not divide the channels",
     [](H& h) { return h.set(&h.s->groups, h.s->in_channels + 1); }},
    {"a direction that is neither 0 nor 1",
     [](H& h) {
       return h.set(&h.s->transposed, h.c->any({2, -1, INT32_MIN}));
     }},
    {"an output padding without a use",
     [](H& h) { return !h.s->transposed && h.set(&h.s->output_padding_w, 1); }},
    {"an output padding of a stride",
     [](H& h) { return h.s->transposed && h.set(&h.s->output_padding_h, h.s->stride_h); }},
};

// ---- filters

struct FilterSpoiler : SpoilerBase {
  octet_filter_desc* d;
};
using F = FilterSpoiler;

constexpr Rule<F> kFilterRules[] = {
    {"a wrong struct_size", [](F& s) { return s.wrong_size(&s.d->struct_size); }},
    {"an unknown type", [](F& s) { return s.set_enum(&s.d->type, 3); }},
    {"an unknown order", [](F& s) { return s.set_enum(&s.d->order, 4); }},
    {"an unknown algorithm", [](F& s) { return s.set_enum(&s.d->algorithm, 9); }},
    {"an unknown accuracy", [](F& s) { return s.set_enum(&s.d->accuracy, 2); }},
    {"sparse weights of 4 bits",
     [](F& s) { return is_4bit(s.d->type) && s.set(&s.d->sparsity, OCTET_SPARSE_AUTO); }},
    {"a wrong zero point",
     [](F& s) {
       int32_t* const zero_point = s.copy(&s.d->zero_points, s.d->zero_point_count);
       return zero_point && s.wrong_zero_point(zero_point, s.d->type);
     }},
    {"a wrong zero_point_count",
     [](F& s) {
       return s.set(&s.d->zero_point_count,
                    s.d->zero_point_count == 1 ? 0 : s.d->zero_point_count + 1);
     }},
    {"a wrong machine", [](F& s) { return s.wrong_machine(&s.d->machine); }},
    {"no room for the weights", [](F& s) { return s.set(&s.d->packed_bytes_max, 1); }},
    {"a wrong tap range",
     [](F& s) {
       float* const range = s.copy(&s.d->tap_ranges, 16);
       return range && s.wrong_scale(range);
     }},
};

// ---- descriptors

struct ConvSpoiler : DescSpoiler<octet_conv2d_desc> {
  bool floats() const { return d->lhs_type == OCTET_F32; }
  bool floats_by_scale() const { return floats() && d->lhs_quant == OCTET_LHS_STATIC; }
};
using D = ConvSpoiler;

constexpr Rule<D> kConvRules[] = {
    {"an unknown lhs_layout", [](D& s) { return s.set_enum(&s.d->lhs_layout, 2); }},
    {"an unknown dst_layout", [](D& s) { return s.set_enum(&s.d->dst_layout, 2); }},
    {"a quantization for products", [](D& s) { return s.set(&s.d->lhs_quant, OCTET_LHS_PER_ROW); }},
    {"a quantization for another lhs",
     [](D& s) {
       return s.set(&s.d->lhs_quant, s.floats()
                                         ? OCTET_LHS_PER_TENSOR
                                         : s.c->any({OCTET_LHS_SYMMETRIC, OCTET_LHS_ASYMMETRIC}));
     }},
    {"ranges of the run for another output",
     [](D& s) {
       return s.floats() && !s.floats_by_scale() &&
              s.set(&s.d->dst_type, s.c->any({OCTET_S8, OCTET_U8, OCTET_S32}));
     }},
    {"an f32 lhs without a scale",
     [](D& s) { return !s.floats() && s.set(&s.d->lhs_type, OCTET_F32); }},
    {"a wrong lhs_scale",
     [](D& s) { return s.floats_by_scale() && s.wrong_scale(&s.d->lhs_scale); }},
    {"an unknown lhs_quantized_type",
     [](D& s) { return s.floats_by_scale() && s.set_enum(&s.d->lhs_quantized_type, 3); }},
    {"a scale of an lhs that has none",
     [](D& s) { return !s.floats_by_scale() && s.set(&s.d->lhs_scale, 1); }},
    {"what an lhs is quantized to that is not",
     [](D& s) { return !s.floats_by_scale() && s.set(&s.d->lhs_quantized_type, OCTET_U8); }},
    {"no weights", [](D& s) { return s.set(&s.d->packed, nullptr); }},
    {"weights of another type", [](D& s) { return s.set(&s.d->rhs_type, s.d->rhs_type ^ 3); }},
    {"weights of another geometry",
     [](D& s) {
       octet_conv2d_shape& h = s.d->shape;
       size_t* const field = s.c->any({&h.in_channels, &h.out_channels, &h.kernel_h, &h.kernel_w,
                                       &h.stride_h, &h.stride_w, &h.dilation_h, &h.dilation_w});
       return s.set(field, *field + h.groups);
     }},
};

// ---- arguments

struct ArgsSpoiler : SpoilerBase {
  const Convolution& v;
  const octet_conv2d_desc& desc;
  octet_conv2d_args* a;

  bool per_tensor() const { return desc.lhs_quant == OCTET_LHS_PER_TENSOR; }
  // A copy of the run's pads, or of the declared ones, to spoil.
  octet_conv2d_pads& own_pads() {
    const octet_conv2d_shape s = v.run_shape();
    scratch->emplace_back(
        c, std::vector<octet_conv2d_pads>{{s.pad_top, s.pad_bottom, s.pad_left, s.pad_right}});
    auto* const pads = scratch->back().data<octet_conv2d_pads>();
    a->pads = pads;
    return *pads;
  }
  // An address inside one of the blocks, `alignment` bytes of which begin no later.
  const uint8_t* address_in(std::initializer_list<const Block*> blocks, size_t alignment) {
    const Block& block = **(blocks.begin() + c->below(blocks.size()));
    if (!block.bytes()) return nullptr;
    const uint8_t* const at = block.data() + c->below(block.bytes());
    return at - (uintptr_t)at % alignment;
  }
};
using A = ArgsSpoiler;

constexpr Rule<A> kArgsRules[] = {
    {"a wrong struct_size", [](A& s) { return s.wrong_size(&s.a->struct_size); }},
    {"a batch above batch_max",
     [](A& s) { return s.set(&s.a->batch, s.desc.shape.batch_max + 1 + s.c->below(9)); }},
    {"an in_h above in_h_max",
     [](A& s) { return s.set(&s.a->in_h, s.desc.shape.in_h_max + 1 + s.c->below(9)); }},
    {"an in_w above in_w_max",
     [](A& s) { return s.set(&s.a->in_w, s.desc.shape.in_w_max + 1 + s.c->below(9)); }},
    {"another output size", [](A& s) { return s.set(&s.a->out_h, s.v.dst.h + 1); }},
    {"pads beyond 2^31",
     [](A& s) {
       octet_conv2d_pads& p = s.own_pads();
       return s.set(s.c->any({&p.top, &p.bottom, &p.left, &p.right}),
                    (size_t{1} << 31) + 1 + s.c->below(9));
     }},
    {"pads that make a larger output",
     [](A& s) {
       const octet_conv2d_shape& shape = s.desc.shape;
       octet_conv2d_pads& p = s.own_pads();
       const size_t declared = shape.pad_left + shape.pad_right;
       if (!shape.transposed) return s.set(&p.left, declared + shape.stride_w);
       p.right = 0;
       return declared && s.set(&p.left, declared - 1);
     }},
    {"pads that leave no output",
     [](A& s) {
       const octet_conv2d_shape& shape = s.desc.shape;
       octet_conv2d_pads& p = s.own_pads();
       const size_t reach = shape.dilation_h * (shape.kernel_h - 1) + 1;
       if (shape.transposed)
         return s.set(&p.top, (s.v.lhs.h - 1) * shape.stride_h + reach + shape.output_padding_h);
       p.top = p.bottom = 0;
       return s.v.lhs.h < reach;
     }},
    {"no lhs", [](A& s) { return s.set(&s.a->lhs, nullptr); }},
    {"no dst", [](A& s) { return s.set(&s.a->dst, nullptr); }},
    {"no residual", [](A& s) { return s.a->residual && s.set(&s.a->residual, nullptr); }},
    {"a residual without a use",
     [](A& s) { return !s.a->residual && s.set(&s.a->residual, s.a->lhs); }},
    {"a misaligned lhs",
     [](A& s) {
       return element_bytes(s.v.lhs.type) > 1 &&
              s.set(&s.a->lhs,
                    s.v.lhs.block.data() + 1 + s.c->below(element_bytes(s.v.lhs.type) - 1));
     }},
    {"a misaligned dst",
     [](A& s) {
       return element_bytes(s.v.dst.type) > 1 &&
              s.set(&s.a->dst,
                    s.v.dst.block.data() + 1 + s.c->below(element_bytes(s.v.dst.type) - 1));
     }},

    {"a stride below a pixel",
     [](A& s) {
       if (s.c->one_in(2))
         return s.v.lhs.channels > 1 &&
                s.set(&s.a->lhs_stride, 1 + s.c->below(s.v.lhs.channels - 1));
       return s.v.dst.channels > 1 && s.set(&s.a->dst_stride, 1 + s.c->below(s.v.dst.channels - 1));
     }},
    {"a stride of an NCHW tensor",
     [](A& s) {
       if (s.c->one_in(2))
         return s.desc.lhs_layout == OCTET_NCHW && s.set(&s.a->lhs_stride, s.v.lhs.channels);
       return s.desc.dst_layout == OCTET_NCHW && s.set(&s.a->dst_stride, s.v.dst.channels);
     }},
    {"a stride that leaves size_t",
     [](A& s) {
       const bool of_lhs = s.c->one_in(2);
       const Tensor& t = of_lhs ? s.v.lhs : s.v.dst;
       return t.batch * t.h * t.w > 1 &&
              s.set(of_lhs ? &s.a->lhs_stride : &s.a->dst_stride, SIZE_MAX / (1 + s.c->below(2)));
     }},

    {"a wrong lhs zero point",
     [](A& s) {
       int32_t* const value = s.copy(&s.a->lhs_zero_points, s.v.lhs.batch);
       return value && s.wrong_zero_point(value, s.desc.lhs_type);
     }},
    {"a wrong lhs scale",
     [](A& s) {
       float* const value = s.copy(&s.a->lhs_scales, s.v.lhs.batch);
       return value && s.wrong_scale(value);
     }},
    {"lhs_zero_points without a use",
     [](A& s) { return !s.per_tensor() && s.set(&s.a->lhs_zero_points, &kNothing); }},
    {"lhs_scales without a use",
     [](A& s) {
       return !(s.per_tensor() && s.desc.dst_type != OCTET_S32) && s.set(&s.a->lhs_scales, &kOne);
     }},

    {"a dst over an input, the weights or the workspace",
     [](A& s) {
       const uint8_t* at = s.c->one_in(4)
                               ? (const uint8_t*)(s.c->one_in(2) ? s.desc.packed : s.a->workspace)
                               : s.address_in({&s.v.lhs.block, &s.v.residual.block,
                                               &s.v.lhs_zero_points, &s.v.lhs_scales},
                                              element_bytes(s.v.dst.type));
       return at && at != s.v.residual.block.data() && s.set(&s.a->dst, (uint8_t*)at);
     }},
    {"a workspace over an operand",
     [](A& s) {
       const uint8_t* at = s.c->one_in(4)
                               ? (const uint8_t*)s.desc.packed
                               : s.address_in({&s.v.lhs.block, &s.v.dst.block, &s.v.residual.block,
                                               &s.v.lhs_zero_points, &s.v.lhs_scales},
                                              OCTET_ALIGNMENT);
       return at && s.a->workspace_bytes && s.set(&s.a->workspace, (uint8_t*)at);
     }},
};

}  // namespace

const char* spoil(Choices* c, Scratch* scratch, octet_filter_desc* filter) {
  ShapeSpoiler shape = {{c, scratch}, &filter->shape};
  if (c->one_in(2)) return apply_one(kShapeRules, shape);
  FilterSpoiler own = {{c, scratch}, filter};
  return apply_one(kFilterRules, own);
}

const char* spoil(Choices* c, Scratch* scratch, octet_conv2d_desc* desc) {
  ShapeSpoiler shape = {{c, scratch}, &desc->shape};
  ConvSpoiler own = {{{c, scratch}, desc}};
  DescSpoiler<octet_conv2d_desc> shared = {{c, scratch}, desc};
  switch (c->below(4)) {
    case 0:
      return apply_one(kShapeRules, shape);
    case 1:
      return apply_one(kConvRules, own);
    default:
      return apply_one(kDescRules<octet_conv2d_desc>, shared);
  }
}

const char* spoil(Choices* c, Scratch* scratch, const Convolution& v, const octet_conv2d_desc& desc,
                  octet_conv2d_args* args) {
  ArgsSpoiler spoiler = {{c, scratch}, v, desc, args};
  return apply_one(kArgsRules, spoiler);
}

// ---- algorithms that octet.h allows, and those that create refuses

const char* Convolution::refused(octet_conv_algorithm algorithm) const {
  if (s16_ && filter.type != OCTET_S8) return "a filter that is not s8 by s16 values";
  if (s16_ && algorithm == OCTET_CONV_WINOGRAD_2X2_INT8) return "approximate sums of s16 values";
  return epilogue.refused();
}

bool Convolution::possible(octet_conv_algorithm algorithm) const {
  if (filter.sparsity == OCTET_SPARSE_2_4 && algorithm > OCTET_CONV_IM2COL) return false;
  const octet_conv2d_shape& s = filter.shape;
  // In s8; near: 144 (w - zero point) has 16 bits
  bool centred = true, near = true;
  const int32_t shift = -centre(filter.type);
  const auto look_at = [&](int32_t zero_point) {
    centred = centred && zero_point == 0;
    near = near && zero_point >= -100 && zero_point <= 99;
  };
  if (zero_points_.empty()) look_at(shift);
  for (const int32_t zero_point : zero_points_) look_at(zero_point + shift);
  const bool plain_3x3 =
      s.kernel_h == 3 && s.kernel_w == 3 && s.dilation_h == 1 && s.dilation_w == 1 && !s.transposed;
  const size_t group = s.in_channels / s.groups;
  const auto strides = [&](size_t stride) { return s.stride_h == stride && s.stride_w == stride; };
  // Larger kernels as sums of 3x3 ones
  const auto sizes = [&](size_t least, size_t most) {
    return s.kernel_h >= least && s.kernel_w >= least && s.kernel_h <= most && s.kernel_w <= most;
  };
  const bool sums_of_3x3 = s.dilation_h == 1 && s.dilation_w == 1 && !s.transposed &&
                           group % 8 == 0 &&
                           ((strides(1) && sizes(4, 9)) || (strides(2) && sizes(3, 7)));
  switch (algorithm) {
    case OCTET_CONV_AUTO:
    case OCTET_CONV_DIRECT:
    case OCTET_CONV_IM2COL:
      return true;
    case OCTET_CONV_DEPTHWISE:
      return s.in_channels == s.groups && !s.transposed;
    case OCTET_CONV_GROUPED:
      return group == s.out_channels / s.groups && group >= 2 && group <= 16 &&
             (group & (group - 1)) == 0 && !s.transposed;
    case OCTET_CONV_WINOGRAD_2X2:
      return plain_3x3 && strides(1);
    case OCTET_CONV_WINOGRAD_4X4:
      return ((plain_3x3 && strides(1)) || sums_of_3x3) && near;
    case OCTET_CONV_WINOGRAD_2X2_S2:
      return plain_3x3 && strides(2);
    case OCTET_CONV_WINOGRAD_2X2_INT8:
      return plain_3x3 && strides(1) && centred && filter.accuracy == OCTET_ACCURACY_APPROXIMATE;
  }
  return false;
}

}  // namespace octet_fuzz
