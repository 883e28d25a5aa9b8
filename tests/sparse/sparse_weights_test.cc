// SPDX-License-Identifier: Apache-2.0
// Checks that 2:4 weights give the same bytes, packed sparse or dense, on every tier.
#include <cstring>

#include "dispatch/select/sparsity.h"
#include "support/random_case.h"
#include "support/refused.h"
#include "support/sparse.h"

namespace octet_test {
namespace {

// NEON's sparse kernel is for AArch64 only
#if defined(__arm__)
constexpr bool kNeonGains = false;
#else
constexpr bool kNeonGains = true;
#endif

constexpr octet_sparsity kAll[] = {OCTET_SPARSE_NONE, OCTET_SPARSE_2_4, OCTET_SPARSE_AUTO};

// Each kernel for sparse weights, through the public API.
class SparseKernel : public EachKernel {
  void SetUp() override {
    EachKernel::SetUp();
    if (!kernel().rhs_layout.sparse()) GTEST_SKIP() << "it multiplies dense weights";
  }
};
OCTET_FOR_EACH_KERNEL(SparseKernel);

// Groups that end early, and every set of places in every lane.
TEST_P(SparseKernel, EveryDepth) {
  for (size_t k = 1; k <= 40; ++k)
    for (const Types types : types_of(kernel()))
      for (const Data data : {Data::kRandom, Data::kMostLeast, Data::kMostMost, Data::kEnds}) {
        GemmCase c;
        c.kernel = kernel().name;
        c.m = kernel().mr + 1u, c.n = 2 * kernel().nr + 5u, c.k = k;
        c.lhs = types.lhs, c.rhs = types.rhs, c.data = data, c.seed = (uint32_t)k;
        c.lhs_zero_point = k % 2 ? 7 : 0;
        c.rhs_zero_points = (ZeroPoints)(k % 3);
        c.order = k % 2 ? OCTET_KN : OCTET_NK;
        check(c);
        if (HasFatalFailure()) return;
      }
}

// Every set of up to two places, in every lane and beside every other set of the eight steps of a
// shuffle, with the largest products.
TEST_P(SparseKernel, EverySetOfPlaces) {
  constexpr unsigned kSets[] = {0x3, 0x5, 0x9, 0x6, 0xa, 0xc, 0x1, 0x2, 0x4, 0x8, 0x0};
  constexpr size_t kCount = std::size(kSets);
  const Types types = types_of(kernel()).front();
  const size_t n = 2 * kernel().nr, k = 64;
  const int32_t lowest = kernel().is(octet::kNoInt8Min) ? -127 : -128;
  std::vector<uint8_t> weights(n * k), lhs(k);
  for (size_t i = 0; i < k; ++i) lhs[i] = (uint8_t)(types.lhs == OCTET_U8 ? 255 - i : i);
  for (size_t turn = 0; turn < kCount * kCount; ++turn) {
    std::fill(weights.begin(), weights.end(), uint8_t{0});
    std::vector<int32_t> expected(n);
    for (size_t j = 0; j < n; ++j)
      for (size_t four = 0; four < k / 4; ++four)
        for (size_t i = 0; i < 4; ++i) {
          const size_t set = (four % 2 ? turn / kCount : turn) + j;
          if (!(kSets[set % kCount] >> i & 1)) continue;
          const int32_t w = (i + j + four) % 2 ? 127 : lowest;
          weights[j * k + four * 4 + i] = (uint8_t)w;
          expected[j] += w * lhs[four * 4 + i];
        }
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = OCTET_S8, rhs.order = OCTET_NK, rhs.n = n, rhs.k = k, rhs.data = weights.data();
    rhs.sparsity = OCTET_SPARSE_2_4;
    const ScopedEnvironment forced("OCTET_KERNEL", kernel().name);
    size_t bytes = 0;
    ASSERT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
    const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    ASSERT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), bytes, nullptr), OCTET_OK);
    octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
    d.m_max = 1, d.n = n, d.k = k, d.lhs_type = types.lhs, d.rhs_type = OCTET_S8;
    d.dst_type = OCTET_S32, d.packed = blob.data(), d.packed_bytes = bytes;
    octet_error error = {};
    octet_gemm* gemm = nullptr;
    ASSERT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
    EXPECT_STREQ(octet_gemm_kernel(gemm, 1), kernel().name);
    ASSERT_EQ(octet_gemm_workspace(gemm, 1, 1, &bytes, &error), OCTET_OK);
    const Guarded workspace(bytes + 1, Side::kFront, OCTET_ALIGNMENT);
    std::vector<int32_t> dst(n);
    octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
    args.m = 1, args.lhs = lhs.data(), args.dst = dst.data();
    args.workspace = workspace.data(), args.workspace_bytes = bytes;
    EXPECT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
    octet_gemm_destroy(gemm);
    EXPECT_EQ(dst, expected) << "turn " << turn;
  }
}

