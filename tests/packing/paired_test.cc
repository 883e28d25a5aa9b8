// SPDX-License-Identifier: Apache-2.0
// Checks weights in pairs that fit 16 bits: packing, verification, and when the format is chosen.
#include <cmath>
#include <random>

#include "dispatch/tables/formats.h"
#include "kernels/x86/kernels.h"
#include "packing/matrix_blob.h"
#include "packing/paired.h"
#include "support/conv_case.h"
#include "support/gemm_case.h"
#include "support/refused.h"

namespace octet_test {
namespace {

using octet::kX86PairedLayout;
using octet::PairPart;
using octet::PairTable;

// Weights, [k][n].
using Bytes = std::vector<int8_t>;
using Draw = int8_t (*)(std::mt19937& random);

int8_t any(std::mt19937& random) { return (int8_t)random(); }
int8_t bell(std::mt19937& random) {
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += (int)(random() % 49) - 24;
  return (int8_t)std::min(127, std::max(-128, sum));
}
int8_t small(std::mt19937& random) { return (int8_t)(random() % 129 - 64); }
int8_t ends(std::mt19937& random) { return random() % 2 ? 127 : -128; }
// Pairs of these are at the limit or next to it.
int8_t edge(std::mt19937& random) {
  static constexpr int8_t kEdge[] = {64, 65, 63, -64, -65, -63, 127, 1, -127, -1, 0, -128};
  return kEdge[random() % std::size(kEdge)];
}
constexpr Draw kDraws[] = {any, bell, small, ends, edge};

Bytes draw(Draw f, size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Bytes out(count);
  for (int8_t& w : out) w = f(random);
  return out;
}

// Reads the weight of each step from one panel's part, by the definition.
struct Part {
  const uint8_t *weights, *tables;
  PairPart plan;

  const uint8_t* group(size_t g) const { return weights + g * octet::kPairGroupBytes; }
  const uint8_t* piece(size_t i) const { return tables + i * octet::kPairGroupBytes; }
  PairTable table() const { return *(const PairTable*)piece(plan.table()); }
  size_t step(size_t place) const {
    const size_t window = place / octet::kPairWindow;
    return window * octet::kPairWindow + piece(plan.order() + window)[place % octet::kPairWindow];
  }
  static int at(const uint8_t* group, size_t column, size_t place) {
    return (int8_t)group[column * octet::kPairGroup + place % octet::kPairGroup];
  }
  // The weights that the values stand for; [step][column]
  std::vector<int> values() const {
    std::vector<int> sums(plan.windows * octet::kPairWindow * octet::kPairColumns);
    const auto add = [&](const uint8_t* values, size_t g, size_t first, size_t columns) {
      for (size_t i = 0; i < octet::kPairGroup; ++i)
        for (size_t j = first; j < first + columns; ++j)
          sums[step(g * octet::kPairGroup + i) * octet::kPairColumns + j] += at(values, j, i);
    };
    for (size_t g = 0; g < plan.groups; ++g) add(group(g), g, 0, octet::kPairColumns);
    const PairTable t = table();
    for (size_t e = 0; t.extras != octet::kPlainPart && e < t.extras; ++e)
      for (size_t half = 0; half < 2; ++half)
        add(piece(plan.extras() + e), t.groups[half][e], half * octet::kPairHalf, octet::kPairHalf);
    return sums;
  }
};

struct Packed {
  std::vector<uint8_t> panels;
  size_t n, k;

