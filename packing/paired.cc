// SPDX-License-Identifier: Apache-2.0
// Reorders weights into pairs that fit 16 bits, and moves the excess into extras.
#include "packing/paired.h"

#include <string.h>

namespace octet {
namespace {

int magnitude(int value) { return value < 0 ? -value : value; }

// One part of a panel.
template <typename Byte>
struct Part {
  Byte *weights, *tables;
  size_t depth;

  Byte* group(size_t index) const { return weights + index * kPairGroupBytes; }
  Byte* piece(size_t index) const { return tables + index * kPairGroupBytes; }
  PairPart plan() const { return PairPart(depth); }
};

// Calls f(part) for each part of each tap of each panel.
template <typename Byte, typename F>
void for_each_part(const RhsLayout& layout, size_t lanes, size_t taps, size_t depth, Byte* panels,
                   const F& f) {
  const size_t tap_bytes = layout.lane_bytes(depth) * kPairColumns;
  for (size_t lane = 0; lane < lanes; lane += kPairColumns)
    for (size_t tap = 0; tap < taps; ++tap, panels += tap_bytes) {
      Byte* tables = panels + pair_groups(depth) * kPairGroupBytes;
      for (size_t k = 0; k < depth; k += kPairPart) {
        const Part<Byte> part = {panels + k * kPairColumns, tables, smaller(kPairPart, depth - k)};
        f(part);
        tables += part.plan().tables() * kPairGroupBytes;
      }
    }
}

// ---- an order -----------------------------------------------------------------------------------

typedef uint8_t Bytes __attribute__((vector_size(16)));
typedef uint64_t Words64 __attribute__((vector_size(16)));
static_assert(sizeof(Bytes) == kPairColumns, "a vector has the columns of a panel");

// The magnitudes of a step's positive and negative weights; a weight is their difference.
struct Step {
  Bytes positive, negative;

  void set(const uint8_t* weights) {
    uint8_t more[kPairColumns], less[kPairColumns];
    for (size_t j = 0; j < kPairColumns; ++j) {
      const int8_t w = (int8_t)weights[j];
      more[j] = (uint8_t)(w > 0 ? w : 0);
      less[j] = (uint8_t)(w < 0 ? -w : 0);
    }
    memcpy(&positive, more, sizeof more);
    memcpy(&negative, less, sizeof less);
  }
  void get(uint8_t* weights) const {
    const Bytes both = positive - negative;
    memcpy(weights, &both, sizeof both);
  }
  uint32_t magnitude() const {
    uint8_t both[sizeof(Bytes)];
    const Bytes bytes = positive + negative;
    memcpy(both, &bytes, sizeof both);
    uint32_t sum = 0;
    for (const uint8_t b : both) sum += b;
    return sum;
  }
  // x - 1 for x > 0, so that (x - 1) + y > 127 sets the sign bit exactly when x + y > 128. The pair
  // (128, 0) is a harmless false positive, because it only affects the order.
  Step less_one() const {
    const Bytes none = {};
    return {positive + (Bytes)(positive != none), negative + (Bytes)(negative != none)};
  }
};

// Whether the pair does not fit in some column.
bool is_crowded(const Step& less_one, const Step& other) {
  constexpr uint64_t kSigns = 0x8080808080808080;
  const Words64 sums =
      (Words64)((less_one.positive + other.positive) | (less_one.negative + other.negative));
  return (sums[0] | sums[1]) & kSigns;
}

// The pairs of some steps: greedily, the step of largest magnitude takes the largest one that fits,
// so that small steps are left for steps that need a small partner, or else the smallest one. Then
// crowded pairs exchange their steps with other pairs where fewer are crowded. Those that remain
// stand together, so that they share extras.
class Order {
 public:
  Order(const Step* steps, size_t count) : count_(count / 2) {
    for (size_t i = 0; i < count; ++i) {
      const Step less_one = steps[i].less_one();
      for (size_t j = 0; j < i; ++j)
        crowded_[i][j] = crowded_[j][i] = is_crowded(less_one, steps[j]);
    }
    pair(steps, count);
    while (exchange()) {
    }
  }

