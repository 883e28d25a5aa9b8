// SPDX-License-Identifier: Apache-2.0
// Decodes the emulated instructions: VPDPBUSD, VPDPWSSD and their saturating forms (AVX-VNNI),
// VPDPB{SS,SU,UU}D with saturating forms (AVX-VNNI-INT8). All have a three-byte VEX prefix:
//
//   C4   ~R ~X ~B 00010   0 ~vvvv L pp   opcode   ModRM   [SIB] [displacement]
#pragma once

#include <cstddef>
#include <cstdint>

namespace emulated_isa {

constexpr uint8_t kVex = 0xC4;
constexpr size_t kShortest = 5;  // bytes up to ModRM, inclusive

// For each 32-bit lane: dst += the sum of lhs times rhs, for four int8 or two int16 of the lane.
struct Instruction {
  static constexpr int kNone = -1;

  int length;  // in bytes
  bool words, lhs_signed, rhs_signed, saturating;
  int lanes;          // 4: xmm, 8: ymm
  int dst, lhs, rhs;  // registers; rhs is kNone if it lies in memory,
  int base, index;    // at base + (index << shift) + displacement; either may be kNone
  int shift;
  int64_t displacement;
};

// False if `site` has another instruction, or the prefix of another segment or address size. The
// first byte is ignored, because it may be hidden.
bool decode(const uint8_t* site, Instruction* instruction);

}  // namespace emulated_isa