  Packed(const Bytes& w, size_t columns, size_t depth)
      : panels(kX86PairedLayout.bytes(columns, depth), 0xA5), n(columns), k(depth) {
    octet::pack_pairs(kX86PairedLayout,
                      {(const uint8_t*)w.data(), n, k, n, 1, octet::ElementType::kS8, nullptr, 0},
                      0, n, panels.data());
  }
  octet::PackedPanels view() const {
    return {kX86PairedLayout.lanes(n), 1, k, 1, 0, panels.data()};
  }
  bool sound() const { return octet::are_sound(kX86PairedLayout, view()); }
  template <typename F>
  void for_each_part(const F& f) const {
    for (size_t lane = 0; lane < n; lane += octet::kPairColumns) {
      const uint8_t *weights = panels.data() + kX86PairedLayout.panel_offset(lane, k),
                    *tables = weights + octet::pair_groups(k) * octet::kPairGroupBytes;
      for (size_t first = 0; first < k; first += octet::kPairPart) {
        const PairPart plan(std::min(octet::kPairPart, k - first));
        f(Part{weights + first * octet::kPairColumns, tables, plan}, lane, first);
        tables += plan.tables() * octet::kPairGroupBytes;
      }
    }
  }
  size_t count(bool (*f)(const Part&)) const {
    size_t parts = 0;
    for_each_part([&](const Part& part, size_t, size_t) { parts += f(part); });
    return parts;
  }
};

bool is_plain(const Part& part) { return part.table().extras == octet::kPlainPart; }
bool has_extras(const Part& part) { return part.table().extras && !is_plain(part); }

void expect_weights(const Packed& packed, const Bytes& w) {
  ASSERT_TRUE(packed.sound());
  packed.for_each_part([&](const Part& part, size_t lane, size_t first) {
    const std::vector<int> got = part.values();
    for (size_t i = 0; i < part.plan.groups * octet::kPairGroup; ++i)
      for (size_t j = 0; j < octet::kPairColumns; ++j) {
        const bool there = first + i < packed.k && lane + j < packed.n;
        ASSERT_EQ(got[i * octet::kPairColumns + j],
                  there ? w[(first + i) * packed.n + lane + j] : 0)
            << "step " << first + i << ", column " << lane + j;
      }
  });
}

TEST(Pairs, AddUpToTheWeights) {
  uint32_t seed = 0;
  for (const Draw f : kDraws)
    for (const size_t n : {1, 16, 37, 64, 65, 130})
      for (const size_t k : {1, 2, 3, 4, 5, 63, 64, 65, 127, 200, 511, 512, 513, 700, 1100}) {
        SCOPED_TRACE(testing::Message() << n << " x " << k << ", seed " << ++seed);
        const Bytes w = draw(f, n * k, seed);
        expect_weights(Packed(w, n, k), w);
        if (testing::Test::HasFatalFailure()) return;
      }
}

TEST(Pairs, OfAnyDepthAddUpToTheWeights) {
  for (size_t k = 1; k <= 200; ++k) {
    const Bytes w = draw(kDraws[k % std::size(kDraws)], 48 * k, (uint32_t)k);
    expect_weights(Packed(w, 48, k), w);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Pairs, NeedNoExtrasUpToTheLimit) {
  const size_t n = 64, k = 128;
  EXPECT_EQ(Packed(Bytes(n * k, 64), n, k).count(has_extras), 0u);
  EXPECT_EQ(Packed(Bytes(n * k, -64), n, k).count(has_extras), 0u);
  EXPECT_EQ(Packed(Bytes(n * k, 64), n, k).count(is_plain), 0u);
  // -128 beside 0, 127 beside 1
  Bytes w(n * k);
  for (size_t i = 0; i < w.size(); ++i) w[i] = i / n % 2 ? -128 : 0;
  EXPECT_EQ(Packed(w, n, k).count(has_extras), 0u);
  for (size_t i = 0; i < w.size(); ++i) w[i] = i / n % 2 ? 127 : 1;
  EXPECT_EQ(Packed(w, n, k).count(has_extras), 0u);
  EXPECT_EQ(Packed(w, n, k).count(is_plain), 0u);
}

// A few pairs above the limit need extras; if all pairs do, the part stays plain.
TEST(Pairs, NeedExtrasAboveTheLimit) {
  const size_t n = 64, k = 128;
  Bytes w(n * k, 64);
  for (size_t i = 0; i < 3; ++i) w[i * n + 20] = 65;
  const Packed few(w, n, k);
  EXPECT_EQ(few.count(has_extras), 1u);
  expect_weights(few, w);
  EXPECT_EQ(Packed(Bytes(n * k, 65), n, k).count(is_plain), n / octet::kPairColumns);
  EXPECT_EQ(Packed(Bytes(n * k, -128), n, k).count(is_plain), n / octet::kPairColumns);
}

// Weights are right even if the format does not pay; once it cannot, blocks keep their order.
TEST(Pairs, AreLeftAloneOnceTheyCannotPay) {
  const size_t n = 512, k = 128;
  const Bytes none = draw(any, n * k, 9);
  Bytes late = draw(small, n * k, 9);
  for (size_t i = 0; i < n * k; ++i)
    if (i % n >= n / 2) late[i] = none[i];
  const auto is_in_order = [](const Part& part) {
    bool in_order = true;
    for (size_t i = 0; i < part.plan.groups * octet::kPairGroup; ++i) in_order &= part.step(i) == i;
    return in_order;
  };
  for (const bool later : {false, true}) {
    const Bytes& w = later ? late : none;
    const Packed packed(w, n, k);
    expect_weights(packed, w);
    EXPECT_FALSE(octet::cost_of(kX86PairedLayout, packed.view()).pays());
    size_t last_optional = 0;
    packed.for_each_part([&](const Part& part, size_t lane, size_t) {
      if (!is_in_order(part)) last_optional = lane;
    });
    EXPECT_GE(last_optional, later ? n / 2 : 48);
    EXPECT_LT(last_optional, later ? n - 64 : n / 2);
  }
}

TEST(Pairs, AreTheSameHoweverTheWeightsLie) {
  const size_t n = 70, k = 150;
  const Bytes w = draw(bell, n * k, 3);
  Bytes turned(n * k);
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j < n; ++j) turned[j * k + i] = w[i * n + j];
  std::vector<uint8_t> panels(kX86PairedLayout.bytes(n, k));
  octet::pack_pairs(kX86PairedLayout,
                    {(uint8_t*)turned.data(), n, k, 1, k, octet::ElementType::kS8, nullptr, 0}, 0,
                    n, panels.data());
  EXPECT_EQ(panels, Packed(w, n, k).panels);
}

TEST(Pairs, ThatDoNotFitAreFound) {
  Bytes w = draw(bell, 64 * 100, 5);
  for (size_t i = 0; i < 16; ++i) w[64 * i] = 127;  // pairs of column 0 need extras
  const Packed good(w, 64, 100);
  ASSERT_TRUE(good.sound());
  ASSERT_GT(good.count(has_extras), 0u);
  ASSERT_EQ(good.count(is_plain), 0u);
  const auto refused = [&](size_t at, uint8_t value) {
    Packed bad = good;
    bad.panels[at] = value;
    return !bad.sound();
  };
  good.for_each_part([&](const Part& part, size_t, size_t) {
    if (!has_extras(part)) return;
    const auto at = [&](const uint8_t* from) { return (size_t)(from - good.panels.data()); };
    // The two weights of a pair have the same sign and are too large
    for (const uint8_t* const group : {part.group(7), part.piece(part.plan.extras())})
      for (const uint8_t most : {0x7f, 0x80}) {
        Packed bad = good;
        for (size_t i : {2, 3}) bad.panels[at(group) + i] = most;
        EXPECT_FALSE(bad.sound());
      }
    const size_t order = at(part.piece(part.plan.order()));
    EXPECT_TRUE(refused(order, good.panels[order + 1]));
    EXPECT_TRUE(refused(order, 64));
    EXPECT_TRUE(refused(order, octet::kNoStep));
    const size_t table = at(part.piece(part.plan.table()));
    EXPECT_TRUE(refused(table, (uint8_t)(part.plan.room + 1)));
    EXPECT_TRUE(refused(table, 0xfe));
    for (const size_t half : {0, 1})
      EXPECT_TRUE(
          refused(table + offsetof(PairTable, groups) + 30 * half, (uint8_t)part.plan.groups));
  });
}

// ---- through the public API

struct Blob {
  std::vector<int8_t> weights;
  Guarded memory;
  octet_blob_info info = OCTET_BLOB_INFO_INIT;
};

octet_rhs_desc describe(const Bytes& w, size_t n, size_t k) {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8, rhs.n = n, rhs.k = k, rhs.data = w.data();
  return rhs;
}

Blob pack(const Bytes& w, size_t n, size_t k, octet_isa isa) {
  const octet_rhs_desc rhs = describe(w, n, k);
  octet_error error = {};
  size_t bytes = 0;
  EXPECT_EQ(octet_pack_size(&rhs, isa, &bytes, &error), OCTET_OK) << error.message;
  Blob blob = {w, Guarded(bytes, Side::kBack, OCTET_ALIGNMENT)};
  EXPECT_EQ(octet_pack(&rhs, isa, blob.memory.data(), bytes, &error), OCTET_OK) << error.message;
  EXPECT_EQ(octet_blob_verify(blob.memory.data(), bytes, &error), OCTET_OK) << error.message;
  EXPECT_EQ(octet_blob_get_info(blob.memory.data(), bytes, &blob.info, &error), OCTET_OK);
  EXPECT_LE(blob.info.bytes, bytes);
  for (size_t i = blob.info.bytes; i < bytes; ++i) EXPECT_EQ(blob.memory.data()[i], 0);
  return blob;
}

std::vector<int32_t> product(const Blob& blob, size_t m, octet_type lhs_type,
                             const std::vector<uint8_t>& lhs, const char** kernel) {
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.m_max = m, d.n = blob.info.n, d.k = blob.info.k, d.dst_type = OCTET_S32;
  d.lhs_type = lhs_type, d.rhs_type = OCTET_S8;
  d.packed = blob.memory.data(), d.packed_bytes = blob.memory.bytes();
  octet_error error = {};
  octet_gemm* gemm = nullptr;
  std::vector<int32_t> dst(m * d.n);
  EXPECT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
  if (!gemm) return dst;
  *kernel = octet_gemm_kernel(gemm, m);
  size_t bytes = 0;
  EXPECT_EQ(octet_gemm_workspace(gemm, m, 1, &bytes, &error), OCTET_OK) << error.message;
  const Guarded workspace(bytes + 1, Side::kFront, OCTET_ALIGNMENT);
  const Guarded rows(lhs.size(), Side::kBack);
  std::copy(lhs.begin(), lhs.end(), rows.data());
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = m, args.lhs = rows.data(), args.dst = dst.data();
  args.workspace = workspace.data(), args.workspace_bytes = bytes;
  EXPECT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
  octet_gemm_destroy(gemm);
  return dst;
}

// A machine whose best tier pairs weights, by its kernel for them.
class Pairing : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const MicroKernel* const kernel = octet::find(octet::int8_kernels(), GetParam());
    if (!kernel || !usable(*kernel) || !is_to_test(*kernel))
      GTEST_SKIP() << "this CPU does not run the tier, or another run tests it";
    setenv("OCTET_MAX_ISA", octet::isa_name(kernel->tier_id), 1);
  }
  const octet::Machine machine_ = octet::this_machine();  // a limit at first use would hold
  const ScopedEnvironment limit_{"OCTET_MAX_ISA", nullptr};
};
INSTANTIATE_TEST_SUITE_P(, Pairing, testing::Values("avx2_u8s8_6x64x4", "avx512bw_u8s8_6x64x4"));

