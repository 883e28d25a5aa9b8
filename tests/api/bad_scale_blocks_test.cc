// SPDX-License-Identifier: Apache-2.0
// Checks which weights in scale blocks are refused, and how memory traffic, tuning and explanations
// take them.
#include "octet/traffic.h"
#include "octet/tune.h"
#include "support/refused.h"
#include "support/scale_block_case.h"

namespace octet_test {
namespace {

TEST(BadScaleBlocks, RefuseBadWeights) {
  BlockCase c;
  c.n = 5, c.blocks = 3;
  BlockProduct product(c);
  const octet_rhs_desc good = product.rhs();
  const Guarded blob(1 << 16, Side::kBack, OCTET_ALIGNMENT);
  const auto refuses = [&](octet_status status, const char* argument, auto change) {
    octet_rhs_desc rhs = good;
    change(&rhs);
    expect_refused(status, argument, [&](octet_error* error) {
      return octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), blob.bytes(), error);
    });
  };
  for (const size_t depth : {(size_t)8, (size_t)17, (size_t)272, SIZE_MAX, SIZE_MAX / 16 * 16})
    refuses(OCTET_BAD_SIZE, "rhs.scale_block", [&](auto* r) { r->scale_block = depth; });
  refuses(OCTET_BAD_SIZE, "rhs.scale_block", [](auto* r) { r->scale_block = 64; });
  refuses(OCTET_BAD_SIZE, "rhs.scales", [](auto* r) { r->scale_block = 0; });
  refuses(OCTET_BAD_SIZE, "rhs.scale_type",
          [](auto* r) { r->scale_block = 0, r->scales = nullptr; });
  refuses(OCTET_UNKNOWN_ENUM, "rhs.scale_type", [](auto* r) { r->scale_type = OCTET_S32; });
  refuses(OCTET_UNKNOWN_ENUM, "rhs.scale_type", [](auto* r) { r->scale_type = (octet_type)0; });
  refuses(OCTET_NULL_POINTER, "rhs.scales", [](auto* r) { r->scales = nullptr; });
  refuses(OCTET_MISALIGNED, "rhs.scales",
          [](auto* r) { r->scales = (const uint8_t*)r->scales - 1; });
  refuses(OCTET_OVERLAP, "rhs.scales", [&](auto* r) { r->scales = blob.data(); });
  refuses(OCTET_BAD_SIZE, "rhs.minimums", [&](auto* r) {
    r->minimums = r->scales, r->scale_block = 0, r->scales = nullptr;
    r->scale_type = (octet_type)0;
  });
  refuses(OCTET_MISALIGNED, "rhs.minimums",
          [](auto* r) { r->minimums = (const uint8_t*)r->scales - 1; });
  refuses(OCTET_OVERLAP, "rhs.minimums", [&](auto* r) { r->minimums = blob.data(); });
  // Of 8 bits
  const std::vector<uint8_t> bytes(5 * c.k());
  const int32_t wrong = 127;
  const auto refuses_bytes = [&](octet_status status, const char* argument, auto change) {
    refuses(status, argument, [&](auto* r) {
      r->type = OCTET_S8, r->data = bytes.data();
      change(r);
    });
  };
  refuses_bytes(OCTET_BAD_SIZE, "at most 128", [](auto* r) { r->scale_block = 144, r->k = 144; });
  refuses_bytes(OCTET_UNSUPPORTED, "rhs.zero_points[0] is 127",
                [&](auto* r) { r->zero_points = &wrong, r->zero_point_count = 1; });
  refuses_bytes(OCTET_UNSUPPORTED, "rhs.zero_points", [](auto* r) { r->type = OCTET_U8; });
  refuses_bytes(OCTET_UNSUPPORTED, "rhs.scale_block",
                [](auto* r) { r->sparsity = OCTET_SPARSE_2_4; });
  refuses(OCTET_UNSUPPORTED, "rhs.type", [](auto* r) { r->sparsity = OCTET_SPARSE_2_4; });
  const int32_t zeros[16] = {0, 3, 3, 99};
  refuses(OCTET_MISALIGNED, "rhs.zero_points is at", [&](auto* r) {
    r->zero_points = (const int32_t*)((const char*)zeros + 2), r->zero_point_count = 1;
  });
  refuses(OCTET_BAD_SIZE, "rhs.zero_points",
          [&](auto* r) { r->zero_points = zeros, r->zero_point_count = 14; });
  refuses(OCTET_BAD_ZERO_POINT, "rhs.zero_points[3]",
          [&](auto* r) { r->zero_points = zeros, r->zero_point_count = 15; });
  // 2^20 columns and more, whatever size_t is, whose scales are not there: nothing may be read
  refuses(OCTET_BAD_SIZE, "blob_bytes", [](auto* r) { r->n = SIZE_MAX >> 3 * sizeof(size_t); });
  std::vector<uint16_t> half(15, 0x3c00);
  for (const uint16_t bad : {0x7c00, 0xfc00, 0x7e00, 0xffff}) {
    half[13] = bad;
    refuses(OCTET_BAD_SCALE, "rhs.scales[13]", [&](auto* r) { r->scales = half.data(); });
    refuses(OCTET_BAD_SCALE, "rhs.minimums[13]", [&](auto* r) { r->minimums = half.data(); });
  }
  std::vector<float> floats(15, -1.0f);
  for (const float bad : {NAN, INFINITY, -INFINITY, 3e14f, -3e14f}) {
    floats[7] = bad;
    refuses(OCTET_BAD_SCALE, "rhs.scales[7]",
            [&](auto* r) { r->scale_type = OCTET_F32, r->scales = floats.data(); });
  }
}

