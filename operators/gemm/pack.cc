// SPDX-License-Identifier: Apache-2.0
// octet_pack_size and octet_pack: pack weight matrices into blobs.
#include "dispatch/cpu/environment.h"
#include "dispatch/select/format_to_try.h"
#include "dispatch/select/machine.h"
#include "dispatch/select/select.h"
#include "dispatch/select/sparsity.h"
#include "dispatch/tables/kernel_names.h"
#include "dispatch/tables/kernels.h"
#include "dispatch/tables/tiers.h"
#include "operators/common/check.h"
#include "operators/common/pack_into.h"
#include "operators/gemm/weights.h"
#include "packing/matrix_blob.h"
#include "packing/scale_blocks.h"

namespace octet {
namespace {

// The formats that the weights may be packed in.
struct Formats {
  const WeightFormat *dense, *sparse;
  bool prefers_sparse;  // where the caller leaves it to us
  // A format to try before the dense one where no sparsity is asked for, or null
  const WeightFormat* tried = nullptr;
};

struct RhsBuilder;
// Lays out the blob; without the data, the largest blob that it may become.
octet_status lay_out(bool with_data, RhsBuilder* p, octet_error* error);

struct RhsBuilder {
  RhsWeights weights;
  Formats formats;
  // The blob that pack writes, or `otherwise`, which is no larger, if the tried format does not pay
  Container container, otherwise;
  bool tries;
  const octet_rhs_desc& rhs() const { return *weights.rhs; }

