// SPDX-License-Identifier: Apache-2.0
// Reads the prefix, the operands and the address of an emulated instruction.
#include "emulated_isa/decode.h"

#include <cstring>

namespace emulated_isa {
namespace {

constexpr int kMap0F38 = 2;

// Decodes the operand from ModRM on. `x` and `b`: the upper bits of index and base. Returns the
// instruction's end.
const uint8_t* decode_operand(const uint8_t* modrm, int x, int b, Instruction* i) {
  const int mod = *modrm >> 6, rm = *modrm & 7;
  const uint8_t* next = modrm + 1;
  i->rhs = i->base = i->index = Instruction::kNone;
  if (mod == 3) {
    i->rhs = b | rm;
    return next;
  }

  bool relative = false, long_displacement = mod == 2;
  if (rm == 4) {
    const uint8_t sib = *next++;
    i->base = b | (sib & 7);
    i->index = x | (sib >> 3 & 7);
    i->shift = sib >> 6;
    if (i->index == 4) i->index = Instruction::kNone;  // the place of rsp, which is no index
    if (mod == 0 && (sib & 7) == 5) {
      i->base = Instruction::kNone;
      long_displacement = true;
    }
  } else if (mod == 0 && rm == 5) {
    relative = long_displacement = true;
  } else {
    i->base = b | rm;
  }

  if (long_displacement) {
    int32_t displacement;
    std::memcpy(&displacement, next, sizeof displacement);
    i->displacement = displacement;
    next += sizeof displacement;
  } else if (mod == 1) {
    i->displacement = (int8_t)(*next++);
  }
  if (relative) i->displacement += (int64_t)next;
  return next;
}

}  // namespace

bool decode(const uint8_t* site, Instruction* instruction) {
  const bool r = !(site[1] & 0x80), x = !(site[1] & 0x40), b = !(site[1] & 0x20);
  const int map = site[1] & 0x1F, opcode = site[3], pp = site[2] & 3;
  const bool w = site[2] & 0x80;
  const bool bytes = opcode == 0x50 || opcode == 0x51, words = opcode == 0x52 || opcode == 0x53;
  if (map != kMap0F38 || w || !(bytes || (words && pp == 1))) return false;

  Instruction i = {};
  i.words = words;
  i.lhs_signed = words || pp >= 2;             // pp: none, 66, F3, F2
  i.rhs_signed = words || pp == 1 || pp == 3;  // are uu, us, su, ss
  i.saturating = opcode & 1;
  i.lanes = site[2] & 4 ? 8 : 4;
  i.dst = r << 3 | (site[4] >> 3 & 7);
  i.lhs = ~site[2] >> 3 & 15;
  i.length = (int)(decode_operand(site + 4, x << 3, b << 3, &i) - site);
  *instruction = i;
  return true;
}

}  // namespace emulated_isa
