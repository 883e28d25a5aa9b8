// SPDX-License-Identifier: Apache-2.0
// Looks up the measured choice of a product.
#include "operators/gemm/tuning.h"

#include "dispatch/tables/tiers.h"

namespace octet {

TuningKey key_of_gemm(const CpuFeatures& cpu, const char* format, const octet_gemm_desc& d) {
  TuningKey key(best_of(cpu.tiers));
  key.add(" product m=%zu n=%zu k=%zu batch=%zu", d.m_max, d.n, d.k, larger(d.batch_max, 1));
  key.add(" lhs=%s weights=%s dst=%s", octet_type_name(d.lhs_type), octet_type_name(d.rhs_type),
          octet_type_name(d.dst_type));
  key.add(" quantization=%d packed=%s", (int)d.lhs_quant,
          format                    ? format
          : d.rhs_order == OCTET_KN ? "kn"
                                    : "nk");
  return key;
}

octet_status look_up_gemm(const octet_gemm_desc& d, const Environment& environment,
                          const CpuFeatures& cpu, const Problem& problem, const WeightFacts& facts,
                          Choice* choice, bool* measured, octet_error* error) {
  TuningSource source;
  OCTET_TRY(source.open(d.machine, environment, error));
  if (source.empty()) return OCTET_OK;
  const TuningKey key =
      key_of_gemm(cpu, d.packed ? find_format_of(facts.layout)->name : nullptr, d);
  TuningReader lines = source.read();
  TuningLine line;
  for (Choice found; lines.find(key, &line, &found);) {
    const WeightFacts those = {d.packed ? facts.layout : found.layout, facts.has_int8_min};
    const char* why;
    if (!may_use(found, cpu, problem, those, &why)) continue;
    *choice = found;
    *measured = true;
    return OCTET_OK;
  }
  return OCTET_OK;
}

}  // namespace octet
