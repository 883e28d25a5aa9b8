// octet_pack*: weights into blobs.
#include "dispatch/check.h"
#include "dispatch/environment.h"
#include "dispatch/machine.h"
#include "dispatch/select.h"
#include "dispatch/struct_size.h"
#include "dispatch/tables/tiers.h"
#include "kernels/pack/matrices.h"

namespace octet {
namespace {

struct RhsDraft {
  Given<octet_rhs_desc> rhs;
  RhsView view;
  size_t matrix_stride;  // bytes
  size_t data_bytes;
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
  const Given<octet_rhs_desc>& rhs = p->rhs;
  OCTET_TRY(p->rhs.read(given, "rhs", error));
  if (!is_8bit(rhs->type))
    return fail(error, OCTET_UNKNOWN_ENUM, "rhs.type is %d; weights are OCTET_S8 or OCTET_U8",
                (int)rhs->type);
  if (rhs->order != OCTET_KN && rhs->order != OCTET_NK)
    return fail(error, OCTET_UNKNOWN_ENUM, "rhs.order is %d, neither OCTET_KN nor OCTET_NK",
                (int)rhs->order);
  if (rhs->n == 0 || rhs->k == 0)
    return fail(error, OCTET_BAD_SIZE, "rhs.n = %zu, rhs.k = %zu: neither may be 0", rhs->n,
                rhs->k);
  if (with_data && !rhs->data) return fail(error, OCTET_NULL_POINTER, "rhs.data is null");
  // Sums of a column fit int32 with room to spare; no accumulator could hold more depth anyway.
  if (rhs->k > INT32_MAX / 255)
    return fail(error, OCTET_BAD_SIZE, "rhs.k = %zu is above %d, the most that int32 sums can hold",
                rhs->k, INT32_MAX / 255);

  const bool kn = rhs->order == OCTET_KN;
  const size_t row = kn ? rhs->n : rhs->k, rows = kn ? rhs->k : rhs->n,
               batch = rhs->batch ? rhs->batch : 1;
  const size_t stride = rhs->stride ? rhs->stride : row;
  if (stride < row)
    return fail(error, OCTET_BAD_STRIDE, "rhs.stride = %zu is smaller than a stored row of %zu",
                stride, row);
  size_t matrix, all;
  if (!span_bytes(1, 0, rows, stride, row, 1, &matrix))
    return fail(error, OCTET_BAD_SIZE,
                "rhs.n = %zu, rhs.k = %zu, rhs.stride = %zu: the matrix leaves size_t", rhs->n,
                rhs->k, stride);
  size_t batch_stride = rhs->batch_stride;
  if (batch_stride == 0 && __builtin_mul_overflow(rows, stride, &batch_stride))
    return fail(error, OCTET_BAD_SIZE, "rhs.stride = %zu times %zu rows leaves size_t", stride,
                rows);
  if (!span_bytes(batch, batch_stride, rows, stride, row, 1, &all))
    return fail(error, OCTET_BAD_SIZE,
                "rhs.batch = %zu, rhs.batch_stride = %zu: the batch leaves size_t", batch,
                batch_stride);
  if (const octet_status status = check_zero_points(rhs->zero_points, rhs->zero_point_count, rhs->n,
                                                    rhs->type, "rhs.zero_points", error))
    return status;

  const Form* form = nullptr;
  if (const octet_status status = choose_form(*rhs, isa, &form, error)) return status;
  // A single row has no next one, and its stride may be anything
  const size_t step = rows == 1 ? row : stride;
  p->view = {(const uint8_t*)rhs->data,
             rhs->n,
             rhs->k,
             kn ? step : 1,
             kn ? 1 : step,
             rhs->type == OCTET_U8,
             rhs->zero_points,
             rhs->zero_point_count};
  p->matrix_stride = batch_stride;
  p->data_bytes = all;
  const bool zero_points =
      any_zero_point(rhs->zero_points, rhs->zero_point_count, p->view.is_u8, form->layout.domain);
  if (!plan_matrices(*form, (uint8_t)rhs->type, rhs->n, rhs->k, batch, zero_points, &p->container))
    return fail(error, OCTET_BAD_SIZE,
                "rhs.n = %zu, rhs.k = %zu, rhs.batch = %zu: the packed size leaves ptrdiff_t",
                rhs->n, rhs->k, batch);
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
  if (!blob) return fail(error, OCTET_NULL_POINTER, "blob is null");
  if (const octet_status status = check_aligned(blob, "blob", error)) return status;
  if (blob_bytes < p.bytes())
    return fail(error, OCTET_BAD_SIZE, "blob_bytes = %zu, but octet_pack_size says %zu", blob_bytes,
                p.bytes());
  if (meet(extent_of(blob, p.bytes()), extent_of(p.rhs->data, p.data_bytes)))
    return fail(error, OCTET_OVERLAP, "blob overlaps rhs.data");
  if (meet(extent_of(blob, p.bytes()),
           extent_of(p.rhs->zero_points, p.rhs->zero_point_count * sizeof(int32_t))))
    return fail(error, OCTET_OVERLAP, "blob overlaps rhs.zero_points");
  write_matrices(&p.container, p.view, p.matrix_stride, blob);
  return OCTET_OK;
}
