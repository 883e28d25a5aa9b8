// SPDX-License-Identifier: Apache-2.0
// Reorders weights into pairs that fit 16 bits, and moves the excess into extras.
#include "packing/paired.h"

#include <string.h>

namespace octet {
namespace {

constexpr size_t kLanes = kPairGroupBytes / 2;  // pairs of neighbours in a group

int magnitude(int value) { return value < 0 ? -value : value; }

// One part of a block's panels, which are `panel_bytes` apart.
template <typename Byte>
struct Part {
  Byte *weights, *tables;  // of the first panel
  size_t panel_bytes, panels, depth;

  Byte* group(size_t panel, size_t index) const { return at(weights, panel, index); }
  Byte* piece(size_t panel, size_t index) const { return at(tables, panel, index); }
  PairPart plan() const { return PairPart(depth); }

 private:
  Byte* at(Byte* first, size_t panel, size_t index) const {
    return first + panel * panel_bytes + index * kPairGroupBytes;
  }
};

// Calls f(part) for each part of each tap of each block.
template <typename Byte, typename F>
void for_each_part(const RhsLayout& layout, size_t lanes, size_t taps, size_t depth, Byte* panels,
                   const F& f) {
  const size_t tap_bytes = layout.lane_bytes(depth) * kPairColumns, panel_bytes = taps * tap_bytes;
  for (size_t lane = 0; lane < lanes; lane += kPairBlock)
    for (size_t tap = 0; tap < taps; ++tap) {
      Byte* const weights = panels + lane / kPairColumns * panel_bytes + tap * tap_bytes;
      Byte* tables = weights + pair_groups(depth) * kPairGroupBytes;
      for (size_t k = 0; k < depth; k += kPairPart) {
        const Part<Byte> part = {weights + k * kPairColumns, tables, panel_bytes,
                                 divide_up(smaller(kPairBlock, lanes - lane), kPairColumns),
                                 smaller(kPairPart, depth - k)};
        f(part);
        tables += part.plan().tables() * kPairGroupBytes;
      }
    }
}

// ---- an order -----------------------------------------------------------------------------------

typedef uint8_t Bytes __attribute__((vector_size(16)));
typedef uint64_t Words64 __attribute__((vector_size(16)));
static_assert(sizeof(Bytes) == kPairColumns, "a vector has the columns of a panel");
constexpr size_t kPanels = kPairBlock / kPairColumns;

// The magnitudes of a step's positive and negative weights, for all panels of a block.
struct Step {
  Bytes positive[kPanels], negative[kPanels];

  // x - 1 for x > 0, so that (x - 1) + y > 127 sets the sign bit exactly when x + y > 128. The pair
  // (128, 0) is a harmless false positive, because it only affects the order.
  Step less_one() const {
    const Bytes none = {};
    Step less;
    for (size_t p = 0; p < kPanels; ++p) {
      less.positive[p] = positive[p] + (Bytes)(positive[p] != none);
      less.negative[p] = negative[p] + (Bytes)(negative[p] != none);
    }
    return less;
  }
};

// One bit per panel: set if the pair does not fit in some column.
unsigned crowded_panels(const Step& less_one, const Step& other) {
  constexpr uint64_t kSigns = 0x8080808080808080;
  unsigned panels = 0;
  for (size_t p = 0; p < kPanels; ++p) {
    const Words64 sums = (Words64)((less_one.positive[p] + other.positive[p]) |
                                   (less_one.negative[p] + other.negative[p]));
    panels |= (unsigned)(((sums[0] | sums[1]) & kSigns) != 0) << p;
  }
  return panels;
}

// The steps of a window; a weight is its positive minus its negative magnitude.
struct Window {
  Step steps[kPairWindow];
  uint32_t magnitudes[kPairWindow];  // per step: the sum over all columns