// The weights, the tier and the caller decide the format; the bytes are the same in either.
TEST_P(Pairing, PairsWeightsThatSuit) {
  const bool avx2 = GetParam()[3] == '2';  // tries few columns, too
  const struct {
    Draw draw;
    size_t n, k;
    octet_isa isa;
    bool paired;
  } kCases[] = {{small, 32, 96, OCTET_ISA_AUTO, true},   {small, 31, 97, OCTET_ISA_AUTO, true},
                {small, 4, 32, OCTET_ISA_AUTO, avx2},    {small, 32, 95, OCTET_ISA_AUTO, false},
                {small, 4, 31, OCTET_ISA_AUTO, false},   {small, 16, 96, OCTET_ISA_AUTO, avx2},
                {small, 5, 40, OCTET_ISA_AUTO, false},   {small, 64, 1030, OCTET_ISA_AUTO, true},
                {bell, 128, 700, OCTET_ISA_AUTO, true},  {bell, 128, 700, OCTET_ISA_AVX2, false},
                {any, 128, 700, OCTET_ISA_AUTO, false},  {ends, 64, 128, OCTET_ISA_AUTO, false},
                {small, 200, 513, OCTET_ISA_AUTO, true}, {small, 40, 524, OCTET_ISA_AUTO, true}};
  uint32_t seed = 0;
  for (const auto& c : kCases) {
    SCOPED_TRACE(testing::Message() << c.n << " x " << c.k << " case " << ++seed);
    const Bytes w = draw(c.draw, c.n * c.k, seed);
    const Blob blob = pack(w, c.n, c.k, c.isa), dense = pack(w, c.n, c.k, OCTET_ISA_AVX2);
    EXPECT_STREQ(blob.info.form, c.paired ? "s8_16x4_paired" : "s8_16x4");
    EXPECT_EQ(blob.info.isa, c.paired ? OCTET_ISA_AVX2 : OCTET_ISA_SSE41);
    std::mt19937 random(seed);
    for (const size_t m : {1, 7, 13, 22}) {  // 22: many rows in one call, on AVX2
      // Rows of the largest sums: 255 where a column's weights are positive, or where negative
      std::vector<uint8_t> lhs(m * c.k);
      for (size_t i = 0; i < m; ++i)
        for (size_t k = 0; k < c.k; ++k) {
          const int8_t weight = w[k * c.n + i % c.n];
          lhs[i * c.k + k] = i % 4 == 0   ? (weight > 0 ? 255 : 0)
                             : i % 4 == 1 ? (weight < 0 ? 255 : 0)
                             : i % 4 == 2 ? 255
                                          : (uint8_t)random();
        }
      for (const octet_type type : {OCTET_U8, OCTET_S8}) {
        const char *kernel = nullptr, *words = nullptr;
        EXPECT_EQ(product(blob, m, type, lhs, &kernel), product(dense, m, type, lhs, &words));
        EXPECT_STREQ(kernel, c.paired ? GetParam() : words);
      }
    }
  }
}

