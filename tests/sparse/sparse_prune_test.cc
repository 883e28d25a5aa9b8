// SPDX-License-Identifier: Apache-2.0
// Checks pruning to 2:4 (octet/sparse.h) against a sort that keeps the two best of each group.
#include <gtest/gtest.h>
#include <octet/sparse.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <vector>

#include "support/draw.h"
#include "support/guarded.h"
#include "support/refused.h"

namespace octet_test {
namespace {

using Bytes = std::vector<uint8_t>;

bool same(const octet_sparse_loss& a, const octet_sparse_loss& b) {
  return a.weights == b.weights && a.removed == b.removed && a.magnitude == b.magnitude &&
         a.magnitude_removed == b.magnitude_removed && a.energy == b.energy &&
         a.energy_removed == b.energy_removed;
}

// Prunes one group of one channel; removed weights become the zero point.
void prune_values(std::vector<int>* values, int zero_point, octet_sparse_loss* loss) {
  std::vector<size_t> order(values->size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::abs((*values)[a] - zero_point) > std::abs((*values)[b] - zero_point);
  });
  for (size_t place = 0; place < order.size(); ++place) {
    int& value = (*values)[order[place]];
    const uint64_t magnitude = (uint64_t)std::abs(value - zero_point);
    loss->weights += magnitude > 0;
    loss->magnitude += magnitude;
    loss->energy += magnitude * magnitude;
    if (place < 2) continue;
    loss->removed += magnitude > 0;
    loss->magnitude_removed += magnitude;
    loss->energy_removed += magnitude * magnitude;
    value = zero_point;
  }
}

int as_value(uint8_t byte, octet_type type) { return type == OCTET_U8 ? byte : (int8_t)byte; }

// Draws from few values, so that there are ties, or from all.
Bytes some_bytes(Draw* draw, size_t count) {
  Bytes bytes(count);
  const size_t range = draw->any<size_t>({2, 5, 256});
  for (uint8_t& byte : bytes) byte = (uint8_t)(draw->below(range) - range / 2);
  return bytes;
}

// The places of one group's weights, in the order of depth.
using Places = std::vector<size_t>;

struct Expected {
  Bytes bytes;
  std::vector<octet_sparse_loss> losses;
};

void prune_places(const Places& places, octet_type type, int zero_point, Bytes* bytes,
                  octet_sparse_loss* loss) {
  for (size_t first = 0; first < places.size(); first += 4) {
    const Places group(places.begin() + first, places.begin() + std::min(first + 4, places.size()));
    std::vector<int> values;
    for (const size_t place : group) values.push_back(as_value((*bytes)[place], type));
    prune_values(&values, zero_point, loss);
    for (size_t i = 0; i < group.size(); ++i) (*bytes)[group[i]] = (uint8_t)values[i];
  }
}

TEST(SparsePrune, MatricesOfAllOrdersStridesTypesAndZeroPoints) {
  Draw draw(11);
  for (int repeat = 0; repeat < 400; ++repeat) {
    SCOPED_TRACE(repeat);
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = draw.any({OCTET_S8, OCTET_U8});
    rhs.order = draw.any({OCTET_NK, OCTET_KN});
    rhs.n = 1 + draw.below(6);
    rhs.k = 1 + draw.below(40);
    rhs.batch = 1 + draw.below(3);
    const bool kn = rhs.order == OCTET_KN;
    const size_t gap = draw.below(4), line = (kn ? rhs.n : rhs.k) + gap, lines = kn ? rhs.k : rhs.n,
                 apart = lines * line + draw.below(3);
    rhs.stride = line;
    rhs.batch_stride = apart;
    std::vector<int32_t> zero_points;
    if (draw.one_in(2)) {
      zero_points.resize(draw.one_in(2) ? 1 : rhs.n);
      for (int32_t& z : zero_points)
        z = (int32_t)draw.below(256) - (rhs.type == OCTET_U8 ? 0 : 128);
      rhs.zero_points = zero_points.data();
      rhs.zero_point_count = zero_points.size();
    }
    const Bytes bytes =
        some_bytes(&draw, (rhs.batch - 1) * apart + (lines - 1) * line + line - gap);

    Expected expected = {bytes, std::vector<octet_sparse_loss>(rhs.batch * rhs.n)};
    for (size_t b = 0; b < rhs.batch; ++b)
      for (size_t c = 0; c < rhs.n; ++c) {
        Places places;
        for (size_t i = 0; i < rhs.k; ++i)
          places.push_back(b * apart + (kn ? i * line + c : c * line + i));
        const int zero_point =
            zero_points.empty() ? 0 : zero_points[zero_points.size() == 1 ? 0 : c];
        prune_places(places, rhs.type, zero_point, &expected.bytes,
                     &expected.losses[b * rhs.n + c]);
      }

    const Guarded from(bytes, Side::kBack), in_place(bytes, Side::kFront),
        to(bytes.size(), Side::kBack);
    const Guarded losses(expected.losses.size() * sizeof(octet_sparse_loss), Side::kBack,
                         alignof(octet_sparse_loss));
    from.read_only();
    rhs.data = from.data();
    octet_error error = {};
    ASSERT_EQ(octet_sparse_prune(&rhs, to.data(), losses.data<octet_sparse_loss>(), &error),
              OCTET_OK)
        << error.message;
    EXPECT_TRUE(std::equal(expected.losses.begin(), expected.losses.end(),
                           losses.data<octet_sparse_loss>(), same));
    rhs.data = in_place.data();
    ASSERT_EQ(octet_sparse_prune(&rhs, in_place.data(), nullptr, &error), OCTET_OK);
    EXPECT_EQ(Bytes(in_place.data(), in_place.data() + bytes.size()), expected.bytes);
    // The bytes between rows are not written.
    for (size_t i = 0; i < bytes.size(); ++i) {
      const bool weight = i % apart < lines * line && i % apart % line < line - gap;
      ASSERT_EQ(to.data()[i], weight ? expected.bytes[i] : Guarded::kUntouched) << i;
    }
    // Pruned once more it is the same, and nothing is lost.
    std::vector<octet_sparse_loss> again(expected.losses.size());
    ASSERT_EQ(octet_sparse_prune(&rhs, in_place.data(), again.data(), &error), OCTET_OK);
    EXPECT_EQ(Bytes(in_place.data(), in_place.data() + bytes.size()), expected.bytes);
    for (const octet_sparse_loss& loss : again) EXPECT_EQ(loss.removed + loss.energy_removed, 0u);
  }
}

TEST(SparsePrune, FiltersOfAllOrdersAndGroups) {
  Draw draw(12);
  for (int repeat = 0; repeat < 200; ++repeat) {
    SCOPED_TRACE(repeat);
    octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
    filter.type = draw.any({OCTET_S8, OCTET_U8});
    filter.order = draw.any({OCTET_OHWI, OCTET_OIHW, OCTET_HWIO, OCTET_IOHW});
    octet_conv2d_shape& s = filter.shape;
    const size_t in = 1 + draw.below(9), out = 1 + draw.below(3);
    s.groups = 1 + draw.below(3);
    s.in_channels = in * s.groups;
    s.out_channels = out * s.groups;
    s.kernel_h = 1 + draw.below(3);
    s.kernel_w = 1 + draw.below(3);
    s.in_h_max = s.in_w_max = 5;
    std::vector<int32_t> zero_points(s.out_channels);
    for (int32_t& z : zero_points) z = (int32_t)draw.below(100);
    if (draw.one_in(2)) {
      filter.zero_points = zero_points.data();
      filter.zero_point_count = zero_points.size();
    }
    const size_t taps = s.kernel_h * s.kernel_w;
    const Bytes bytes = some_bytes(&draw, s.out_channels * taps * in);
    Expected expected = {bytes, std::vector<octet_sparse_loss>(s.out_channels)};
    for (size_t o = 0; o < s.out_channels; ++o)
      for (size_t tap = 0; tap < taps; ++tap) {
        Places places;
        for (size_t i = 0; i < in; ++i) {
          const size_t all_in = o / out * in + i;
          switch (filter.order) {
            case OCTET_OHWI: places.push_back((o * taps + tap) * in + i); break;
            case OCTET_OIHW: places.push_back((o * in + i) * taps + tap); break;
            case OCTET_HWIO: places.push_back((tap * in + i) * s.out_channels + o); break;
            case OCTET_IOHW: places.push_back((all_in * out + o % out) * taps + tap); break;
          }
        }
        prune_places(places, filter.type, filter.zero_points ? zero_points[o] : 0, &expected.bytes,
                     &expected.losses[o]);
      }
    const Guarded from(bytes, Side::kBack), to(bytes.size(), Side::kFront);
    from.read_only();
    filter.data = from.data();
    std::vector<octet_sparse_loss> losses(s.out_channels);
    octet_error error = {};
    ASSERT_EQ(octet_sparse_prune_filter(&filter, to.data(), losses.data(), &error), OCTET_OK)
        << error.message;
    EXPECT_EQ(Bytes(to.data(), to.data() + to.bytes()), expected.bytes);
    EXPECT_TRUE(std::equal(losses.begin(), losses.end(), expected.losses.begin(), same));
  }
}

TEST(SparsePrune, OfEqualsTheFirstStays) {
  int8_t row[] = {3, -3, 3, -3, -128, 127, -128, 5, 0, 0, 0, 1, 2, 1};
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8;
  rhs.order = OCTET_NK;
  rhs.n = 1;
  rhs.k = sizeof row;
  rhs.data = row;
  octet_sparse_loss loss;
  ASSERT_EQ(octet_sparse_prune(&rhs, row, &loss, nullptr), OCTET_OK);
  const int8_t expected[] = {3, -3, 0, 0, -128, 0, -128, 0, 0, 0, 0, 1, 2, 1};
  EXPECT_TRUE(std::equal(row, row + sizeof row, expected));
  EXPECT_TRUE(same(loss, {11, 4, 404, 138, 48964, 16172}));
}

// Matrices may lie between each other's rows, but not on each other.
TEST(SparsePrune, MatricesThatOverlapAreRefused) {
  uint8_t weights[512] = {};
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8;
  rhs.data = weights;
  rhs.order = OCTET_NK;
  rhs.n = 4, rhs.k = 8;
  size_t refused = 0;
  for (rhs.batch = 1; rhs.batch <= 3; ++rhs.batch)
    for (const size_t stride : {8, 9, 16, 24, 30})
      for (size_t apart = 1; apart <= 100; ++apart) {
        SCOPED_TRACE(testing::Message() << rhs.batch << " of stride " << stride << ", " << apart);
        rhs.stride = stride;
        rhs.batch_stride = apart;
        std::set<size_t> places;
        for (size_t at = 0; at < rhs.batch * rhs.n * rhs.k; ++at)
          places.insert(at / 32 * apart + at / 8 % 4 * stride + at % 8);
        octet_error error = {};
        const octet_status status = octet_sparse_prune(&rhs, weights, nullptr, &error);
        if (places.size() == rhs.batch * rhs.n * rhs.k) {
          EXPECT_EQ(status, OCTET_OK) << error.message;
          continue;
        }
        ++refused;
        EXPECT_EQ(status, OCTET_BAD_STRIDE);
        EXPECT_EQ(std::string(error.message).find("rhs.batch_stride = "), 0u) << error.message;
      }
  EXPECT_GT(refused, 100u);
}

TEST(SparsePrune, BadArguments) {
  // Each array has room for the losses, so that an overlap meets one operand only.
  alignas(8) uint8_t weights[512] = {}, pruned[512] = {};
  alignas(8) int32_t zero_point[128] = {};
  octet_sparse_loss losses[8];
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8;
  rhs.n = rhs.k = 8;
  rhs.data = weights;
  rhs.zero_points = zero_point;
  rhs.zero_point_count = 8;
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  filter.type = OCTET_S8;
  filter.shape.in_channels = filter.shape.out_channels = 8;
  filter.shape.kernel_h = filter.shape.kernel_w = 1;
  filter.shape.in_h_max = filter.shape.in_w_max = 1;
  filter.data = weights;
  filter.zero_points = zero_point;
  filter.zero_point_count = 8;
  const auto refuses = [&](octet_status status, const char* says, void* to,
                           octet_sparse_loss* report) {
    expect_refused(status, says,
                   [&](octet_error* e) { return octet_sparse_prune(&rhs, to, report, e); });
    expect_refused(status, says, [&](octet_error* e) {
      return octet_sparse_prune_filter(&filter, to, report, e);
    });
  };
  const auto at = [](void* memory) { return (octet_sparse_loss*)memory; };
  refuses(OCTET_NULL_POINTER, "pruned is null", nullptr, losses);
  refuses(OCTET_OVERLAP, "pruned overlaps", weights + 1, losses);
  refuses(OCTET_OVERLAP, "zero_points", zero_point, losses);
  refuses(OCTET_MISALIGNED, "losses", pruned, at((char*)losses + 1));
  refuses(OCTET_OVERLAP, "losses overlap", pruned, at(pruned));
  refuses(OCTET_OVERLAP, "losses overlap", pruned, at(weights));
  refuses(OCTET_OVERLAP, "losses overlap", pruned, at(zero_point));
  rhs.data = filter.data = nullptr;
  refuses(OCTET_NULL_POINTER, ".data is null", pruned, losses);
  rhs.data = filter.data = weights;
  rhs.zero_point_count = filter.zero_point_count = 3;
  refuses(OCTET_BAD_SIZE, "zero_points has 3 values", pruned, losses);
  rhs.zero_point_count = filter.zero_point_count = 8;
  zero_point[2] = 200;
  refuses(OCTET_BAD_ZERO_POINT, "zero_points[2] is 200", pruned, losses);
  zero_point[2] = 0;
  rhs.type = filter.type = OCTET_F32;
  refuses(OCTET_UNKNOWN_ENUM, ".type", pruned, losses);
  expect_refused(OCTET_NULL_POINTER, "rhs is null",
                 [&](octet_error* e) { return octet_sparse_prune(nullptr, pruned, losses, e); });
  expect_refused(OCTET_NULL_POINTER, "filter is null", [&](octet_error* e) {
    return octet_sparse_prune_filter(nullptr, pruned, losses, e);
  });
}

}  // namespace
}  // namespace octet_test
