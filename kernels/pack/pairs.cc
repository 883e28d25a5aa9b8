#include "kernels/pack/pairs.h"

#include <string.h>

namespace octet {
namespace {

constexpr size_t kLanes = kPairGroupBytes / 2;  // of a group: pairs of neighbours

int magnitude(int value) { return value < 0 ? -value : value; }

// One part of a block's panels. `panel_bytes` apart.
template <typename Byte>
struct Part {
  Byte* first;
  size_t panel_bytes, panels, depth;

  Byte* groups(size_t panel) const { return first + panel * panel_bytes; }
  Byte* piece(size_t panel, size_t group) const { return groups(panel) + group * kPairGroupBytes; }
  PairPart plan() const { return PairPart(depth); }
};

// Calls f(part) for each part of each tap of each block.
template <typename Byte, typename F>
void for_each_part(const RhsLayout& layout, size_t lanes, size_t taps, size_t depth, Byte* panels,
                   const F& f) {
  const size_t tap_bytes = layout.depth(depth) * kPairColumns, panel_bytes = taps * tap_bytes;
  for (size_t lane = 0; lane < lanes; lane += kPairBlock)
    for (size_t tap = 0; tap < taps; ++tap) {
      Byte* from = panels + lane / kPairColumns * panel_bytes + tap * tap_bytes;
      for (size_t k = 0; k < depth; k += kPairPart) {
        f(Part<Byte>{from, panel_bytes, divide_up(smaller(kPairBlock, lanes - lane), kPairColumns),
                     smaller(kPairPart, depth - k)});
        from += kPairPartGroups * kPairGroupBytes;
      }
    }
}

// ---- an order -----------------------------------------------------------------------------------

// The weights of a window, all steps of a column side by side: vectors compare a step with the
// others. Those that have no partner yet come first.
struct Window {
  alignas(64) int16_t columns[kPairBlock][kPairWindow];
  uint8_t place[kPairWindow], step[kPairWindow];  // of each step, at each place
  size_t single;

  // A step has its partner.
  void take(uint8_t taken) {
    const uint8_t at = place[taken], last = (uint8_t)--single, other = step[last];
    for (auto& column : columns) {
      const int16_t weight = column[at];
      column[at] = column[last];
      column[last] = weight;
    }
    step[at] = other, step[last] = taken;
    place[other] = at, place[taken] = last;
  }
};

// How bad a step's pairs with all others are, by their places.
struct Badness {
  int16_t bits[kPairWindow];     // panels that have a column where the pair does not fit
  int16_t panels[kPairWindow];   // how many they are
  int16_t columns[kPairWindow];  // such columns
  int16_t largest[kPairWindow];  // sum

  uint32_t cost(size_t place) const {
    return ((uint32_t)panels[place] << 20) + ((uint32_t)columns[place] << 10) +
           (uint32_t)largest[place];
  }
};

// Of a vector's places from `first` on. No baseline's compiler makes vectors of it by itself.
constexpr size_t kTogether = 8;
typedef int16_t Steps __attribute__((vector_size(2 * kTogether)));
Steps largest_of(Steps a, Steps b) { return a < b ? b : a; }
void compare(const Window& window, size_t place, size_t panels, size_t first, Badness* bad) {
  const Steps none = {};
  const int16_t limit = kPairLimit;
  Steps columns = none, largest = none, bits = none, count = none;
  for (size_t p = 0; p < panels; ++p) {
    const Steps before = columns;
    for (size_t j = p * kPairColumns; j < (p + 1) * kPairColumns; ++j) {
      Steps sum;
      memcpy(&sum, window.columns[j] + first, sizeof sum);
      sum += none + window.columns[j][place];
      const Steps size = largest_of(sum, none - sum);
      largest = largest_of(largest, size);
      columns -= (Steps)(size > none + limit);
    }
    const Steps more = (Steps)(before != columns);
    const int16_t bit = (int16_t)(1 << p);
    bits |= more & (none + bit);
    count -= more;
  }
  memcpy(bad->columns + first, &columns, sizeof columns);
  memcpy(bad->largest + first, &largest, sizeof largest);
  memcpy(bad->bits + first, &bits, sizeof bits);
  memcpy(bad->panels + first, &count, sizeof count);
}

// Steps in pairs, greedily: the heaviest one takes the partner that suits it best. Pairs that are
// bad for the same panels stand together, so that they share extras.
void find_order(Window* w, size_t steps, size_t panels, uint8_t* order) {
  const Window& window = *w;
  uint8_t left[kPairWindow];
  uint32_t weight[kPairWindow];
  for (size_t i = 0; i < steps; ++i) {
    uint32_t sum = 0;
    for (size_t j = 0; j < kPairBlock; ++j) sum += (uint32_t)magnitude(window.columns[j][i]);
    size_t at = i;
    for (; at && weight[at - 1] < sum; --at) left[at] = left[at - 1], weight[at] = weight[at - 1];
    left[at] = (uint8_t)i;
    weight[at] = sum;
  }
  struct Pair {
    uint8_t a, b;
    uint32_t panels;
  } pairs[kPairWindow / 2];
  size_t count = 0;
  Badness bad;
  for (size_t rest = steps; rest; rest -= 2) {
    const uint8_t a = left[0];
    for (size_t first = 0; first < window.single; first += kTogether)
      compare(window, window.place[a], panels, first, &bad);
    size_t best = 1;
    uint32_t least = bad.cost(window.place[left[1]]);
    for (size_t i = 2; i < rest; ++i) {
      const uint32_t cost = bad.cost(window.place[left[i]]);
      if (cost < least) best = i, least = cost;
    }
    const uint32_t bits = (uint32_t)bad.bits[window.place[left[best]]];
    size_t at = count++;
    for (; at && pairs[at - 1].panels > bits; --at) pairs[at] = pairs[at - 1];
    pairs[at] = {a, left[best], bits};
    w->take(a);
    w->take(left[best]);
    memmove(left + best, left + best + 1, rest - best - 1);
    memmove(left, left + 1, rest - 2);
  }
  for (size_t i = 0; i < count; ++i) order[2 * i] = pairs[i].a, order[2 * i + 1] = pairs[i].b;
}

// A window's steps in their order, in all panels. Steps beyond the depth are zero already.
void put_in_order(const Part<uint8_t>& part, size_t window) {
  const PairPart plan = part.plan();
  const size_t first = window * kPairWindow / kPairGroup,
               groups = smaller(plan.groups - first, kPairWindow / kPairGroup),
               steps = groups * kPairGroup;
  Window weights = {};
  for (size_t p = 0; p < part.panels; ++p)
    for (size_t i = 0; i < steps; ++i)
      for (size_t j = 0; j < kPairColumns; ++j)
        weights.columns[p * kPairColumns + j][i] =
            (int8_t)part.piece(p, first + i / kPairGroup)[j * kPairGroup + i % kPairGroup];
  for (size_t i = 0; i < steps; ++i) weights.place[i] = weights.step[i] = (uint8_t)i;
  weights.single = steps;
  uint8_t order[kPairWindow];
  memset(order, kNoStep, sizeof order);
  find_order(&weights, steps, part.panels, order);
  for (size_t p = 0; p < part.panels; ++p) {
    for (size_t i = 0; i < steps; ++i)
      for (size_t j = 0; j < kPairColumns; ++j)
        part.piece(p, first + i / kPairGroup)[j * kPairGroup + i % kPairGroup] =
            (uint8_t)weights.columns[p * kPairColumns + j][weights.place[order[i]]];
    memcpy(part.piece(p, plan.order() + window), order, sizeof order);
  }
}

// ---- extras -------------------------------------------------------------------------------------

// What the positive and the negative weights of each pair sum to, of one group or of a chunk's.
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

// What the pairs of a group have too much. False if nothing.
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

// Chunks that are being filled: an extra goes into the first one where its sums fit.
struct Chunks {
  PairSums sums[sizeof(PairTable::groups) / kPairChunk];
  uint8_t filled[sizeof(PairTable::groups) / kPairChunk];
  size_t count, room;

