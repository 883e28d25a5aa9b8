// SPDX-License-Identifier: Apache-2.0
// Checks that several entry points share.
#include "operators/common/check.h"

#include <stdio.h>

#include "dispatch/select/sparsity.h"

namespace octet {
namespace {

struct Subscript {
  char text[24] = "";
  explicit Subscript(size_t index) {
    if (index != kScalar) snprintf(text, sizeof text, "[%zu]", index);
  }
};

// Compares bits: NaN, infinity and negative numbers are above the maximum, and denormals-are-zero
// cannot make a small scale look like 0.
template <typename Bits, typename Float>
bool is_scale(Float scale) {
  const Float most = kMaxScale;
  Bits bits, max_bits;
  __builtin_memcpy(&bits, &scale, sizeof bits);
  __builtin_memcpy(&max_bits, &most, sizeof max_bits);
  return bits > 0 && bits <= max_bits;
}

octet_status refuse_scale(double scale, const char* name, size_t index, octet_error* error) {
  return fail(error, OCTET_BAD_SCALE, "%s%s is %g; it must be finite, positive and at most 2^48",
              name, Subscript(index).text, scale);
}

}  // namespace

octet_status check_scale(float scale, const char* name, size_t index, octet_error* error) {
  return is_scale<uint32_t>(scale) ? OCTET_OK : refuse_scale((double)scale, name, index, error);
}

octet_status check_scale(double scale, const char* name, size_t index, octet_error* error) {
  return is_scale<uint64_t>(scale) ? OCTET_OK : refuse_scale(scale, name, index, error);
}

octet_status check_zero_point(int32_t zero_point, octet_type type, const char* name, size_t index,
                              octet_error* error) {
  if (zero_point >= least(type) && zero_point <= most(type)) return OCTET_OK;
  return fail(error, OCTET_BAD_ZERO_POINT, "%s%s is %d; the range of its type is %d..%d", name,
              Subscript(index).text, (int)zero_point, (int)least(type), (int)most(type));
}

octet_status check_zero_points(const int32_t* zero_points, size_t count, size_t n, octet_type type,
                               const char* name, octet_error* error) {
  if (!zero_points && count == 0) return OCTET_OK;
  if (!zero_points)
    return fail(error, OCTET_NULL_POINTER, "%s is null but its count is %zu", name, count);
  if ((uintptr_t)zero_points % alignof(int32_t))
    return fail(error, OCTET_MISALIGNED, "%s is at %p; it must be a multiple of %zu", name,
                (const void*)zero_points, alignof(int32_t));
  if (count != 1 && count != n)
    return fail(error, OCTET_BAD_SIZE, "%s has %zu values; it must have 1 or n = %zu", name, count,
                n);
  for (size_t i = 0; i < count; ++i)
    if (const octet_status status = check_zero_point(zero_points[i], type, name, i, error))
      return status;
  return OCTET_OK;
}

octet_status check_sparsity(octet_sparsity sparsity, int reserved, const char* name,
                            octet_error* error) {
  if (sparsity < OCTET_SPARSE_NONE || sparsity > OCTET_SPARSE_AUTO)
    return fail(error, OCTET_UNKNOWN_ENUM, "%s.sparsity is %d, not an octet_sparsity", name,
                (int)sparsity);
  if (reserved)
    return fail(error, OCTET_UNSUPPORTED, "%s.reserved is not 0; this version has no use for it",
                name);
  return sparsity == OCTET_SPARSE_NONE ? OCTET_OK : allow_sparsity(name, error);
}

octet_status check_aligned(const void* pointer, const char* name, octet_error* error) {
  if ((uintptr_t)pointer % OCTET_ALIGNMENT == 0) return OCTET_OK;
  return fail(error, OCTET_MISALIGNED, "%s is at %p; it must be a multiple of OCTET_ALIGNMENT (%d)",
              name, pointer, OCTET_ALIGNMENT);
}

octet_status refuse_outline(const char* made_of_outline, octet_error* error) {
  return fail(error, OCTET_BAD_BLOB,
              "%s was created with an outline of packed weights, for questions: it does not run",
              made_of_outline);
}

octet_status check_workspace(const void* workspace, size_t bytes, size_t needed,
                             octet_error* error) {
  if (!needed) return OCTET_OK;
  if (!workspace)
    return fail(error, OCTET_NULL_POINTER, "args.workspace is null; this run needs %zu bytes",
                needed);
  if (bytes < needed)
    return fail(error, OCTET_WORKSPACE_TOO_SMALL, "args.workspace_bytes = %zu, this run needs %zu",
                bytes, needed);
  return check_aligned(workspace, "args.workspace", error);
}

octet_status check_lhs_quants(const int32_t* zero_points, const float* scales, size_t count,
                              octet_type lhs, octet_type dst, octet_error* error) {
  if (scales && dst == OCTET_S32)
    return fail(error, OCTET_UNSUPPORTED,
                "args.lhs_scales has no meaning for an s32 dst: it holds the accumulators");
  for (size_t i = 0; zero_points && i < count; ++i)
    OCTET_TRY(check_zero_point(zero_points[i], lhs, "args.lhs_zero_points", i, error));
  for (size_t i = 0; scales && i < count; ++i)
    OCTET_TRY(check_scale(scales[i], "args.lhs_scales", i, error));
  return OCTET_OK;
}

}  // namespace octet
