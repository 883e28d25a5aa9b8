// SPDX-License-Identifier: Apache-2.0
// Checks blobs of 2:4 sparse weights, in either format: a blob for any tier runs on all, at any
// address, damage is found, and no kernel reads beyond an unverified blob.
#include "dispatch/tables/formats.h"
#include "kernels/core/sparse.h"
#include "packing/container.h"
#include "support/epilogue_case.h"
#include "support/guarded.h"
#include "support/kernels.h"
#include "support/refused.h"
#include "support/sparse.h"

namespace octet_test {
namespace {

constexpr size_t kM = 9, kN = 37, kK = 93;

struct Blob {
  std::vector<int32_t> values;
  Guarded memory;

  // rows: as rhs.m_max, 0 for any
  explicit Blob(octet_isa isa, size_t rows) {
    Random random(8);
    values = draw_integers(&random, kN * kK, -127, 127);
    for (size_t n = 0; n < kN; ++n) make_sparse(&values[n * kK], kK, 1, 0, n);
    const std::vector<uint8_t> data(values.begin(), values.end());
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = OCTET_S8, rhs.order = OCTET_NK, rhs.n = kN, rhs.k = kK, rhs.data = data.data();
    rhs.sparsity = OCTET_SPARSE_2_4, rhs.m_max = rows;
    size_t bytes = 0;
    octet_error error = {};
    EXPECT_EQ(octet_pack_size(&rhs, isa, &bytes, &error), OCTET_OK) << error.message;
    memory = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_pack(&rhs, isa, memory.data(), bytes, &error), OCTET_OK) << error.message;
  }
  octet::Section weights() const {
    octet::Container head;
    EXPECT_EQ(octet::read_head(memory.data(), memory.bytes(), &head), octet::BlobProblem::kNone);
    return *head.find(octet::SectionId::kWeights);
  }
  octet_blob_info info() const {
    octet_blob_info info = OCTET_BLOB_INFO_INIT;
    EXPECT_EQ(octet_blob_get_info(memory.data(), memory.bytes(), &info, nullptr), OCTET_OK);
    return info;
  }
};

constexpr size_t kRows[] = {0, 4};  // a tier has one format or two for these

// The tier, and the rows, for which weights are packed in the format that a kernel reads.
std::pair<octet_isa, size_t> packing_for(const MicroKernel& kernel) {
  const octet::FormatId format = octet::find_format_of(kernel.rhs_layout)->id;
  for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i)
    for (const size_t rows : kRows)
      if (octet::sparse_format_of(*tier, rows, kK).id == format)
        return {(octet_isa)tier->tier_id, rows};
  ADD_FAILURE() << kernel.name << ": no tier packs what it reads";
  return {OCTET_ISA_SCALAR, 0};
}

// The whole product, by a kernel's name.
std::vector<int32_t> multiply(const Guarded& blob, const char* kernel, octet_type lhs_type,
                              const std::vector<uint8_t>& lhs, Side side) {
  const Guarded rows(lhs, side);
  rows.read_only();
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.m_max = kM, d.n = kN, d.k = kK, d.lhs_type = lhs_type, d.rhs_type = OCTET_S8;
  d.dst_type = OCTET_S32, d.packed = blob.data(), d.packed_bytes = blob.bytes(), d.kernel = kernel;
  octet_error error = {};
  octet_gemm* gemm = nullptr;
  EXPECT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
  if (!gemm) return {};
  size_t bytes = 0;
  EXPECT_EQ(octet_gemm_workspace(gemm, kM, 1, &bytes, &error), OCTET_OK) << error.message;
  const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT),
      dst(kM * kN * sizeof(int32_t), side, alignof(int32_t));
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = kM, args.lhs = rows.data(), args.dst = dst.data();
  args.workspace = workspace.data(), args.workspace_bytes = bytes;
  EXPECT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
  octet_gemm_destroy(gemm);
  return {dst.data<int32_t>(), dst.data<int32_t>() + kM * kN};
}

void expect_unusable(const Guarded& blob, const char* kernel, octet_type lhs_type) {
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.m_max = kM, d.n = kN, d.k = kK, d.lhs_type = lhs_type, d.rhs_type = OCTET_S8;
  d.dst_type = OCTET_S32, d.packed = blob.data(), d.packed_bytes = blob.bytes(), d.kernel = kernel;
  octet_gemm* gemm = nullptr;
  expect_refused(OCTET_KERNEL_UNUSABLE, kernel,
                 [&](octet_error* e) { return octet_gemm_create(&d, &gemm, e); });
}

std::vector<uint8_t> some_rows() {
  Random random(9);
  std::vector<uint8_t> lhs(kM * kK);
  for (uint8_t& x : lhs) x = (uint8_t)random();
  return lhs;
}

std::vector<int32_t> expected_of(const std::vector<int32_t>& weights, octet_type type,
                                 const std::vector<uint8_t>& lhs) {
  std::vector<int32_t> expected(kM * kN);
  for (size_t m = 0; m < kM; ++m)
    for (size_t n = 0; n < kN; ++n)
      for (size_t k = 0; k < kK; ++k) {
        const uint8_t byte = lhs[m * kK + k];
        expected[m * kN + n] += weights[n * kK + k] * (type == OCTET_U8 ? byte : (int8_t)byte);
      }
  return expected;
}

