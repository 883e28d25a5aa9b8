#include "kernels/pack/sparse.h"

#include <string.h>

namespace octet {
namespace {

// Where the first and the second of up to two bits of four are. Without one: the place of the
// other, or 0; the value there is 0.
struct Places {
  uint8_t first, second;
};
constexpr Places kPlaces[16] = {{0, 0}, {0, 0}, {1, 1}, {0, 1}, {2, 2}, {0, 2}, {1, 2}, {0, 1},
                                {3, 3}, {0, 3}, {1, 3}, {0, 1}, {2, 3}, {0, 2}, {1, 2}, {0, 1}};
constexpr uint8_t kBits[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

}  // namespace

size_t first_crowded(const SparseRun& r) {
  for (size_t k = 0; k < r.count; k += 4) {
    size_t used = 0;
    for (size_t i = 0; i < r.four(k); ++i) used += r.data[(k + i) * r.stride] != r.zero;
    if (used > 2) return k;
  }
  return r.count;
}

bool distances_fit(const SparseRun& r, bool is_u8) {
  const auto value = [is_u8](uint8_t byte) { return is_u8 ? (int)byte : (int)(int8_t)byte; };
  const int zero = value(r.zero);
  bool fit = true;
  for (size_t k = 0; k < r.count; ++k) {
    const int distance = value(r.data[k * r.stride]) - zero;
    fit &= distance >= -128 && distance <= 127;
  }
  return fit;
}

void pack_runs(SparseRun run, size_t lane_stride, const uint8_t* zeros, size_t lanes, size_t offset,
               uint8_t* panel) {
  for (size_t k = 0; k < run.count; k += 4) {
    const size_t step = offset + k, half = step / 8 % 2, pair = step / 4 % 2, n = run.four(k);
    uint8_t* const group = panel + step / kSparseSteps * kSparseGroup;
    uint8_t *const values = group + half * kSparseLine + 2 * pair, *const places = group +
                                                                                   2 * kSparseLine +
                                                                                   2 * pair;
    for (size_t lane = 0; lane < lanes; ++lane) {
      const uint8_t* const from = run.data + lane * lane_stride + k * run.stride;
      uint8_t four[4] = {};
      unsigned used = 0;
      for (size_t i = 0; i < n; ++i) {
        four[i] = (uint8_t)(from[i * run.stride] - zeros[lane]);
        used |= (unsigned)(four[i] != 0) << i;
      }
      const Places at = kPlaces[used];
      const size_t to = 4 * lane;
      values[to] = four[at.first];
      values[to + 1] = kBits[used] > 1 ? four[at.second] : 0;
      places[to] |= (uint8_t)((4 * pair + at.first) << 4 * half);
      places[to + 1] |= (uint8_t)((4 * pair + at.second) << 4 * half);
    }
  }
}

void pack_sparse(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                 uint8_t* packed) {
  uint8_t zeros[kSparseLanes];
  for (size_t lane = first; lane < first + count; lane += layout.width) {
    const size_t lanes = smaller(layout.width, rhs.n - lane);
    uint8_t* const panel = packed + layout.panel_offset(lane, rhs.k);
    memset(panel, 0, layout.width * layout.lane_bytes(rhs.k));
    for (size_t i = 0; i < lanes; ++i) zeros[i] = (uint8_t)rhs.zero_point(lane + i);
    pack_runs({rhs.data + lane * rhs.n_stride, rhs.k_stride, rhs.k, 0}, rhs.n_stride, zeros, lanes,
              0, panel);
  }
}

}  // namespace octet
