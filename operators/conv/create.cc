// SPDX-License-Identifier: Apache-2.0
// octet_conv2d_create and octet_conv2d_destroy: checks the descriptor, chooses a kernel and builds
// the object. EpilogueBuilder does the part that products have, too.
#include <string.h>

#include "dispatch/api/struct_size.h"
#include "dispatch/tables/kernel_names.h"
#include "dispatch/tables/tier_ops.h"
#include "dispatch/tables/tiers.h"
#include "dispatch/tables/transforms.h"
#include "operators/common/blob.h"
#include "operators/common/check.h"
#include "operators/conv/algorithms/channelwise.h"
#include "operators/conv/algorithms/filter_blob.h"
#include "operators/conv/choice.h"
#include "operators/conv/cost.h"
#include "operators/conv/machine.h"
#include "operators/conv/object.h"
#include "operators/conv/plan.h"
#include "operators/conv/shape.h"
#include "operators/conv/trace.h"
#include "operators/conv/tuning.h"
#include "operators/epilogue/s16.h"
#include "operators/gemm/kernel_limits.h"

namespace octet {
namespace {

// The results of octet_conv2d_create before it allocates anything.
struct ConvBuilder {
  const octet_conv2d_desc& desc;
  octet_error* const error;
  EpilogueBuilder epilogue;
  KernelLimits limits;
  ConvShape shape = {};
  Container blob = {};
  const Choice* requested = nullptr;  // the choice to take; null: create finds one
  Choice choice = {};
  bool measured = false;  // the choice comes from a tuning
  ConvKernel kernel = {};

  ConvBuilder(const octet_conv2d_desc& d, octet_error* e)
      : desc(d), error(e), epilogue(d, d.shape.out_channels, depth_of(d.shape), e), limits(d, e) {
    epilogue.takes_s16 = true;
    epilogue.column_name = "output channel";
    epilogue.depth_name = "kernel_h x kernel_w x in_channels / groups";
    if (d.lhs_type == OCTET_F32 && d.lhs_quant == OCTET_LHS_STATIC)
      epilogue.lhs_type = d.lhs_quantized_type;
  }
  bool has_s16() const { return desc.lhs_type == OCTET_S16; }
  // Bytes of a value that the algorithm writes
  size_t dst_bytes() const {
    return has_s16() && !kernel.s16 ? sizeof(int32_t) : element_bytes(desc.dst_type);
  }
  octet_conv_algorithm algorithm() const {
    return (octet_conv_algorithm)blob.read_geometry<FilterGeometry>().algorithm;
  }