TEST_P(SparseKernel, AnyCombination) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    check(random_gemm(seed * 7919, &kernel()));
    if (HasFatalFailure()) return;
  }
}

// The same weights, packed dense, sparse and as AUTO chooses.
TEST(SparseWeights, GiveTheBytesOfDenseOnes) {
  for (uint32_t seed = 1; seed <= 250; ++seed)
    for (const octet_sparsity sparsity : kAll) {
      GemmCase c = random_gemm(seed, nullptr);
      if (c.runtime_rhs || is_4bit(c.rhs)) break;
      c.sparsity = OCTET_SPARSE_2_4;  // makes the weights 2:4
      Gemm sparse(c);
      ASSERT_EQ(sparse.status(), OCTET_OK) << c << ": " << sparse.error().message;
      ASSERT_EQ(sparse.run(), OCTET_OK);
      EXPECT_TRUE(sparse.as_expected(c.m)) << c;
      c.sparsity = sparsity;
      c.made_sparse = true;
      Gemm other(c);
      ASSERT_EQ(other.status(), OCTET_OK) << c << ": " << other.error().message;
      ASSERT_EQ(other.run(), OCTET_OK);
      ASSERT_EQ(sparse.dst_bytes(), other.dst_bytes()) << c;
    }
}

struct Packed {
  std::vector<uint8_t> blob;
  octet_blob_info info = OCTET_BLOB_INFO_INIT;
  octet::Sparsity sparsity = octet::Sparsity::kCount;
  std::string reason;  // octet_gemm_explain's; empty if no kernel here reads the format
};

// Packs weights that are stored N x K, or in another order.
Packed pack(const std::vector<int32_t>& weights, size_t n, size_t k, octet_type type,
            octet_sparsity sparsity, octet_isa isa, std::vector<int32_t> zero_points = {},
            size_t m_max = 0, octet_rhs_order order = OCTET_NK) {
  std::vector<uint8_t> data(weights.begin(), weights.end());
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = type, rhs.order = order, rhs.n = n, rhs.k = k, rhs.data = data.data();
  rhs.sparsity = sparsity, rhs.m_max = m_max;
  if (!zero_points.empty())
    rhs.zero_points = zero_points.data(), rhs.zero_point_count = zero_points.size();
  size_t bytes = 0;
  octet_error error = {};
  EXPECT_EQ(octet_pack_size(&rhs, isa, &bytes, &error), OCTET_OK) << error.message;
  const Guarded memory(bytes, Side::kBack, OCTET_ALIGNMENT);
  EXPECT_EQ(octet_pack(&rhs, isa, memory.data(), bytes, &error), OCTET_OK) << error.message;
  Packed out;
  EXPECT_EQ(octet_blob_get_info(memory.data(), bytes, &out.info, &error), OCTET_OK);
  EXPECT_EQ(octet_blob_verify(memory.data(), bytes, &error), OCTET_OK) << error.message;
  EXPECT_LE(out.info.bytes, bytes);
  octet::Container head;
  EXPECT_EQ(octet::read_head(memory.data(), bytes, &head), octet::BlobProblem::kNone);
  out.sparsity = head.header.sparsity;
  out.blob.assign(memory.data(), memory.data() + out.info.bytes);
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.m_max = 100, d.n = n, d.k = k, d.lhs_type = OCTET_U8, d.rhs_type = type;
  d.dst_type = OCTET_S32, d.packed = memory.data(), d.packed_bytes = bytes;
  octet_gemm_explanation e = OCTET_GEMM_EXPLANATION_INIT;
  const octet_status status = octet_gemm_explain(&d, 1, &e, &error);
  EXPECT_TRUE(status == OCTET_OK || status == OCTET_WRONG_TIER) << error.message;
  if (status == OCTET_OK) out.reason = e.reason;
  return out;
}