  // As pack_into wants them
  bool dense() const { return rhs().sparsity == OCTET_SPARSE_NONE; }
  size_t bytes() const { return (size_t)container.header.bytes; }
  size_t most_bytes() const { return bytes(); }
  octet_status look_at_weights(octet_error* error) { return lay_out(true, this, error); }
  void write(void* blob) {
    if (rhs().scale_block)
      write_scale_blocks(&container, weights.view, weights.matrix_stride, weights.scales, blob);
    else
      write_matrices(&container, weights.view, weights.matrix_stride, blob);
  }
  bool pays(const void* blob) const {
    const WeightFormat& format = *container.format;
    return !tries || format.packing->trial->pays(format.layout, panels_of(container, blob));
  }
  void take_other_format() { container = otherwise; }
};

octet_status choose_formats(const octet_rhs_desc& rhs, octet_isa isa, Formats* formats,
                            octet_error* error) {
  if (isa != OCTET_ISA_AUTO && !find_tier((int)isa))
    return fail(error, OCTET_UNKNOWN_ENUM, "isa is %d, not an octet_isa", (int)isa);
  const ElementType rhs_type = element_type_of(rhs.type);
  CpuFeatures cpu = gemm_machine().cpu;
  if (rhs.sparsity == OCTET_SPARSE_AUTO) add_microarchitecture(&cpu);
  if (isa != OCTET_ISA_AUTO) {
    *formats = {find_format_of(layout_of((TierId)isa, rhs_type)),
                &sparse_format_of(tier_of((TierId)isa), rhs.m_max, rhs.k),
                gains_by_sparsity((TierId)isa, cpu, rhs.m_max, rhs.n, rhs.k)};
    return OCTET_OK;
  }
  Environment environment;
  OCTET_TRY(read_environment(&environment, error));
  cpu.tiers &= environment.allowed;
  const TierId best = best_of(cpu.tiers & compiled_tiers());
  const MicroKernel* const forced =
      environment.kernel ? find(int8_kernels(), environment.kernel) : nullptr;
  const WeightFormat& sparse = sparse_format_of(tier_of(best), rhs.m_max, rhs.k);
  *formats = {find_format_of(select_layout(cpu, rhs_type, environment.kernel)),
              find_format_of(select_sparse_layout(cpu, sparse.layout, environment.kernel)),
              forced && supports(cpu, *forced)
                  ? forced->rhs_layout.sparse()
                  : gains_by_sparsity(best, cpu, rhs.m_max, rhs.n, rhs.k)};
  if (!environment.kernel && !is_4bit(rhs.type))
    formats->tried = format_to_try(cpu.tiers, formats->dense->layout.lanes(rhs.n), rhs.n, rhs.k);
  return OCTET_OK;
}

bool plan_as(const WeightFormat& format, Sparsity sparsity, RhsBuilder* p) {
  const RhsView& v = p->weights.view;
  const bool zero_points =
      !format.layout.sparse() &&
      any_zero_point(v.zero_points, v.zero_point_count, v.type, format.layout.element_type);
  if (!plan_matrices(format, (uint8_t)p->rhs().type, v.n, v.k, p->weights.batch, zero_points,
                     &p->container))
    return false;
  p->container.header.sparsity = sparsity;
  return true;
}

// Looks at the data of all matrices. A forced sparsity that does not hold is refused.
octet_status look_at_data(const RhsBuilder& p, Sparsity* verdict, octet_error* error) {
  RhsView one = p.weights.view;
  const size_t batch = p.weights.batch;
  const bool forced = p.rhs().sparsity == OCTET_SPARSE_2_4;
  for (size_t i = 0; i < batch; ++i, one.skip(p.weights.matrix_stride)) {
    const SparsityFinding finding = look_at(one);
    if (finding.verdict() != Sparsity::kTwoOfFour) *verdict = finding.verdict();
    if (finding.crowded && forced)
      return fail(
          error, OCTET_BAD_SPARSITY,
          "rhs.sparsity is OCTET_SPARSE_2_4, but column %zu of matrix %zu has more than two "
          "weights other than %d from k = %zu on: %s",
          finding.column, i, finding.zero, finding.k, finding.values);
    if (*verdict != Sparsity::kTwoOfFour && !forced) break;
  }
  return OCTET_OK;
}

octet_status lay_out(bool with_data, RhsBuilder* p, octet_error* error) {
  const octet_rhs_desc& rhs = p->rhs();
  const Formats& formats = p->formats;
  const size_t batch = p->weights.batch;
  const auto leaves = [&] {
    return fail(error, OCTET_BAD_SIZE,
                "rhs.n = %zu, rhs.k = %zu, rhs.batch = %zu: the packed size leaves ptrdiff_t",
                rhs.n, rhs.k, batch);
  };
  p->tries = false;
  if (rhs.scale_block)
    return plan_scale_blocks(*find_format_of(layout_of(p->weights.blocks)), (uint8_t)rhs.type,
                             p->weights.blocks, &p->container)
               ? OCTET_OK
               : leaves();
  if (rhs.sparsity == OCTET_SPARSE_NONE) {
    if (!plan_as(*formats.dense, Sparsity::kNotAsked, p)) return leaves();
    p->otherwise = p->container;
    p->tries = formats.tried && plan_as(*formats.tried, Sparsity::kNotAsked, p);
    if (!p->tries) p->container = p->otherwise;
    return OCTET_OK;
  }
  const bool forced = rhs.sparsity == OCTET_SPARSE_2_4;
  Sparsity verdict = Sparsity::kTwoOfFour;
  if (!forced && !formats.prefers_sparse) verdict = Sparsity::kNoGain;
  if (with_data && verdict == Sparsity::kTwoOfFour) OCTET_TRY(look_at_data(*p, &verdict, error));
  if (!plan_as(*formats.sparse, Sparsity::kTwoOfFour, p)) return leaves();
  const Container sparse = p->container;
  if (!plan_as(*formats.dense, verdict, p)) return leaves();
  const bool larger = sparse.header.bytes >= p->container.header.bytes;
  if (!forced && larger && verdict == Sparsity::kTwoOfFour)
    verdict = p->container.header.sparsity = Sparsity::kNoRoom;
  const bool certain =
      forced && !any_zero_point(p->weights.view.zero_points, p->weights.view.zero_point_count,
                                p->weights.view.type, sparse.format->layout.element_type);
  if (with_data || certain ? verdict == Sparsity::kTwoOfFour : larger && forced)
    p->container = sparse;
  return OCTET_OK;
}

octet_status prepare(const octet_rhs_desc* given, octet_isa isa, bool with_data, RhsBuilder* p,
                     octet_error* error) {
  OCTET_TRY(read_rhs(given, with_data, false, &p->weights, error));
  OCTET_TRY(choose_formats(p->rhs(), isa, &p->formats, error));
  return lay_out(false, p, error);
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_pack_size(const octet_rhs_desc* rhs, octet_isa isa, size_t* bytes,
                             octet_error* error) {
  if (!bytes) return fail(error, OCTET_NULL_POINTER, "bytes is null");
  RhsBuilder p;
  OCTET_TRY(prepare(rhs, isa, false, &p, error));
  *bytes = p.bytes();
  return OCTET_OK;
}

octet_status octet_pack_outline(const octet_rhs_desc* rhs, octet_isa isa, void* outline,
                                octet_error* error) {
  RhsBuilder p;
  OCTET_TRY(prepare(rhs, isa, false, &p, error));
  OCTET_TRY(check_outline(outline, error));
  const RhsView& v = p.weights.view;
  const octet_rhs_desc desc = outlined(
      p.rhs(), any_zero_point(v.zero_points, v.zero_point_count, v.type, ElementType::kS8));
  if (desc.sparsity != p.rhs().sparsity) OCTET_TRY(prepare(&desc, isa, false, &p, error));
  if (p.tries) p.take_other_format();
  p.container.header.has_int8_min = !is_4bit(p.rhs().type);
  write_outline(&p.container, outline);
  return OCTET_OK;
}

octet_status octet_pack(const octet_rhs_desc* rhs, octet_isa isa, void* blob, size_t blob_bytes,
                        octet_error* error) {
  RhsBuilder p;
  OCTET_TRY(prepare(rhs, isa, true, &p, error));
  const octet_rhs_desc& rhs_desc = p.rhs();
  // Not before the sizes agree: a wrong n would read beyond the caller's scales
  if (rhs_desc.scale_block && blob && blob_bytes >= p.bytes())
    OCTET_TRY(check_block_scales(p.weights, error));
  return pack_into(&p, "octet_pack_size",
                   {{"rhs.data", extent_of(rhs_desc.data, p.weights.data_bytes)},
                    {"rhs.zero_points",
                     extent_of(rhs_desc.zero_points, rhs_desc.zero_point_count * sizeof(int32_t))},
                    {"rhs.scales", extent_of(rhs_desc.scales, p.weights.scales_bytes)},
                    {"rhs.minimums", extent_of(rhs_desc.minimums, p.weights.scales_bytes)}},
                   blob, blob_bytes, error);
}
