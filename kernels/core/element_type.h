// SPDX-License-Identifier: Apache-2.0
// The integers that operands and outputs are made of.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

// Flipping the top bit of a byte turns s8 into u8 and back, and moves the zero point by 128. An s16
// operand is the caller's lhs, or one that Octet makes itself (Winograd). s4 and u4 are for weights
// as the caller stores them, two in a byte; kernels multiply them as s8.
enum class ElementType : uint8_t { kS8, kU8, kS16, kS4, kU4 };
constexpr bool is_4bit(ElementType type) {
  return type == ElementType::kS4 || type == ElementType::kU4;
}
constexpr size_t element_size(ElementType element_type) {
  return element_type == ElementType::kS16 ? 2 : 1;
}

}  // namespace octet