class SparseBlob : public EachKernel {
  void SetUp() override {
    EachKernel::SetUp();
    if (!kernel().rhs_layout.sparse()) GTEST_SKIP() << "it multiplies dense weights";
  }
};
OCTET_FOR_EACH_KERNEL(SparseBlob);

// The blob is like a mapped file: packed on another machine and read-only. A kernel of the other
// format is refused by name, and reads none of it.
TEST_P(SparseBlob, OfEveryTierMovesAnywhere) {
  const std::vector<uint8_t> lhs = some_rows();
  size_t read = 0, refused = 0;
  for (const octet_isa isa : all_tiers())
    for (const size_t rows : kRows) {
      const Blob blob(isa, rows);
      const bool reads = octet::find_format_of(kernel().rhs_layout)->name == blob.info().form;
      ++(reads ? read : refused);
      for (const Side side : {Side::kBack, Side::kFront}) {
        const Guarded mapped(blob.memory.bytes(), side, OCTET_ALIGNMENT);
        std::memcpy(mapped.data(), blob.memory.data(), mapped.bytes());
        mapped.read_only();
        EXPECT_EQ(octet_blob_verify(mapped.data(), mapped.bytes(), nullptr), OCTET_OK);
        for (const Types types : types_of(kernel())) {
          if (types.rhs != OCTET_S8) continue;
          if (!reads) {
            expect_unusable(mapped, kernel().name, types.lhs);
            continue;
          }
          EXPECT_EQ(multiply(mapped, kernel().name, types.lhs, lhs, side),
                    expected_of(blob.values, types.lhs, lhs))
              << isa;
        }
      }
    }
  EXPECT_GT(read, 0u);
  EXPECT_GT(refused, 0u);
}

// Every tier multiplies both formats, with or without a kernel of its own.
TEST(SparseBlobs, AreMultipliedOnEveryTier) {
  const std::vector<uint8_t> lhs = some_rows();
  for (const octet::TierId isa : usable_tiers())
    for (const octet_isa packed_for : all_tiers())
      for (const size_t rows : kRows) {
        const Blob blob(packed_for, rows);
        const ScopedEnvironment limit("OCTET_MAX_ISA", octet::isa_name(isa));
        EXPECT_EQ(multiply(blob.memory, nullptr, OCTET_U8, lhs, Side::kBack),
                  expected_of(blob.values, OCTET_U8, lhs))
            << octet::isa_name(isa) << ' ' << packed_for << ' ' << rows;
      }
}

// A program need not verify a file.
TEST_P(SparseBlob, DamagedWeightsReadNothingElse) {
  const auto [isa, for_rows] = packing_for(kernel());
  const Blob blob(isa, for_rows);
  ASSERT_STREQ(blob.info().form, octet::find_format_of(kernel().rhs_layout)->name);
  const octet::Section weights = blob.weights();
  const std::vector<uint8_t> lhs = some_rows();
  Random random(10);
  for (int turn = 0; turn < 20; ++turn) {
    for (size_t i = 0; i < weights.bytes; ++i)
      blob.memory.data()[weights.offset + i] = turn ? (uint8_t)random() : uint8_t{0xff};
    EXPECT_EQ(octet_blob_verify(blob.memory.data(), blob.memory.bytes(), nullptr), OCTET_BAD_BLOB);
    for (const Side side : {Side::kBack, Side::kFront})
      multiply(blob.memory, kernel().name, types_of(kernel()).front().lhs, lhs, side);
  }
}

void every_damaged_byte_is_found(const Blob& blob) {
  const size_t bytes = blob.memory.bytes();
  ASSERT_EQ(octet_blob_verify(blob.memory.data(), bytes, nullptr), OCTET_OK);
  for (size_t i = 0; i < bytes; ++i) {
    const uint8_t damage = (uint8_t)(1 << i % 8);
    blob.memory.data()[i] ^= damage;
    EXPECT_EQ(octet_blob_verify(blob.memory.data(), bytes, nullptr), OCTET_BAD_BLOB)
        << "byte " << i;
    blob.memory.data()[i] ^= damage;
  }
}

void truncated_anywhere_is_refused(const Blob& blob) {
  for (size_t bytes = 0; bytes < blob.memory.bytes(); bytes += 1 + bytes / 64) {
    const Guarded part(bytes + (OCTET_ALIGNMENT - bytes % OCTET_ALIGNMENT) % OCTET_ALIGNMENT,
                       Side::kBack, OCTET_ALIGNMENT);
    std::memcpy(part.data(), blob.memory.data(), bytes);
    EXPECT_EQ(octet_blob_verify(part.data(), bytes, nullptr), OCTET_BAD_BLOB) << bytes;
  }
}

TEST(SparseBlobs, EveryDamagedByteIsFoundByVerify) {
  for (const octet_isa isa : all_tiers())
    for (const size_t rows : kRows) every_damaged_byte_is_found(Blob(isa, rows));
}

TEST(SparseBlobs, TruncatedAnywhereAreRefused) {
  for (const octet_isa isa : all_tiers())
    for (const size_t rows : kRows) truncated_anywhere_is_refused(Blob(isa, rows));
}

}  // namespace
}  // namespace octet_test
