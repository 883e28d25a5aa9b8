// Blobs of 2:4 sparse weights: packed for whatever tier they serve all, where they lie is no
// matter, damage is found, and what verify was not asked about leads no kernel astray.
#include "kernels/core/sparse.h"
#include "kernels/pack/container.h"
#include "support/epilogue_case.h"
#include "support/guarded.h"
#include "support/kernels.h"
#include "support/sparse.h"

namespace octet_test {
namespace {

constexpr size_t kM = 9, kN = 37, kK = 75;

struct Blob {
  std::vector<int32_t> values;
  Guarded memory;

  explicit Blob(octet_isa isa, octet_sparsity sparsity = OCTET_SPARSE_2_4) {
    Random random(8);
    values = draw_integers(&random, kN * kK, -127, 127);
    for (size_t n = 0; n < kN; ++n) make_sparse(&values[n * kK], kK, 1, 0, n);
    const std::vector<uint8_t> data(values.begin(), values.end());
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = OCTET_S8, rhs.order = OCTET_NK, rhs.n = kN, rhs.k = kK, rhs.data = data.data();
    rhs.sparsity = sparsity;
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
};

// The whole product, by a kernel that is named.
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

std::vector<uint8_t> some_rows() {
  Random random(9);
  std::vector<uint8_t> lhs(kM * kK);
  for (uint8_t& x : lhs) x = static_cast<uint8_t>(random());
  return lhs;
}

std::vector<int32_t> expected_of(const std::vector<int32_t>& weights, octet_type type,
                                 const std::vector<uint8_t>& lhs) {
  std::vector<int32_t> expected(kM * kN);
  for (size_t m = 0; m < kM; ++m)
    for (size_t n = 0; n < kN; ++n)
      for (size_t k = 0; k < kK; ++k) {
        const uint8_t byte = lhs[m * kK + k];
        expected[m * kN + n] +=
            weights[n * kK + k] * (type == OCTET_U8 ? byte : static_cast<int8_t>(byte));
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

// As a file that is mapped: packed on another machine, nothing but bytes, and not to be written.
TEST_P(SparseBlob, OfEveryTierMovesAnywhere) {
  const std::vector<uint8_t> lhs = some_rows();
  for (int isa = OCTET_ISA_SCALAR; isa <= OCTET_ISA_SSE41; ++isa) {
    const Blob blob(static_cast<octet_isa>(isa));
    for (const Side side : {Side::kBack, Side::kFront}) {
      const Guarded mapped(blob.memory.bytes(), side, OCTET_ALIGNMENT);
      std::memcpy(mapped.data(), blob.memory.data(), mapped.bytes());
      mapped.read_only();
      EXPECT_EQ(octet_blob_verify(mapped.data(), mapped.bytes(), nullptr), OCTET_OK);
      for (const Types types : types_of(kernel()))
        if (types.rhs == OCTET_S8) {
          EXPECT_EQ(multiply(mapped, kernel().name, types.lhs, lhs, side),
                    expected_of(blob.values, types.lhs, lhs))
              << isa;
        }
    }
  }
}

// A file is only verified where its owner wants so.
TEST_P(SparseBlob, DamagedWeightsReadNothingElse) {
  const Blob blob(OCTET_ISA_SCALAR);
  const octet::Section weights = blob.weights();
  const std::vector<uint8_t> lhs = some_rows();
  Random random(10);
  for (int turn = 0; turn < 20; ++turn) {
    for (size_t i = 0; i < weights.bytes; ++i)
      blob.memory.data()[weights.offset + i] =
          turn ? static_cast<uint8_t>(random()) : uint8_t{0xff};
    EXPECT_EQ(octet_blob_verify(blob.memory.data(), blob.memory.bytes(), nullptr), OCTET_BAD_BLOB);
    for (const Side side : {Side::kBack, Side::kFront})
      multiply(blob.memory, kernel().name, types_of(kernel()).front().lhs, lhs, side);
  }
}

TEST(SparseBlobs, EveryDamagedByteIsFoundByVerify) {
  const Blob blob(OCTET_ISA_AUTO);
  const size_t bytes = blob.memory.bytes();
  ASSERT_EQ(octet_blob_verify(blob.memory.data(), bytes, nullptr), OCTET_OK);
  for (size_t i = 0; i < bytes; ++i) {
    const uint8_t damage = static_cast<uint8_t>(1 << i % 8);
    blob.memory.data()[i] ^= damage;
    EXPECT_EQ(octet_blob_verify(blob.memory.data(), bytes, nullptr), OCTET_BAD_BLOB)
        << "byte " << i;
    blob.memory.data()[i] ^= damage;
  }
}

TEST(SparseBlobs, TruncatedAnywhereAreRefused) {
  const Blob blob(OCTET_ISA_AUTO);
  for (size_t bytes = 0; bytes < blob.memory.bytes(); bytes += 1 + bytes / 64) {
    const Guarded part(bytes + (OCTET_ALIGNMENT - bytes % OCTET_ALIGNMENT) % OCTET_ALIGNMENT,
                       Side::kBack, OCTET_ALIGNMENT);
    std::memcpy(part.data(), blob.memory.data(), bytes);
    EXPECT_EQ(octet_blob_verify(part.data(), bytes, nullptr), OCTET_BAD_BLOB) << bytes;
  }
}

}  // namespace
}  // namespace octet_test
