// SPDX-License-Identifier: Apache-2.0
// Checks values and places of 2:4 weights (octet/sparse.h) against those made in Python
// (sparse/indexed.py), and each of their possible errors.
#include <gtest/gtest.h>
#include <octet/sparse.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/guarded.h"
#include "support/refused.h"

namespace octet_test {
namespace {

using Bytes = std::vector<uint8_t>;

octet_rhs_desc matrix(const void* data, size_t n, size_t k) {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8;
  rhs.order = OCTET_NK;
  rhs.n = n;
  rhs.k = k;
  rhs.data = data;
  return rhs;
}

struct Indexed {
  octet_sparse_metadata order;
  size_t n, k;
  Bytes rows, values, metadata;
};

std::vector<Indexed> read_cases(const char* path) {
  std::ifstream input(path, std::ios::binary);
  const Bytes file{std::istreambuf_iterator<char>(input), {}};
  size_t at = 0;
  const auto number = [&] {
    uint32_t value;
    std::memcpy(&value, file.data() + at, sizeof value);
    at += sizeof value;
    return value;
  };
  const auto bytes = [&](size_t count) {
    at += count;
    return Bytes(file.data() + at - count, file.data() + at);
  };
  std::vector<Indexed> cases;
  while (at < file.size()) {
    Indexed c = {};
    set_raw(&c.order, (int)number());
    c.n = number(), c.k = number();
    c.rows = bytes(c.n * c.k), c.values = bytes(c.n * c.k / 2), c.metadata = bytes(c.n * c.k / 8);
    cases.push_back(std::move(c));
  }
  return cases;
}

TEST(SparseIndexed, AsInPython) {
  const char* const path = std::getenv("OCTET_SPARSE_INDEXED");
  if (!path) GTEST_SKIP() << "sparse/indexed.py says where the weights are";
  const std::vector<Indexed> cases = read_cases(path);
  EXPECT_EQ(cases.size(), 14u);
  for (const Indexed& c : cases) {
    SCOPED_TRACE(std::to_string(c.order) + ", " + std::to_string(c.n) + " x " +
                 std::to_string(c.k));
    octet_error error = {};
    for (const Side side : {Side::kFront, Side::kBack}) {
      const Guarded from(c.values, side), places(c.metadata, side), to(c.rows.size(), side);
      ASSERT_EQ(octet_sparse_import_indexed(c.order, c.n, c.k, from.data(), from.bytes(),
                                            places.data(), places.bytes(), to.data(), 0, &error),
                OCTET_OK)
          << error.message;
      EXPECT_EQ(Bytes(to.data(), to.data() + to.bytes()), c.rows);
      const Guarded rows(c.rows, side), values(c.values.size(), side),
          metadata(c.metadata.size(), side);
      const octet_rhs_desc rhs = matrix(rows.data(), c.n, c.k);
      ASSERT_EQ(octet_sparse_export_indexed(&rhs, c.order, values.data(), values.bytes(),
                                            metadata.data(), metadata.bytes(), &error),
                OCTET_OK)
          << error.message;
      EXPECT_EQ(Bytes(values.data(), values.data() + values.bytes()), c.values);
      EXPECT_EQ(Bytes(metadata.data(), metadata.data() + metadata.bytes()), c.metadata);
    }
    // Every flipped bit of the metadata gives places out of order, or other weights.
    Bytes metadata = c.metadata, to(c.rows.size());
    for (size_t bit = 0; bit < 8 * std::min<size_t>(metadata.size(), 64); ++bit) {
      metadata[bit / 8] ^= (uint8_t)(1 << bit % 8);
      const unsigned group = metadata[bit / 8] >> bit % 8 / 4 * 4;
      const bool in_order = (group & 3) < (group >> 2 & 3);
      const octet_status status =
          octet_sparse_import_indexed(c.order, c.n, c.k, c.values.data(), c.values.size(),
                                      metadata.data(), metadata.size(), to.data(), 0, &error);
      ASSERT_EQ(status, in_order ? OCTET_OK : OCTET_BAD_BLOB) << bit;
      if (!in_order) {
        const std::string says = "at offset " + std::to_string(bit / 8) + ":";
        ASSERT_NE(std::string(error.message).find(says), std::string::npos) << error.message;
      }
      metadata[bit / 8] = c.metadata[bit / 8];
    }
  }
}

TEST(SparseIndexed, OtherOrdersAndStrides) {
  // K x N, two columns in rows of three: 0 5 0 6 7 0 0 0 and 0 0 0 0 0 0 0 9.
  const uint8_t kn[8 * 3] = {0, 0, 1, 5, 0, 1, 0, 0, 1, 6, 0, 1, 7, 0, 1, 0, 0, 1, 0, 0, 1, 0, 9};
  octet_rhs_desc rhs = matrix(kn, 2, 8);
  rhs.order = OCTET_KN;
  rhs.stride = 3;
  Bytes values(8), metadata(2);
  ASSERT_EQ(octet_sparse_export_indexed(&rhs, OCTET_METADATA_ROWS, values.data(), 8,
                                        metadata.data(), 2, nullptr),
            OCTET_OK);
  EXPECT_EQ(values, (Bytes{5, 6, 7, 0, 0, 0, 0, 9}));
  EXPECT_EQ(metadata, (Bytes{0xCD, 0xEE}));
  const Guarded to(9 + 8, Side::kBack);
  ASSERT_EQ(octet_sparse_import_indexed(OCTET_METADATA_ROWS, 2, 8, values.data(), 8,
                                        metadata.data(), 2, to.data(), 9, nullptr),
            OCTET_OK);
  const uint8_t gap = Guarded::kUntouched;
  EXPECT_EQ(Bytes(to.data(), to.data() + 17),
            (Bytes{0, 5, 0, 6, 7, 0, 0, 0, gap, 0, 0, 0, 0, 0, 0, 0, 9}));
}

// Each order has its words at the places that sparse.h states.
TEST(SparseIndexed, CutlassHasTheSameWordsElsewhere) {
  constexpr size_t kN = 48, kK = 128, kWords = kK / 32;
  Bytes weights(kN * kK), values(kN * kK / 2), again(kN * kK);
  for (size_t i = 0; i < weights.size(); i += 4) {
    const size_t turn = i / 4 * 7 / 3, first = turn % 4, second = (first + 1 + turn / 4 % 3) % 4;
    weights[i + first] = 3, weights[i + second] = 5;
  }
  const octet_rhs_desc rhs = matrix(weights.data(), kN, kK);
  std::vector<uint32_t> rows(kN * kWords), cutlass(kN * kWords);
  for (const octet_sparse_metadata order : {OCTET_METADATA_ROWS, OCTET_METADATA_CUTLASS})
    ASSERT_EQ(octet_sparse_export_indexed(&rhs, order, values.data(), values.size(),
                                          order ? cutlass.data() : rows.data(),
                                          kN * kWords * sizeof(uint32_t), nullptr),
              OCTET_OK);
  for (size_t r = 0; r < kN; ++r)
    for (size_t w = 0; w < kWords; ++w)
      EXPECT_EQ(cutlass[w / 2 * 2 * kN + r / 16 * 32 + r % 8 * 4 + w % 2 * 2 + r / 8 % 2],
                rows[r * kWords + w])
          << "row " << r << ", word " << w;
  ASSERT_EQ(octet_sparse_import_indexed(OCTET_METADATA_CUTLASS, kN, kK, values.data(),
                                        values.size(), cutlass.data(),
                                        kN * kWords * sizeof(uint32_t), again.data(), 0, nullptr),
            OCTET_OK);
  EXPECT_EQ(again, weights);
}

TEST(SparseIndexed, BadArguments) {
  struct Import {
    octet_sparse_metadata order = OCTET_METADATA_ROWS;
    size_t n = 2, k = 16;
    const uint8_t* values;
    size_t values_bytes = 16;
    const uint8_t* metadata;
    size_t metadata_bytes = 4;
    uint8_t* weights;
    size_t stride = 0;
  };
  uint8_t values[16] = {}, metadata[4], weights[32];
  std::fill_n(metadata, 4, 0xEE);
  std::fill_n(weights, 32, 0x77);
  const auto refuses = [&](octet_status status, const char* says, void (*spoil)(Import*)) {
    Import i;
    i.values = values, i.metadata = metadata, i.weights = weights;
    spoil(&i);
    expect_refused(status, says, [&](octet_error* e) {
      return octet_sparse_import_indexed(i.order, i.n, i.k, i.values, i.values_bytes, i.metadata,
                                         i.metadata_bytes, i.weights, i.stride, e);
    });
    EXPECT_TRUE(std::all_of(weights, weights + 32, [](uint8_t w) { return w == 0x77; }));
  };
  refuses(OCTET_UNKNOWN_ENUM, "order is 2", [](Import* i) { set_raw(&i->order, 2); });
  refuses(OCTET_BAD_SIZE, "n = 0, k = 16: neither", [](Import* i) { i->n = 0; });
  refuses(OCTET_BAD_SIZE, "k = 0: neither", [](Import* i) { i->k = 0; });
  refuses(OCTET_BAD_SIZE, "multiples of 1 and 8", [](Import* i) { i->k = 12; });
  refuses(OCTET_BAD_SIZE, "multiples of 16 and 64",
          [](Import* i) { i->order = OCTET_METADATA_CUTLASS; });
  refuses(OCTET_BAD_SIZE, "leave size_t", [](Import* i) { i->n = SIZE_MAX / 4; });
  refuses(OCTET_BAD_SIZE, "leave size_t", [](Import* i) { i->stride = SIZE_MAX; });
  refuses(OCTET_BAD_SIZE, "values_bytes is 15", [](Import* i) { i->values_bytes = 15; });
  refuses(OCTET_BAD_SIZE, "values_bytes is 17", [](Import* i) { i->values_bytes = 17; });
  refuses(OCTET_BAD_SIZE, "metadata_bytes is 3", [](Import* i) { i->metadata_bytes = 3; });
  refuses(OCTET_NULL_POINTER, "values is null", [](Import* i) { i->values = nullptr; });
  refuses(OCTET_NULL_POINTER, "metadata is null", [](Import* i) { i->metadata = nullptr; });
  refuses(OCTET_NULL_POINTER, "weights is null", [](Import* i) { i->weights = nullptr; });
  refuses(OCTET_BAD_STRIDE, "stride = 15", [](Import* i) { i->stride = 15; });
  refuses(OCTET_OVERLAP, "weights overlap", [](Import* i) { i->values = i->weights + 16; });
  refuses(OCTET_OVERLAP, "weights overlap", [](Import* i) { i->metadata = i->weights; });
  metadata[3] = 0xE5;
  refuses(OCTET_BAD_BLOB, "at offset 3: the group of row 1 at k = 8 has its weights at 1 and 1",
          [](Import*) {});

  octet_rhs_desc rhs = matrix(weights, 2, 16);
  const auto export_refuses = [&](octet_status status, const char* says, uint8_t* to,
                                  uint8_t* places) {
    expect_refused(status, says, [&](octet_error* e) {
      return octet_sparse_export_indexed(&rhs, OCTET_METADATA_ROWS, to, 16, places, 4, e);
    });
  };
  export_refuses(OCTET_BAD_SPARSITY, "column 0 of matrix 0", values, metadata);
  export_refuses(OCTET_NULL_POINTER, "values is null", nullptr, metadata);
  export_refuses(OCTET_NULL_POINTER, "metadata is null", values, nullptr);
  export_refuses(OCTET_OVERLAP, "values overlap metadata", values, values + 12);
  export_refuses(OCTET_OVERLAP, "rhs.data", weights + 16, metadata);
  export_refuses(OCTET_OVERLAP, "rhs.data", values, weights + 28);
  int32_t zero_points[4] = {};
  rhs.zero_points = zero_points, rhs.zero_point_count = 2;
  export_refuses(OCTET_OVERLAP, "rhs.zero_points", (uint8_t*)zero_points, metadata);
  zero_points[1] = 3;
  export_refuses(OCTET_BAD_ZERO_POINT, "rhs.zero_points[1]", values, metadata);
  rhs = matrix(weights, 1, 16);
  rhs.batch = 2;
  export_refuses(OCTET_UNSUPPORTED, "rhs.batch = 2", values, metadata);
}

}  // namespace
}  // namespace octet_test
