// octet_pack*: weights into blobs.
#include "dispatch/check.h"
#include "dispatch/environment.h"
#include "dispatch/machine.h"
#include "dispatch/rhs_weights.h"
#include "dispatch/select.h"
#include "dispatch/tables/tiers.h"
#include "kernels/pack/matrices.h"

namespace octet {
namespace {

struct RhsDraft {
  RhsWeights weights;
  Container container;
  size_t bytes() const { return (size_t)container.header.bytes; }
};

octet_status choose_form(const octet_rhs_desc& rhs, octet_isa isa, const Form** form,
                         octet_error* error) {
  if (isa != OCTET_ISA_AUTO && !find_tier((int)isa))
    return fail(error, OCTET_UNKNOWN_ENUM, "isa is %d, not an octet_isa", (int)isa);
  const bool rhs_u8 = rhs.type == OCTET_U8;
  if (isa != OCTET_ISA_AUTO) {
    *form = find_form_of(layout_of((Isa)isa, rhs_u8));
    return OCTET_OK;
  }
  Environment environment;
  if (const octet_status status = read_environment(&environment, error)) return status;
  CpuFeatures cpu = this_machine().cpu;
  cpu.isas &= environment.allowed;
  *form = find_form_of(select_layout(cpu, rhs_u8, environment.kernel));
  return OCTET_OK;
}

octet_status prepare(const octet_rhs_desc* given, octet_isa isa, bool with_data, RhsDraft* p,
                     octet_error* error) {
  OCTET_TRY(read_rhs(given, with_data, &p->weights, error));
  const octet_rhs_desc& rhs = *p->weights.rhs;
  const Form* form = nullptr;
  if (const octet_status status = choose_form(rhs, isa, &form, error)) return status;
  const bool zero_points = any_zero_point(rhs.zero_points, rhs.zero_point_count,
                                          p->weights.view.is_u8, form->layout.domain);
  if (!plan_matrices(*form, (uint8_t)rhs.type, rhs.n, rhs.k, p->weights.batch, zero_points,
                     &p->container))
    return fail(error, OCTET_BAD_SIZE,
                "rhs.n = %zu, rhs.k = %zu, rhs.batch = %zu: the packed size leaves ptrdiff_t",
                rhs.n, rhs.k, p->weights.batch);
  return OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_pack_size(const octet_rhs_desc* rhs, octet_isa isa, size_t* bytes,
                             octet_error* error) {
  if (!bytes) return fail(error, OCTET_NULL_POINTER, "bytes is null");
  RhsDraft p;
  if (const octet_status status = prepare(rhs, isa, false, &p, error)) return status;
  *bytes = p.bytes();
  return OCTET_OK;
}

octet_status octet_pack(const octet_rhs_desc* rhs, octet_isa isa, void* blob, size_t blob_bytes,
                        octet_error* error) {
  RhsDraft p;
  if (const octet_status status = prepare(rhs, isa, true, &p, error)) return status;
  const RhsWeights& w = p.weights;
  if (!blob) return fail(error, OCTET_NULL_POINTER, "blob is null");
  if (const octet_status status = check_aligned(blob, "blob", error)) return status;
  if (blob_bytes < p.bytes())
    return fail(error, OCTET_BAD_SIZE, "blob_bytes = %zu, but octet_pack_size says %zu", blob_bytes,
                p.bytes());
  if (meet(extent_of(blob, p.bytes()), extent_of(w.rhs->data, w.data_bytes)))
    return fail(error, OCTET_OVERLAP, "blob overlaps rhs.data");
  if (meet(extent_of(blob, p.bytes()),
           extent_of(w.rhs->zero_points, w.rhs->zero_point_count * sizeof(int32_t))))
    return fail(error, OCTET_OVERLAP, "blob overlaps rhs.zero_points");
  write_matrices(&p.container, w.view, w.matrix_stride, blob);
  return OCTET_OK;
}
