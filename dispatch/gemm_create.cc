// octet_gemm_create: every check that does not depend on a run, the choice of the kernel, and the plan.
#include <stdlib.h>
#include <string.h>

#include "dispatch/check.h"
#include "dispatch/environment.h"
#include "dispatch/gemm.h"
#include "dispatch/kernel_table.h"
#include "dispatch/machine.h"
#include "dispatch/select.h"
#include "dispatch/trace.h"
#include "kernels/gemm/blob.h"

namespace octet {
namespace {

// Everything that create works out before it allocates.
struct Draft {
  const octet_gemm_desc& desc;
  octet_error* error;
  bool has_blob;
  BlobHeader blob;
  size_t matrices;          // packed
  bool lhs_u8;              // after quantization
  int32_t lhs_lo, lhs_hi;   // range of lhs - zero point
  int64_t max_acc, max_bias;
  double max_scaled;        // largest |acc| * scale
  Environment environment;
  const MicroKernel* kernel;
  const MicroKernel* small_kernel;
  Finish finish;
};

bool quantizes(const octet_gemm_desc& d) { return d.lhs_quant == OCTET_LHS_SYMMETRIC || d.lhs_quant == OCTET_LHS_ASYMMETRIC; }
bool runtime_scales(const octet_gemm_desc& d) { return d.lhs_quant != OCTET_LHS_STATIC; }

octet_status check_enums(const Draft& draft) {
  const octet_gemm_desc& d = draft.desc;
  octet_error* error = draft.error;
  if (d.lhs_quant < OCTET_LHS_STATIC || d.lhs_quant > OCTET_LHS_ASYMMETRIC)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.lhs_quant is %d, not an octet_lhs_quant", (int)d.lhs_quant);
  if (!is_8bit(d.lhs_type) && d.lhs_type != OCTET_F32)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.lhs_type is %d; it must be OCTET_S8, OCTET_U8 or OCTET_F32", (int)d.lhs_type);
  if (!is_8bit(d.rhs_type)) return fail(error, OCTET_UNKNOWN_ENUM, "desc.rhs_type is %d; it must be OCTET_S8 or OCTET_U8", (int)d.rhs_type);
  if (d.dst_type < OCTET_S8 || d.dst_type > OCTET_F32)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.dst_type is %d, not an octet_type", (int)d.dst_type);
  if (d.requant != OCTET_REQUANT_FLOAT && d.requant != OCTET_REQUANT_TFLITE)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.requant is %d, not an octet_requant", (int)d.requant);
  if (d.activation < OCTET_ACTIVATION_NONE || d.activation > OCTET_ACTIVATION_CLAMP)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.activation is %d, not an octet_activation", (int)d.activation);
  if (d.rhs_order != OCTET_KN && d.rhs_order != OCTET_NK)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.rhs_order is %d, neither OCTET_KN nor OCTET_NK", (int)d.rhs_order);
  if (d.residual.type != 0 && !is_8bit(d.residual.type))
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.residual.type is %d; it must be OCTET_S8, OCTET_U8 or 0", (int)d.residual.type);
  if (d.max_isa < OCTET_ISA_AUTO || d.max_isa > OCTET_ISA_I8MM)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.max_isa is %d, not an octet_isa", (int)d.max_isa);
  if ((d.allocator.allocate == nullptr) != (d.allocator.release == nullptr))
    return fail(error, OCTET_NULL_POINTER, "desc.allocator has one of allocate and release, but not the other");
  return OCTET_OK;
}

// Combinations that have no meaning, rather than being quietly ignored.
octet_status check_combination(const Draft& draft) {
  const octet_gemm_desc& d = draft.desc;
  octet_error* error = draft.error;
  const auto refuse = [&](const char* what) { return fail(error, OCTET_UNSUPPORTED, "%s", what); };
  if ((d.lhs_type == OCTET_F32) != quantizes(d))
    return refuse("desc.lhs_type OCTET_F32 goes with OCTET_LHS_SYMMETRIC or OCTET_LHS_ASYMMETRIC, and only with them");
  if (quantizes(d) && d.dst_type != OCTET_F32) return refuse("an f32 lhs gives an f32 dst; desc.dst_type must be OCTET_F32");
  if (d.lhs_quant != OCTET_LHS_STATIC && d.lhs_zero_point != 0)
    return refuse("desc.lhs_zero_point is for OCTET_LHS_STATIC; with run-time quantization it comes with each run");
  if (d.dst_type != OCTET_F32 && d.bias_f32) return refuse("desc.bias_f32 is for an f32 dst; use desc.bias");
  if (!is_8bit(d.dst_type)) {
    if (d.residual.type) return refuse("desc.residual needs an s8 or u8 dst");
    if (d.lut) return refuse("desc.lut needs an s8 or u8 dst");
    if (d.dst_zero_point) return refuse("desc.dst_zero_point needs an s8 or u8 dst");
    if (d.requant == OCTET_REQUANT_TFLITE) return refuse("OCTET_REQUANT_TFLITE needs an s8 or u8 dst");
  }
  if (d.dst_type == OCTET_S32) {
    if (d.scales || d.scale_count) return refuse("desc.scales has no meaning for an s32 dst: it holds the accumulators");
    if (d.activation) return refuse("desc.activation has no meaning for an s32 dst: it holds the accumulators");
  }
  if (d.requant == OCTET_REQUANT_TFLITE ? d.scales || d.scale_count : d.multipliers || d.shifts || d.multiplier_count)
    return refuse("desc.scales is for OCTET_REQUANT_FLOAT, desc.multipliers and desc.shifts are for OCTET_REQUANT_TFLITE");
  if (d.requant == OCTET_REQUANT_TFLITE && runtime_scales(d))
    return refuse("OCTET_REQUANT_TFLITE needs OCTET_LHS_STATIC: its multipliers hold the lhs scale");
  return OCTET_OK;
}

octet_status check_sizes(Draft* draft) {
  const octet_gemm_desc& d = draft->desc;
  octet_error* error = draft->error;
  if (d.m_max == 0 || d.n == 0 || d.k == 0)
    return fail(error, OCTET_BAD_SIZE, "desc.m_max = %zu, desc.n = %zu, desc.k = %zu: none may be 0", d.m_max, d.n, d.k);
  constexpr size_t kLargest = (size_t)1 << 40;  // leaves room for every rounding and product of the plan
  if (d.m_max > kLargest || d.n > kLargest || d.k > (size_t)INT32_MAX / 255)
    return fail(error, OCTET_BAD_SIZE, "desc.m_max = %zu, desc.n = %zu, desc.k = %zu: m and n end at 2^40, k at %d", d.m_max, d.n, d.k,
                INT32_MAX / 255);
  size_t bytes;
  if (!span_bytes(d.batch_max ? d.batch_max : 1, 0, d.m_max, smaller(d.n, kLargest), d.n, 4, &bytes))
    return fail(error, OCTET_BAD_SIZE, "desc.m_max = %zu times desc.n = %zu leaves size_t", d.m_max, d.n);

  draft->has_blob = d.packed != nullptr;
  draft->matrices = 1;
  if (!d.packed) {
    if (d.packed_bytes) return fail(error, OCTET_NULL_POINTER, "desc.packed is null but desc.packed_bytes is %zu", d.packed_bytes);
    return OCTET_OK;
  }
  OCTET_TRY(check_aligned(d.packed, "desc.packed", error));
  BlobHeader& h = draft->blob;
  const BlobProblem problem = check_blob_header(d.packed, d.packed_bytes, &h);
  if (problem != BlobProblem::kNone) return fail(error, OCTET_BAD_BLOB, "desc.packed (%zu bytes) %s", d.packed_bytes, describe(problem));
  const size_t batch = d.batch_max ? d.batch_max : 1;
  if (h.n != d.n || h.k != d.k || h.type != d.rhs_type || (h.batch != 1 && h.batch < batch))
    return fail(error, OCTET_BAD_BLOB, "desc.packed holds %zu matrices of n = %zu, k = %zu, type %d; the descriptor wants %zu of n = %zu, k = %zu, type %d",
                (size_t)h.batch, (size_t)h.n, (size_t)h.k, (int)h.type, batch, d.n, d.k, (int)d.rhs_type);
  draft->matrices = (size_t)h.batch;
  return OCTET_OK;
}

octet_status check_lhs(Draft* draft) {
  const octet_gemm_desc& d = draft->desc;
  if (d.lhs_quant == OCTET_LHS_STATIC) {
    OCTET_TRY(check_zero_point(d.lhs_zero_point, d.lhs_type, "desc.lhs_zero_point", kScalar, draft->error));
    draft->lhs_u8 = d.lhs_type == OCTET_U8;
    draft->lhs_lo = least(d.lhs_type) - d.lhs_zero_point;
    draft->lhs_hi = most(d.lhs_type) - d.lhs_zero_point;
  } else if (d.lhs_quant == OCTET_LHS_SYMMETRIC) {
    draft->lhs_u8 = false;
    draft->lhs_lo = -127;
    draft->lhs_hi = 127;
  } else {
    draft->lhs_u8 = d.lhs_quant == OCTET_LHS_ASYMMETRIC || d.lhs_type == OCTET_U8;
    draft->lhs_lo = -255;
    draft->lhs_hi = 255;
  }
  return OCTET_OK;
}

float scale_of(const octet_gemm_desc& d, size_t n) { return d.scales[d.scale_count == 1 ? 0 : n]; }
int32_t shift_of(const octet_gemm_desc& d, size_t n) { return d.shifts[d.multiplier_count == 1 ? 0 : n]; }

octet_status check_scales(const Draft& draft) {
  const octet_gemm_desc& d = draft.desc;
  octet_error* error = draft.error;
  if (d.dst_type == OCTET_S32) return OCTET_OK;
  if (d.requant == OCTET_REQUANT_FLOAT) {
    if (!d.scales) return fail(error, OCTET_NULL_POINTER, "desc.scales is null");
    if (d.scale_count != 1 && d.scale_count != d.n)
      return fail(error, OCTET_BAD_SIZE, "desc.scale_count is %zu; it must be 1 or n = %zu", d.scale_count, d.n);
    for (size_t i = 0; i < d.scale_count; ++i) OCTET_TRY(check_scale(d.scales[i], "desc.scales", i, error));
    return OCTET_OK;
  }
  if (!d.multipliers || !d.shifts) return fail(error, OCTET_NULL_POINTER, "desc.%s is null", d.multipliers ? "shifts" : "multipliers");
  if (d.multiplier_count != 1 && d.multiplier_count != d.n)
    return fail(error, OCTET_BAD_SIZE, "desc.multiplier_count is %zu; it must be 1 or n = %zu", d.multiplier_count, d.n);
  for (size_t i = 0; i < d.multiplier_count; ++i) {
    if (d.multipliers[i] != 0 && d.multipliers[i] < 1 << 30)
      return fail(error, OCTET_BAD_SCALE, "desc.multipliers[%zu] is %d; it must be 0 or in [2^30, 2^31)", i, (int)d.multipliers[i]);
    if (d.shifts[i] < -31 || d.shifts[i] > 30)
      return fail(error, OCTET_BAD_SCALE, "desc.shifts[%zu] is %d; it must be in [-31, 30]", i, (int)d.shifts[i]);
  }
  return OCTET_OK;
}

// The accumulator of every column, from the weights if they are known. Also what the epilogue needs to know about its size.
octet_status check_range(Draft* draft) {
  const octet_gemm_desc& d = draft->desc;
  int64_t max_acc = 0, max_bias = 0;
  double max_scaled = 0;
  for (size_t b = 0; b < draft->matrices; ++b) {
    const PackedRhs packed = draft->has_blob ? blob_matrix(d.packed, draft->blob, b) : PackedRhs{};
    for (size_t n = 0; n < d.n; ++n) {
      // Run-time weights without zero points; run checks the zero points that it is given.
      const int64_t positive = draft->has_blob ? packed.positive[n] : (int64_t)d.k * most(d.rhs_type);
      const int64_t negative = draft->has_blob ? packed.negative[n] : (int64_t)d.k * least(d.rhs_type);
      const int64_t bias = d.bias ? d.bias[n] : 0;
      const int64_t hi_pure = draft->has_blob ? positive * draft->lhs_hi + negative * draft->lhs_lo
                                              : positive * draft->lhs_hi > negative * draft->lhs_lo ? positive * draft->lhs_hi : negative * draft->lhs_lo;
      const int64_t lo_pure = draft->has_blob ? positive * draft->lhs_lo + negative * draft->lhs_hi
                                              : positive * draft->lhs_lo < negative * draft->lhs_hi ? positive * draft->lhs_lo : negative * draft->lhs_hi;
      const int64_t hi = hi_pure + bias, lo = lo_pure + bias;
      if (hi > INT32_MAX || lo < INT32_MIN)
        return fail(draft->error, OCTET_ACCUMULATOR_OVERFLOW,
                    "column %zu of k = %zu: the accumulator may reach %lld, outside int32; use fewer k or a smaller bias", n, d.k,
                    (long long)(hi > INT32_MAX ? hi : lo));
      const int64_t magnitude = hi > -lo ? hi : -lo;
      max_acc = magnitude > max_acc ? magnitude : max_acc;
      max_bias = bias > max_bias ? bias : -bias > max_bias ? -bias : max_bias;
      if (d.dst_type == OCTET_S32) continue;
      if (d.requant == OCTET_REQUANT_FLOAT) {
        const double scaled = (double)magnitude * scale_of(d, n);
        max_scaled = scaled > max_scaled ? scaled : max_scaled;
      } else if (shift_of(d, n) > 0 && magnitude > INT32_MAX >> shift_of(d, n)) {
        return fail(draft->error, OCTET_BAD_SCALE, "desc.shifts: column %zu shifts left by %d, but its accumulator may reach %lld", n,
                    (int)shift_of(d, n), (long long)magnitude);
      }
    }
  }
  draft->max_acc = max_acc;
  draft->max_bias = max_bias;
  draft->max_scaled = max_scaled;
  return OCTET_OK;
}

octet_status check_tflite_scale(int32_t multiplier, int32_t shift, const char* name, octet_error* error) {
  if ((multiplier == 0 || multiplier >= 1 << 30) && shift >= -31 && shift <= 0) return OCTET_OK;
  return fail(error, OCTET_BAD_SCALE, "desc.residual.%s: multiplier %d, shift %d; the multiplier must be 0 or in [2^30, 2^31), the shift in [-31, 0]",
              name, (int)multiplier, (int)shift);
}

octet_status plan_residual(Draft* draft) {
  const octet_residual& r = draft->desc.residual;
  octet_error* error = draft->error;
  Finish& f = draft->finish;
  if (!r.type) return OCTET_OK;
  f.has_residual = true;
  f.residual_u8 = r.type == OCTET_U8;
  OCTET_TRY(check_zero_point(r.zero_point, r.type, "desc.residual.zero_point", kScalar, error));
  f.residual_zero_point = r.zero_point;
  if (draft->desc.requant == OCTET_REQUANT_FLOAT) {
    OCTET_TRY(check_scale(r.scale, "desc.residual.scale", kScalar, error));
    f.residual_scale = r.scale;
    return OCTET_OK;
  }
  OCTET_TRY(check_zero_point(r.intermediate_zero_point, draft->desc.dst_type, "desc.residual.intermediate_zero_point", kScalar, error));
  OCTET_TRY(check_tflite_scale(r.product_multiplier, r.product_shift, "product", error));
  OCTET_TRY(check_tflite_scale(r.residual_multiplier, r.residual_shift, "residual", error));
  OCTET_TRY(check_tflite_scale(r.dst_multiplier, r.dst_shift, "dst", error));
  f.intermediate_zero_point = r.intermediate_zero_point;
  f.product_scale = {r.product_multiplier, r.product_shift};
  f.residual_tflite = {r.residual_multiplier, r.residual_shift};
  f.sum_scale = {r.dst_multiplier, r.dst_shift};
  return OCTET_OK;
}

octet_status plan_clamp(Draft* draft) {
  const octet_gemm_desc& d = draft->desc;
  octet_error* error = draft->error;
  Finish& f = draft->finish;
  const float infinity = __builtin_inff();
  if (d.dst_type == OCTET_F32) {
    f.lo_f32 = d.activation == OCTET_ACTIVATION_NONE ? -infinity : d.activation == OCTET_ACTIVATION_CLAMP ? d.clamp_min : 0;
    f.hi_f32 = d.activation == OCTET_ACTIVATION_RELU6 ? 6 : d.activation == OCTET_ACTIVATION_CLAMP ? d.clamp_max : infinity;
    if (!(f.lo_f32 <= f.hi_f32))
      return fail(error, OCTET_BAD_CLAMP, "desc.clamp_min = %g, desc.clamp_max = %g: not an interval", (double)d.clamp_min, (double)d.clamp_max);
    return OCTET_OK;
  }
  OCTET_TRY(check_zero_point(d.dst_zero_point, d.dst_type, "desc.dst_zero_point", kScalar, error));
  f.zero_point = d.dst_zero_point;
  f.lo = least(d.dst_type);
  f.hi = most(d.dst_type);
  switch (d.activation) {
    case OCTET_ACTIVATION_NONE: break;
    case OCTET_ACTIVATION_RELU6: {
      OCTET_TRY(check_scale(d.dst_scale, "desc.dst_scale", kScalar, error));
      const float six = 6.0f / d.dst_scale;
      if (six < 256) {
        // Half to even; TFLite rounds this bound half away from zero.
        const int32_t rounded = d.requant == OCTET_REQUANT_TFLITE ? (int32_t)((double)six + 0.5) : (int32_t)((six + 12582912.0f) - 12582912.0f);
        const int32_t hi = d.dst_zero_point + rounded;
        f.hi = hi < f.hi ? hi : f.hi;
      }
      f.lo = d.dst_zero_point;
      break;
    }
    case OCTET_ACTIVATION_RELU: f.lo = d.dst_zero_point; break;
    case OCTET_ACTIVATION_CLAMP:
      if (!(d.clamp_min >= (float)f.lo && d.clamp_max <= (float)f.hi && d.clamp_min <= d.clamp_max) ||
          d.clamp_min != (float)(int32_t)d.clamp_min || d.clamp_max != (float)(int32_t)d.clamp_max)
        return fail(error, OCTET_BAD_CLAMP, "desc.clamp_min = %g, desc.clamp_max = %g: not an interval of integers within %d..%d",
                    (double)d.clamp_min, (double)d.clamp_max, (int)f.lo, (int)f.hi);
      f.lo = (int32_t)d.clamp_min;
      f.hi = (int32_t)d.clamp_max;
      break;
  }
  f.lo_f32 = (float)(f.lo - f.zero_point);
  f.hi_f32 = (float)(f.hi - f.zero_point);
  return OCTET_OK;
}

octet_status choose_kernels(Draft* draft) {
  const octet_gemm_desc& d = draft->desc;
  octet_error* error = draft->error;
  OCTET_TRY(read_environment(&draft->environment, error));
  const Machine machine = this_machine();
  if (draft->environment.verbose) trace_demotions(machine.demoted);
  CpuFeatures cpu = machine.cpu;
  const IsaMask usable = cpu.isas;
  // A descriptor that limits the tier or names the kernel beats both variables: they cannot turn its choice into an error.
  const bool chosen = d.max_isa != OCTET_ISA_AUTO || d.kernel;
  if (!chosen) cpu.isas &= draft->environment.allowed;
  if (d.max_isa != OCTET_ISA_AUTO) cpu.isas &= up_to((Isa)d.max_isa);
  const char* forced = chosen ? d.kernel : draft->environment.kernel;

  const bool rhs_u8 = d.rhs_type == OCTET_U8;
  // Nothing is known about run-time weights: assume the worst.
  const WeightFacts facts = draft->has_blob ? WeightFacts{blob_layout(draft->blob), draft->blob.has_least != 0}
                                            : WeightFacts{select_layout(cpu, rhs_u8, forced), true};
  Problem problem = {d.m_max, d.n, d.k, draft->lhs_u8, rhs_u8};
  const Selection selection = select(cpu, problem, facts, forced);
  problem.m = 1;
  const Selection small = select(cpu, problem, facts, forced);
  switch (selection.result) {
    case Selected::kOk:
      draft->kernel = selection.kernel;
      draft->small_kernel = small.kernel;
      return OCTET_OK;
    case Selected::kUnknownName: return fail(error, OCTET_UNKNOWN_KERNEL, "desc.kernel '%.64s' does not exist; octet_get_kernel_info lists them", forced);
    case Selected::kForcedUnusable:
      return fail(error, OCTET_KERNEL_UNUSABLE, "kernel '%s' is forced, but %s", forced,
                  supports(cpu, *selection.kernel) ? "it cannot read these weights: pack them for it, or without -128 if it asks for that"
                  : usable & mask_of(selection.kernel->isa) ? "the tier limit (desc.max_isa or OCTET_MAX_ISA) excludes it"
                                                            : "this CPU does not support it");
    case Selected::kNoKernel: break;
  }
  return fail(error, OCTET_WRONG_TIER, "desc.packed has the layout of tier %s (panels of %d x %d), which no usable kernel reads; pack it for %s",
              isa_name(smallest_isa(facts.layout)), (int)facts.layout.width, (int)facts.layout.kr,
              isa_name(smallest_isa(select_layout(cpu, rhs_u8, nullptr))));
}

// ---- the object ---------------------------------------------------------------------------------------------------------------------

void* default_allocate(void*, size_t bytes, size_t alignment) {
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}
void default_release(void*, void* memory) { free(memory); }

// Hands out pieces of one allocation; with no memory yet it only adds up their sizes.
struct Arena {
  uint8_t* memory;
  size_t used;
  template <typename T>
  T* take(size_t count) {
    T* piece = memory ? (T*)(memory + used) : nullptr;
    used += round_up(count * sizeof(T), kAlignment);
    return piece;
  }
};

// A copy of `count` values (1 or n) spread over all columns and padded.
template <typename T>
const T* spread(Arena* arena, const T* values, size_t count, size_t n, size_t padded, T padding) {
  T* out = arena->take<T>(padded);
  if (out)
    for (size_t i = 0; i < padded; ++i) out[i] = i < n ? values[count == 1 ? 0 : i] : padding;
  return out;
}

const Columns* build_columns(const Draft& draft, Arena* arena, size_t padded) {
  const octet_gemm_desc& d = draft.desc;
  Columns* columns = arena->take<Columns>(draft.matrices);
  const int32_t shift = domain_shift(draft.lhs_u8, draft.kernel->lhs_domain);
  int32_t* zero_points = draft.blob.zero_points ? arena->take<int32_t>(padded) : nullptr;
  if (zero_points) {
    memset(zero_points, 0, padded * sizeof(int32_t));
    memcpy(zero_points, blob_matrix(d.packed, draft.blob, 0).zero_points, d.n * sizeof(int32_t));
  }
  for (size_t b = 0; b < draft.matrices; ++b) {
    int32_t* bias = arena->take<int32_t>(padded);
    int32_t* weight_sum = runtime_scales(d) ? arena->take<int32_t>(padded) : nullptr;
    if (!columns) continue;
    const PackedRhs packed = blob_matrix(d.packed, draft.blob, b);
    for (size_t n = 0; n < padded; ++n) {
      const uint32_t sum = n < d.n ? (uint32_t)packed.positive[n] + (uint32_t)packed.negative[n] : 0;
      const uint32_t correction = runtime_scales(d) ? 0 : (uint32_t)(d.lhs_zero_point + shift) * sum;
      bias[n] = (int32_t)((d.bias && n < d.n ? (uint32_t)d.bias[n] : 0) - correction);
      if (weight_sum) weight_sum[n] = (int32_t)sum;
    }
    columns[b] = {bias, weight_sum, zero_points};
  }
  return columns;
}

// Called twice: without memory to learn the size, with it to build.
octet_gemm* build(const Draft& draft, Arena* arena) {
  const octet_gemm_desc& d = draft.desc;
  const size_t padded = round_up(d.n, 64);  // kernels may read whole vectors past the last column
  octet_gemm* gemm = arena->take<octet_gemm>(1);
  Finish f = draft.finish;
  f.mode = d.dst_type == OCTET_S32 ? FinishMode::kS32 : d.dst_type == OCTET_F32 ? FinishMode::kF32
           : d.requant == OCTET_REQUANT_FLOAT ? FinishMode::kFloat8 : FinishMode::kTflite8;
  f.dst_u8 = d.dst_type == OCTET_U8;
  if (d.scales) f.scale = spread(arena, d.scales, d.scale_count, d.n, padded, 1.0f);
  if (d.bias_f32) f.bias_f32 = spread(arena, d.bias_f32, d.n, d.n, padded, 0.0f);
  if (f.mode == FinishMode::kTflite8) {
    f.multiplier = spread(arena, d.multipliers, d.multiplier_count, d.n, padded, 0);
    f.shift = spread(arena, d.shifts, d.multiplier_count, d.n, padded, 0);
  }
  if (d.lut) {
    uint8_t* lut = arena->take<uint8_t>(256);
    if (lut) memcpy(lut, d.lut, 256);
    f.lut = lut;
  }
  const int32_t zero = 0;
  const int32_t* bias = draft.has_blob ? nullptr : spread(arena, d.bias ? d.bias : &zero, d.bias ? d.n : 1, d.n, padded, 0);
  const Columns* columns = draft.has_blob ? build_columns(draft, arena, padded) : nullptr;
  if (!gemm) return nullptr;

  *gemm = {};
  GemmPlan& plan = gemm->plan;
  plan.kernel = draft.kernel;
  plan.small_kernel = draft.small_kernel;
  plan.small_m = draft.small_kernel == draft.kernel ? 0 : draft.small_kernel->m_max;
  plan.n = d.n;
  plan.k = d.k;
  plan.lhs_u8 = draft.lhs_u8;
  plan.lhs_quant = (LhsQuant)d.lhs_quant;
  plan.static_zero_point = d.lhs_zero_point;
  plan.runtime_rhs = !draft.has_blob;
  plan.rhs_u8 = d.rhs_type == OCTET_U8;
  plan.dst_bytes = element_bytes(d.dst_type);
  plan.finish = f;
  plan.narrow = {f.zero_point, f.lo, f.hi, f.dst_u8};
  // The clamp before rounding may be left out only where no conversion to int32 can overflow; the margin covers float's rounding.
  plan.narrow_in_kernel = f.mode == FinishMode::kFloat8 && !f.has_residual && !f.lut && !runtime_scales(d) &&
                          draft.max_scaled * 1.000001 < 2147483648.0 && draft.kernel->is(kNarrows) && draft.small_kernel->is(kNarrows);
  const size_t l2 = this_machine().cpu.l2_bytes;
  plan.block_rows = choose_block_rows(*plan.kernel, d.k, (l2 ? l2 : 512 * 1024) / 2);  // the other half is for the weights that pass by
  plan.bias = bias;
  if (draft.has_blob) {
    plan.packed = blob_matrix(d.packed, draft.blob, 0).panels;
    plan.packed_stride = (size_t)draft.blob.panels_stride;
    plan.packed_lanes = plan.kernel->rhs_layout.lanes(d.n);
    plan.packed_depth = plan.kernel->rhs_layout.depth(d.k);
    plan.columns = columns;
    plan.columns_count = draft.matrices;
  }
  gemm->m_max = d.m_max;
  gemm->batch_max = d.batch_max ? d.batch_max : 1;
  gemm->lhs_type = d.lhs_type;
  gemm->rhs_type = d.rhs_type;
  gemm->dst_type = d.dst_type;
  gemm->residual_type = d.residual.type;
  gemm->rhs_order = d.rhs_order;
  gemm->packed = d.packed;
  gemm->packed_bytes = draft.has_blob ? (size_t)draft.blob.bytes : 0;
  gemm->max_bias = draft.max_bias;
  gemm->verbose = draft.environment.verbose;
  gemm->allocator = d.allocator;
  gemm->needs_workspace = needs_workspace(plan);
  gemm->plain = draft.has_blob && !gemm->needs_workspace && !runtime_scales(d) && !d.residual.type && draft.environment.verbose < 2;
  return gemm;
}

octet_status create(const octet_gemm_desc& desc, octet_gemm** out, octet_error* error) {
  const double start = now_microseconds();
  Draft draft = {desc, error, false, {}, 0, false, 0, 0, 0, 0, 0, {}, nullptr, nullptr, {}};
  OCTET_TRY(check_enums(draft));
  OCTET_TRY(check_combination(draft));
  OCTET_TRY(check_sizes(&draft));
  OCTET_TRY(check_lhs(&draft));
  OCTET_TRY(check_scales(draft));
  OCTET_TRY(check_range(&draft));
  OCTET_TRY(plan_residual(&draft));
  if (desc.dst_type != OCTET_S32) OCTET_TRY(plan_clamp(&draft));
  OCTET_TRY(choose_kernels(&draft));

  octet_gemm_desc copy = desc;
  if (!copy.allocator.allocate) copy.allocator = {default_allocate, default_release, nullptr};
  const octet_allocator& allocator = copy.allocator;
  Arena sizing = {nullptr, 0};
  build(draft, &sizing);
  void* memory = allocator.allocate(allocator.context, sizing.used, kAlignment);
  if (!memory) return fail(error, OCTET_OUT_OF_MEMORY, "desc.allocator returned null for %zu bytes", sizing.used);
  if (const octet_status status = check_aligned(memory, "the memory from desc.allocator", error)) {
    allocator.release(allocator.context, memory);
    return status;
  }
  Arena arena = {(uint8_t*)memory, 0};
  octet_gemm* gemm = build(draft, &arena);
  gemm->allocator = allocator;
  *out = gemm;
  if (gemm->verbose) trace("create", *gemm, gemm->m_max, desc.n, desc.k, gemm->batch_max, now_microseconds() - start);
  return OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_gemm_create(const octet_gemm_desc* desc, octet_gemm** gemm, octet_error* error) {
  if (!desc || !gemm) return fail(error, OCTET_NULL_POINTER, "%s is null", desc ? "gemm" : "desc");
  *gemm = nullptr;
  OCTET_TRY(check_struct_size(desc->struct_size, sizeof *desc, "desc", error));
  return create(*desc, gemm, error);
}

void octet_gemm_destroy(octet_gemm* gemm) {
  if (!gemm) return;
  const octet_allocator allocator = gemm->allocator;
  allocator.release(allocator.context, gemm);
}

const char* octet_gemm_kernel(const octet_gemm* gemm, size_t m) { return gemm ? kernel_for(gemm->plan, m).name : nullptr; }
