// SPDX-License-Identifier: Apache-2.0
// Checks weights of 4 bits in scale blocks through the API: the bytes of every tier beside plain
// loops over the contract, and what blobs say.
#include "support/scale_block_case.h"

namespace octet_test {
namespace {

BlockCase draw_case(Draw& draw, uint32_t seed) {
  BlockCase c;
  c.seed = seed;
  c.m = draw.any<size_t>({1, 1, 2, 3, 4, 5, 6, 7, 11, 13, 50});
  c.n = draw.any<size_t>({1, 15, 16, 17, 33, 64, 70, 130});
  c.type = draw.any({OCTET_S4, OCTET_U4, OCTET_S4, OCTET_U4, OCTET_S8, OCTET_U8});
  const bool bytes = c.type == OCTET_S8 || c.type == OCTET_U8;
  c.depth = draw.any<size_t>({16, 32, 32, 48, 64, 128, (size_t)(bytes ? 112 : 256)});
  c.blocks = 1 + draw.below(6);
  if (draw.one_in(4)) c.batch = 3, c.matrices = draw.any<size_t>({1, 3});
  c.scale_type = draw.any({OCTET_F16, OCTET_F32});
  c.order = draw.any({OCTET_NK, OCTET_NK, OCTET_KN});
  c.zeros = draw.any({Zeros::kNone, Zeros::kTensor, Zeros::kChannel, Zeros::kBlock});
  if (c.type == OCTET_U8 && c.zeros == Zeros::kNone) c.zeros = Zeros::kTensor;
  c.minimums = draw.one_in(3);
  c.quant = (octet_lhs_quant)draw.below(8);
  const bool floats = c.quant >= OCTET_LHS_SYMMETRIC && c.quant != OCTET_LHS_PER_BLOCK;
  c.lhs = floats                           ? OCTET_F32
          : c.quant == OCTET_LHS_PER_BLOCK ? OCTET_S8
                                           : draw.any({OCTET_S8, OCTET_U8});
  c.dst = floats ? OCTET_F32 : draw.any({OCTET_F32, OCTET_S8, OCTET_U8});
  if (c.quant == OCTET_LHS_STATIC)
    c.lhs_zero_point =
        (c.lhs == OCTET_S8 ? -128 : 0) + (int)draw.any<size_t>({128, 128, 0, 255, 131});
  c.bias = draw.one_in(2), c.clamps = draw.one_in(3), c.per_channel = draw.one_in(2);
  c.residual = c.dst != OCTET_F32 && draw.one_in(2);
  if (draw.one_in(3)) c.concurrency = 4;
  return c;
}

TEST(ScaleBlocks, HaveTheBytesOfTheContract) {
  Draw draw(1);
  for (uint32_t seed = 1; seed <= 600 && !testing::Test::HasFailure(); ++seed) {
    const BlockCase c = draw_case(draw, seed);
    SCOPED_TRACE(c);
    const BlockProduct product(c);
    for (const octet_isa isa : tiers_to_test()) product.check_on(isa);
  }
}

// Every number of rows that a tile may have, with weights that are decoded for each tile or once,
// and more rows than stay in the L1 cache together.
TEST(ScaleBlocks, TakeAnyNumberOfRows) {
  for (size_t m = 1; m <= 150; m += m < 42 ? 1 : 29)
    for (const octet_type type : {OCTET_S4, OCTET_S8}) {
      BlockCase c;
      c.m = m, c.n = 81, c.blocks = 3, c.type = type, c.minimums = true;
      SCOPED_TRACE(c);
      const BlockProduct product(c);
      for (const octet_isa isa : tiers_to_test()) product.check_on(isa);
    }
}

// The last output of a product of all rows.
float last_output(octet_isa isa, const octet_rhs_desc& rhs, octet_gemm_desc desc,
                  const std::vector<uint8_t>& lhs) {
  size_t bytes = 0;
  EXPECT_EQ(octet_pack_size(&rhs, isa, &bytes, nullptr), OCTET_OK);
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  EXPECT_EQ(octet_pack(&rhs, isa, blob.data(), bytes, nullptr), OCTET_OK);
  const float one = 1;
  desc.epilogue.scales = &one, desc.epilogue.scale_count = 1;
  desc.packed = blob.data(), desc.packed_bytes = bytes, desc.max_isa = isa;
  octet_gemm* gemm = nullptr;
  EXPECT_EQ(octet_gemm_create(&desc, &gemm, nullptr), OCTET_OK);
  octet_gemm_workspace(gemm, desc.m_max, 1, &bytes, nullptr);
  const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
  std::vector<float> dst(desc.m_max * desc.n);
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = desc.m_max, args.lhs = lhs.data(), args.dst = dst.data();
  args.workspace = workspace.data(), args.workspace_bytes = bytes;
  EXPECT_EQ(octet_gemm_run(gemm, &args, nullptr), OCTET_OK);
  octet_gemm_destroy(gemm);
  return dst.back();
}

// The largest sums of weights of 8 bits.
TEST(ScaleBlocks, HoldTheLargestSumsOfBytes) {
  for (const int lhs_zero : {-128, 127})
    for (const int weight : {-128, 127}) {
      BlockCase c;
      c.m = 9, c.n = 20, c.blocks = 2, c.depth = 128, c.type = OCTET_S8;
      c.lhs_zero_point = lhs_zero;
      const std::vector<uint8_t> weights(c.n * c.k(), (uint8_t)weight),
          lhs(c.m * c.k(), (uint8_t)(lhs_zero < 0 ? 127 : -128));
      const std::vector<uint16_t> scales(c.n * c.blocks, 0x3c00);  // 1
      const BlockProduct product(c);
      octet_rhs_desc rhs = product.rhs();
      rhs.data = weights.data(), rhs.scales = scales.data();
      const float sum = (float)(weight * ((int8_t)lhs[0] - lhs_zero) * (int)c.k());
      for (const octet_isa isa : tiers_to_test())
        EXPECT_EQ(last_output(isa, rhs, product.desc(), lhs), sum) << octet_isa_name(isa);
    }
}

// The largest sums of a block: each weight and each zero point as far away as it can be.
TEST(ScaleBlocks, HoldTheLargestSums) {
  for (const int32_t zero : {0, 15})
    for (const uint8_t weight : {0x00, 0xff})
      for (const int32_t lhs_zero : {-128, 127})
        for (const bool per_block : {false, true}) {
          BlockCase c;
          c.m = 3, c.n = 20, c.blocks = 2, c.depth = 256, c.lhs_zero_point = lhs_zero;
          BlockProduct product(c);
          octet_rhs_desc rhs = product.rhs();
          const std::vector<uint8_t> data(c.n * c.k() / 2, weight),
              lhs(c.m * c.k(), lhs_zero < 0 ? 127 : 128);
          const std::vector<uint16_t> scales(c.n * c.blocks, 0x3c00);  // 1
          std::vector<int32_t> zeros(per_block ? c.n * c.blocks : 1, zero);
          if (per_block) zeros[0] = 7;  // not all alike
          rhs.data = data.data(), rhs.scales = scales.data();
          rhs.zero_points = zeros.data(), rhs.zero_point_count = zeros.size();
          const int term = (weight ? 15 : 0) - zero, reach = (int8_t)lhs[0] - lhs_zero;
          for (const octet_isa isa : tiers_to_test())
            EXPECT_EQ(last_output(isa, rhs, product.desc(), lhs),
                      (float)(term * reach * (int)c.k()))
                << octet_isa_name(isa);
        }
}

TEST(ScaleBlocks, BlobsAreOfEveryTierAndSaySo) {
  BlockCase c;
  c.n = 40, c.blocks = 4, c.depth = 64, c.zeros = Zeros::kBlock, c.matrices = 2;
  BlockProduct product(c);
  std::vector<uint8_t> first;
  for (const octet_isa isa : all_tiers()) {
    size_t bytes = 0;
    ASSERT_EQ(octet_pack_size(&product.rhs(), isa, &bytes, nullptr), OCTET_OK);
    const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    ASSERT_EQ(octet_pack(&product.rhs(), isa, blob.data(), bytes, nullptr), OCTET_OK);
    const std::vector<uint8_t> all(blob.data(), blob.data() + bytes);
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << octet_isa_name(isa);
    octet_blob_info info = OCTET_BLOB_INFO_INIT;
    ASSERT_EQ(octet_blob_get_info(blob.data(), bytes, &info, nullptr), OCTET_OK);
    EXPECT_EQ(info.isa, kPortableTier);
    EXPECT_EQ(info.type, OCTET_U4);
    EXPECT_EQ(info.n, 40u);
    EXPECT_EQ(info.k, 256u);
    EXPECT_EQ(info.batch, 2u);
    EXPECT_EQ(info.scale_block, 64u);
    EXPECT_EQ(info.scale_type, OCTET_F16);
    blob.data()[bytes - 200] ^= 1;
    EXPECT_EQ(octet_blob_verify(blob.data(), bytes, nullptr), OCTET_BAD_BLOB);
  }
}

}  // namespace
}  // namespace octet_test
