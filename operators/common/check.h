// SPDX-License-Identifier: Apache-2.0
// Checks that several entry points share. Each returns OCTET_OK, or fills the error with the
// argument's name.
#pragma once

#include "dispatch/api/error.h"
#include "kernels/core/packed_layout.h"
#include "kernels/core/strict_float.h"

namespace octet {

// The largest scale: a finite accumulator stays finite as a float, even times a run-time row scale:
// 2^31 * 2^48 * 2^48 < 2^128.
constexpr float kMaxScale = 281474976710656.0f;  // 2^48

constexpr bool is_8bit(octet_type type) { return type == OCTET_S8 || type == OCTET_U8; }
constexpr bool is_4bit(octet_type type) { return type == OCTET_S4 || type == OCTET_U4; }
constexpr bool is_weight(octet_type type) { return is_8bit(type) || is_4bit(type); }
constexpr int32_t least(octet_type type) {
  return type == OCTET_S8 ? -128 : type == OCTET_S16 ? -32768 : type == OCTET_S4 ? -8 : 0;
}
constexpr int32_t most(octet_type type) {
  return type == OCTET_U8    ? 255
         : type == OCTET_S16 ? 32767
         : type == OCTET_U4  ? 15
         : type == OCTET_S4  ? 7
                             : 127;
}
// Of one of 8 or 4 bits.
constexpr ElementType element_type_of(octet_type type) {
  return type == OCTET_U8   ? ElementType::kU8
         : type == OCTET_S4 ? ElementType::kS4
         : type == OCTET_U4 ? ElementType::kU4
                            : ElementType::kS8;
}
// Filters of 4 bits are packed as s8.
constexpr octet_type packed_filter_type(octet_type type) {
  return type == OCTET_U8 ? OCTET_U8 : OCTET_S8;
}
constexpr size_t element_bytes(octet_type type) {
  return is_8bit(type) ? 1 : type == OCTET_S16 ? 2 : 4;
}

// index: the element of an array, or kScalar if there is no array.
constexpr size_t kScalar = SIZE_MAX;
octet_status check_scale(float scale, const char* name, size_t index, octet_error* error);
octet_status check_scale(double scale, const char* name, size_t index, octet_error* error);
octet_status check_zero_point(int32_t zero_point, octet_type type, const char* name, size_t index,
                              octet_error* error);
octet_status check_zero_points(const int32_t* zero_points, size_t count, size_t n, octet_type type,
                               const char* name, octet_error* error);
// Checks a descriptor's sparsity; name: "rhs" or "filter".
octet_status check_sparsity(octet_sparsity sparsity, int reserved, const char* name,
                            octet_error* error);
// Refuses the run of an object, `made_of_outline`, that has no weights.
octet_status refuse_outline(const char* made_of_outline, octet_error* error);
octet_status check_aligned(const void* pointer, const char* name, octet_error* error);
// Checks a run's workspace of so many bytes.
octet_status check_workspace(const void* workspace, size_t bytes, size_t needed,
                             octet_error* error);
// Checks a run's zero points and scales of the lhs, which may be null.
octet_status check_lhs_quants(const int32_t* zero_points, const float* scales, size_t count,
                              octet_type lhs, octet_type dst, octet_error* error);

// A range of addresses. An empty or null range overlaps nothing, wherever it points. An end that
// would wrap stops at the top of the address space.
struct Extent {
  uintptr_t begin, end;
};

inline Extent extent_of(const void* data, size_t bytes) {
  const uintptr_t begin = (uintptr_t)data, end = begin + bytes;
  return {begin, !data || !bytes ? 0 : end < begin ? UINTPTR_MAX : end};
}

inline bool meet(const Extent& a, const Extent& b) { return a.begin < b.end && b.begin < a.end; }

// Bytes that `batch` matrices of rows x cols span; strides in elements. False if they exceed the
// address space.
inline bool span_bytes(size_t batch, size_t batch_stride, size_t rows, size_t stride, size_t cols,
                       size_t element, size_t* bytes) {
  size_t matrices, lines;
  return !__builtin_mul_overflow(batch - 1, batch_stride, &matrices) &&
         !__builtin_mul_overflow(rows - 1, stride, &lines) &&
         !__builtin_add_overflow(matrices, lines, bytes) &&
         !__builtin_add_overflow(*bytes, cols, bytes) &&
         !__builtin_mul_overflow(*bytes, element, bytes) && *bytes <= PTRDIFF_MAX;
}

}  // namespace octet
