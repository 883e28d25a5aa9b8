// SPDX-License-Identifier: Apache-2.0
// Compares packing with a formula: the layouts of all tiers, of this architecture and of others,
// and the panels of the lhs.
#include <random>

#include "dispatch/tables/formats.h"
#include "kernels/arm/kernels.h"
#include "kernels/x86/kernels.h"
#include "packing/matrix_blob.h"
#include "support/guarded.h"
#include "support/kernels.h"

namespace octet_test {
namespace {

using octet::ElementType;
using octet::RhsLayout;

struct Weights {
  size_t n, k;
  octet_type type;
  octet_rhs_order order;
  size_t padding;
  size_t stride() const { return (order == OCTET_KN ? n : k) + padding; }
  size_t bytes() const {
    return ((order == OCTET_KN ? k : n) - 1) * stride() + (order == OCTET_KN ? n : k);
  }
  size_t at(size_t row, size_t column) const {
    return order == OCTET_KN ? row * stride() + column : column * stride() + row;
  }
};

Guarded random_bytes(size_t bytes, Side side) {
  std::mt19937 random((uint32_t)bytes);
  Guarded out(bytes, side);
  for (size_t i = 0; i < bytes; ++i) out.data()[i] = (uint8_t)random();
  return out;
}

struct Packed {
  Guarded source, blob;
  octet::Container head;
};

Packed pack(const Weights& w, octet_isa isa, const std::vector<int32_t>& zero_points, Side side) {
  Packed p = {random_bytes(w.bytes(), side), {}, {}};
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = w.type, rhs.order = w.order, rhs.n = w.n, rhs.k = w.k, rhs.data = p.source.data(),
  rhs.stride = w.stride();
  rhs.zero_points = zero_points.empty() ? nullptr : zero_points.data();
  rhs.zero_point_count = zero_points.size();
  octet_error error = {};
  size_t bytes = 0;
  EXPECT_EQ(octet_pack_size(&rhs, isa, &bytes, &error), OCTET_OK) << error.message;
  p.blob = Guarded(bytes, side, OCTET_ALIGNMENT);
  EXPECT_EQ(octet_pack(&rhs, isa, p.blob.data(), bytes, &error), OCTET_OK) << error.message;
  EXPECT_EQ(octet_blob_verify(p.blob.data(), bytes, &error), OCTET_OK) << error.message;
  EXPECT_EQ(octet::check_matrices(p.blob.data(), bytes, octet::find_format, &p.head),
            octet::BlobProblem::kNone);
  return p;
}

// panel(k, lane) = (k / kr) * width * kr + lane * kr + k % kr; the last panel is as wide as its
// columns rounded up to step.
void expect_panels(const Packed& p, const Weights& w, const RhsLayout& layout) {
  const bool flip = is_unsigned(w.type) != (layout.element_type == ElementType::kU8);
  const size_t lanes = (w.n + layout.step - 1) / layout.step * layout.step,
               depth = (w.k + layout.kr - 1) / layout.kr * layout.kr;
  const uint8_t* panels = octet::matrix_of(p.head, p.blob.data(), 0).panels;
  for (size_t lane = 0; lane < lanes; ++lane)
    for (size_t k = 0; k < depth; ++k) {
      const size_t first = lane / layout.width * layout.width,
                   width = std::min<size_t>(layout.width, lanes - first);
      const uint8_t got = panels[first * depth + k / layout.kr * width * layout.kr +
                                 (lane - first) * layout.kr + k % layout.kr];
      const uint8_t want = lane < w.n && k < w.k
                               ? (uint8_t)(p.source.data()[w.at(k, lane)] ^ (flip ? 0x80 : 0))
                               : uint8_t{0};
      ASSERT_EQ(got, want) << "lane " << lane << ", k " << k << " of " << w.n << " x " << w.k;
    }
}

struct Tier {
  octet_isa isa;
  octet_type type;
  RhsLayout layout;
};
std::vector<Tier> tiers() {
  std::vector<Tier> all;
  for (const octet_isa isa : all_tiers())
    for (const octet_type type : {OCTET_S8, OCTET_U8})
      all.push_back({isa, type, format_for(isa, type).layout});
  return all;
}

TEST(Pack, OneWeight) {
  const Weights w = {1, 1, OCTET_S8, OCTET_KN, 0};
  for (const Tier& tier : tiers())
    if (tier.type == w.type) expect_panels(pack(w, tier.isa, {}, Side::kBack), w, tier.layout);
}

TEST(Pack, EveryTierFollowsItsFormula) {
  for (const Tier& tier : tiers())
    for (const octet_rhs_order order : {OCTET_KN, OCTET_NK})
      for (const size_t n : around({tier.layout.step, tier.layout.width}))
        for (const size_t k : {size_t{1}, size_t{tier.layout.kr} - 1, size_t{tier.layout.kr},
                               size_t{tier.layout.kr} + 1, size_t{61}, size_t{64}, size_t{143}}) {
          if (k == 0) continue;
          const Weights w = {n, k, tier.type, order, n % 2 ? 0u : 3u};
          const Packed p = pack(w, tier.isa, {}, n % 3 ? Side::kBack : Side::kFront);
          ASSERT_EQ(p.head.format->layout, tier.layout);
          expect_panels(p, w, tier.layout);
          if (HasFatalFailure()) return;
        }
}

TEST(Pack, KnAndNkGiveTheSameBytes) {
  const size_t n = 37, k = 29;
  std::vector<uint8_t> kn(n * k), nk(n * k);
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j < n; ++j) nk[j * k + i] = kn[i * n + j] = (uint8_t)(i * 31 + j * 7);
  for (const octet_isa isa : all_tiers()) {
    std::vector<uint8_t> bytes[2];
    for (const octet_rhs_order order : {OCTET_KN, OCTET_NK}) {
      octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
      rhs.type = OCTET_U8, rhs.order = order, rhs.n = n, rhs.k = k,
      rhs.data = order == OCTET_KN ? kn.data() : nk.data();
      size_t size = 0;
      ASSERT_EQ(octet_pack_size(&rhs, isa, &size, nullptr), OCTET_OK);
      const Guarded blob(size, Side::kBack, OCTET_ALIGNMENT);
      ASSERT_EQ(octet_pack(&rhs, isa, blob.data(), size, nullptr), OCTET_OK);
      bytes[order].assign(blob.data(), blob.data() + size);
    }
    EXPECT_EQ(bytes[0], bytes[1]) << octet_isa_name(isa);
  }
}

// The sums of a column decide overflow and the certified clamp.
void expect_facts(const Tier& tier, octet_rhs_order order, size_t n, size_t depth) {
  const Weights w = {n, depth, tier.type, order, 0};
  std::vector<int32_t> zero_points;
  for (size_t j = 0; j < n; ++j)
    zero_points.push_back((int32_t)((j * 13 + 1) % 256) - (tier.type == OCTET_U8 ? 0 : 128));
  const Packed p = pack(w, tier.isa, zero_points, Side::kBack);
  const octet::PackedRhs packed = octet::matrix_of(p.head, p.blob.data(), 0);
  const int32_t shift = is_unsigned(tier.type) == (tier.layout.element_type == ElementType::kU8) ? 0
                        : is_unsigned(tier.type) ? -128
                                                 : 128;
  bool has_int8_min = false;
  for (size_t j = 0; j < w.n; ++j) {
    int32_t positive = 0, negative = 0;
    for (size_t k = 0; k < w.k; ++k) {
      const uint8_t byte = p.source.data()[w.at(k, j)];
      const int32_t value = (tier.type == OCTET_U8 ? byte : (int8_t)byte) - zero_points[j];
      (value > 0 ? positive : negative) += value;
      has_int8_min |= tier.layout.element_type == ElementType::kS8 &&
                      byte == (is_unsigned(tier.type) ? 0x00 : 0x80);
    }
    EXPECT_EQ(packed.positive[j], positive);
    EXPECT_EQ(packed.negative[j], negative);
    ASSERT_NE(packed.zero_points, nullptr);
    EXPECT_EQ(packed.zero_points[j], zero_points[j] + shift);
  }
  EXPECT_EQ(p.head.header.has_int8_min != 0, has_int8_min)
      << octet_isa_name(tier.isa) << ", " << n << " x " << depth;
}

TEST(Pack, RecordsSumsZeroPointsAndInt8Min) {
  for (const Tier& tier : tiers())
    for (const octet_rhs_order order : {OCTET_KN, OCTET_NK})
      for (const size_t n : {1, 19, 130})
        for (const size_t depth : {1, 8, 23, 100, 256, 600}) expect_facts(tier, order, n, depth);
}

class Gather : public EachKernel {};
OCTET_FOR_EACH_KERNEL(Gather);

TEST_P(Gather, PanelFollowsItsFormula) {
  if (!kernel().gather) GTEST_SKIP() << kernel().name << " reads the lhs rows where they lie";
  const size_t kr = kernel().lhs_kr;
  // Arm's look-ups take eights of each row in turn (kernels/arm/shared/sparse.h).
  const bool eights = kernel().rhs_layout.sparse() &&
                      octet::tier_of(kernel().tier_id).architecture == octet::Architecture::kArm;
  for (size_t rows = 1; rows <= kernel().mr; ++rows)
    for (const size_t depth : {size_t{1}, kr, kr + 1, 3 * kr - 1, size_t{67}, size_t{128}})
      for (const uint8_t flip : {uint8_t{0}, uint8_t{0x80}})
        for (const Side side : {Side::kBack, Side::kFront}) {
          const size_t lanes = octet::round_up(rows, kernel().lhs_lanes_step),
                       groups = (depth + kr - 1) / kr, stride = depth + 1;
          const Guarded source = random_bytes((rows - 1) * stride + depth, side);
          const Guarded panel(octet::round_up(lanes * groups * kr * kernel().lhs_element_bytes, 64),
                              side, 64);
          kernel().gather({source.data(), stride, rows, depth, flip}, lanes, panel.data());
          for (size_t lane = 0; lane < lanes; ++lane)
            for (size_t k = 0; k < groups * kr; ++k) {
              const size_t step = kernel().is(octet::kGathersEvenStepsFirst)
                                      ? k % 2 * (kr / 2) + k % kr / 2
                                      : k % kr;
              const size_t element = kernel().lhs_element_bytes;
              const size_t at = eights ? k / 8 * lanes * 8 + lane * 8 + k % 8
                                       : k / kr * lanes * kr + lane * kr + step;
              const bool there = lane < rows && k < depth;
              const uint8_t want =
                  there ? (uint8_t)(source.data()[lane * stride + k] ^ flip) : uint8_t{0};
              if (kernel().is(octet::kGathersComplements)) {
                const uint8_t* const eight =
                    panel.data() + 2 * (k / kr * lanes * kr + lane * kr + k % kr / 8 * 8) + k % 8;
                ASSERT_EQ(eight[0], want) << kernel().name << " k " << k;
                ASSERT_EQ(eight[8], (uint8_t)(~want)) << kernel().name << " k " << k;
                continue;
              }
              // In an int16 panel each pair may be stored twice
              const size_t word = element == 4 ? at / 2 * 4 + at % 2 : at;
              const int got = element == 1 ? panel.data()[at] : panel.data<int16_t>()[word];
              if (element == 4) {
                ASSERT_EQ(panel.data<int16_t>()[word + 2], got);
              }
              ASSERT_EQ(got, want) << kernel().name << ' ' << rows << " rows, depth " << depth
                                   << ", lane " << lane << ", k " << k;
            }
        }
}

TEST_P(Gather, RowSums) {
  // The tier's, whatever the kernel: the first one that may be tested stands for all
  for (const octet::MicroKernel* other : table())
    if (other->tier_id == kernel().tier_id && is_to_test(*other)) {
      if (other != &kernel()) GTEST_SKIP() << other->name << " stands for its tier";
      break;
    }
  std::vector<size_t> depths = {1000, 65793};
  for (size_t depth = 1; depth <= 100; ++depth) depths.push_back(depth);
  const auto sum_rows = octet::ops_of(kernel().tier_id).sum_rows;
  for (const size_t depth : depths)
    for (const int byte : {-1, 0x00, 0x7f, 0x80, 0xff})
      for (const uint8_t flip : {uint8_t{0}, uint8_t{0x80}})
        for (const bool is_signed : {false, true}) {
          const size_t rows = 1 + (depth + (size_t)(byte + 1)) % 9;
          const Side side = depth % 2 ? Side::kBack : Side::kFront;
          const Guarded source = random_bytes(rows * depth, side), sums(rows * 4, side);
          if (byte >= 0) std::memset(source.data(), byte, rows * depth);
          std::vector<int32_t> want(rows);
          for (size_t i = 0; i < rows; ++i)
            for (size_t k = 0; k < depth; ++k) {
              const uint8_t x = (uint8_t)(source.data()[i * depth + k] ^ flip);
              want[i] += is_signed ? (int8_t)x : x;
            }
          // The rows are given by a stride, and from the last to the first by pointers.
          std::vector<const uint8_t*> pointers;
          for (size_t i = rows; i > 0; --i) pointers.push_back(source.data() + (i - 1) * depth);
          const octet::Rows by_stride = {source.data(), depth, rows, depth, flip},
                            by_pointers = {nullptr, 0, rows, depth, flip, pointers.data()};
          sum_rows(by_stride, is_signed, sums.data<int32_t>());
          for (size_t i = 0; i < rows; ++i)
            ASSERT_EQ(sums.data<int32_t>()[i], want[i])
                << kernel().name << " depth " << depth << " byte " << byte << " row " << i;
          sum_rows(by_pointers, is_signed, sums.data<int32_t>());
          for (size_t i = 0; i < rows; ++i)
            ASSERT_EQ(sums.data<int32_t>()[i], want[rows - 1 - i])
                << kernel().name << " depth " << depth << " byte " << byte << " row " << i;
        }
}

}  // namespace
}  // namespace octet_test