std::vector<int32_t> sparse_weights(size_t n, size_t k, int32_t zero = 0) {
  Random random(5);
  std::vector<int32_t> w = draw_integers(&random, n * k, -128, 127);
  for (size_t j = 0; j < n; ++j) make_sparse(&w[j * k], k, 1, zero, j);
  return w;
}

bool is_tight(const Packed& p) { return std::string(p.info.form) == "s8_16x32_2of4"; }
bool is_sparse(const Packed& p) {
  return is_tight(p) || std::string(p.info.form) == "s8_16x16_2of4";
}

TEST(SparseWeights, TakeThreeQuartersOfTheBytes) {
  const std::vector<int32_t> w = sparse_weights(64, 512);
  const Packed dense = pack(w, 64, 512, OCTET_S8, OCTET_SPARSE_NONE, OCTET_ISA_AVX2),
               sparse = pack(w, 64, 512, OCTET_S8, OCTET_SPARSE_2_4, OCTET_ISA_AVX2);
  EXPECT_FALSE(is_sparse(dense));
  EXPECT_TRUE(is_sparse(sparse));
  EXPECT_EQ(dense.info.bytes - sparse.info.bytes, 64u * 512 / 4);
}

// Runs of few rows wait for weights: tiers with kernels for it store a place in two bits.
TEST(SparseWeights, OfFewRowsTakeFiveEighths) {
  const std::vector<int32_t> w = sparse_weights(64, 512);
  const size_t dense = pack(w, 64, 512, OCTET_S8, OCTET_SPARSE_NONE, OCTET_ISA_AVX2).info.bytes;
  for (const octet_isa isa : all_tiers())
    for (const size_t rows : {0, 1, 4, 5, 1000}) {
      const Packed p = pack(w, 64, 512, OCTET_S8, OCTET_SPARSE_2_4, isa, {}, rows);
      const bool tight = rows && rows <= octet::tier_of((octet::TierId)isa).tight_rows;
      EXPECT_EQ(is_tight(p), tight) << isa << ' ' << rows;
      EXPECT_TRUE(is_sparse(p));
      EXPECT_EQ(dense - p.info.bytes, tight ? 64u * 512 * 3 / 8 : 64u * 512 / 4);
      EXPECT_EQ(p.reason.empty() || p.reason.find("5/8 of the dense bytes") == std::string::npos,
                !tight || p.reason.empty())
          << p.reason;
    }
}

// The format for few rows has groups of twice the depth, so the rest of a column may take more.
TEST(SparseWeights, OfFewRowsTakeTheSmallerForm) {
  for (size_t k = 1; k <= 200; ++k) {
    const std::vector<int32_t> w = sparse_weights(16, k);
    const Packed few = pack(w, 16, k, OCTET_S8, OCTET_SPARSE_2_4, OCTET_ISA_AVX512VNNI, {}, 1),
                 any = pack(w, 16, k, OCTET_S8, OCTET_SPARSE_2_4, OCTET_ISA_AVX512VNNI);
    EXPECT_FALSE(is_tight(any));
    EXPECT_EQ(is_tight(few), (k + 31) / 32 * 5 < (k + 15) / 16 * 3) << k;
    EXPECT_LE(few.info.bytes, any.info.bytes);
  }
}