TEST_P(Pairing, AForcedKernelDecides) {
  const Bytes w = draw(any, 64 * 128, 1);
  {
    const ScopedEnvironment forced("OCTET_KERNEL", GetParam());
    EXPECT_STREQ(pack(w, 64, 128, OCTET_ISA_AUTO).info.form, "s8_16x4_paired");
  }
  const ScopedEnvironment forced("OCTET_KERNEL", "avx2_s16s8_6x16x4");
  EXPECT_STREQ(pack(draw(small, 64 * 128, 1), 64, 128, OCTET_ISA_AUTO).info.form, "s8_16x4");
}

TEST_P(Pairing, OfItsTierOnly) {
  const ScopedEnvironment limit("OCTET_MAX_ISA", "SSE41");
  EXPECT_STRNE(pack(draw(small, 64 * 128, 1), 64, 128, OCTET_ISA_AUTO).info.form, "s8_16x4_paired");
}

// The checksums are valid, the pairs are not.
TEST_P(Pairing, VerifyFindsPairsThatDoNotFit) {
  const size_t n = 64, k = 128;
  const Blob blob = pack(draw(small, n * k, 1), n, k, OCTET_ISA_AUTO);
  octet::Container c;
  uint8_t* const bytes = blob.memory.data();
  ASSERT_EQ(octet::check_matrices(bytes, blob.memory.bytes(), octet::find_format, &c),
            octet::BlobProblem::kNone);
  uint8_t* const weights = octet::section_of(c, octet::SectionId::kWeights, bytes);
  weights[0] = 65, weights[1] = 64;
  octet::seal_container(&c, bytes);
  expect_refused(OCTET_BAD_BLOB, "do not fit 16 bits",
                 [&](octet_error* e) { return octet_blob_verify(bytes, blob.memory.bytes(), e); });
  weights[0] = 64;
  octet::seal_container(&c, bytes);
  EXPECT_EQ(octet_blob_verify(bytes, blob.memory.bytes(), nullptr), OCTET_OK);
}

