// SPDX-License-Identifier: Apache-2.0
// The checks of octet_gemm_create that look at the descriptor and its packed weights alone.
#include "operators/common/check.h"
#include "kernels/core/parts.h"
#include "operators/common/blob.h"
#include "operators/epilogue/s16.h"
#include "operators/gemm/builder.h"

namespace octet {
namespace {

// Compares the packed weights with the descriptor.
template <typename Geometry>
octet_status check_geometry(GemmBuilder* builder, const Geometry& g) {
  const octet_gemm_desc& d = builder->desc;
  const octet_type type = (octet_type)builder->blob.header.type;
  const size_t batch = d.batch_max ? d.batch_max : 1;
  // Those of an outline are alike, and no memory bounds their number
  builder->matrices = builder->blob.header.outline ? 1 : (size_t)g.count;
  if (g.n == d.n && g.k == d.k && type == d.rhs_type && (g.count == 1 || g.count >= batch))
    return OCTET_OK;
  return fail(builder->error, OCTET_BAD_BLOB,
              "desc.packed holds %zu matrices of n = %zu, k = %zu, type %s; the descriptor wants "
              "%zu of n = %zu, k = %zu, type %s",
              (size_t)g.count, (size_t)g.n, (size_t)g.k, octet_type_name(type), batch, d.n, d.k,
              octet_type_name(d.rhs_type));
}

octet_status check_scale_blocks(GemmBuilder* builder) {
  const octet_gemm_desc& d = builder->desc;
  octet_error* const error = builder->error;
  Container& c = builder->blob;
  OCTET_TRY(blob_status(check_scale_blocks(d.packed, d.packed_bytes, find_format, &c),
                        "desc.packed", d.packed_bytes, error));
  OCTET_TRY(check_geometry(builder, c.read_geometry<ScaleBlocksGeometry>()));
  const auto refuse = [&](const char* what) {
    return fail(error, OCTET_UNSUPPORTED, "desc.packed holds weights in scale blocks: %s", what);
  };
  if (!OCTET_IF(INT4, true, false)) return refuse("this library has none (OCTET_WITH_INT4=OFF)");
  if (d.dst_type == OCTET_S32)
    return refuse("their sums are floats; desc.dst_type must be OCTET_F32, OCTET_S8 or OCTET_U8");
  if (d.epilogue.requant != OCTET_REQUANT_FLOAT)
    return refuse("their sums are floats; desc.epilogue.requant must be OCTET_REQUANT_FLOAT");
  if (d.epilogue.bias)
    return refuse(
        "their sums are floats; an f32 dst takes desc.epilogue.bias_f32, an s8 or u8 dst no bias");
  return OCTET_OK;
}

octet_status check_sizes(GemmBuilder* builder) {
  const octet_gemm_desc& d = builder->desc;
  octet_error* error = builder->error;
  if (d.m_max == 0 || d.n == 0 || d.k == 0)
    return fail(error, OCTET_BAD_SIZE,
                "desc.m_max = %zu, desc.n = %zu, desc.k = %zu: none may be 0", d.m_max, d.n, d.k);
  // Leaves room for every rounding and product of the plan
  constexpr size_t kLargest = (size_t)1 << 31;
  if (d.m_max > kLargest || d.n > kLargest || d.k > (size_t)INT32_MAX / 255)
    return fail(error, OCTET_BAD_SIZE,
                "desc.m_max = %zu, desc.n = %zu, desc.k = %zu: m and n end at 2^31, k at %d",
                d.m_max, d.n, d.k, INT32_MAX / 255);
  size_t bytes;
  if (!span_bytes(1, 0, d.m_max, d.n, d.n, 4, &bytes))
    return fail(error, OCTET_BAD_SIZE, "desc.m_max = %zu times desc.n = %zu leaves size_t", d.m_max,
                d.n);
  if (!span_bytes(1, 0, d.m_max, d.k, d.k, element_bytes(d.lhs_type), &bytes))
    return fail(error, OCTET_BAD_SIZE, "desc.m_max = %zu times desc.k = %zu leaves size_t", d.m_max,
                d.k);
  // The bytes of a column's arrays in the object and the workspace, and of packed run-time weights.
  // In 64 bits, where size_t may have 32.
  constexpr uint64_t kColumnBytes = 64, kWidest = 64, kDeepest = 16;
  const uint64_t columns = (uint64_t)d.n + 2 * kWidest,
                 panels = d.packed ? 0 : columns * (d.k + kDeepest);
  if (columns * kColumnBytes + panels > PTRDIFF_MAX)
    return fail(
        error, OCTET_BAD_SIZE,
        "desc.n = %zu, desc.k = %zu: arrays over the columns and packed weights leave size_t", d.n,
        d.k);

  if (!OCTET_IF(INT4, true, false) && is_4bit(d.rhs_type))
    return fail(error, OCTET_UNSUPPORTED,
                "desc.rhs_type is %s, but this library was built without products by weights of 4 "
                "bits (OCTET_WITH_INT4=OFF)",
                octet_type_name(d.rhs_type));
  if (!OCTET_IF(RUNTIME_WEIGHTS, true, false) && !d.packed)
    return fail(error, OCTET_UNSUPPORTED,
                "desc.packed is null, but this library was built without weights that come with a "
                "run (OCTET_WITH_RUNTIME_WEIGHTS=OFF)");
  builder->has_blob = OCTET_IF(RUNTIME_WEIGHTS, d.packed != nullptr, true);
  builder->matrices = 1;
  if (!d.packed) {
    if (is_4bit(d.rhs_type))
      return fail(error, OCTET_UNSUPPORTED,
                  "desc.rhs_type is %s, but desc.packed is null: weights of 4 bits come packed",
                  octet_type_name(d.rhs_type));
    if (builder->has_s16())
      return fail(error, OCTET_UNSUPPORTED,
                  "desc.lhs_type is OCTET_S16, but desc.packed is null: its weights come packed");
    if (d.packed_bytes)
      return fail(error, OCTET_NULL_POINTER, "desc.packed is null but desc.packed_bytes is %zu",
                  d.packed_bytes);
    return OCTET_OK;
  }
  OCTET_TRY(check_aligned(d.packed, "desc.packed", error));
  Container& c = builder->blob;
  const BlobProblem problem = check_matrices(d.packed, d.packed_bytes, find_format, &c);
  if (problem == BlobProblem::kOtherKind && c.header.kind == BlobKind::kScaleBlocks)
    return check_scale_blocks(builder);
  if (problem == BlobProblem::kOtherKind && c.header.kind == BlobKind::kFilter)
    return fail(error, OCTET_BAD_BLOB,
                "desc.packed comes from octet_conv2d_pack; a GEMM takes what octet_pack makes");
  OCTET_TRY(blob_status(problem, "desc.packed", d.packed_bytes, error));
  return check_geometry(builder, c.read_geometry<MatricesGeometry>());
}

octet_status check_order(const GemmBuilder& builder) {
  const octet_gemm_desc& d = builder.desc;
  octet_error* error = builder.error;
  if (d.rhs_order != OCTET_KN && d.rhs_order != OCTET_NK)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.rhs_order is %d, neither OCTET_KN nor OCTET_NK",
                (int)d.rhs_order);
  return OCTET_OK;
}

}  // namespace