  // Its place among the extras, or false if there is no room.
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

// What is too much in a panel, to its extras.
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
    if (!excess_of(part.piece(panel, g), extra)) continue;
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
      uint8_t* const group = part.piece(panel, table.groups[i]);
      for (size_t j = 0; j < kPairGroupBytes; ++j)
        group[j] = (uint8_t)(group[j] - extras[i * kPairGroupBytes + j]);
    }
  memcpy(part.piece(panel, plan.table()), &table, sizeof table);
}

// Parts lie side by side when they come; each makes room for the tables of those before it.
void spread_parts(const RhsLayout& layout, size_t lanes, size_t taps, size_t depth,
                  uint8_t* panels) {
  const size_t tap_bytes = layout.depth(depth) * kPairColumns,
               count = divide_up(lanes, kPairColumns) * taps;
  for (size_t i = 0; i < count; ++i)
    for (size_t part = divide_up(depth, kPairPart); part-- > 0;) {
      uint8_t* const first = panels + i * tap_bytes;
      memmove(first + part * kPairPartGroups * kPairGroupBytes,
              first + part * kPairPart * kPairColumns,
              round_up(smaller(kPairPart, depth - part * kPairPart), kPairGroup) * kPairColumns);
    }
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
    sums.add(part.piece(panel, g));
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

}  // namespace

void pair_panels(const RhsLayout& layout, size_t lanes, size_t taps, size_t depth,
                 uint8_t* panels) {
  spread_parts(layout, lanes, taps, depth, panels);
  for_each_part(layout, lanes, taps, depth, panels, [](const Part<uint8_t>& part) {
    for (size_t w = 0; w < part.plan().windows; ++w) put_in_order(part, w);
    for (size_t p = 0; p < part.panels; ++p) take_extras(part, p);
  });
}

bool are_sound(const RhsLayout& layout, const PairedWeights& w) {
  bool sound = true;
  for (size_t i = 0; i < w.count; ++i)
    for_each_part(layout, w.lanes, w.taps, w.depth, w.panels + i * w.stride,
                  [&](const Part<const uint8_t>& part) {
                    for (size_t p = 0; p < part.panels; ++p) sound = sound && is_sound(part, p);
                  });
  return sound;
}

PairCost cost_of(const RhsLayout& layout, const PairedWeights& w) {
  // A group of a panel takes 8 as words, 6 in pairs; a chunk of extras 18; a plain part's words 12,
  // a window's order 22, for a block.
  PairCost cost = {};
  const auto add = [&](const Part<const uint8_t>& part) {
    const PairPart plan = part.plan();
    cost.paired += 22 * plan.windows;
    for (size_t p = 0; p < part.panels; ++p) {
      const uint8_t chunks = *part.piece(p, plan.table());
      cost.dense += 8 * plan.groups;
      cost.paired += chunks == kPlainPart ? 12 * plan.groups : 6 * plan.groups + 18u * chunks;
    }
  };
  for (size_t i = 0; i < w.count; ++i)
    for_each_part(layout, w.lanes, w.taps, w.depth, w.panels + i * w.stride, add);
  return cost;
}

}  // namespace octet
