// SPDX-License-Identifier: Apache-2.0
// Checks the fields of an octet_rhs_desc that describe scale blocks.
#include "kernels/core/half.h"
#include "operators/common/check.h"
#include "operators/gemm/weights.h"

namespace octet {
namespace {

octet_status check_depth(const octet_rhs_desc& rhs, octet_error* error) {
  const size_t depth = rhs.scale_block;
  if (!depth)
    return fail(error, OCTET_BAD_SIZE, "rhs.%s is set, but rhs.scale_block is 0",
                rhs.scales     ? "scales"
                : rhs.minimums ? "minimums"
                               : "scale_type");
  const size_t most = is_4bit(rhs.type) ? kMostScaleBlock : kMostByteBlock;
  if (depth % kLeastScaleBlock || depth > most)
    return fail(error, OCTET_BAD_SIZE,
                "rhs.scale_block = %zu; it must be a multiple of %zu, and with weights of %s at "
                "most %zu",
                depth, kLeastScaleBlock, octet_type_name(rhs.type), most);
  if (rhs.k % depth)
    return fail(
        error, OCTET_BAD_SIZE,
        "rhs.scale_block = %zu does not divide rhs.k = %zu: make k a multiple of it, and pad "
        "rows of the lhs with their zero point (f32: 0)",
        depth, rhs.k);
  if (rhs.scale_type != OCTET_F16 && rhs.scale_type != OCTET_F32)
    return fail(error, OCTET_UNKNOWN_ENUM,
                "rhs.scale_type is %d; scales of blocks are OCTET_F16 or OCTET_F32",
                (int)rhs.scale_type);
  return OCTET_OK;
}

octet_status check_pointers(const octet_rhs_desc& rhs, octet_error* error) {
  if (!rhs.scales)
    return fail(error, OCTET_NULL_POINTER, "rhs.scales is null; rhs.scale_block = %zu needs it",
                rhs.scale_block);
  const int bytes = rhs.scale_type == OCTET_F16 ? 2 : 4;
  const bool minimums = (uintptr_t)rhs.minimums % bytes;
  if (!minimums && (uintptr_t)rhs.scales % bytes == 0) return OCTET_OK;
  return fail(error, OCTET_MISALIGNED, "rhs.%s is at %p; it must be a multiple of %d",
              minimums ? "minimums" : "scales", minimums ? rhs.minimums : rhs.scales, bytes);
}

// Weights of 8 bits stand for themselves as s8, and for so much less as u8.
octet_status check_zero_points_of_bytes(const octet_rhs_desc& rhs, octet_error* error) {
  const int32_t all = rhs.type == OCTET_U8 ? 128 : 0;
  if (all && !rhs.zero_points)
    return fail(error, OCTET_UNSUPPORTED,
                "rhs.zero_points is null: weights of OCTET_U8 in scale blocks have zero points of "
                "128");
  for (size_t i = 0; rhs.zero_points && i < rhs.zero_point_count; ++i)
    if (rhs.zero_points[i] != all)
      return fail(error, OCTET_UNSUPPORTED,
                  "rhs.zero_points[%zu] is %d; those of weights of %s in scale blocks are %d", i,
                  (int)rhs.zero_points[i], octet_type_name(rhs.type), (int)all);
  return OCTET_OK;
}

octet_status check_values(const octet_rhs_desc& rhs, bool minimum, size_t count,
                          octet_error* error) {
  const bool f16 = rhs.scale_type == OCTET_F16;
  const uint8_t* const values = (const uint8_t*)(minimum ? rhs.minimums : rhs.scales);
  uint32_t most;
  __builtin_memcpy(&most, &kMaxScale, sizeof most);
  for (size_t i = 0; values && i < count; ++i) {
    uint32_t bits = 0;
    __builtin_memcpy(&bits, values + i * (f16 ? 2 : 4), f16 ? 2 : 4);
    if (f16 ? !is_finite_half(bits) : (bits & 0x7fffffff) > most)
      return fail(error, OCTET_BAD_SCALE,
                  "rhs.%s[%zu], of column %zu and block %zu, is not finite%s",
                  minimum ? "minimums" : "scales", i, i / (rhs.k / rhs.scale_block) % rhs.n,
                  i % (rhs.k / rhs.scale_block), f16 ? "" : ", or above 2^48");
  }
  return OCTET_OK;
}

}  // namespace

octet_status check_block_scales(const RhsWeights& w, octet_error* error) {
  const octet_rhs_desc& rhs = *w.rhs;
  const size_t count = w.scales_bytes / (rhs.scale_type == OCTET_F16 ? 2 : 4);
  OCTET_TRY(check_values(rhs, false, count, error));
  return check_values(rhs, true, count, error);
}

octet_status read_scale_blocks(bool with_data, RhsWeights* w, octet_error* error) {
  const octet_rhs_desc& rhs = *w->rhs;
  OCTET_TRY(check_depth(rhs, error));
  const size_t blocks = rhs.k / rhs.scale_block;
  size_t count;
  if (__builtin_mul_overflow(rhs.n, blocks, &count) ||
      __builtin_mul_overflow(count, w->batch, &count) || count > PTRDIFF_MAX / sizeof(int32_t))
    return fail(error, OCTET_BAD_SIZE,
                "rhs.n = %zu, rhs.batch = %zu and %zu blocks of a column: the scales leave size_t",
                rhs.n, w->batch, blocks);
  if (with_data) OCTET_TRY(check_pointers(rhs, error));
  const bool per_block = rhs.zero_points && rhs.zero_point_count == count;
  if (rhs.zero_point_count > 1 && rhs.zero_point_count != rhs.n && !per_block)
    return fail(error, OCTET_BAD_SIZE,
                "rhs.zero_points has %zu values; it must have 1, n = %zu or one per scale, %zu",
                rhs.zero_point_count, rhs.n, count);
  OCTET_TRY(check_zero_points(rhs.zero_points, rhs.zero_point_count, per_block ? count : rhs.n,
                              rhs.type, "rhs.zero_points", error));
  const bool bytes = !is_4bit(rhs.type);
  if (bytes) OCTET_TRY(check_zero_points_of_bytes(rhs, error));
  const int32_t first = rhs.zero_points ? rhs.zero_points[0] : 0,
                shift = rhs.type == OCTET_S4 ? 8 : 0;  // of weights from 0 to 15
  bool alike = true;
  for (size_t i = 0; i < rhs.zero_point_count; ++i) alike &= rhs.zero_points[i] == first;
  ScaleBlocksGeometry& g = w->blocks;
  g.n = rhs.n, g.k = rhs.k, g.count = w->batch;
  g.depth = (uint32_t)rhs.scale_block;
  g.f16 = rhs.scale_type == OCTET_F16;
  g.has_zeros = !alike;
  g.zero_point = (uint8_t)(bytes ? 0 : alike ? first + shift : 8);
  g.bytes = bytes, g.has_minimums = rhs.minimums != nullptr;
  w->scales = {rhs.scales, rhs.minimums, alike ? nullptr : rhs.zero_points, !per_block};
  w->scales_bytes = count * (g.f16 ? 2 : 4);
  return OCTET_OK;
}

}  // namespace octet