// False tables give wrong sums, but no wild access.
TEST_P(Pairing, RunsWhateverTheTablesSay) {
  const size_t n = 64, k = 128;
  const Blob blob = pack(draw(bell, n * k, 1), n, k, OCTET_ISA_AUTO);
  octet::Container c;
  uint8_t* const bytes = blob.memory.data();
  ASSERT_EQ(octet::check_matrices(bytes, blob.memory.bytes(), octet::find_format, &c),
            octet::BlobProblem::kNone);
  uint8_t* const tables = octet::section_of(c, octet::SectionId::kWeights, bytes) +
                          octet::pair_groups(k) * octet::kPairGroupBytes;
  const PairPart plan(k);
  for (const uint8_t value : {0x00, 0x7f, 0x80, 0xfe, 0xff})
    for (const size_t piece : {plan.order(), plan.table()}) {
      std::memset(tables + piece * octet::kPairGroupBytes, value, octet::kPairGroupBytes);
      const char* kernel = nullptr;
      product(blob, 7, OCTET_U8, std::vector<uint8_t>(7 * k, 255), &kernel);
    }
}

// ---- convolutions

TEST_P(Pairing, PairsFiltersThatSuit) {
  octet_conv2d_shape grouped = square(6, 256, 128, 1, 1, 0, 2), strided = square(9, 128, 48, 1, 2);
  size_t paired = 0;
  for (const octet_conv2d_shape& shape : {square(7, 160, 70, 1), strided, grouped,
                                          square(6, 518, 40, 3, 1), square(14, 12, 40, 3, 1)}) {
    const size_t weights =
        shape.out_channels * shape.kernel_h * shape.kernel_w * shape.in_channels / shape.groups;
    for (const octet_conv_algorithm algorithm : {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL})
      for (const Draw f : {small, any}) {
        const Bytes w = draw(f, weights, 9);
        std::vector<std::vector<int32_t>> dst;
        for (const octet_isa isa : {OCTET_ISA_AUTO, OCTET_ISA_AVX2}) {
          octet_filter_desc d = OCTET_FILTER_DESC_INIT;
          d.shape = shape, d.type = OCTET_S8, d.data = w.data(), d.algorithm = algorithm;
          octet_error error = {};
          size_t bytes = 0, room = 0;
          ASSERT_EQ(octet_conv2d_pack_size(&d, isa, &bytes, &error), OCTET_OK) << error.message;
          const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
          ASSERT_EQ(octet_conv2d_pack(&d, isa, blob.data(), bytes, &error), OCTET_OK);
          ASSERT_EQ(octet_blob_verify(blob.data(), bytes, &error), OCTET_OK) << error.message;
          octet_blob_info info = OCTET_BLOB_INFO_INIT;
          ASSERT_EQ(octet_blob_get_info(blob.data(), bytes, &info, &error), OCTET_OK);
          const bool pairs = std::string(info.form) == "s8_16x4_paired";
          EXPECT_EQ(pairs, isa == OCTET_ISA_AUTO && f == small) << info.form;
          paired += pairs;
          for (size_t i = info.bytes; i < bytes; ++i) ASSERT_EQ(blob.data()[i], 0);

          octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
          ASSERT_EQ(octet_conv2d_explain(&d, isa, algorithm - 1u, &candidate, &error), OCTET_OK);
          EXPECT_EQ(candidate.packed_bytes, bytes);
          const bool said =
              std::string(candidate.reason).find("if pairs of weights fit") != std::string::npos;
          EXPECT_EQ(said, isa == OCTET_ISA_AUTO) << candidate.reason;
          EXPECT_TRUE(!said || candidate.kernel == std::string(GetParam()));

          octet_conv2d_desc conv = OCTET_CONV2D_DESC_INIT;
          conv.shape = shape, conv.lhs_type = OCTET_U8, conv.rhs_type = OCTET_S8;
          conv.dst_type = OCTET_S32, conv.lhs_zero_point = 3;
          conv.packed = blob.data(), conv.packed_bytes = bytes;
          octet_conv2d* object = nullptr;
          ASSERT_EQ(octet_conv2d_create(&conv, &object, &error), OCTET_OK) << error.message;
          EXPECT_EQ(octet_conv2d_kernel(object) == std::string(GetParam()), pairs);
          octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
          ASSERT_EQ(
              octet_conv2d_workspace(object, 1, shape.in_h_max, shape.in_w_max, 1, &room, &error),
              OCTET_OK)
              << error.message;
          const Guarded workspace(room + 1, Side::kFront, OCTET_ALIGNMENT);
          const Guarded lhs(shape.in_h_max * shape.in_w_max * shape.in_channels, Side::kBack);
          std::mt19937 random(2);
          for (size_t i = 0; i < lhs.bytes(); ++i)
            lhs.data()[i] = random() % 3 ? 255 : (uint8_t)random();
          std::vector<int32_t> out(shape.in_h_max * shape.in_w_max * shape.out_channels);
          args.lhs = lhs.data(), args.dst = out.data();
          args.workspace = workspace.data(), args.workspace_bytes = room;
          EXPECT_EQ(octet_conv2d_run(object, &args, &error), OCTET_OK) << error.message;
          octet_conv2d_destroy(object);
          dst.push_back(out);
        }
        EXPECT_EQ(dst[0], dst[1]);
      }
  }
  EXPECT_EQ(paired, 10u);
}

// A limit that only the dense format meets makes packing take it.
TEST_P(Pairing, PackedBytesMaxKeepsFiltersDense) {
  const Bytes w(64 * 128, 1);
  octet_filter_desc d = OCTET_FILTER_DESC_INIT;
  d.shape = square(4, 128, 64, 1), d.type = OCTET_S8, d.data = w.data();
  size_t paired = 0, dense = 0, limited = 0;
  ASSERT_EQ(octet_conv2d_pack_size(&d, OCTET_ISA_AUTO, &paired, nullptr), OCTET_OK);
  ASSERT_EQ(octet_conv2d_pack_size(&d, OCTET_ISA_AVX2, &dense, nullptr), OCTET_OK);
  EXPECT_GT(paired, dense);
  for (const size_t limit : {paired, paired - 1, dense}) {
    d.packed_bytes_max = limit;
    ASSERT_EQ(octet_conv2d_pack_size(&d, OCTET_ISA_AUTO, &limited, nullptr), OCTET_OK);
    EXPECT_EQ(limited, limit == paired ? paired : dense);
  }
}

}  // namespace
}  // namespace octet_test