TEST(BadScaleBlocks, AreExplainedButNeitherTunedNorModelled) {
  BlockCase c;
  c.n = 5, c.blocks = 2;
  const BlockProduct product(c);
  size_t bytes = 0;
  ASSERT_EQ(octet_pack_size(&product.rhs(), OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  ASSERT_EQ(octet_pack(&product.rhs(), OCTET_ISA_AUTO, blob.data(), bytes, nullptr), OCTET_OK);
  octet_gemm_desc desc = product.desc();
  desc.packed = blob.data(), desc.packed_bytes = bytes;
  octet_gemm_explanation explanation = OCTET_GEMM_EXPLANATION_INIT;
  ASSERT_EQ(octet_gemm_explain(&desc, 1, &explanation, nullptr), OCTET_OK);
  EXPECT_NE(std::string(explanation.kernel).find("blocks"), std::string::npos);
  EXPECT_EQ(explanation.layout_isa, kPortableTier);
  octet_tuning* tuning = nullptr;
  ASSERT_EQ(octet_tuning_create(&tuning, nullptr), OCTET_OK);
  const octet_tune_options options = OCTET_TUNE_OPTIONS_INIT;
  octet_tune_result result = OCTET_TUNE_RESULT_INIT;
  expect_refused(OCTET_UNSUPPORTED, "desc.packed", [&](octet_error* error) {
    return octet_tune_gemm(&desc, &options, tuning, &result, error);
  });
  octet_tuning_destroy(tuning);
  octet_gemm* gemm = nullptr;
  ASSERT_EQ(octet_gemm_create(&desc, &gemm, nullptr), OCTET_OK);
  octet_traffic* traffic = nullptr;
  octet_traffic_options cache = OCTET_TRAFFIC_OPTIONS_INIT;
  cache.cache_bytes = 4096;
  ASSERT_EQ(octet_traffic_create(&cache, &traffic, nullptr), OCTET_OK);
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = 1;
  expect_refused(OCTET_UNSUPPORTED, "gemm", [&](octet_error* error) {
    return octet_traffic_gemm(traffic, gemm, &args, error);
  });
  octet_traffic_destroy(traffic);
  octet_gemm_destroy(gemm);
}

TEST(BadScaleBlocks, RefuseWhatFloatsCannotBe) {
  BlockCase c;
  c.n = 5, c.blocks = 2;
  BlockProduct product(c);
  size_t bytes = 0;
  ASSERT_EQ(octet_pack_size(&product.rhs(), OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  ASSERT_EQ(octet_pack(&product.rhs(), OCTET_ISA_AUTO, blob.data(), bytes, nullptr), OCTET_OK);
  const auto refuses = [&](octet_status status, const char* argument, auto change) {
    octet_gemm_desc desc = product.desc();
    desc.packed = blob.data(), desc.packed_bytes = bytes;
    change(&desc);
    octet_gemm* gemm = nullptr;
    expect_refused(status, argument,
                   [&](octet_error* error) { return octet_gemm_create(&desc, &gemm, error); });
    EXPECT_EQ(gemm, nullptr);
  };
  const float one = 1;
  const int32_t multiplier = 1 << 30, shift = 0, bias[5] = {};
  refuses(OCTET_UNSUPPORTED, "desc.dst_type", [&](auto* d) {
    d->dst_type = OCTET_S32, d->epilogue.scales = nullptr, d->epilogue.scale_count = 0;
  });
  refuses(OCTET_UNSUPPORTED, "desc.epilogue.requant", [&](auto* d) {
    d->dst_type = OCTET_S8, d->epilogue.scales = nullptr, d->epilogue.scale_count = 0;
    d->epilogue.requant = OCTET_REQUANT_TFLITE, d->epilogue.multipliers = &multiplier;
    d->epilogue.shifts = &shift, d->epilogue.multiplier_count = 1;
  });
  refuses(OCTET_UNSUPPORTED, "desc.epilogue.bias_f32", [&](auto* d) { d->epilogue.bias = bias; });
  refuses(OCTET_BAD_BLOB, "desc.packed", [](auto* d) { d->k = 32; });
  refuses(OCTET_BAD_BLOB, "desc.packed", [](auto* d) { d->rhs_type = OCTET_S4; });
  refuses(OCTET_UNKNOWN_KERNEL, "desc.kernel", [](auto* d) { d->kernel = "no_such_kernel"; });
  refuses(OCTET_UNSUPPORTED, "desc.lhs_type",
          [](auto* d) { d->lhs_quant = OCTET_LHS_SYMMETRIC_BLOCKS; });
  refuses(OCTET_UNSUPPORTED, "desc.lhs_type",
          [](auto* d) { d->lhs_quant = OCTET_LHS_SYMMETRIC_BLOCKS_F16; });
  refuses(OCTET_UNSUPPORTED, "desc.lhs_type",
          [](auto* d) { d->lhs_quant = OCTET_LHS_PER_BLOCK, d->lhs_type = OCTET_U8; });
  refuses(OCTET_UNKNOWN_ENUM, "desc.lhs_quant", [](auto* d) { d->lhs_quant = (octet_lhs_quant)8; });
  refuses(OCTET_UNSUPPORTED, "desc.packed", [](auto* d) {
    d->lhs_quant = OCTET_LHS_PER_BLOCK, d->packed = nullptr, d->packed_bytes = 0;
    d->rhs_type = OCTET_S8;
  });
  refuses(OCTET_UNSUPPORTED, "desc.packed", [&](auto* d) {
    d->lhs_type = OCTET_F32, d->lhs_quant = OCTET_LHS_SYMMETRIC_BLOCKS;
    d->packed = nullptr, d->packed_bytes = 0, d->rhs_type = OCTET_S8;
    d->epilogue.scales = &one, d->epilogue.scale_count = 1;
  });
}

}  // namespace
}  // namespace octet_test