// All tiers share the format.
TEST(SparseWeights, AreTheSameForEveryTier) {
  const std::vector<int32_t> w = sparse_weights(37, 61);
  const Packed first = pack(w, 37, 61, OCTET_S8, OCTET_SPARSE_2_4, OCTET_ISA_SCALAR);
  for (const octet_isa isa : all_tiers())
    EXPECT_EQ(pack(w, 37, 61, OCTET_S8, OCTET_SPARSE_2_4, isa).blob, first.blob);
}

// AUTO decides by the weights and the tier, and says why.
TEST(SparseWeights, AutoSaysWhy) {
  using octet::Sparsity;
  std::vector<int32_t> w = sparse_weights(48, 256);
  const auto expect = [](const Packed& p, Sparsity sparsity) {
    EXPECT_EQ(p.sparsity, sparsity);
    EXPECT_EQ(is_sparse(p), sparsity == Sparsity::kTwoOfFour);
    EXPECT_TRUE(p.reason.empty() || p.reason.find(octet::describe(sparsity)) == 0) << p.reason;
  };
  const auto packed = [&](octet_isa isa) {
    return pack(w, 48, 256, OCTET_S8, OCTET_SPARSE_AUTO, isa);
  };
  expect(packed(OCTET_ISA_AVXVNNI), Sparsity::kTwoOfFour);
  expect(packed(OCTET_ISA_AVX2), Sparsity::kTwoOfFour);
  expect(packed(OCTET_ISA_SSE41), Sparsity::kNoGain);
  expect(packed(OCTET_ISA_SCALAR), Sparsity::kNoGain);
  expect(packed(OCTET_ISA_NEON), kNeonGains ? Sparsity::kTwoOfFour : Sparsity::kNoGain);
  expect(packed(OCTET_ISA_DOTPROD), Sparsity::kNoGain);
  expect(packed(OCTET_ISA_I8MM), Sparsity::kNoGain);
  expect(pack(sparse_weights(48, 12), 48, 12, OCTET_S8, OCTET_SPARSE_AUTO, OCTET_ISA_AVX2),
         Sparsity::kNoRoom);
  w[3] = w[2] = w[1] = 9;
  expect(packed(OCTET_ISA_AVXVNNI), Sparsity::kPattern);
  expect(packed(OCTET_ISA_AVX2), Sparsity::kPattern);
}

// Where 512-bit shuffles and products share a port, sparse weights gain only by fewer bytes.
TEST(SparseWeights, GainByTierRowsAndBytes) {
  const auto gains = [](octet::TierId isa, bool wide_shuffles, size_t rows, size_t bytes) {
    octet::CpuFeatures cpu = {~0u, {32 << 10, 1 << 20, 32 << 20}};
    cpu.wide_shuffles = wide_shuffles;
    return octet::gains_by_sparsity(isa, cpu, rows, bytes / 512, 512);
  };
  using octet::TierId;
  for (const size_t rows : {0, 1, 8, 32, 33, 100}) {
    for (const size_t bytes : {1 << 10, 1 << 24}) {
      EXPECT_TRUE(gains(TierId::kAvx2, false, rows, bytes));
      EXPECT_TRUE(gains(TierId::kAvxVnni, false, rows, bytes));
      EXPECT_EQ(gains(TierId::kAvx512Vnni, true, rows, bytes), rows != 1 || bytes > 1 << 15);
      const bool streamed = rows && bytes > 1 << 20;
      EXPECT_EQ(gains(TierId::kAvx512Vnni, false, rows, bytes), streamed && rows <= 32);
      EXPECT_EQ(gains(TierId::kNeon, false, rows, bytes), kNeonGains);
      EXPECT_EQ(gains(TierId::kDotprod, false, rows, bytes), streamed && rows <= 2);
      EXPECT_EQ(gains(TierId::kI8mm, false, rows, bytes), streamed && rows <= 1);
    }
  }
  // Look-ups take as long as products: the nearer the weights, the fewer rows gain
  for (const size_t rows : {1, 2, 3, 4, 5}) {
    EXPECT_EQ(gains(TierId::kDotprod, false, rows, 1 << 24), rows <= 2);
    EXPECT_EQ(gains(TierId::kDotprod, false, rows, 1 << 26), rows <= 4);
    EXPECT_EQ(gains(TierId::kI8mm, false, rows, 1 << 24), rows <= 1);
    EXPECT_EQ(gains(TierId::kI8mm, false, rows, 1 << 26), rows <= 2);
  }
}

