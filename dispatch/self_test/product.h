// SPDX-License-Identifier: Apache-2.0
// A small product of extreme values, and the check of its result.
#pragma once

#include <string.h>

#include "dispatch/self_test/cases.h"
#include "kernels/core/micro_kernel.h"

namespace octet {
namespace {

// A step of 64 bytes and a part of the next, for kernels with steps (MicroKernel::step_depth). Rows
// of operands overlap there.
constexpr size_t kStepsDepth = 69, kStepsLhsStride = 35, kStepsRhsStride = 32;
static_assert((kTileRows - 1) * kStepsLhsStride + kStepsDepth <= sizeof Operands::lhs &&
                  (kStepsDepth - 1) * kStepsRhsStride + kTileColumns <= sizeof Operands::rhs,
              "operands are deep enough");
constexpr size_t kPanelBytes = 4096;

inline int32_t value(uint8_t byte, ElementType element_type) {
  return element_type == ElementType::kU8 ? byte : (int8_t)byte;
}

// 0x80 and 0x7f become int16 min and max.
inline int16_t doubled(uint8_t byte) { return (int16_t)(byte << 8 | (byte ^ 0x80)); }

// True if out = lhs * rhs modulo 2^32, found without that product: both sides times a vector are
// equal (Freivalds 1977). The vector's numbers are odd, so a single wrong sum always shows.
template <typename Lhs, typename Rhs>
bool is_product(const int32_t* out, size_t rows, size_t columns, const Lhs& lhs, const Rhs& rhs,
                size_t depth = kDepth) {
  uint32_t odd[kTileColumns], rhs_odd[kStepsDepth] = {};
  uint32_t state = 1;
  for (size_t j = 0; j < columns; ++j) {
    odd[j] = state | 1;
    state = state * 1664525 + 1013904223;
  }
  for (size_t k = 0; k < depth; ++k)
    for (size_t j = 0; j < columns; ++j) rhs_odd[k] += (uint32_t)rhs(k, j) * odd[j];
  for (size_t i = 0; i < rows; ++i) {
    uint32_t difference = 0;
    for (size_t k = 0; k < depth; ++k) difference += (uint32_t)lhs(i, k) * rhs_odd[k];
    for (size_t j = 0; j < columns; ++j) difference -= (uint32_t)out[i * columns + j] * odd[j];
    if (difference) return false;
  }
  return true;
}

alignas(64) constexpr int32_t kNoInit[kTileColumns] = {};

// A tile of the whole depth. Its lhs rows are contiguous.
inline Tile make_tile(const void* lhs, const void* packed, size_t element, size_t rows,
                      size_t columns, int32_t* out) {
  Tile tile = {};
  tile.lhs = lhs;
  tile.lhs_stride = kDepth * element;
  tile.rhs = (const uint8_t*)packed;
  tile.depth = kDepth;
  tile.rows = rows;
  tile.cols = columns;
  tile.init = kNoInit;
  tile.dst = out;
  tile.dst_stride = columns * sizeof(int32_t);
  return tile;
}

}  // namespace
}  // namespace octet
