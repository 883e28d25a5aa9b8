// SPDX-License-Identifier: Apache-2.0
// Checks a filter descriptor and decides tier, sparsity and algorithm for packing.
#include "operators/conv/filter.h"

#include "dispatch/cpu/environment.h"
#include "dispatch/select/format_to_try.h"
#include "dispatch/select/override.h"
#include "dispatch/tables/designs.h"
#include "operators/common/check.h"
#include "operators/conv/kernels.h"
#include "operators/conv/machine.h"
#include "operators/conv/shape.h"
#include "operators/conv/tuning.h"

namespace octet {
namespace {

octet_status check_output(const octet_filter_desc& f, octet_error* error) {
  if (f.dst_type < 0 || (f.dst_type > OCTET_F32 && f.dst_type != OCTET_S16))
    return fail(error, OCTET_UNKNOWN_ENUM, "filter.dst_type is %d, neither 0 nor an octet_type",
                (int)f.dst_type);
  if (f.requant < OCTET_REQUANT_FLOAT || f.requant > OCTET_REQUANT_DOUBLE)
    return fail(error, OCTET_UNKNOWN_ENUM, "filter.requant is %d, not an octet_requant",
                (int)f.requant);
  const struct {
    const char* name;
    int value;
  } flags[] = {{"has_residual", f.has_residual}, {"has_lut", f.has_lut}};
  for (const auto& flag : flags)
    if (flag.value != (flag.value != 0))
      return fail(error, OCTET_UNKNOWN_ENUM, "filter.%s is %d, neither 0 nor 1", flag.name,
                  flag.value);
  const bool requant = f.requant && f.dst_type != OCTET_S16;
  if ((requant || f.has_residual || f.has_lut) && !is_8bit(f.dst_type))
    return fail(error, OCTET_UNSUPPORTED,
                "filter.%s is set, but filter.dst_type is %s, not s8 or u8",
                requant          ? "requant"
                : f.has_residual ? "has_residual"
                                 : "has_lut",
                f.dst_type ? octet_type_name(f.dst_type) : "0");
  return OCTET_OK;
}

octet_status check_filter(const octet_filter_desc& f, octet_error* error) {
  if (!is_weight(f.type))
    return fail(error, OCTET_UNKNOWN_ENUM,
                "filter.type is %d; weights are OCTET_S8, OCTET_U8, OCTET_S4 or OCTET_U4",
                (int)f.type);
  if (is_4bit(f.type) && f.sparsity != OCTET_SPARSE_NONE)
    return fail(error, OCTET_UNSUPPORTED, "filter.type is %s; weights of 4 bits are not sparse",
                octet_type_name(f.type));
  if (f.order < OCTET_OHWI || f.order > OCTET_IOHW)
    return fail(error, OCTET_UNKNOWN_ENUM, "filter.order is %d, not an octet_filter_order",
                (int)f.order);
  if (f.algorithm < OCTET_CONV_AUTO || f.algorithm >= kAlgorithms)
    return fail(error, OCTET_UNKNOWN_ENUM, "filter.algorithm is %d, not an octet_conv_algorithm",
                (int)f.algorithm);
  if (f.accuracy != OCTET_ACCURACY_EXACT && f.accuracy != OCTET_ACCURACY_APPROXIMATE)
    return fail(error, OCTET_UNKNOWN_ENUM, "filter.accuracy is %d, not an octet_accuracy",
                (int)f.accuracy);
  OCTET_TRY(check_sparsity(f.sparsity, f.reserved, "filter", error));
  OCTET_TRY(check_output(f, error));
  for (size_t i = 0; f.tap_ranges && i < 16; ++i)
    if (!(f.tap_ranges[i] > 0 && f.tap_ranges[i] <= kMaxScale))
      return fail(error, OCTET_BAD_SCALE,
                  "filter.tap_ranges[%zu] is %g; it must be positive and at most 2^48", i,
                  (double)f.tap_ranges[i]);
  return OCTET_OK;
}

OutputFacts facts_of(const octet_filter_desc& f) {
  if (!f.dst_type) return {};
  // The algorithm writes s32, twice, whatever it is
  if (f.dst_type == OCTET_S16) return {sizeof(int32_t), false, false, true};
  return {element_bytes(f.dst_type), f.requant == OCTET_REQUANT_TFLITE,
          f.requant == OCTET_REQUANT_DOUBLE || f.has_residual || f.has_lut, false,
          f.dst_type == OCTET_F32};
}

FilterView view_of(const octet_filter_desc& f, const ConvShape& s) {
  FilterView v = {};
  v.data = (const uint8_t*)f.data;
  v.stored = element_type_of(f.type);
  v.zero_points = f.zero_points;
  v.zero_point_count = f.zero_point_count;
  const size_t taps = s.taps(), in = s.group_in(), out = s.group_out();
  switch (f.order) {
    case OCTET_OHWI:
      v.i_stride = 1, v.x_stride = in, v.y_stride = in * s.kernel_w, v.o_stride = in * taps;
      break;
    case OCTET_OIHW:
      v.x_stride = 1, v.y_stride = s.kernel_w, v.i_stride = taps, v.o_stride = in * taps;
      break;
    case OCTET_HWIO:
      v.o_stride = 1, v.i_stride = s.out_channels, v.x_stride = in * s.out_channels,
      v.y_stride = v.x_stride * s.kernel_w;
      break;
    case OCTET_IOHW:
      v.x_stride = 1, v.y_stride = s.kernel_w, v.o_stride = taps, v.i_stride = out * taps;
      break;
  }
  v.group_stride = f.order == OCTET_IOHW ? in * out * taps : out * v.o_stride;
  return v;
}

// The tier and the features that may be used: the caller's, or the best that this machine and the
// environment allow.
void choose_tier(octet_isa isa, const Environment& environment, FilterBuilder* builder) {
  builder->cpu = conv_machine().cpu;
  builder->forced = nullptr;
  builder->for_here = isa == OCTET_ISA_AUTO;
  if (isa != OCTET_ISA_AUTO) {
    builder->tier = (TierId)isa;
    builder->cpu.tiers = tiers_within(builder->tier);
    return;
  }
  builder->cpu.tiers &= environment.allowed;
  builder->forced = environment.kernel;
  builder->tier = best_of(builder->cpu.tiers);
}

// The algorithms for which create would find no kernel. A tier that is not built in is packed for
// another library, which is taken to have all kernels.
uint32_t without_kernel(const FilterBuilder& d, octet_isa isa) {
  uint32_t algorithms = 0;
  CpuFeatures cpu = d.cpu;
  if (isa != OCTET_ISA_AUTO) cpu.tiers &= conv_machine().compiled;
  if (!(cpu.tiers & mask_of(d.tier))) return 0;
  for (int i = 0; i < kAlgorithms; ++i) {
    const ConvAlgorithm* const implementation = algorithm_of((uint8_t)i);
    if (!implementation) continue;
    const RhsLayout layout = packed_layout(d, *implementation);
    const Selected selected =
        select_conv(*implementation, cpu, ElementType::kU8, layout.element_type,
                    d.shape.group_out(), 1, {layout, true}, d.forced)
            .result;
    if (selected == Selected::kNoKernel) algorithms |= 1u << i;
  }
  return algorithms;
}

// Blob sizes of the algorithms that can compute the shape.
void measure_blobs(const FilterBuilder& d, ConvProblem* problem) {
  for (int i = 0; i < kAlgorithms; ++i) {
    const ConvAlgorithm* const implementation = algorithm_of((uint8_t)i);
    Container container;
    if (!implementation || implementation->refuse(d.shape, problem->zero_points) ||
        (d.sparse && !implementation->takes_sparse))
      continue;
    const WeightFormat* const tried = format_to_try(d, (uint8_t)i);
    const WeightFormat& format =
        tried ? *tried : *find_format_of(packed_layout(d, *implementation));
    problem->packed_bytes[i] =
        plan_blob(d, format, (uint8_t)i, &container) ? (size_t)container.header.bytes : SIZE_MAX;
  }
}

// Finds out whether the weights fit the 2:4 pattern. A forced sparsity that does not hold is
// refused.
octet_status look_at_weights(const FilterBuilder& d, Sparsity* verdict, octet_error* error) {
  const ConvShape& s = d.shape;
  SparsityFinding finding;
  for (size_t o = 0; o < s.out_channels; ++o)
    for (size_t tap = 0; tap < s.taps(); ++tap) {
      const size_t ky = tap / s.kernel_w, kx = tap % s.kernel_w;
      const SparseRun run = {d.view.data + d.view.at(s, o, ky, kx, 0), d.view.i_stride,
                             s.group_in(), (uint8_t)d.view.zero_point(o)};
      if (finding.look_at(run, d.view.type(), o, 0)) continue;
      *verdict = finding.verdict();
      if (d.given->sparsity != OCTET_SPARSE_2_4) return OCTET_OK;
      return fail(error, OCTET_BAD_SPARSITY,
                  "filter.sparsity is OCTET_SPARSE_2_4, but output channel %zu has more than two "
                  "weights other than %d at kernel position (%zu, %zu), from input channel %zu on: "
                  "%s",
                  o, finding.zero, ky, kx, finding.k, finding.values);
    }
  *verdict = finding.verdict();
  return OCTET_OK;
}

// True if an algorithm packs windows of few channels with padded lines.
bool pads_lines(const FilterBuilder& d) {
  if (d.sparse || d.forced || d.costs.gather > 0 || !d.costs.pads_lines) return false;
  bool pads = false;
  for (int i = 0; i < kAlgorithms; ++i) {
    const ConvAlgorithm* const implementation = algorithm_of((uint8_t)i);
    if (!implementation || !implementation->pads_lines) continue;
    const RhsLayout layout = packed_layout(d, *implementation);
    pads |= !has_zero_points(d.view, layout.element_type) &&
            implementation->pads_lines(layout, d.costs.nr, d.shape);
  }
  return pads;
}

// Plans all algorithms, for weights packed sparse or dense.
void plan_filters(octet_isa isa, bool sparse, FilterBuilder* d) {
  const octet_filter_desc& f = *d->given;
  d->sparse = sparse;
  d->shape.padded_lines = pads_lines(*d);
  ConvProblem problem = {d->shape,
                         d->tier,
                         d->view.type(),
                         sparse ? ZeroPointRange{0, 0} : d->view.zero_point_range(),
                         f.accuracy == OCTET_ACCURACY_APPROXIMATE,
                         d->cpu,
                         without_kernel(*d, isa),
                         {},
                         f.packed_bytes_max,
                         sparse,
                         &d->costs,
                         !is_built_in(d->costs_origin),
                         facts_of(f)};
  measure_blobs(*d, &problem);
  plan_conv(problem, &d->plans);
}

// Takes the caller's algorithm, else the environment's, the measured one, or the plan's.
octet_status choose_algorithm(const Environment& environment, FilterBuilder* d,
                              octet_error* error) {
  const octet_filter_desc& f = *d->given;
  const bool by_name = f.algorithm == OCTET_CONV_AUTO && environment.algorithm != OCTET_CONV_AUTO;
  d->algorithm = f.algorithm != OCTET_CONV_AUTO ? f.algorithm
                 : by_name                      ? environment.algorithm
                                                : d->plans.best;
  d->measured = false;
  if (f.algorithm == OCTET_CONV_AUTO && !by_name)
    OCTET_TRY(look_up_algorithm(environment, d, error));
  if (d->algorithm == OCTET_CONV_AUTO)
    return fail(error, OCTET_BAD_SIZE,
                "filter.packed_bytes_max is %zu; the least that an algorithm packs these weights "
                "to is %zu bytes",
                f.packed_bytes_max, d->plans.least_too_large);
  const Candidate& candidate = d->plans.candidates[d->algorithm];
  if (!candidate.possible)
    return fail(error, OCTET_UNSUPPORTED, "%s = %s %s", by_name ? "OCTET_CONV" : "filter.algorithm",
                algorithm_name(d->algorithm), candidate.reason);
  d->format = find_format_of(packed_layout(*d, *algorithm_of((uint8_t)d->algorithm)));
  d->tried = format_to_try(*d, (uint8_t)d->algorithm);
  d->most_bytes = candidate.packed_bytes;
  return OCTET_OK;
}

// Decides whether sparse weights are predicted to gain enough over dense ones. *d is planned for
// the better of both.
octet_status compare(const Environment& environment, octet_isa isa, bool* sparse, FilterBuilder* d,
                     octet_error* error) {
  // Predictions are wrong by several per cent
  constexpr double kWorthwhile = 0.93;
  plan_filters(isa, true, d);
  octet_error none;
  const bool possible = choose_algorithm(environment, d, &none) == OCTET_OK;
  const double microseconds = possible ? d->plans.candidates[d->algorithm].microseconds : 0;
  plan_filters(isa, false, d);
  const octet_status dense = choose_algorithm(environment, d, possible ? &none : error);
  if (dense != OCTET_OK) {
    *sparse = possible;
    return possible ? OCTET_OK : dense;
  }
  // Winograd's weights are so large that a cache which holds them after all is worth more than
  // sparsity
  const Candidate& other = d->plans.candidates[d->algorithm];
  const double least = algorithm_of((uint8_t)d->algorithm)->operands == KernelKind::kInt16
                           ? other.estimate.compute + other.estimate.transform
                           : other.microseconds;
  *sparse = possible && microseconds < kWorthwhile * least;
  return OCTET_OK;
}

}  // namespace

bool plan_blob(const FilterBuilder& d, const WeightFormat& format, uint8_t algorithm,
               Container* container) {
  return plan_filter(format, *algorithm_of(algorithm), algorithm, (uint8_t)d.given->type, d.shape,
                     !format.layout.sparse() && has_zero_points(d.view, format.layout.element_type),
                     container);
}

RhsLayout packed_layout(const FilterBuilder& d, const ConvAlgorithm& implementation) {
  if (d.sparse && implementation.takes_sparse)
    return select_sparse_layout(conv_kernels(), d.cpu, format_of(tier_of(d.tier).sparse).layout,
                                d.forced);
  if (implementation.operands != KernelKind::kInt8 || !d.forced)
    return conv_layout(implementation, d.tier, d.view.type(), d.view.zero_point_range().any());
  return select_layout(conv_kernels(), d.cpu,
                       implementation.keeps_u8 ? d.view.type() : ElementType::kS8, d.forced);
}

const WeightFormat* format_to_try(const FilterBuilder& d, uint8_t algorithm) {
  const ConvAlgorithm& implementation = *algorithm_of(algorithm);
  if (!d.for_here || d.forced || d.given->sparsity != OCTET_SPARSE_NONE ||
      implementation.operands != KernelKind::kInt8)
    return nullptr;
  const PackedPanels weights =
      implementation.panels(packed_layout(d, implementation), d.shape, nullptr);
  const WeightFormat* const format =
      format_to_try(d.cpu.tiers, weights.lanes, d.shape.group_out(), weights.depth);
  Container container;
  if (!format || !plan_blob(d, *format, algorithm, &container)) return nullptr;
  const size_t most = d.given->packed_bytes_max;
  return !most || container.header.bytes <= most ? format : nullptr;
}

octet_status read_weights(const octet_filter_desc* filter, FilterBuilder* d, octet_error* error) {
  OCTET_TRY(d->given.read(filter, "filter", error));
  const octet_filter_desc& f = *d->given;
  OCTET_TRY(check_filter(f, error));
  OCTET_TRY(read_shape(f.shape, "filter.shape", &d->shape, error));
  OCTET_TRY(check_zero_points(f.zero_points, f.zero_point_count, d->shape.out_channels, f.type,
                              "filter.zero_points", error));
  d->view = view_of(f, d->shape);
  return OCTET_OK;
}

octet_status read_filter(const octet_filter_desc* filter, octet_isa isa, bool looks,
                         FilterBuilder* d, octet_error* error) {
  OCTET_TRY(read_weights(filter, d, error));
  const octet_filter_desc& f = *d->given;
  if (isa != OCTET_ISA_AUTO && !find_tier((int)isa))
    return fail(error, OCTET_UNKNOWN_ENUM, "isa is %d, not an octet_isa", (int)isa);
  Environment environment;
  OCTET_TRY(read_environment(&environment, error));
  choose_tier(isa, environment, d);
  OCTET_TRY(read_machine(f.machine, "filter", &d->cpu, error));
  const Tier& tier = tier_of(d->tier);
  d->costs = costs_of(tier, d->cpu.design);
  d->costs_origin =
      has_measured_costs(tier, d->cpu.design) ? CostsOrigin::kBuiltIn : CostsOrigin::kNotMeasured;
  OCTET_TRY(look_up_costs(environment, d, error));
  const bool forced = f.sparsity == OCTET_SPARSE_2_4, seen = looks && f.data;
  bool sparse = forced;
  if (f.sparsity == OCTET_SPARSE_AUTO) OCTET_TRY(compare(environment, isa, &sparse, d, error));
  d->sparsity = f.sparsity == OCTET_SPARSE_NONE ? Sparsity::kNotAsked
                : sparse                        ? Sparsity::kTwoOfFour
                                                : Sparsity::kNoGain;
  if (sparse && seen) OCTET_TRY(look_at_weights(*d, &d->sparsity, error));
  size_t most = 0;
  if (sparse && !seen && (!forced || has_zero_points(d->view, ElementType::kS8))) {
    plan_filters(isa, false, d);
    octet_error none;
    if (choose_algorithm(environment, d, &none) == OCTET_OK) most = d->most_bytes;
  }
  plan_filters(isa, d->sparsity == Sparsity::kTwoOfFour, d);
  OCTET_TRY(choose_algorithm(environment, d, error));
  d->most_bytes = larger(d->most_bytes, most);
  return OCTET_OK;
}

}  // namespace octet
