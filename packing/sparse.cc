// SPDX-License-Identifier: Apache-2.0
// Checks and packs 2:4 sparse weights, sixteen lanes at a time.
#include "packing/sparse.h"

#include <string.h>

#include "packing/interleave.h"

namespace octet {
namespace {

typedef uint8_t Bytes __attribute__((vector_size(16)));
typedef uint32_t Fours __attribute__((vector_size(16)));
Bytes load(const uint8_t* from) {
  Bytes bytes;
  memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

// Bytes of a uint32_t are in memory order: all CPUs that Octet runs on are little-endian.
constexpr uint32_t kEach = 0x01010101, kHigh = 0x80808080;

// One bit per byte of four: set if the byte is not zero.
unsigned used_of(uint32_t four) {
  const uint32_t used = (((four & ~kHigh) + ~kHigh) | four) & kHigh;
  return (used >> 7) * 0x01020408 >> 24 & 15;
}

// Loads a run's four from k on, with 0 beyond its end.
uint32_t load_four(const SparseRun& r, size_t k) {
  uint32_t four = 0;
  for (size_t i = 0; i < r.four(k); ++i) four |= (uint32_t)r.data[(k + i) * r.stride] << 8 * i;
  return four;
}

bool crowded(uint32_t four) {
  const unsigned used = used_of(four), but_one = used & (used - 1);
  return but_one & (but_one - 1);
}

// The start of the first 64 neighbours with a crowded four, or of the last fewer than 64.
size_t skip_sound(const uint8_t* data, size_t count, uint8_t zero) {
  const Bytes zeros = (Bytes)((Fours){} + kEach * zero);
  size_t k = 0;
  for (; k + 64 <= count; k += 64) {
    Fours sound = ~(Fours){};
    for (size_t i = 0; i < 64; i += 16) {
      // The lowest byte counts the zeros of a four; a sound four has at least two
      Fours count_zero = (Fours)(load(data + k + i) == zeros) & kEach;
      count_zero += count_zero >> 8;
      count_zero += count_zero >> 16;
      sound &= (count_zero & 7) + 6;
    }
    if (!(sound[0] & sound[1] & sound[2] & sound[3] & 8)) break;
  }
  return k;
}

// Four steps of sixteen lanes in packed form.
struct Pairs {
  Bytes first, second, first_place, second_place;
};

// Finds the first and the last value that are not zero. A single value has its place twice, and no
// value has place 0 twice; the second value is 0 then. Fours with more than two must not come here.
Pairs pairs_of(const Bytes (&x)[4]) {
  const Bytes none = {}, one = none + 1;
  const Bytes no[4] = {(Bytes)(x[0] == none), (Bytes)(x[1] == none), (Bytes)(x[2] == none),
                       (Bytes)(x[3] == none)};
  const Bytes last = x[3] | (no[3] & (x[2] | (no[2] & (x[1] | (no[1] & x[0])))));
  Pairs p;
  p.first = x[0] | (no[0] & (x[1] | (no[1] & (x[2] | (no[2] & x[3])))));
  p.second_place = 3 - (no[3] & (one + (no[2] & (one + (no[1] & one)))));
  p.first_place =
      no[0] & (one + (no[1] & (one + (no[2] & one)))) & ~(no[1] & no[2] & no[3] & no[0]);
  p.second = last & (Bytes)(p.first_place != p.second_place);
  return p;
}

bool is_tight(const RhsLayout& layout) { return layout.bits == kSparseTightBits; }

// Offset of the values in a group.
size_t values_offset(const RhsLayout& layout) { return is_tight(layout) ? kSparseLine : 0; }

// Addresses of sixteen steps of a panel: their two lines of values, and their places, which may
// share bytes with other steps' places.
struct Sixteen {
  uint8_t *values, *places;
  uint8_t keep;  // mask of the bits kept of a place of half a byte
  int shift;     // of the kept bits

  Sixteen(const RhsLayout& layout, uint8_t* panel, size_t index) {
    const size_t in_group = layout.kr / kSparseSteps, at = index % in_group;
    uint8_t* const group = panel + index / in_group * layout.width * layout.group_bytes();
    values = group + values_offset(layout) + at * 2 * kSparseLine;
    places = is_tight(layout) ? group : group + in_group * 2 * kSparseLine;
    keep = is_tight(layout) ? kTightPlaces : 0xff;
    shift = (int)(2 * at);
  }
};

// Adds fours [first, end) of sixteen steps of sixteen lanes.
void add_sixteen(const uint8_t (*steps)[kSparseLanes], Bytes zero, size_t first, size_t end,
                 size_t lanes, const Sixteen& to) {
  // Each value and each place, for all lanes
  Bytes bytes[kSparseGroup / kSparseLanes] = {};
  for (size_t four = first; four < end; ++four) {
    const size_t half = four / 2, second = four % 2;
    Bytes x[4];
    for (size_t i = 0; i < 4; ++i) x[i] = load(steps[4 * four + i]) - zero;
    const Pairs p = pairs_of(x);
    bytes[4 * half + 2 * second] = p.first;
    bytes[4 * half + 2 * second + 1] = p.second;
    const uint8_t before = (uint8_t)(4 * second);
    bytes[8 + 2 * second] |= (p.first_place + before) << (uint8_t)(4 * half);
    bytes[8 + 2 * second + 1] |= (p.second_place + before) << (uint8_t)(4 * half);
  }
  uint8_t packed[kSparseGroup] = {};
  interleave({(const uint8_t*)bytes, 1, kSparseLanes, lanes, sizeof bytes / kSparseLanes, 0},
             kSparseLanes, 4, 0, packed);
  const uint8_t* const places = packed + 2 * kSparseLine;
  for (size_t i = 0; i < 2 * kSparseLine; ++i) to.values[i] |= packed[i];
  for (size_t i = 0; i < kSparseLine; ++i)
    to.places[i] |= (uint8_t)((places[i] & to.keep) << to.shift);
}

}  // namespace

size_t first_crowded(const SparseRun& r) {
  const uint32_t zeros = kEach * r.zero;
  for (size_t k = r.stride == 1 ? skip_sound(r.data, r.count, r.zero) : 0; k < r.count; k += 4) {
    // Weights beyond the end count as zero
    const uint32_t beyond = r.four(k) < 4 ? ~0u << 8 * r.four(k) : 0;
    if (crowded((load_four(r, k) ^ zeros) & ~beyond)) return k;
  }
  return r.count;
}

bool rows_are_sound(const RhsView& rhs) {
  constexpr size_t kBlock = 64;
  const uint8_t flip = rhs.type == ElementType::kU8 ? 0 : 0x80;
  bool sound = true;
  for (size_t n = 0; n < rhs.n && sound; n += kBlock) {
    const size_t lanes = smaller(kBlock, rhs.n - n);
    uint8_t zero[kBlock], least[kBlock], most[kBlock] = {}, worst[kBlock] = {};
    for (size_t j = 0; j < lanes; ++j) {
      zero[j] = (uint8_t)(rhs.zero_point(n + j) ^ flip);
      least[j] = 255;
    }
    for (size_t k = 0; k < rhs.k; k += 4) {
      uint8_t used[kBlock] = {};
      for (size_t i = k; i < k + 4 && i < rhs.k; ++i) {
        const uint8_t* const row = rhs.data + i * rhs.k_stride + n;
        for (size_t j = 0; j < lanes; ++j) {
          const uint8_t value = (uint8_t)(row[j] ^ flip);
          used[j] = (uint8_t)(used[j] + (value != zero[j]));
          least[j] = value < least[j] ? value : least[j];
          most[j] = value > most[j] ? value : most[j];
        }
      }
      for (size_t j = 0; j < lanes; ++j) worst[j] = worst[j] > used[j] ? worst[j] : used[j];
    }
    for (size_t j = 0; j < lanes; ++j)
      sound &= worst[j] <= 2 && least[j] >= zero[j] - 128 && most[j] <= zero[j] + 127;
  }
  return sound;
}

bool distances_fit(const SparseRun& r, ElementType type) {
  // In an order that fits u8, of which zero - 128 to zero + 127 may be
  const uint8_t flip = type == ElementType::kU8 ? 0 : 0x80;
  const int zero = r.zero ^ flip;
  if (zero == 128) return true;
  uint8_t least = 255, most = 0;
  for (size_t k = 0; k < r.count; ++k) {
    const uint8_t value = (uint8_t)(r.data[k * r.stride] ^ flip);
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  return r.count == 0 || (least >= zero - 128 && most <= zero + 127);
}

void pack_sparse_lanes(const RhsLayout& layout, const LaneView& from, const uint8_t* zeros, size_t,
                       size_t offset, uint8_t* panel) {
  // Reads a cache line of each lane at once, as interleave does
  alignas(64) uint8_t steps[64][kSparseLanes];
  Bytes zero = {};
  memcpy(&zero, zeros, from.lanes);
  for (size_t k = 0, count; k < from.depth; k += count) {
    const size_t begin = (offset + k) % kSparseSteps;
    count = smaller(sizeof steps / kSparseLanes - begin, from.depth - k);
    interleave({from.data + k * from.depth_stride, from.lane_stride, from.depth_stride, from.lanes,
                count, 0},
               kSparseLanes, 1, begin, steps[0]);
    size_t end = begin + count;
    for (; end % 4; ++end) memcpy(steps[end], &zero, sizeof zero);
    const size_t first = (offset + k) / kSparseSteps;
    for (size_t at = 0; at < end; at += kSparseSteps)
      add_sixteen(steps + at, zero, at ? 0 : begin / 4, smaller(kSparseSteps, end - at) / 4,
                  from.lanes, {layout, panel, first + at / kSparseSteps});
  }
}

bool holds_int8_min(const RhsLayout& layout, const uint8_t* groups, size_t bytes) {
  const size_t values = layout.kr / kSparseSteps * 2 * kSparseLine,
               group = layout.width * layout.group_bytes();
  const Bytes least = Bytes{} + 0x80;
  Bytes found = {};
  const uint8_t* const end = groups + bytes;
  for (groups += values_offset(layout); groups < end; groups += group)
    for (size_t i = 0; i < values; i += sizeof found) found |= (Bytes)(load(groups + i) == least);
  for (size_t i = 0; i < sizeof found; ++i)
    if (found[i]) return true;
  return false;
}

void pack_sparse(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                 uint8_t* packed) {
  // Where columns are contiguous, a cache line has the columns of four panels
  const bool by_rows = rhs.k_stride != 1;
  const size_t together = by_rows ? 4 * layout.width : layout.width, steps = by_rows ? 64 : rhs.k,
               end = first + count;
  uint8_t zeros[kSparseLanes];
  for (size_t block = first; block < end; block += together)
    for (size_t k = 0; k < rhs.k; k += steps)
      for (size_t lane = block; lane < end && lane < block + together; lane += layout.width) {
        const size_t lanes = smaller(layout.width, rhs.n - lane);
        uint8_t* const panel = packed + layout.panel_offset(lane, rhs.k);
        if (k == 0) memset(panel, 0, layout.width * layout.lane_bytes(rhs.k));
        for (size_t i = 0; i < lanes; ++i) zeros[i] = (uint8_t)rhs.zero_point(lane + i);
        pack_sparse_lanes(layout,
                          {rhs.data + lane * rhs.n_stride + k * rhs.k_stride, rhs.n_stride,
                           rhs.k_stride, lanes, smaller(steps, rhs.k - k), 0},
                          zeros, layout.width, k, panel);
      }
}

}  // namespace octet