// Depths are rounded up to 16, and sparse tiles are smaller than dense ones.
TEST(SparseWeights, GainLessWhereColumnsAreShort) {
  const octet::CpuFeatures cpu = {~0u, {32 << 10, 1 << 20, 32 << 20}};
  const auto gains = [&](octet::TierId isa, size_t k) {
    return octet::gains_by_sparsity(isa, cpu, 0, 64, k);
  };
  for (const size_t k : {16, 27, 50, 65}) EXPECT_FALSE(gains(octet::TierId::kAvxVnni, k)) << k;
  for (const size_t k : {64, 96, 147, 4096}) EXPECT_TRUE(gains(octet::TierId::kAvxVnni, k)) << k;
  for (const size_t k : {16, 27, 64, 4096}) EXPECT_TRUE(gains(octet::TierId::kAvx2, k)) << k;
}

// A dense tile of zmm registers has the columns of two sparse ones. In runs of few rows that do not
// wait for weights, the start of the second tile costs more than sparse weights gain.
TEST(SparseWeights, GainLessInRunsOfFewRows) {
  octet::CpuFeatures cpu = {~0u, {48 << 10, 1 << 20, 32 << 20}};
  cpu.wide_shuffles = true;
  const auto gains = [&](octet::TierId isa, size_t rows, size_t n, size_t k) {
    return octet::gains_by_sparsity(isa, cpu, rows, n, k);
  };
  constexpr octet::TierId kZmm = octet::TierId::kAvx512Vnni, kYmm = octet::TierId::kAvxVnni;
  const struct {
    size_t rows, n, k;
    bool zmm, ymm;
  } cases[] = {
      {1, 64, 64, false, false},   {1, 64, 512, false, true},    {1, 64, 768, true, true},
      {1, 256, 160, false, true},  {1, 256, 192, true, true},    {1, 1024, 64, false, false},
      {2, 64, 128, false, true},   {2, 64, 512, true, true},     {4, 256, 48, false, false},
      {4, 64, 64, false, false},   {4, 64, 256, true, true},     {6, 64, 96, false, false},
      {6, 2048, 64, false, false}, {6, 1024, 1024, true, false}, {7, 64, 64, true, true},
      {8, 64, 48, true, true},     {0, 64, 64, true, true},      {100, 64, 64, true, true},
      {12, 16, 64, false, false},  {12, 16, 128, true, true},    {13, 16, 64, true, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(gains(kZmm, c.rows, c.n, c.k), c.zmm) << c.rows << 'x' << c.n << 'x' << c.k;
    EXPECT_EQ(gains(kYmm, c.rows, c.n, c.k), c.ymm) << c.rows << 'x' << c.n << 'x' << c.k;
  }
}

// A dense tile of ymm registers has six rows, a sparse one four; a last tile costs a full one.
TEST(SparseWeights, GainLessWhereTheirLastTileIsEmptier) {
  const octet::CpuFeatures cpu = {~0u, {32 << 10, 1 << 20, 32 << 20}};
  for (const size_t n : {256, 8192}) {
    const auto gains = [&](size_t rows) {
      return octet::gains_by_sparsity(octet::TierId::kAvxVnni, cpu, rows, n, 512);
    };
    for (const size_t rows : {5, 6}) EXPECT_FALSE(gains(rows)) << rows << ' ' << n;
    for (const size_t rows : {0, 1, 4, 7, 8, 10, 12, 18, 1000})
      EXPECT_TRUE(gains(rows)) << rows << ' ' << n;
  }
}

// These cores do not read while they multiply, and a look-up costs as much as a product.
TEST(SparseWeights, GainLessWhereCoresExecuteInOrder) {
  octet::CpuFeatures cpu = {~0u, {32 << 10, 1 << 20, 32 << 20}};
  cpu.cores.known = cpu.cores.in_order = 1;
  ASSERT_TRUE(cpu.in_order());
  EXPECT_FALSE(octet::gains_by_sparsity(octet::TierId::kDotprod, cpu, 1, 1 << 12, 1 << 12));
  EXPECT_EQ(octet::gains_by_sparsity(octet::TierId::kNeon, cpu, 1, 1 << 12, 1 << 12), kNeonGains);
}

// Kernels that are exact only without -128 multiply the distance from the zero point, so it counts.
TEST(SparseWeights, TellOfDistancesOfMinus128) {
  const struct {
    int32_t weight, zero_point;
  } cases[] = {{-128, 0}, {-128, -1}, {-127, 1}, {-127, 0}, {-28, 100}};
  for (const auto& c : cases) {
    std::vector<int32_t> w(48 * 64, c.zero_point);
    w[48 * 64 - 1] = w[48 * 64 - 2] = c.weight;
    const Packed p = pack(w, 48, 64, OCTET_S8, OCTET_SPARSE_2_4, OCTET_ISA_SCALAR, {c.zero_point});
    ASSERT_TRUE(is_sparse(p));
    octet::Container head;
    ASSERT_EQ(octet::read_head(p.blob.data(), p.blob.size(), &head), octet::BlobProblem::kNone);
    EXPECT_EQ(head.header.has_int8_min != 0, c.weight - c.zero_point == -128)
        << c.weight << " - " << c.zero_point;
    octet_filter_desc f = OCTET_FILTER_DESC_INIT;
    f.shape = square(8, 64, 48, 1);
    const std::vector<uint8_t> data(w.begin(), w.end());
    f.type = OCTET_S8, f.order = OCTET_OHWI, f.sparsity = OCTET_SPARSE_2_4, f.data = data.data();
    f.zero_points = &c.zero_point, f.zero_point_count = 1;
    size_t bytes = 0;
    ASSERT_EQ(octet_conv2d_pack_size(&f, OCTET_ISA_SCALAR, &bytes, nullptr), OCTET_OK);
    const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    ASSERT_EQ(octet_conv2d_pack(&f, OCTET_ISA_SCALAR, blob.data(), bytes, nullptr), OCTET_OK);
    ASSERT_EQ(octet::read_head(blob.data(), bytes, &head), octet::BlobProblem::kNone);
    EXPECT_EQ(head.header.has_int8_min != 0, c.weight - c.zero_point == -128);
  }
}

// If w - zero_point takes 9 bits, weights are packed dense, with every sparsity.
TEST(SparseWeights, FarFromTheirZeroPointAreDense) {
  for (const octet_sparsity sparsity : {OCTET_SPARSE_2_4, OCTET_SPARSE_AUTO})
    for (const bool far : {false, true}) {
      std::vector<int32_t> w = sparse_weights(48, 256, 1);
      if (far) w[0] = -128;
      for (size_t i = 1; i < 4 && far; ++i) w[i] = 1;
      const Packed p = pack(w, 48, 256, OCTET_S8, sparsity, OCTET_ISA_AVXVNNI, {1});
      EXPECT_EQ(is_sparse(p), !far);
      EXPECT_EQ(p.sparsity, far ? octet::Sparsity::kDistances : octet::Sparsity::kTwoOfFour);
    }
}

// Distances of -128 and 127 are the last that fit. Packing looks at columns that are neighbours in
// memory by other code than at columns whose weights are.
TEST(SparseWeights, AsFarFromTheirZeroPointAsFitsAreSparse) {
  constexpr size_t kN = 80, kK = 64;
  for (const octet_type type : {OCTET_S8, OCTET_U8})
    for (const octet_rhs_order order : {OCTET_NK, OCTET_KN})
      for (const int32_t zero : {0, 1, 126, 127, 128, 129, 254, 255})
        for (const int32_t distance : {-129, -128, 127, 128}) {
          const int32_t least = type == OCTET_U8 ? 0 : -128, value = zero + distance;
          if (value < 0 || value > 255) continue;
          std::vector<int32_t> w(kN * kK, least + zero);
          w[kN * kK - 1] = least + value;
          const Packed p =
              pack(w, kN, kK, type, OCTET_SPARSE_2_4, OCTET_ISA_AVXVNNI, {least + zero}, 0, order);
          EXPECT_EQ(is_sparse(p), distance >= -128 && distance <= 127)
              << octet_type_name(type) << ' ' << order << ' ' << zero << ' ' << distance;
        }
}

TEST(SparseWeights, OfFiltersAreLookedAtPositionByPosition) {
  octet_filter_desc f = OCTET_FILTER_DESC_INIT;
  f.shape = square(8, 6, 20, 3, 1, 1);
  f.type = OCTET_S8, f.order = OCTET_OHWI, f.sparsity = OCTET_SPARSE_2_4;
  std::vector<uint8_t> weights(20 * 9 * 6);
  const auto at = [&](size_t o, size_t y, size_t x, size_t i) -> uint8_t& {
    return weights[((o * 3 + y) * 3 + x) * 6 + i];
  };
  f.data = weights.data();
  // These neighbours in memory belong to two positions: 4, 5 | 0, 1
  at(3, 1, 1, 4) = at(3, 1, 1, 5) = at(3, 1, 2, 0) = at(3, 1, 2, 1) = 5;
  size_t bytes = 0;
  octet_error error = {};
  ASSERT_EQ(octet_conv2d_pack_size(&f, OCTET_ISA_AUTO, &bytes, &error), OCTET_OK) << error.message;
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  EXPECT_EQ(octet_conv2d_pack(&f, OCTET_ISA_AUTO, blob.data(), bytes, &error), OCTET_OK)
      << error.message;
  at(3, 1, 2, 3) = 0x80;
  expect_refused(
      OCTET_BAD_SPARSITY,
      "output channel 3 has more than two weights other than 0 at kernel position (1, "
      "2), from input channel 0 on: 5, 5, 0, -128",
      [&](octet_error* e) { return octet_conv2d_pack(&f, OCTET_ISA_AUTO, blob.data(), bytes, e); });
  f.algorithm = OCTET_CONV_WINOGRAD_2X2;
  expect_refused(OCTET_UNSUPPORTED, "sparse", [&](octet_error* e) {
    return octet_conv2d_pack_size(&f, OCTET_ISA_AUTO, &bytes, e);
  });
  f.algorithm = OCTET_CONV_AUTO;
  f.reserved = 1;
  expect_refused(OCTET_UNSUPPORTED, "filter.reserved", [&](octet_error* e) {
    return octet_conv2d_pack_size(&f, OCTET_ISA_AUTO, &bytes, e);
  });
  f.reserved = 0;
  set_raw(&f.sparsity, 3);
  expect_refused(OCTET_UNKNOWN_ENUM, "filter.sparsity", [&](octet_error* e) {
    return octet_conv2d_pack_size(&f, OCTET_ISA_AUTO, &bytes, e);
  });
}

// Every kernel, stride, dilation and number of groups, by every way.
TEST(SparseWeights, ConvolveInEveryShape) {
  octet_conv2d_shape dilated = square(9, 20, 18, 3, 1, 2), transposed = square(5, 7, 18, 3, 2, 1),
                     wide = square(7, 33, 20, 1), line = square(1, 20, 30, 1);
  dilated.dilation_h = dilated.dilation_w = 2;
  transposed.transposed = 1;
  line.in_w_max = 40, line.kernel_w = 5;
  uint32_t turn = 0;
  for (const octet_conv2d_shape& s :
       {square(8, 3, 20, 3, 2, 1), square(7, 64, 32, 3, 1, 1), square(8, 24, 30, 5, 1, 2, 3),
        square(6, 12, 12, 3, 1, 1, 6), square(6, 8, 8, 3, 1, 1, 8), square(4, 150, 18, 3, 1, 1),
        dilated, transposed, wide, line})
    for (int again = 0; again < 5; ++again) {
      ConvCase c = turned(s, ++turn);
      c.sparse = true, c.rhs = is_4bit(c.rhs) ? OCTET_S8 : c.rhs;
      check_every_way(c);
      if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace octet_test