  void set(size_t step, size_t panel, const uint8_t* weights) {
    uint8_t positive[kPairColumns], negative[kPairColumns];
    for (size_t j = 0; j < kPairColumns; ++j) {
      const int8_t w = (int8_t)weights[j];
      positive[j] = (uint8_t)(w > 0 ? w : 0);
      negative[j] = (uint8_t)(w < 0 ? -w : 0);
    }
    memcpy(&steps[step].positive[panel], positive, sizeof positive);
    memcpy(&steps[step].negative[panel], negative, sizeof negative);
  }
  void weigh(size_t step) {
    uint8_t both[sizeof(Step)];
    memcpy(both, &steps[step], sizeof both);
    uint32_t sum = 0;
    for (const uint8_t b : both) sum += b;
    magnitudes[step] = sum;
  }
  void get(size_t step, size_t panel, uint8_t* weights) const {
    const Bytes both = steps[step].positive[panel] - steps[step].negative[panel];
    memcpy(weights, &both, sizeof both);
  }
};

// Pairs steps greedily. The step of largest magnitude takes the largest one with which the fewest
// panels are crowded, so that small steps are left for steps that need a small partner. Pairs that
// are crowded in the same panels stand together, so that they share extras.
void find_order(const Window& window, size_t steps, uint8_t* order) {
  constexpr uint8_t kBits[1 << kPanels] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
  uint8_t left[kPairWindow];  // the largest magnitude first
  for (size_t i = 0; i < steps; ++i) {
    size_t at = i;
    for (; at && window.magnitudes[left[at - 1]] < window.magnitudes[i]; --at)
      left[at] = left[at - 1];
    left[at] = (uint8_t)i;
  }
  struct Pair {
    uint8_t a, b, panels;
  } pairs[kPairWindow / 2];
  size_t count = 0;
  for (size_t rest = steps; rest; rest -= 2) {
    const uint8_t a = left[0];
    const Step less_one = window.steps[a].less_one();
    size_t best = 0;
    unsigned fewest = kPanels + 1, bits = 0;
    for (size_t i = 1; i < rest && fewest; ++i) {
      const unsigned panels = crowded_panels(less_one, window.steps[left[i]]);
      if (kBits[panels] < fewest) best = i, fewest = kBits[panels], bits = panels;
    }
    size_t at = count++;
    for (; at && pairs[at - 1].panels > bits; --at) pairs[at] = pairs[at - 1];
    pairs[at] = {a, left[best], (uint8_t)bits};
    memmove(left + best, left + best + 1, rest - best - 1);
    memmove(left, left + 1, rest - 2);
  }
  for (size_t i = 0; i < count; ++i) order[2 * i] = pairs[i].a, order[2 * i + 1] = pairs[i].b;
}

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

// Reorders a window's steps in all panels. Steps beyond the depth are zero already.
void put_in_order(const Part<uint8_t>& part, size_t index) {
  const PairPart plan = part.plan();
  const size_t first = index * kPairWindow / kPairGroup,
               groups = smaller(plan.groups - first, kPairWindow / kPairGroup),
               steps = groups * kPairGroup;
  Window window = {};
  Apart apart;
  for (size_t p = 0; p < part.panels; ++p)
    for (size_t g = 0; g < groups; ++g) {
      split(part.group(p, first + g), apart);
      for (size_t i = 0; i < kPairGroup; ++i) window.set(g * kPairGroup + i, p, apart[i]);
    }
  for (size_t i = 0; i < steps; ++i) window.weigh(i);
  uint8_t order[kPairWindow];
  memset(order, kNoStep, sizeof order);
  find_order(window, steps, order);
  for (size_t p = 0; p < part.panels; ++p) {
    for (size_t g = 0; g < groups; ++g) {
      for (size_t i = 0; i < kPairGroup; ++i) window.get(order[g * kPairGroup + i], p, apart[i]);
      join(apart, part.group(p, first + g));
    }
    memcpy(part.piece(p, plan.order() + index), order, sizeof order);
  }
}

// ---- extras -------------------------------------------------------------------------------------

// Per pair, the sums of the positive and of the negative weights of one group or one chunk.
struct PairSums {
  uint8_t positive[kLanes], negative[kLanes];