  // Writes the steps' numbers, `first` being that of the first step.
  void put(size_t first, uint8_t* order) const {
    for (int crowded = 0; crowded < 2; ++crowded)
      for (size_t i = 0; i < count_; ++i) {
        if (is_bad(pairs_[i]) != crowded) continue;
        *order++ = (uint8_t)(first + pairs_[i].a);
        *order++ = (uint8_t)(first + pairs_[i].b);
      }
  }

 private:
  struct Pair {
    uint8_t a, b;
  };

  bool is_bad(Pair p) const { return crowded_[p.a][p.b]; }

  void pair(const Step* steps, size_t count) {
    uint8_t left[kPairLane];  // the largest magnitude first
    uint32_t magnitudes[kPairLane];
    for (size_t i = 0; i < count; ++i) {
      const uint32_t magnitude = steps[i].magnitude();
      size_t at = i;
      for (; at && magnitudes[at - 1] < magnitude; --at)
        left[at] = left[at - 1], magnitudes[at] = magnitudes[at - 1];
      left[at] = (uint8_t)i;
      magnitudes[at] = magnitude;
    }
    for (size_t i = 0; i < count_; ++i, count -= 2) {
      const uint8_t a = left[0];
      size_t best = 1;
      while (best < count - 1 && crowded_[a][left[best]]) ++best;
      pairs_[i] = {a, left[best]};
      memmove(left + best, left + best + 1, count - best - 1);
      memmove(left, left + 1, count - 2);
    }
  }

  // True if the count of crowded pairs fell.
  bool exchange() {
    for (size_t i = 0; i < count_; ++i)
      for (size_t j = 0; is_bad(pairs_[i]) && j < count_; ++j) {
        if (j == i) continue;
        const Pair p = pairs_[i], q = pairs_[j];
        const int now = 1 + is_bad(q);
        for (int turned = 0; turned < 2; ++turned) {
          const Pair one = {p.a, turned ? q.b : q.a}, two = {p.b, turned ? q.a : q.b};
          if (is_bad(one) + is_bad(two) >= now) continue;
          pairs_[i] = one;
          pairs_[j] = two;
          return true;
        }
      }
    return false;
  }

