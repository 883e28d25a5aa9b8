#include "dispatch/conv_tuning.h"

#include "dispatch/conv_machine.h"
#include "dispatch/tables/tiers.h"

namespace octet {

TuningKey key_of_filter(const CpuFeatures& machine, Isa tier, const ConvShape& s, octet_type type) {
  TuningKey key(machine, tier);
  key.add(" convolution in=%zux%zux%zux%zu out=%zu groups=%zu", s.batch, s.in_h, s.in_w,
          s.in_channels, s.out_channels, s.groups);
  key.add(" kernel=%zux%zu stride=%zux%zu dilation=%zux%zu", s.kernel_h, s.kernel_w, s.stride_h,
          s.stride_w, s.dilation_h, s.dilation_w);
  key.add(" pads=%zu,%zu,%zu,%zu", s.pad_top, s.pad_bottom, s.pad_left, s.pad_right);
  if (s.transposed) key.add(" transposed=%zux%zu", s.output_padding_h, s.output_padding_w);
  key.add(" weights=%s", octet_type_name(type));
  return key;
}

void add_conv(const octet_conv2d_desc& d, TuningKey* key) {
  const auto order = [](octet_layout layout) { return layout == OCTET_NCHW ? "nchw" : "nhwc"; };
  key->add(" lhs=%s,%s,%d dst=%s,%s", octet_type_name(d.lhs_type), order(d.lhs_layout),
           (int)d.lhs_quant, octet_type_name(d.dst_type), order(d.dst_layout));
}

const char* weights_words(const FilterDraft& d) {
  return d.sparse                          ? " sparse=yes"
         : d.view.zero_point_range().any() ? " zero_points=yes"
                                           : " zero_points=no";
}

octet_status look_up_algorithm(const Environment& environment, FilterDraft* d, octet_error* error) {
  const octet_filter_desc& f = *d->given;
  if (f.accuracy != OCTET_ACCURACY_EXACT || d->forced) return OCTET_OK;
  TuningSource source;
  OCTET_TRY(source.open(f.machine, environment, error));
  if (source.empty()) return OCTET_OK;
  const TuningKey key = key_of_filter(conv_machine().cpu, d->tier, d->shape, f.type);
  TuningReader lines = source.read();
  TuningLine line;
  for (Choice found; lines.find(key, &line, &found);) {
    const ConvMethod* const method = method_of((uint8_t)found.algorithm);
    if (!method || method->approximate || !line.key.ends_with(weights_words(*d)) ||
        !d->plans.candidates[found.algorithm].possible ||
        !(packed_layout(*d, *method) == found.layout))
      continue;
    d->algorithm = found.algorithm;
    d->choice = found;
    d->measured = true;
    return OCTET_OK;
  }
  return OCTET_OK;
}

octet_status look_up_conv(const octet_conv2d_desc& d, const Environment& environment,
                          const CpuFeatures& cpu, const ConvChoiceProblem& problem, Choice* choice,
                          ConvKernel* kernel, bool* measured, octet_error* error) {
  TuningSource source;
  OCTET_TRY(source.open(d.machine, environment, error));
  if (source.empty()) return OCTET_OK;
  TuningKey key = key_of_filter(conv_machine().cpu, best_of(cpu.isas), problem.shape, d.rhs_type);
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