  void add(const uint8_t* group) {
    for (size_t i = 0; i < kLanes; ++i)
      for (size_t j = 0; j < 2; ++j) {
        const int w = (int8_t)group[2 * i + j];
        uint8_t& sum = w < 0 ? negative[i] : positive[i];
        sum = (uint8_t)smaller(sum + (size_t)magnitude(w), UINT8_MAX);
      }
  }
  bool fit() const {
    bool fit = true;
    for (size_t i = 0; i < kLanes; ++i)
      fit &= positive[i] <= kPairLimit && negative[i] <= kPairLimit;
    return fit;
  }
};

// Finds the excess of a group's pairs over kPairLimit. False if there is none.
bool excess_of(const uint8_t* group, uint8_t* excess) {
  memset(excess, 0, kPairGroupBytes);
  bool any = false;
  for (size_t i = 0; i < kPairGroupBytes; i += 2) {
    const int a = (int8_t)group[i], b = (int8_t)group[i + 1], sum = a + b,
              too_much = magnitude(sum) - kPairLimit;
    if (too_much <= 0) continue;
    excess[i + (magnitude(a) >= magnitude(b) ? 0 : 1)] = (uint8_t)(sum < 0 ? -too_much : too_much);
    any = true;
  }
  return any;
}

// Chunks that are being filled: an extra goes into the first chunk where its sums fit.
struct Chunks {
  PairSums sums[sizeof(PairTable::groups) / kPairChunk];
  uint8_t filled[sizeof(PairTable::groups) / kPairChunk];
  size_t count, room;