  bool crowded_[kPairLane][kPairLane];
  Pair pairs_[kPairLane / 2];
  size_t count_;
};

// Transposes a group to steps of columns (split) and back (join).
typedef uint8_t Apart[kPairGroup][kPairColumns];
void split(const uint8_t* group, Apart to) {
  for (size_t j = 0; j < kPairColumns; ++j)
    for (size_t i = 0; i < kPairGroup; ++i) to[i][j] = group[kPairGroup * j + i];
}
void join(const Apart from, uint8_t* group) {
  for (size_t j = 0; j < kPairColumns; ++j)
    for (size_t i = 0; i < kPairGroup; ++i) group[kPairGroup * j + i] = from[i][j];
}

// Reorders each 16 steps of a part. Steps beyond the depth are zero already.
void put_in_order(const Part<uint8_t>& part) {
  constexpr size_t kGroups = kPairLane / kPairGroup;
  const PairPart plan = part.plan();
  uint8_t* const order = part.piece(plan.order());
  memset(order, kNoStep, plan.windows * kPairWindow);
  for (size_t first = 0; first < plan.groups; first += kGroups) {
    const size_t groups = smaller(plan.groups - first, kGroups), count = groups * kPairGroup,
                 at = first * kPairGroup, in_window = at % kPairWindow;
    Step steps[kPairLane];
    Apart apart;
    for (size_t g = 0; g < groups; ++g) {
      split(part.group(first + g), apart);
      for (size_t i = 0; i < kPairGroup; ++i) steps[g * kPairGroup + i].set(apart[i]);
    }
    Order(steps, count).put(in_window, order + at);
    for (size_t g = 0; g < groups; ++g) {
      for (size_t i = 0; i < kPairGroup; ++i)
        steps[order[at + g * kPairGroup + i] - in_window].get(apart[i]);
      join(apart, part.group(first + g));
    }
  }
}

// ---- extras -------------------------------------------------------------------------------------

// Whether neither the positive nor the negative weights of a pair sum to more than kPairLimit.
bool fits(const uint8_t* group) {
  bool fit = true;
  for (size_t i = 0; i < kPairGroupBytes; i += 2) {
    const int a = (int8_t)group[i], b = (int8_t)group[i + 1];
    fit &= magnitude(a) <= kPairLimit && magnitude(b) <= kPairLimit &&
           ((a < 0) != (b < 0) || magnitude(a + b) <= kPairLimit);
  }
  return fit;
}

// Finds the excess over kPairLimit of a group's pairs of half its columns. False if there is none.
bool excess_of(const uint8_t* group, uint8_t* excess) {
  constexpr size_t kBytes = kPairHalf * kPairGroup;
  memset(excess, 0, kBytes);
  bool any = false;
  for (size_t i = 0; i < kBytes; i += 2) {
    const int a = (int8_t)group[i], b = (int8_t)group[i + 1], sum = a + b,
              too_much = magnitude(sum) - kPairLimit;
    if (too_much <= 0) continue;
    excess[i + (magnitude(a) >= magnitude(b) ? 0 : 1)] = (uint8_t)(sum < 0 ? -too_much : too_much);
    any = true;
  }
  return any;
}

// Moves the excess of a part to its extras: each half of the columns fills its halves of them.
void take_extras(const Part<uint8_t>& part) {
  constexpr size_t kBytes = kPairHalf * kPairGroup;
  const PairPart plan = part.plan();
  uint8_t* const extras = part.piece(plan.extras());
  PairTable table = {};
  memset(extras, 0, plan.room * kPairGroupBytes);
  uint8_t count[2] = {}, extra[kBytes];
  bool fits_room = true;
  for (size_t half = 0; half < 2; ++half)
    for (size_t g = 0; g < plan.groups && fits_room; ++g) {
      if (!excess_of(part.group(g) + half * kBytes, extra)) continue;
      fits_room = count[half] < plan.room;
      if (!fits_room) break;
      memcpy(extras + count[half] * kPairGroupBytes + half * kBytes, extra, kBytes);
      table.groups[half][count[half]++] = (uint8_t)g;
    }
  if (fits_room) {
    table.extras = larger(count[0], count[1]);
    for (size_t half = 0; half < 2; ++half)
      for (size_t i = 0; i < count[half]; ++i) {
        uint8_t* const group = part.group(table.groups[half][i]) + half * kBytes;
        for (size_t j = 0; j < kBytes; ++j)
          group[j] = (uint8_t)(group[j] - extras[i * kPairGroupBytes + half * kBytes + j]);
      }
  } else {
    table = {};
    table.extras = kPlainPart;
    memset(extras, 0, plan.room * kPairGroupBytes);
  }
  memcpy(part.piece(plan.table()), &table, sizeof table);
}

// Whether `count` places of 16 hold their steps, `first` being the number of the first.
bool is_order(const uint8_t* order, size_t first, size_t count) {
  uint32_t seen = 0;
  for (size_t i = 0; i < kPairLane; ++i) {
    const size_t step = order[i] - first;  // wraps for steps before the first
    if (i >= count ? order[i] != kNoStep : step >= count || seen >> step & 1) return false;
    if (i < count) seen |= 1u << step;
  }
  return true;
}

bool is_sound(const Part<const uint8_t>& part) {
  const PairPart plan = part.plan();
  const size_t steps = plan.groups * kPairGroup;
  bool sound = true;
  for (size_t at = 0; at < plan.windows * kPairWindow; at += kPairLane)
    sound &= is_order(part.piece(plan.order()) + at, at % kPairWindow,
                      at < steps ? smaller(kPairLane, steps - at) : 0);
  PairTable table;
  memcpy(&table, part.piece(plan.table()), sizeof table);
  if (table.extras == kPlainPart) return sound;
  if (table.extras > plan.room) return false;
  for (size_t g = 0; g < plan.groups; ++g) sound &= fits(part.group(g));
  for (size_t i = 0; i < table.extras; ++i)
    sound &= fits(part.piece(plan.extras() + i)) && table.groups[0][i] < plan.groups &&
             table.groups[1][i] < plan.groups;
  return sound;
}

// ---- costs --------------------------------------------------------------------------------------

// Instructions of a panel's part: 8 for a group as int16, 6 in pairs, 12 in a plain part; 7 for an
// extra; 4 for a window's order, and 6 for the part.
PairCost least_cost(const PairPart& plan) {
  return {8 * plan.groups, 6 * plan.groups + 4 * plan.windows + 6};
}
// The cost that a part's extras, or its being plain, add to least_cost.
uint64_t excess_cost(const Part<const uint8_t>& part) {
  const PairPart plan = part.plan();
  const uint8_t extras = *part.piece(plan.table());
  return extras == kPlainPart ? 6 * plan.groups : 7u * extras;
}

// Keeps a part in its original order, to be multiplied as int16.
void store_plain(const Part<uint8_t>& part) {
  const PairPart plan = part.plan();
  PairTable table = {};
  table.extras = kPlainPart;
  uint8_t* const order = part.piece(plan.order());
  for (size_t i = 0; i < plan.windows * kPairWindow; ++i)
    order[i] = i < plan.groups * kPairGroup ? (uint8_t)(i % kPairWindow) : kNoStep;
  memset(part.piece(plan.extras()), 0, plan.room * kPairGroupBytes);
  memcpy(part.piece(plan.table()), &table, sizeof table);
}

}  // namespace

void pair_panels(const RhsLayout& layout, size_t lanes, size_t taps, size_t depth,
                 uint8_t* panels) {
  PairCost cost = {};
  for_each_part(layout, lanes, taps, depth, panels,
                [&](const Part<uint8_t>& part) { cost += least_cost(part.plan()); });
  // Most weights that do not pay in pairs show it in the first parts; then no further orders are
  // searched
  for_each_part(layout, lanes, taps, depth, panels, [&](const Part<uint8_t>& part) {
    if (!cost.pays()) {
      store_plain(part);
      return;
    }
    put_in_order(part);
    take_extras(part);
    cost.paired += excess_cost({part.weights, part.tables, part.depth});
  });
}

void pack_pairs(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                uint8_t* panels) {
  pack_columns(layout, rhs, first, count, panels);
  pair_panels(layout, smaller(count, layout.lanes(rhs.n) - first), 1, rhs.k,
              panels + layout.panel_offset(first, rhs.k));
}

bool are_sound(const RhsLayout& layout, const PackedPanels& w) {
  bool sound = true;
  for (size_t i = 0; i < w.count; ++i)
    for_each_part(layout, w.lanes, w.taps, w.depth, w.panels + i * w.stride,
                  [&](const Part<const uint8_t>& part) { sound = sound && is_sound(part); });
  return sound;
}

PairCost cost_of(const RhsLayout& layout, const PackedPanels& w) {
  PairCost cost = {};
  for (size_t i = 0; i < w.count; ++i)
    for_each_part(layout, w.lanes, w.taps, w.depth, w.panels + i * w.stride,
                  [&](const Part<const uint8_t>& part) {
                    cost += least_cost(part.plan());
                    cost.paired += excess_cost(part);
                  });
  return cost;
}

}  // namespace octet
