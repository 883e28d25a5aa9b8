// SPDX-License-Identifier: Apache-2.0
// Computes the emulated instructions lane by lane.
#include "emulated_isa/emulate.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace emulated_isa {
namespace {

template <typename T>
int64_t load(const uint8_t* from, size_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof value, sizeof value);
  return value;
}

template <typename Lhs, typename Rhs>
void add_products(const Instruction& i, const uint8_t* lhs, const uint8_t* rhs, Vector* dst) {
  constexpr bool kUnsigned = std::is_unsigned_v<Lhs> && std::is_unsigned_v<Rhs>;
  using Sum = std::conditional_t<kUnsigned, uint32_t, int32_t>;
  constexpr size_t kCount = sizeof(Sum) / sizeof(Lhs);
  Vector result = {};  // an xmm instruction, too, clears the upper half of the ymm register
  for (size_t lane = 0; lane < (size_t)i.lanes; ++lane) {
    int64_t sum = load<Sum>(dst->bytes, lane);
    for (size_t j = lane * kCount; j < (lane + 1) * kCount; ++j)
      sum += load<Lhs>(lhs, j) * load<Rhs>(rhs, j);
    using Limits = std::numeric_limits<Sum>;
    if (i.saturating) sum = std::clamp<int64_t>(sum, Limits::min(), Limits::max());
    const Sum wrapped = (Sum)sum;
    std::memcpy(result.bytes + lane * sizeof wrapped, &wrapped, sizeof wrapped);
  }
  *dst = result;
}

const uint8_t* address(const Instruction& i, const uint64_t* general) {
  uint64_t address = (uint64_t)i.displacement;
  if (i.base != Instruction::kNone) address += general[i.base];
  if (i.index != Instruction::kNone) address += general[i.index] << i.shift;
  return (const uint8_t*)address;
}

}  // namespace

void emulate(const Instruction& i, const Registers& registers) {
  const bool in_memory = i.rhs == Instruction::kNone;
  const uint8_t* lhs = registers.vector[i.lhs].bytes;
  const uint8_t* rhs = in_memory ? address(i, registers.general) : registers.vector[i.rhs].bytes;
  Vector* dst = &registers.vector[i.dst];
  if (i.words) return add_products<int16_t, int16_t>(i, lhs, rhs, dst);
  if (i.lhs_signed && i.rhs_signed) return add_products<int8_t, int8_t>(i, lhs, rhs, dst);
  if (i.lhs_signed) return add_products<int8_t, uint8_t>(i, lhs, rhs, dst);
  if (i.rhs_signed) return add_products<uint8_t, int8_t>(i, lhs, rhs, dst);
  return add_products<uint8_t, uint8_t>(i, lhs, rhs, dst);
}

}  // namespace emulated_isa
