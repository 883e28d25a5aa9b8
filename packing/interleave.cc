// SPDX-License-Identifier: Apache-2.0
// Interleaves weights with vectors: transposes where depth is contiguous, zips where lanes are.
#include "packing/interleave.h"

#include <string.h>

#include "kernels/core/compiler.h"

namespace octet {
namespace {

constexpr size_t kVector = 16;
template <typename Group>
struct Vector {
  typedef Group type __attribute__((vector_size(kVector)));
};
using Bytes = Vector<uint8_t>::type;
using Pairs = Vector<uint16_t>::type;
using Quads = Vector<uint32_t>::type;
using Octets = Vector<uint64_t>::type;

// OCTET_SHUFFLE selects elements of two vectors by number. GCC has Clang's builtin from version 12
// on, and before only its own, which Clang never had.
#if defined(__clang__) || __GNUC__ >= 12
#define OCTET_SHUFFLE(V, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define OCTET_SHUFFLE(V, a, b, ...) __builtin_shuffle(a, b, V{__VA_ARGS__})
#endif

// Interleave the groups of two vectors: of their first halves (low), of their second (high).
Bytes zip_low(const Bytes& a, const Bytes& b) {
  return OCTET_SHUFFLE(Bytes, a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
Bytes zip_high(const Bytes& a, const Bytes& b) {
  return OCTET_SHUFFLE(Bytes, a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
Pairs zip_low(const Pairs& a, const Pairs& b) {
  return OCTET_SHUFFLE(Pairs, a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
Pairs zip_high(const Pairs& a, const Pairs& b) {
  return OCTET_SHUFFLE(Pairs, a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
Quads zip_low(const Quads& a, const Quads& b) { return OCTET_SHUFFLE(Quads, a, b, 0, 4, 1, 5); }
Quads zip_high(const Quads& a, const Quads& b) { return OCTET_SHUFFLE(Quads, a, b, 2, 6, 3, 7); }
Octets zip_low(const Octets& a, const Octets& b) { return OCTET_SHUFFLE(Octets, a, b, 0, 2); }
Octets zip_high(const Octets& a, const Octets& b) { return OCTET_SHUFFLE(Octets, a, b, 1, 3); }

// Permutes the groups of some vectors, numbered through all of them. Each round moves the highest
// bit of a group's number below the others, as a perfect shuffle does.
template <int rounds, size_t count, typename V>
void shuffle(V (&v)[count]) {
  OCTET_UNROLL(4)
  for (int round = 0; round < rounds; ++round) {
    V zipped[count];
    OCTET_UNROLL(4)
    for (size_t i = 0; i < count / 2; ++i) {
      zipped[2 * i] = zip_low(v[i], v[i + count / 2]);
      zipped[2 * i + 1] = zip_high(v[i], v[i + count / 2]);
    }
    OCTET_UNROLL(8)
    for (size_t i = 0; i < count; ++i) v[i] = zipped[i];
  }
}

constexpr size_t log2(size_t n) { return n > 1 ? 1 + log2(n / 2) : 0; }

// Reads `count` vectors, `from_step` apart, and writes the first group of each, then the second of
// each, and so on, to vectors `to_step` apart.
template <size_t count, typename V>
void transpose(const uint8_t* from, size_t from_step, const V& flips, size_t to_step, uint8_t* to) {
  V v[count];
  OCTET_UNROLL(8)
  for (size_t i = 0; i < count; ++i) {
    memcpy(&v[i], from + i * from_step, sizeof(V));
    v[i] ^= flips;
  }
  shuffle<log2(count)>(v);
  OCTET_UNROLL(8)
  for (size_t i = 0; i < count; ++i) memcpy(to + i * to_step, &v[i], sizeof(V));
}

// Writes whole groups of kr where depth is contiguous in memory. Returns the depth that it wrote.
// The view is a copy, because the compiler must assume that stores to the panel change the
// original.
template <typename Group, size_t kr = sizeof(Group)>
size_t transpose_groups(LaneView v, size_t width, uint8_t* panel) {
  constexpr size_t kLanes = kVector / kr, kLine = 64;
  typename Vector<Group>::type flips;
  memset(&flips, v.flip, sizeof flips);
  const size_t whole = v.lanes % kLanes ? 0 : v.depth / kVector * kVector;
  // Reads a cache line of each lane at once, because lanes that are a power of two apart evict each
  // other from the cache.
  for (size_t line = 0; line < whole; line += kLine)
    for (size_t lane = 0; lane < v.lanes; lane += kLanes)
      for (size_t k = line; k < whole && k < line + kLine; k += kVector)
        transpose<kLanes>(v.data + lane * v.lane_stride + k, v.lane_stride, flips, kr * width,
                          panel + k * width + lane * kr);
  size_t k = whole;
  for (; k + kr <= v.depth; k += kr)
    for (size_t lane = 0; lane < v.lanes; ++lane)
      for (size_t i = 0; i < kr; i += sizeof(Group)) {
        Group group;
        memcpy(&group, v.data + lane * v.lane_stride + k + i, sizeof group);
        group ^= flips[0];
        memcpy(panel + k * width + lane * kr + i, &group, sizeof group);
      }
  return k;
}

// Loads a vector from parts of neighbouring rows, or from one row.
template <typename Part>
Bytes load_rows(const uint8_t* rows, size_t stride) {
  typename Vector<Part>::type parts;
  OCTET_UNROLL(4)
  for (size_t row = 0; row < kVector / sizeof(Part); ++row) {
    Part part;
    memcpy(&part, rows + row * stride, sizeof part);
    parts[row] = part;
  }
  return (Bytes)parts;
}
template <>
Bytes load_rows<Bytes>(const uint8_t* row, size_t) {
  Bytes bytes;
  memcpy(&bytes, row, sizeof bytes);
  return bytes;
}

// Writes kr rows at a time where lanes are contiguous in memory, as many lanes as a Part has.
// Returns the depth that it wrote.
template <size_t kr, typename Part>
size_t zip_rows(LaneView v, size_t width, uint8_t* panel) {
  constexpr size_t kLanes = sizeof(Part), kRows = kVector / kLanes, kCount = kr / kRows;
  Bytes flips;
  memset(&flips, v.flip, sizeof flips);
  size_t done = 0;
  for (; done + kr <= v.depth; done += kr) {
    const uint8_t* const rows = v.data + done * v.depth_stride;
    uint8_t* const to = panel + done * width;
    size_t lane = 0;
    for (; lane + kLanes <= v.lanes; lane += kLanes) {
      Bytes bytes[kCount];
      OCTET_UNROLL(4)
      for (size_t i = 0; i < kCount; ++i)
        bytes[i] =
            load_rows<Part>(rows + i * kRows * v.depth_stride + lane, v.depth_stride) ^ flips;
      shuffle<log2(kr)>(bytes);
      OCTET_UNROLL(4)
      for (size_t i = 0; i < kCount; ++i)
        memcpy(to + lane * kr + i * kVector, &bytes[i], sizeof bytes[i]);
    }
    for (; lane < v.lanes; ++lane) OCTET_UNROLL(4)
    for (size_t i = 0; i < kr; ++i)
      to[lane * kr + i] = (uint8_t)(rows[i * v.depth_stride + lane] ^ v.flip);
  }
  return done;
}

// Writes as many whole groups as a fast path exists for, and returns their depth.
size_t interleave_groups(const LaneView& v, size_t width, size_t kr, uint8_t* panel) {
  if (v.depth_stride == 1) switch (kr) {
      case 1: return transpose_groups<uint8_t>(v, width, panel);
      case 2: return transpose_groups<uint16_t>(v, width, panel);
      case 4: return transpose_groups<uint32_t>(v, width, panel);
      case 8: return transpose_groups<uint64_t>(v, width, panel);
      case 16: return transpose_groups<uint64_t, 16>(v, width, panel);  // vectors are copied whole
    }
  if (v.lane_stride == 1) switch (kr) {
      case 1: return zip_rows<1, Bytes>(v, width, panel);
      case 2: return zip_rows<2, Bytes>(v, width, panel);
      case 4: return zip_rows<4, Bytes>(v, width, panel);
      case 8: return zip_rows<8, uint64_t>(v, width, panel);
      case 16: return zip_rows<16, uint32_t>(v, width, panel);
    }
  return 0;
}

}  // namespace

void interleave(const LaneView& v, size_t width, size_t kr, size_t offset, uint8_t* panel) {
  const size_t done = offset % kr ? 0 : interleave_groups(v, width, kr, panel + offset * width);
  for (size_t k = done; k < v.depth; ++k) {
    const uint8_t* const from = v.data + k * v.depth_stride;
    uint8_t* const to = panel + (offset + k) / kr * width * kr + (offset + k) % kr;
    for (size_t lane = 0; lane < v.lanes; ++lane)
      to[lane * kr] = (uint8_t)(from[lane * v.lane_stride] ^ v.flip);
  }
}

}  // namespace octet