// Plans the epilogue before it checks the range: settled_bias depends on the epilogue.
octet_status check_desc(GemmBuilder* builder) {
  EpilogueBuilder* const epilogue = &builder->epilogue;
  OCTET_TRY(check_kind(builder->desc, *epilogue));
  OCTET_TRY(check_order(*builder));
  OCTET_TRY(check_sizes(builder));
  if (scales_blocks(builder->desc.lhs_quant) && !builder->has_scale_blocks())
    return fail(builder->error, OCTET_UNSUPPORTED,
                "desc.lhs_quant is %d, of scale blocks, but desc.packed holds no weights in scale "
                "blocks",
                (int)builder->desc.lhs_quant);
  OCTET_TRY(check_quantization(epilogue));
  OCTET_TRY(plan_epilogue(epilogue));
  if (builder->has_scale_blocks()) return OCTET_OK;  // a block's sum is below 2^24
  epilogue->outline = builder->has_blob && builder->blob.header.outline;
  for (size_t b = 0; b < builder->matrices; ++b) {
    const PackedRhs packed =
        builder->has_blob ? matrix_of(builder->blob, builder->desc.packed, b) : PackedRhs{};
    OCTET_TRY(builder->has_s16() ? check_s16_range(epilogue, packed)
                                 : check_range(epilogue, packed));
  }
  return OCTET_OK;
}

}  // namespace octet