 private:
  // The shape has not been checked yet.
  static size_t depth_of(const octet_conv2d_shape& s) {
    return s.kernel_h * s.kernel_w * (s.groups ? s.in_channels / s.groups : 0);
  }
};

octet_status check_lhs_kind(const ConvBuilder& builder) {
  const octet_conv2d_desc& d = builder.desc;
  octet_error* error = builder.error;
  const bool f32 = d.lhs_type == OCTET_F32, dynamic = quantizes(d.lhs_quant);
  if (d.lhs_quant == OCTET_LHS_PER_ROW)
    return fail(error, OCTET_UNSUPPORTED,
                "desc.lhs_quant: OCTET_LHS_PER_ROW is for GEMM; a convolution has "
                "OCTET_LHS_PER_TENSOR, one zero point and scale per image");
  if (d.lhs_quant == OCTET_LHS_SYMMETRIC_BLOCKS)
    return fail(
        error, OCTET_UNSUPPORTED,
        "desc.lhs_quant: OCTET_LHS_SYMMETRIC_BLOCKS is for GEMM, of weights in scale blocks");
  if (f32 ? d.lhs_quant == OCTET_LHS_PER_TENSOR : dynamic)
    return fail(error, OCTET_UNSUPPORTED,
                "desc.lhs_type, desc.lhs_quant: an s8 or u8 input goes with OCTET_LHS_STATIC or "
                "OCTET_LHS_PER_TENSOR, an f32 input with OCTET_LHS_STATIC, OCTET_LHS_SYMMETRIC or "
                "OCTET_LHS_ASYMMETRIC");
  if (f32 && !dynamic) {
    if (!is_8bit(d.lhs_quantized_type))
      return fail(error, OCTET_UNKNOWN_ENUM,
                  "desc.lhs_quantized_type is %d; it must be OCTET_S8 or OCTET_U8",
                  (int)d.lhs_quantized_type);
    return check_scale(d.lhs_scale, "desc.lhs_scale", kScalar, error);
  }
  if (d.lhs_scale == 0 && !d.lhs_quantized_type) return OCTET_OK;
  return fail(error, OCTET_UNSUPPORTED, "desc.%s is for an f32 input with OCTET_LHS_STATIC",
              d.lhs_quantized_type ? "lhs_quantized_type" : "lhs_scale");
}

octet_status check_layouts(const ConvBuilder& builder) {
  const octet_conv2d_desc& d = builder.desc;
  const struct {
    const char* name;
    octet_layout value;
  } layouts[] = {{"lhs_layout", d.lhs_layout}, {"dst_layout", d.dst_layout}};
  for (const auto& layout : layouts)
    if (layout.value != OCTET_NHWC && layout.value != OCTET_NCHW)
      return fail(builder.error, OCTET_UNKNOWN_ENUM,
                  "desc.%s is %d, neither OCTET_NHWC nor OCTET_NCHW", layout.name,
                  (int)layout.value);
  return OCTET_OK;
}

octet_status check_blob(ConvBuilder* builder) {
  const octet_conv2d_desc& d = builder->desc;
  octet_error* error = builder->error;
  if (!d.packed)
    return fail(error, OCTET_NULL_POINTER, "desc.packed is null; octet_conv2d_pack makes it");
  OCTET_TRY(check_aligned(d.packed, "desc.packed", error));
  Container& c = builder->blob;
  if (read_head(d.packed, d.packed_bytes, &c) == BlobProblem::kNone &&
      c.header.kind == BlobKind::kMatrices)
    return fail(error, OCTET_BAD_BLOB,
                "desc.packed comes from octet_pack; a convolution takes octet_conv2d_pack's");
  OCTET_TRY(check_filter_blob(d.packed, d.packed_bytes, "desc.packed", &c, error));
  octet_blob_info info = OCTET_BLOB_INFO_INIT;
  describe_filter(c, &info);
  const octet_conv2d_shape &blob = info.shape, &shape = d.shape;
  const auto other = [&](const char* name, size_t its, size_t wanted) {
    return fail(error, OCTET_BAD_BLOB, "desc.packed was packed for %s = %zu; desc.shape has %zu",
                name, its, wanted);
  };
  for (const ShapeField& f : kShapeFields)
    if (f.kind == ShapeField::kWeights && blob.*f.value != shape.*f.value)
      return other(f.name, blob.*f.value, shape.*f.value);
  if (blob.transposed != shape.transposed)
    return other("transposed", (size_t)blob.transposed, (size_t)shape.transposed);
  if (c.header.type != d.rhs_type)
    return fail(error, OCTET_BAD_BLOB, "desc.packed holds %s weights; desc.rhs_type is %s",
                octet_type_name((octet_type)c.header.type), octet_type_name(d.rhs_type));
  return OCTET_OK;
}

octet_status choose_kernel(ConvBuilder* builder) {
  const Machine machine = conv_machine();
  OCTET_TRY(read_limits(&builder->limits, machine));
  const CpuFeatures& cpu = builder->limits.cpu;
  const char* const forced = builder->limits.forced;
  const octet_conv_algorithm algorithm = builder->algorithm();
  const ConvChoiceProblem problem = {
      algorithm,
      builder->shape,
      builder->epilogue.lhs_element_type,
      element_type_of(packed_filter_type(builder->desc.rhs_type)),
      builder->dst_bytes(),
      {builder->blob.format->layout, builder->blob.header.has_int8_min != 0}};
  if (builder->requested) {
    const char* why;
    if (!may_use(*builder->requested, cpu, problem, &builder->kernel, &why))
      return refuse_choice(why, builder->error);
    builder->choice = *builder->requested;
    return OCTET_OK;
  }
  if (!forced) {
    OCTET_TRY(look_up_conv(builder->desc, builder->limits.environment, cpu, problem,
                           &builder->choice, &builder->kernel, &builder->measured, builder->error));
    if (builder->measured) return OCTET_OK;
  }
  builder->kernel = choose_conv(cpu, problem, forced, &builder->choice);
  // OCTET_KERNEL binds only operators of the kernel's kind. A descriptor's kernel must run.
  if (builder->desc.kernel && kernel_exists(forced) &&
      !has_kernel(*algorithm_of((uint8_t)algorithm), forced))
    return fail(builder->error, OCTET_KERNEL_UNUSABLE,
                "desc.kernel '%s' is of another kind than those of a '%s' convolution", forced,
                algorithm_name(algorithm));
  OCTET_TRY(refuse_forced(builder->limits, machine, builder->kernel.result));
  if (builder->kernel.result == Selected::kOk) return OCTET_OK;
  return fail(
      builder->error, OCTET_WRONG_TIER,
      "desc.packed holds '%s' weights in form %s, of tier %s, which no usable kernel reads; "
      "pack it again",
      algorithm_name(algorithm), builder->blob.format->name,
      isa_name(smallest_tier(*builder->blob.format)));
}

// The filter's sums as check_range reads them.
PackedRhs range_of(const FilterSums& sums) {
  return {nullptr, sums.positive, sums.negative, sums.zero_points};
}

// Fills bias, with the term of a static lhs zero point, weight sums and zero points (or null) of
// `padded` columns; those beyond the plan's are 0.
void fill_columns(const ConvBuilder& builder, const ConvPlan& plan, size_t padded, int32_t* bias,
                  int32_t* weight_sum, int32_t* zero_points) {
  const ConvShape& s = plan.shape;
  const size_t columns = s.out_channels * s.phases;
  const FilterSums sums = filter_sums(builder.blob, builder.desc.packed);
  for (size_t n = 0; n < padded; ++n) {
    const bool there = n < columns, known = there && sums.positive;
    const size_t o = n % s.out_channels;
    bias[n] = there && !builder.has_s16()
                  ? n < s.out_channels ? settled_bias(builder.epilogue, range_of(sums), n) : bias[o]
                  : 0;
    weight_sum[n] = known ? (int32_t)((uint32_t)sums.positive[o] + (uint32_t)sums.negative[o]) : 0;
    if (zero_points) zero_points[n] = known ? sums.zero_points[o] : 0;
  }
  if (s.phases > 1 && sums.positive)  // a column has the weights of its phase only
    plan.implementation->sum_phases(builder.blob.format->layout, s, plan.payload, weight_sum);
  if (plan.runtime_zero_point) return;
  const int32_t zero_point = plan.static_zero_point + plan.lhs_shift;
  Init init = {};
  init.cols = padded;
  init.base = init.out = bias;
  init.lhs_zero_points = &zero_point;
  init.weight_sums = weight_sum;
  plan.ops->init(init);
}

// Allocates the panels. There are none if the caller named the kernel, to test or to time it: then
// it multiplies all weights.
Int8Panels take_int8_panels(const ConvBuilder& builder, Arena* arena) {
  Int8Panels panels = {};
  const char* const forced = builder.limits.forced;
  if (!forced || !has_kernel(*algorithm_of((uint8_t)builder.algorithm()), forced))
    panels.kernel = int8_kernel_for(builder.limits.cpu, builder.kernel.depthwise);
  if (!panels.kernel) return panels;
  panels.fits = arena->take<bool>(depthwise_panels(builder.shape));
  panels.payload = arena->take<uint8_t>(depthwise_panels(builder.shape) *
                                        depthwise_panel_weights(builder.shape));
  return panels;
}

void set_weights(const ConvBuilder& builder, const Int8Panels& int8_panels, ConvPlan* plan) {
  const WeightFormat& format = *builder.blob.format;
  plan->payload = section_of(builder.blob, SectionId::kWeights, builder.desc.packed);
  plan->offsets =
      format.kind == KernelKind::kGrouped && format.layout.element_type == ElementType::kS16;
  plan->int8_panels = int8_panels;
  if (int8_panels.kernel) copy_int8_panels(builder.shape, plan->payload, int8_panels);
}

// The arrays that only an s16 lhs needs.
struct S16Arrays {
  S16Epilogue epilogue;
  S16Offsets offsets;
};

S16Arrays build_s16(const ConvBuilder& builder, const Epilogue& f, size_t padded, Arena* arena) {
  if (!builder.has_s16()) return {};
  const S16Arrays s16 = {build_s16(builder.epilogue, f, padded, arena),
                         take_s16_offsets(builder.epilogue, padded, arena)};
  fill_s16_offsets(builder.epilogue, {}, ElementType::kS8, s16.offsets);
  return s16;
}

void set_s16(const S16Arrays& s16, ConvPlan* plan) {
  plan->s16 = s16.epilogue;
  plan->s16_offsets = s16.offsets;
  plan->epilogue = {};  // s32
  plan->epilogue.scale = plan->s16.in_kernel;
  plan->requantization = requantization_of(plan->s16);
  plan->runtime_zero_point = splits_s16(*plan);
  plan->requantize_in_kernel = !splits_s16(*plan) && plan->s16.in_kernel && plan->depthwise &&
                               (plan->depthwise->flags & kRequantizes);
}

// Of an s16 lhs a row of s16 values, or the zero points and the rows of an s16 value's two bytes.
void fill_zeros(const ConvBuilder& builder, uint8_t* rows, octet_conv2d* conv) {
  const size_t row = zero_row_bytes(builder.shape);
  const ElementType type = conv->plan.lhs_type;
  conv->zero_row = rows;
  if (!splits_s16(conv->plan)) {
    const auto zero = (uint8_t)builder.desc.lhs_zero_point ^ conv->plan.staged_flip;
    if (rows) memset(rows, zero, builder.has_s16() ? 2 * row : row);
    return;
  }
  for (size_t i = 0; i < 2; ++i) {
    const uint8_t zero = i ? low_flip(type) : high_flip(type);
    conv->s16_zero_points[i] = type == ElementType::kS8 ? (int8_t)zero : zero;
    memset(rows + i * row, zero, row);
  }
}

// The values that run checks its arguments against.
void copy_values(const ConvBuilder& builder, octet_conv2d* conv) {
  const octet_conv2d_desc& d = builder.desc;
  conv->groups = builder.shape.groups;
  conv->choice = builder.choice;
  conv->measured = builder.measured;
  conv->lhs_layout = d.lhs_layout;
  conv->dst_layout = d.dst_layout;
  conv->lhs_type = d.lhs_type;
  conv->rhs_type = d.rhs_type;
  conv->dst_type = d.dst_type;
  conv->residual_type = d.epilogue.residual.type;
  conv->lhs_quant = d.lhs_quant;
  if (quantizes(*conv))
    conv->quantization = dynamic_quantization({}, d.lhs_quant == OCTET_LHS_ASYMMETRIC);
  else if (d.lhs_type == OCTET_F32)
    conv->quantization = {d.lhs_scale, d.lhs_zero_point, least(d.lhs_quantized_type),
                          most(d.lhs_quantized_type)};
}

octet_conv2d* build(const ConvBuilder& builder, Arena* arena) {
  const octet_conv2d_desc& d = builder.desc;
  const ConvShape& s = builder.shape;
  octet_conv2d* conv = arena->take<octet_conv2d>(1);
  const ConvAlgorithm& implementation = *algorithm_of((uint8_t)builder.algorithm());
  const ConvShape rewritten =
      implementation.rewrite ? implementation.rewrite(builder.blob.format->layout, s) : s;
  // Kernels may read whole vectors past the last channel of a group
  const size_t columns = s.out_channels * rewritten.phases, padded = round_up(columns, 64) + 64;
  const Epilogue epilogue = build_epilogue(builder.epilogue, ops_of(builder.kernel.tier_id()),
                                           builder.epilogue.max_scaled, columns, padded, arena);
  int32_t* bias = arena->take<int32_t>(padded);
  int32_t* weight_sum = arena->take<int32_t>(padded);
  const bool has_zero_points = builder.blob.find(SectionId::kZeroPoints) != nullptr;
  int32_t* zero_points = has_zero_points ? arena->take<int32_t>(padded) : nullptr;
  uint8_t* zero_row = d.lhs_quant == OCTET_LHS_STATIC
                          ? arena->take<uint8_t>((builder.has_s16() ? 2 : 1) * zero_row_bytes(s))
                          : nullptr;
  const S16Arrays s16 = build_s16(builder, epilogue, padded, arena);
  const Int8Panels int8_panels = take_int8_panels(builder, arena);
  if (!conv) return nullptr;
  *conv = {};
  ConvPlan& plan = conv->plan;
  plan.implementation = &implementation;
  plan.shape = rewritten;
  plan.kernel = builder.kernel.micro;
  plan.depthwise = builder.kernel.depthwise;
  plan.ops = &ops_of(builder.kernel.tier_id());
  plan.byte_windows = byte_windows_for(builder.limits.cpu, builder.kernel, builder.limits.forced);
  plan.transforms = &transforms_of(builder.kernel.tier_id());
  plan.lhs_type = builder.kernel.s16  ? ElementType::kS16
                  : builder.has_s16() ? builder.kernel.byte_type()
                                      : builder.epilogue.lhs_element_type;
  const ElementType read = builder.kernel.s16 ? plan.lhs_type : builder.kernel.lhs_element_type();
  plan.lhs_shift = type_shift(plan.lhs_type, read);
  const bool stages = !builder.has_s16() && (wants_borders(plan) || flips_lines(plan));
  (stages ? plan.staged_flip : plan.lhs_flip) = plan.lhs_shift ? 0x80 : 0;
  plan.runtime_zero_point = builder.epilogue.runtime_scales();
  plan.static_zero_point = d.lhs_zero_point;
  plan.epilogue = epilogue;
  plan.requantization = requantization_of(epilogue);
  plan.requantize_in_kernel = requantizes_in_kernel(
      builder.epilogue, epilogue, builder.epilogue.max_scaled, builder.kernel.flags());
  plan.dst_bytes = builder.dst_bytes();
  plan.cache_bytes = builder.choice.cache_bytes;
  plan.block = builder.choice.block;
  plan.pass = builder.choice.pass;
  plan.tasks = builder.choice.tasks;

  if (builder.has_s16()) set_s16(s16, &plan);
  set_weights(builder, int8_panels, &plan);
  fill_columns(builder, plan, padded, bias, weight_sum, zero_points);
  fill_zeros(builder, zero_row, conv);
  plan.columns = {bias, weight_sum, zero_points,
                  zero_points && all_alike(zero_points, s.out_channels)};

  copy_values(builder, conv);
  conv->packed = d.packed, conv->packed_bytes = (size_t)builder.blob.header.bytes;
  conv->verbose = builder.limits.environment.verbose;
  plan.tile_cycles = tile_cycles_of(*conv, builder.limits.cpu);
  const ConvCost cost = cost_of(*conv, s.batch, s.in_h, s.in_w, builder.limits.cpu);
  conv->pixel_cycles =
      (builder.has_s16() ? 2 : 1) * microseconds_of(cost.far, builder.limits.cpu.in_order()) *
      kGigahertz * 1e3 /
      ((double)s.batch * (double)conv_out_h(s, s.in_h) * (double)conv_out_w(s, s.in_w));
  conv->declared = schedule(
      *conv, {s.batch, s.in_h, s.in_w, conv_out_h(s, s.in_h), conv_out_w(s, s.in_w), plan.shape},
      1);
  conv->bytes = arena->used;
  return conv;
}

// Zero points of weights are of no account here: the algorithms subtract them.
octet_status check_s16(ConvBuilder* builder, const FilterSums& sums) {
  if (algorithm_of((uint8_t)builder->algorithm())->approximate)
    return fail(builder->error, OCTET_UNSUPPORTED,
                "desc.packed holds '%s' weights, whose sums are approximate; those of an s16 lhs "
                "must be exact",
                algorithm_name(builder->algorithm()));
  return check_s16_range(&builder->epilogue, {nullptr, sums.positive, sums.negative, nullptr});
}

octet_status create(ConvBuilder* builder, octet_conv2d** conv) {
  EpilogueBuilder* const epilogue = &builder->epilogue;
  OCTET_TRY(read_shape(builder->desc.shape, "desc.shape", &builder->shape, builder->error));
  OCTET_TRY(check_lhs_kind(*builder));
  OCTET_TRY(check_kind(builder->desc, *epilogue));
  OCTET_TRY(check_layouts(*builder));
  OCTET_TRY(check_blob(builder));
  builder->shape.padded_lines = filter_shape(builder->blob).padded_lines;
  OCTET_TRY(check_quantization(epilogue));
  const FilterSums sums = filter_sums(builder->blob, builder->desc.packed);
  epilogue->outline = builder->blob.header.outline;
  OCTET_TRY(plan_epilogue(epilogue));
  const ConvAlgorithm& algorithm = *algorithm_of((uint8_t)builder->algorithm());
  if (algorithm.stretch) epilogue->stretch = algorithm.stretch(builder->shape);
  OCTET_TRY(builder->has_s16() ? check_s16(builder, sums) : check_range(epilogue, range_of(sums)));
  OCTET_TRY(choose_kernel(builder));
  const octet_conv2d_desc& d = builder->desc;
  // Copies between layouts are of bytes
  if (builder->has_s16() && d.lhs_layout == OCTET_NHWC && d.dst_layout == OCTET_NHWC)
    take_s16(algorithm, builder->limits.cpu, builder->shape, epilogue->max_s16_sum <= INT32_MAX,
             builder->blob.find(SectionId::kZeroPoints) != nullptr, &builder->kernel);
  return allocate_and_build(build, *builder, builder->desc.allocator, conv, builder->error);
}

}  // namespace
}  // namespace octet