  // Finds the extra's index among the extras. False if there is no room.
  bool place(const uint8_t* extra, size_t* at) {
    for (size_t chunk = 0; chunk < room; ++chunk) {
      if (chunk == count) {
        sums[count] = {};
        filled[count++] = 0;
      }
      PairSums more = sums[chunk];
      more.add(extra);
      if (filled[chunk] == kPairChunk || !more.fit()) continue;
      sums[chunk] = more;
      *at = chunk * kPairChunk + filled[chunk]++;
      return true;
    }
    return false;
  }
};

// Moves the excess of a panel to its extras.
void take_extras(const Part<uint8_t>& part, size_t panel) {
  const PairPart plan = part.plan();
  uint8_t* const extras = part.piece(panel, plan.extras());
  PairTable table = {};
  memset(extras, 0, plan.room * kPairGroupBytes);
  Chunks chunks = {};
  chunks.room = plan.room / kPairChunk;
  uint8_t extra[kPairGroupBytes];
  for (size_t g = 0; g < plan.groups && table.chunks != kPlainPart; ++g) {
    size_t at;
    if (!excess_of(part.group(panel, g), extra)) continue;
    if (!chunks.place(extra, &at)) {
      table = {};
      table.chunks = kPlainPart;
      memset(extras, 0, plan.room * kPairGroupBytes);
      break;
    }
    memcpy(extras + at * kPairGroupBytes, extra, sizeof extra);
    table.groups[at] = (uint8_t)g;
    table.chunks = (uint8_t)chunks.count;
  }
  if (table.chunks != kPlainPart)
    for (size_t i = 0; i < chunks.count * kPairChunk; ++i) {
      uint8_t* const group = part.group(panel, table.groups[i]);
      for (size_t j = 0; j < kPairGroupBytes; ++j)
        group[j] = (uint8_t)(group[j] - extras[i * kPairGroupBytes + j]);
    }
  memcpy(part.piece(panel, plan.table()), &table, sizeof table);
}

bool is_order(const uint8_t* order, size_t steps) {
  uint64_t seen = 0;
  for (size_t i = 0; i < kPairWindow; ++i) {
    if (i >= steps ? order[i] != kNoStep : order[i] >= steps || seen >> order[i] & 1) return false;
    if (i < steps) seen |= (uint64_t)1 << order[i];
  }
  return true;
}

bool is_sound(const Part<const uint8_t>& part, size_t panel) {
  const PairPart plan = part.plan();
  bool sound = true;
  for (size_t w = 0; w < plan.windows; ++w) {
    const uint8_t* const order = part.piece(panel, plan.order() + w);
    sound &= is_order(order, smaller(kPairWindow, (plan.groups * kPairGroup) - w * kPairWindow)) &&
             memcmp(order, part.piece(0, plan.order() + w), kPairWindow) == 0;
  }
  PairTable table;
  memcpy(&table, part.piece(panel, plan.table()), sizeof table);
  if (table.chunks == kPlainPart) return sound;
  if (table.chunks * kPairChunk > plan.room) return false;
  for (size_t g = 0; g < plan.groups; ++g) {
    PairSums sums = {};
    sums.add(part.group(panel, g));
    sound &= sums.fit();
  }
  for (size_t c = 0; c < table.chunks; ++c) {
    PairSums sums = {};
    for (size_t i = c * kPairChunk; i < (c + 1) * kPairChunk; ++i) {
      sums.add(part.piece(panel, plan.extras() + i));
      sound &= table.groups[i] < plan.groups;
    }
    sound &= sums.fit();
  }
  return sound;
}

// ---- costs --------------------------------------------------------------------------------------

// Instructions: 8 for a panel's group as int16, 6 in pairs, 12 in a plain part; 18 for a chunk of
// extras; 22 for a window's order, once per block.
PairCost least_cost(const PairPart& plan, size_t panels) {
  return {8 * panels * plan.groups, 22 * plan.windows + 6 * panels * plan.groups};
}
// The cost that a part's extras, or its being plain, add to least_cost.
template <typename Byte>
uint64_t excess_cost(const Part<Byte>& part) {
  const PairPart plan = part.plan();
  uint64_t excess = 0;
  for (size_t p = 0; p < part.panels; ++p) {
    const uint8_t chunks = *part.piece(p, plan.table());
    excess += chunks == kPlainPart ? 6 * plan.groups : 18u * chunks;
  }
  return excess;
}

// Keeps a part in its original order, to be multiplied as int16.
void store_plain(const Part<uint8_t>& part) {
  const PairPart plan = part.plan();
  PairTable table = {};
  table.chunks = kPlainPart;
  for (size_t p = 0; p < part.panels; ++p) {
    for (size_t w = 0; w < plan.windows; ++w) {
      const size_t steps = smaller(kPairWindow, plan.groups * kPairGroup - w * kPairWindow);
      uint8_t* const order = part.piece(p, plan.order() + w);
      for (size_t i = 0; i < kPairWindow; ++i) order[i] = i < steps ? (uint8_t)i : kNoStep;
    }
    memset(part.piece(p, plan.extras()), 0, plan.room * kPairGroupBytes);
    memcpy(part.piece(p, plan.table()), &table, sizeof table);
  }
}

}  // namespace

void pair_panels(const RhsLayout& layout, size_t lanes, size_t taps, size_t depth,
                 uint8_t* panels) {
  PairCost cost = {};
  for_each_part(layout, lanes, taps, depth, panels,
                [&](const Part<uint8_t>& part) { cost += least_cost(part.plan(), part.panels); });
  // Most weights that do not pay in pairs show it in the first parts; then no further orders are
  // searched
  for_each_part(layout, lanes, taps, depth, panels, [&](const Part<uint8_t>& part) {
    if (!cost.pays()) {
      store_plain(part);
      return;
    }
    for (size_t w = 0; w < part.plan().windows; ++w) put_in_order(part, w);
    for (size_t p = 0; p < part.panels; ++p) take_extras(part, p);
    cost.paired += excess_cost(part);
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
                  [&](const Part<const uint8_t>& part) {
                    for (size_t p = 0; p < part.panels; ++p) sound = sound && is_sound(part, p);
                  });
  return sound;
}

PairCost cost_of(const RhsLayout& layout, const PackedPanels& w) {
  PairCost cost = {};
  for (size_t i = 0; i < w.count; ++i)
    for_each_part(layout, w.lanes, w.taps, w.depth, w.panels + i * w.stride,
                  [&](const Part<const uint8_t>& part) {
                    cost += least_cost(part.plan(), part.panels);
                    cost.paired += excess_cost(part);
                  });
  return cost;
}

}  // namespace octet
