// SPDX-License-Identifier: Apache-2.0
// Decodes and executes the instructions of tile registers on the registers of a signal's context.
#include "emulated_isa/tiles.h"

#include <cstdint>
#include <cstring>

namespace emulated_isa {
namespace {

constexpr int kTiles = 8, kMaxRows = 16, kMaxBytes = 64, kConfigurationBytes = 64;

struct TileRegister {
  uint8_t row[kMaxRows][kMaxBytes];
};

struct State {
  uint8_t configuration[kConfigurationBytes];  // all 0: none
  TileRegister tiles[kTiles];

  int bytes(int t) const { return configuration[16 + 2 * t] | configuration[17 + 2 * t] << 8; }
  int rows(int t) const { return configuration[48 + t]; }
  bool has(int t) const { return configuration[0] && rows(t) && bytes(t); }
};
thread_local State state;
thread_local TileCounts counts;

// The fields of a VEX instruction of the map 0F38, of 128 bits and W0.
struct Fields {
  uint8_t opcode, prefix;  // 0 to 3: none, 66, F3, F2
  int reg, vvvv;
  bool in_memory, has_index;  // else rm is a register
  int rm;
  uint64_t base, index;  // base: with the displacement; index: scaled
  const uint8_t* next;
};

uint64_t general(const ucontext_t* context, int number) {
  static constexpr int kRegister[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                      REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                      REG_R12, REG_R13, REG_R14, REG_R15};
  return (uint64_t)context->uc_mcontext.gregs[kRegister[number]];
}

int64_t displacement(const uint8_t* bytes, int count) {
  int32_t four;
  if (count == 1) return (int8_t)*bytes;
  std::memcpy(&four, bytes, sizeof four);
  return four;
}

// ModRM and what follows it.
void decode_operand(const ucontext_t* context, const uint8_t* p, int x, int b, Fields* f) {
  const int mod = *p >> 6, low = *p & 7;
  ++p;
  f->in_memory = mod != 3;
  f->rm = low | b;
  if (f->in_memory) {
    bool absolute = false, relative = mod == 0 && low == 5;
    f->has_index = low == 4;
    if (f->has_index) {
      const int index = (*p >> 3 & 7) | x;
      absolute = mod == 0 && (*p & 7) == 5;
      f->index = index == 4 ? 0 : general(context, index) << (*p >> 6);
      if (!absolute) f->base = general(context, (*p & 7) | b);
      ++p;
    } else if (!relative) {
      f->base = general(context, f->rm);
    }
    const int count = mod == 1 ? 1 : mod == 2 || absolute || relative ? 4 : 0;
    if (count) f->base += (uint64_t)displacement(p, count);
    p += count;
    if (relative) f->base += (uint64_t)p;
  }
  f->next = p;
}

bool decode(const ucontext_t* context, Fields* f) {
  const auto* p = (const uint8_t*)context->uc_mcontext.gregs[REG_RIP];
  constexpr uint8_t kVex = 0xC4, kMap0F38 = 2, kWide = 0x80, k256 = 4;
  if (p[0] != kVex || (p[1] & 31) != kMap0F38 || p[2] & (kWide | k256)) return false;
  *f = {};
  f->opcode = p[3];
  f->prefix = p[2] & 3;
  f->vvvv = ~p[2] >> 3 & 15;
  f->reg = (p[4] >> 3 & 7) | (p[1] & 0x80 ? 0 : 8);
  decode_operand(context, p + 4, p[1] & 0x40 ? 0 : 8, p[1] & 0x20 ? 0 : 8, f);
  return true;
}

// Whether LDTILECFG accepts a configuration.
bool is_valid(const uint8_t* c) {
  if (c[0] != 1 || c[1] != 0) return false;
  for (int i = 2; i < 16; ++i)
    if (c[i]) return false;
  for (int t = 0; t < 16; ++t) {
    const int bytes = c[16 + 2 * t] | c[17 + 2 * t] << 8, rows = c[48 + t];
    if (bytes > kMaxBytes || rows > kMaxRows || !bytes != !rows || (t >= kTiles && rows))
      return false;
  }
  return true;
}

bool configure(const uint8_t* from) {
  ++counts.configurations;
  if (from[0] && !is_valid(from)) return false;
  state = {};
  if (from[0]) std::memcpy(state.configuration, from, kConfigurationBytes);
  return true;
}

bool move(const Fields& f) {
  if (!f.in_memory || !f.has_index || f.reg >= kTiles || f.vvvv || !state.has(f.reg)) return false;
  TileRegister& tile = state.tiles[f.reg];
  const auto row = [&](int i) { return (uint8_t*)(f.base + (uint64_t)i * f.index); };
  const auto bytes = (size_t)state.bytes(f.reg);
  if (f.prefix == 2) {
    ++counts.stores;
    for (int i = 0; i < state.rows(f.reg); ++i) std::memcpy(row(i), tile.row[i], bytes);
    return true;
  }
  if (f.prefix == 0) return false;
  ++counts.loads;
  TileRegister loaded = {};
  for (int i = 0; i < state.rows(f.reg); ++i) std::memcpy(loaded.row[i], row(i), bytes);
  tile = loaded;
  return true;
}

int value(uint8_t byte, bool is_signed) { return is_signed ? (int8_t)byte : byte; }

// sums += lhs * rhs, where a row of rhs has four depth steps of each column.
bool multiply(int sums, int lhs, int rhs, bool lhs_signed, bool rhs_signed) {
  const State& s = state;
  if (sums >= kTiles || rhs >= kTiles || sums == lhs || sums == rhs || lhs == rhs || !s.has(sums) ||
      !s.has(lhs) || !s.has(rhs) || s.bytes(sums) % 4 || s.bytes(lhs) % 4 || s.bytes(rhs) % 4 ||
      s.rows(sums) != s.rows(lhs) || s.bytes(sums) != s.bytes(rhs) ||
      s.bytes(lhs) / 4 != s.rows(rhs))
    return false;
  ++counts.products;
  for (int m = 0; m < s.rows(sums); ++m) {
    uint32_t row[kMaxBytes / 4];
    std::memcpy(row, s.tiles[sums].row[m], sizeof row);
    for (int k = 0; k < s.bytes(lhs); ++k) {
      const int left = value(s.tiles[lhs].row[m][k], lhs_signed);
      const uint8_t* const right = s.tiles[rhs].row[k / 4] + k % 4;
      for (int n = 0; n < s.bytes(sums) / 4; ++n)
        row[n] += (uint32_t)(left * value(right[4 * n], rhs_signed));
    }
    std::memcpy(state.tiles[sums].row[m], row, (size_t)s.bytes(sums));
  }
  return true;
}

bool control(const Fields& f) {
  if (f.vvvv) return false;
  if (f.in_memory && f.reg == 0) {
    auto* const at = (uint8_t*)(f.base + f.index);
    if (f.prefix == 0) return configure(at);
    if (f.prefix != 1) return false;
    std::memcpy(at, state.configuration, kConfigurationBytes);
    return true;
  }
  if (f.in_memory || f.rm) return false;
  if (f.prefix == 0 && f.reg == 0) {
    ++counts.releases;
    state = {};
    return true;
  }
  if (f.prefix != 3 || f.reg >= kTiles || !state.has(f.reg)) return false;
  state.tiles[f.reg] = {};
  return true;
}

bool execute(const Fields& f) {
  switch (f.opcode) {
    case 0x49: return control(f);
    case 0x4B: return move(f);
    case 0x5E:
      return !f.in_memory && f.rm < kTiles &&
             multiply(f.reg, f.rm, f.vvvv, f.prefix >= 2, f.prefix % 2);
    default: return false;
  }
}

bool step(ucontext_t* context) {
  Fields fields;
  if (!decode(context, &fields) || !execute(fields)) return false;
  context->uc_mcontext.gregs[REG_RIP] = (greg_t)fields.next;
  return true;
}

}  // namespace

bool emulate_tiles(ucontext_t* context) {
  if (!step(context)) return false;
  while (step(context)) {
  }
  return true;
}

TileCounts tile_counts() { return counts; }

}  // namespace emulated_isa