namespace octet {

octet_status create_conv(const octet_conv2d_desc* desc, const Choice* choice, octet_conv2d** conv,
                         octet_error* error) {
  if (!desc || !conv) return fail(error, OCTET_NULL_POINTER, "%s is null", desc ? "conv" : "desc");
  *conv = nullptr;
  CallerStruct<octet_conv2d_desc> given;
  OCTET_TRY(given.read(desc, "desc", error));
  if (choice && given->kernel) return refuse_named(error);
  const double start = now_microseconds();
  const octet_conv2d_shape& shape = given->shape;
  ConvBuilder builder(*given, error);
  builder.requested = choice;
  OCTET_TRY(create(&builder, conv));
  if ((*conv)->verbose)
    trace("create", **conv, (*conv)->plan.shape, shape.batch_max, shape.in_h_max, shape.in_w_max,
          now_microseconds() - start);
  return OCTET_OK;
}

const Choice& choice_of(const octet_conv2d& conv) { return conv.choice; }

}  // namespace octet

using namespace octet;

octet_status octet_conv2d_create(const octet_conv2d_desc* desc, octet_conv2d** conv,
                                 octet_error* error) {
  return create_conv(desc, nullptr, conv, error);
}

void octet_conv2d_destroy(octet_conv2d* conv) {
  if (!conv) return;
  const octet_allocator allocator = conv->allocator;
  allocator.release(allocator.context, conv);
}

octet_conv_algorithm octet_conv2d_algorithm(const octet_conv2d* conv) {
  return conv ? conv->choice.algorithm : OCTET_CONV_AUTO;
}

const char* octet_conv2d_kernel(const octet_conv2d* conv) {
  return conv ? conv->choice.kernel->name : nullptr;
}
