// SPDX-License-Identifier: Apache-2.0
// Keys and lookups of convolutions in a tuning.
#include "operators/conv/tuning.h"

#include "dispatch/tables/tiers.h"
#include "operators/common/check.h"

namespace octet {

TuningKey key_of_filter(TierId tier, const ConvShape& s, octet_type type) {
  TuningKey key(tier);
  key.add(" convolution in=%zux%zux%zux%zu out=%zu groups=%zu", s.batch, s.in_h, s.in_w,
          s.in_channels, s.out_channels, s.groups);
  key.add(" kernel=%zux%zu stride=%zux%zu dilation=%zux%zu", s.kernel_h, s.kernel_w, s.stride_h,
          s.stride_w, s.dilation_h, s.dilation_w);
  key.add(" pads=%zu,%zu,%zu,%zu", s.pad_top, s.pad_bottom, s.pad_left, s.pad_right);
  if (s.transposed) key.add(" transposed=%zux%zu", s.output_padding_h, s.output_padding_w);
  key.add(" weights=%s", octet_type_name(packed_filter_type(type)));
  return key;
}

void add_conv(const octet_conv2d_desc& d, TuningKey* key) {
  const auto order = [](octet_layout layout) { return layout == OCTET_NCHW ? "nchw" : "nhwc"; };
  key->add(" lhs=%s,%s,%d dst=%s,%s", octet_type_name(d.lhs_type), order(d.lhs_layout),
           (int)d.lhs_quant, octet_type_name(d.dst_type), order(d.dst_layout));
}

namespace {

// " pairs=yes" is the file's key of weights in the format that packing tries first.
const char* weights_text(const FilterBuilder& d, bool tried) {
  if (d.sparse) return " sparse=yes";
  if (d.view.zero_point_range().any())
    return tried ? " zero_points=yes pairs=yes" : " zero_points=yes";
  return tried ? " zero_points=no pairs=yes" : " zero_points=no";
}

// Ranks two usable lines: fields that matter more come first.
struct Rank {
  // Blob sizes are asked for before the weights are known. The tried format is then taken to suit
  // them, as it mostly does.
  bool tried;
  // The best without a limit is also the best within a limit that it fits.
  bool same_limit;
  uint64_t saved_ns;

  bool beats(const Rank& o) const {
    return tried != o.tried             ? tried
           : same_limit != o.same_limit ? same_limit
                                        : saved_ns > o.saved_ns;
  }
};

// False if the line is about other weights.
bool read_rank(const FilterBuilder& d, const TuningLine& line, Rank* rank) {
  constexpr bool kEither[] = {true, false};
  for (const bool tried : kEither) {
    TuningKey end("");
    add_weights(d, tried, &end);
    const bool same_limit = line.key.ends_with(end.text());
    if (!same_limit && !line.key.ends_with(weights_text(d, tried))) continue;
    *rank = {tried, same_limit, line.read_figures().saved_ns()};
    return true;
  }
  return false;
}

bool may_pack(const FilterBuilder& d, const Choice& choice) {
  const ConvAlgorithm* const implementation = algorithm_of((uint8_t)choice.algorithm);
  if (!implementation || implementation->approximate ||
      !d.plans.candidates[choice.algorithm].possible)
    return false;
  // Both layouts are allowed: the weights decide which it will be
  const WeightFormat* const first = format_to_try(d, (uint8_t)choice.algorithm);
  return packed_layout(d, *implementation) == choice.layout ||
         (first && first->layout == choice.layout);
}

}  // namespace

void add_weights(const FilterBuilder& d, bool tried, TuningKey* key) {
  key->add("%s", weights_text(d, tried));
  if (d.given->packed_bytes_max) key->add(" packed_max=%zu", d.given->packed_bytes_max);
}

octet_status look_up_costs(const Environment& environment, FilterBuilder* d, octet_error* error) {
  TuningSource source;
  Environment quiet = environment;  // look_up_algorithm has already reported on the file
  quiet.verbose = false;
  OCTET_TRY(source.open(d->given->machine, quiet, error));
  if (source.empty()) return OCTET_OK;
  TuningReader lines = source.read();
  lines.find_costs(key_of_costs(d->tier), &d->costs, &d->costs_origin);
  return OCTET_OK;
}

octet_status look_up_algorithm(const Environment& environment, FilterBuilder* d,
                               octet_error* error) {
  const octet_filter_desc& f = *d->given;
  if (f.accuracy != OCTET_ACCURACY_EXACT || d->forced) return OCTET_OK;
  TuningSource source;
  OCTET_TRY(source.open(f.machine, environment, error));
  if (source.empty()) return OCTET_OK;
  const TuningKey key = key_of_filter(d->tier, d->shape, f.type);
  TuningReader lines = source.read();
  TuningLine line;
  Rank best = {};
  d->measured = false;
  for (Choice found; lines.find(key, &line, &found);) {
    Rank rank;
    if (!read_rank(*d, line, &rank) || !may_pack(*d, found)) continue;
    if (d->measured && !rank.beats(best)) continue;
    best = rank;
    d->algorithm = found.algorithm;
    d->choice = found;
    d->measured = true;
  }
  return OCTET_OK;
}

octet_status look_up_conv(const octet_conv2d_desc& d, const Environment& environment,
                          const CpuFeatures& cpu, const ConvChoiceProblem& problem, Choice* choice,
                          ConvKernel* kernel, bool* measured, octet_error* error) {
  TuningSource source;
  OCTET_TRY(source.open(d.machine, environment, error));
  if (source.empty()) return OCTET_OK;
  TuningKey key = key_of_filter(best_of(cpu.tiers), problem.shape, d.rhs_type);
  add_conv(d, &key);
  TuningReader lines = source.read();
  TuningLine line;
  for (Choice found; lines.find(key, &line, &found);) {
    ConvKernel its;
    const char* why;
    if (!may_use(found, cpu, problem, &its, &why)) continue;
    *choice = found;
    *kernel = its;
    *measured = true;
    return OCTET_OK;
  }
  return OCTET_OK;
}

}  // namespace octet
