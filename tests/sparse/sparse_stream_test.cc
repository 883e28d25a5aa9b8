// SPDX-License-Identifier: Apache-2.0
// Checks AMD's stream of 2:4 weights (octet/sparse.h) against a reader and a writer in Python
// (sparse/stream.py), the guide's example, and each of its possible errors.
#include <gtest/gtest.h>
#include <octet/sparse.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/draw.h"
#include "support/guarded.h"
#include "support/refused.h"

namespace octet_test {
namespace {

using Bytes = std::vector<uint8_t>;

octet_sparse_stream_format format_of(size_t chunk, size_t alignment, bool keep_zeros = false) {
  octet_sparse_stream_format format = OCTET_SPARSE_STREAM_FORMAT_INIT;
  format.chunk = chunk;
  format.alignment = alignment;
  format.keep_zeros = keep_zeros;
  return format;
}

octet_rhs_desc matrix(const void* data, size_t n, size_t k) {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8;
  rhs.order = OCTET_NK;
  rhs.n = n;
  rhs.k = k;
  rhs.data = data;
  return rhs;
}

Bytes exported(const octet_rhs_desc& rhs, const octet_sparse_stream_format& format) {
  octet_error error = {};
  size_t bytes = 0;
  EXPECT_EQ(octet_sparse_export_stream_size(&rhs, &format, &bytes, &error), OCTET_OK)
      << error.message;
  const Guarded stream(bytes, Side::kBack);
  EXPECT_EQ(octet_sparse_export_stream(&rhs, &format, stream.data(), bytes, &error), OCTET_OK)
      << error.message;
  return {stream.data(), stream.data() + bytes};
}

Bytes imported(const octet_sparse_stream_format& format, const Bytes& stream, size_t n, size_t k) {
  octet_error error = {};
  const Guarded from(stream, Side::kBack), to(n * k, Side::kBack);
  EXPECT_EQ(
      octet_sparse_import_stream(&format, from.data(), from.bytes(), n, k, to.data(), 0, &error),
      OCTET_OK)
      << error.message;
  return {to.data(), to.data() + to.bytes()};
}

// Every group has up to two weights, in any places.
Bytes sparse_rows(Draw* draw, size_t n, size_t k) {
  Bytes rows(n * k);
  for (size_t row = 0; row < n; ++row)
    for (size_t group = 0; group < k; group += 4)
      for (size_t i = draw->below(3); i > 0; --i)
        rows[row * k + group + draw->below(std::min<size_t>(4, k - group))] =
            (uint8_t)(1 + draw->below(255));
  return rows;
}

// ---- the example of AMD's AI Engine API guide (UG1529, "Sparse Data Format")

const Bytes kExample = {0b00000011, 0,          0b00010000, 0, 0, 0, 0, 0,  // 64 mask bits
                        1,          2,          3,          0,  // and a byte that aligns the next
                        0b00010001, 0b00000001, 0,          0, 0, 0, 0, 0b10000000, 4, 5, 6, 7};

TEST(SparseStream, TheGuidesExample) {
  Bytes weights(128);
  weights[0] = 1, weights[1] = 2, weights[20] = 3;
  weights[64] = 4, weights[68] = 5, weights[72] = 6, weights[127] = 7;
  const octet_sparse_stream_format format = format_of(64, 4);
  size_t count = 0;
  EXPECT_EQ(
      octet_sparse_import_stream_size(&format, kExample.data(), kExample.size(), &count, nullptr),
      OCTET_OK);
  EXPECT_EQ(count, 128u);
  EXPECT_EQ(imported(format, kExample, 1, 128), weights);
  EXPECT_EQ(imported(format, kExample, 8, 16), weights);
  EXPECT_EQ(exported(matrix(weights.data(), 1, 128), format), kExample);
}

// ---- beside Python

struct Reader {
  const Bytes& file;
  size_t at = 0;
  uint32_t number() {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value |= uint32_t{file.at(at++)} << 8 * i;
    return value;
  }
  Bytes bytes(size_t count) {
    const auto first = file.begin() + (ptrdiff_t)at;
    at += count;
    return {first, first + (ptrdiff_t)count};
  }
};

std::string offset_text(size_t offset) { return "at offset " + std::to_string(offset) + ":"; }

TEST(SparseStream, AsThePythonReaderAndWriter) {
  const char* const path = std::getenv("OCTET_SPARSE_STREAMS");
  if (!path) GTEST_SKIP() << "sparse/stream.py says where the streams are";
  std::ifstream input(path, std::ios::binary);
  const Bytes file{std::istreambuf_iterator<char>(input), {}};
  size_t accepted = 0, refused = 0, written = 0;
  for (Reader r{file}; r.at < file.size();) {
    const size_t chunk = r.number(), alignment = r.number(), n = r.number(), k = r.number(),
                 written_as = r.number(), bad_size = r.number(), size = r.number(),
                 bad = r.number(), offset = r.number(), length = r.number();
    const Bytes stream = r.bytes(length);
    SCOPED_TRACE("case at " + std::to_string(r.at) + ": chunk " + std::to_string(chunk) + "/" +
                 std::to_string(alignment) + ", " + std::to_string(n) + " x " + std::to_string(k));
    const octet_sparse_stream_format format = format_of(chunk, alignment);
    for (const Side side : {Side::kFront, Side::kBack}) {
      const Guarded from(stream, side), to(n * k, side);
      from.read_only();
      octet_error error = {};
      size_t count = 0;
      const octet_status sized =
          octet_sparse_import_stream_size(&format, from.data(), length, &count, &error);
      ASSERT_EQ(sized, bad_size ? OCTET_BAD_BLOB : OCTET_OK) << error.message;
      if (bad_size)
        ASSERT_NE(std::string(error.message).find(offset_text(size)), std::string::npos)
            << error.message << " instead of " << size;
      else
        ASSERT_EQ(count, size);
      const octet_status status =
          octet_sparse_import_stream(&format, from.data(), length, n, k, to.data(), 0, &error);
      ASSERT_EQ(status, bad ? OCTET_BAD_BLOB : OCTET_OK) << error.message;
      if (bad) {
        ASSERT_NE(std::string(error.message).find(offset_text(offset)), std::string::npos)
            << error.message << " instead of " << offset;
        ASSERT_EQ(Bytes(to.data(), to.data() + n * k), Bytes(n * k, Guarded::kUntouched));
        ++refused;
      } else {
        ASSERT_TRUE(std::equal(to.data(), to.data() + n * k, file.begin() + r.at));
        ++accepted;
      }
    }
    if (written_as < 2) {
      const octet_rhs_desc rhs = matrix(file.data() + r.at, n, k);
      ASSERT_EQ(exported(rhs, format_of(chunk, alignment, written_as)), stream);
      ++written;
    }
    if (!bad) r.at += n * k;
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(written, 100u);
}

// ---- round trips

TEST(SparseStream, AllOrdersStridesAndBatches) {
  Draw draw(7);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const size_t n = 1 + draw.below(5), k = 1 + draw.below(40), batch = 1 + draw.below(3),
                 gap = draw.below(4);
    const bool kn = draw.one_in(2);
    const Bytes rows = sparse_rows(&draw, batch * n, k);
    const size_t line = (kn ? n : k) + gap, lines = kn ? k : n, apart = line * lines + gap;
    Bytes stored((batch - 1) * apart + (lines - 1) * line + line - gap, 0xEE);
    for (size_t b = 0; b < batch; ++b)
      for (size_t c = 0; c < n; ++c)
        for (size_t i = 0; i < k; ++i)
          stored[b * apart + (kn ? i * line + c : c * line + i)] = rows[(b * n + c) * k + i];
    const Guarded memory(stored, Side::kBack);
    memory.read_only();
    octet_rhs_desc rhs = matrix(memory.data(), n, k);
    rhs.type = draw.any({OCTET_S8, OCTET_U8});
    rhs.order = kn ? OCTET_KN : OCTET_NK;
    rhs.stride = line;
    rhs.batch = batch;
    rhs.batch_stride = apart;
    const octet_sparse_stream_format format =
        draw.any({format_of(32, 4), format_of(32, 0, true), format_of(64, 4), format_of(64, 8),
                  format_of(64, 8, true)});
    const Bytes stream = exported(rhs, format);
    ASSERT_EQ(stream, exported(matrix(rows.data(), batch * n, k), format));
    ASSERT_EQ(imported(format, stream, batch * n, k), rows);
  }
}

TEST(SparseStream, ExactlyHalfStaysInTheStream) {
  const Bytes none(64);
  // 64 weights, two of each four kept: 8 bytes of masks and 32 zeros.
  EXPECT_EQ(exported(matrix(none.data(), 1, 64), format_of(32, 4, true)).size(), 40u);
  EXPECT_EQ(exported(matrix(none.data(), 1, 64), format_of(32, 4)).size(), 8u);
  const Bytes stream = exported(matrix(none.data(), 1, 64), format_of(64, 8, true));
  EXPECT_EQ(stream, [] {
    Bytes expected(40);
    std::fill_n(expected.begin(), 8, 0x33);  // the first two of each group
    return expected;
  }());
}

TEST(SparseStream, GapsOfTheStrideAreLeftAlone) {
  Draw draw(3);
  const Bytes rows = sparse_rows(&draw, 3, 9);
  const octet_sparse_stream_format format = format_of(32, 4);
  const Bytes stream = exported(matrix(rows.data(), 3, 9), format);
  const Guarded to(2 * 12 + 9, Side::kBack);
  ASSERT_EQ(octet_sparse_import_stream(&format, stream.data(), stream.size(), 3, 9, to.data(), 12,
                                       nullptr),
            OCTET_OK);
  for (size_t i = 0; i < to.bytes(); ++i)
    EXPECT_EQ(to.data()[i], i % 12 < 9 ? rows[i / 12 * 9 + i % 12] : Guarded::kUntouched) << i;
}

// ---- refusals

TEST(SparseStream, MalformedStreamsWithTheirOffset) {
  const octet_sparse_stream_format format = format_of(64, 4);
  Bytes weights(128, 0x77);
  const auto refuses = [&](const Bytes& stream, const char* says, size_t offset, size_t k = 128) {
    const auto import = [&](octet_error* e) {
      return octet_sparse_import_stream(&format, stream.data(), stream.size(), 1, k, weights.data(),
                                        0, e);
    };
    expect_refused(OCTET_BAD_BLOB, says, import);
    expect_refused(OCTET_BAD_BLOB, offset_text(offset).c_str(), import);
    EXPECT_EQ(weights, Bytes(128, 0x77));
  };
  const auto with = [](size_t at, uint8_t value) {
    Bytes stream = kExample;
    stream[at] = value;
    return stream;
  };
  const auto first = [](size_t bytes) { return Bytes(kExample.begin(), kExample.begin() + bytes); };
  refuses(first(5), "it ends before a mask does", 5);
  refuses(first(12), "it ends before a mask does", 12);
  refuses(first(10), "it ends before the weights of a mask do", 10);
  refuses(first(11), "it ends before the next multiple of the alignment", 11);
  refuses(with(1, 0b01110000), "more than two of four bits", 1);
  refuses(with(19, 0b11100000), "more than two of four bits", 19);
  refuses(with(11, 9), "only aligns the next mask is not 0", 11);
  refuses(kExample, "behind the end of its row is not 0", 23, 124);
  refuses(kExample, "it goes on behind the last weight", 12, 64);
}

TEST(SparseStream, WeightsThatAreNotSparse) {
  Bytes rows(3 * 10);
  rows[10 + 4] = 0xFF, rows[10 + 6] = 7, rows[10 + 7] = 0x80;
  octet_rhs_desc rhs = matrix(rows.data(), 3, 10);
  const octet_sparse_stream_format format = format_of(32, 4);
  size_t bytes = 0;
  Bytes stream(100, 0x77);
  const auto size = [&](octet_error* e) {
    return octet_sparse_export_stream_size(&rhs, &format, &bytes, e);
  };
  const auto write = [&](octet_error* e) {
    return octet_sparse_export_stream(&rhs, &format, stream.data(), stream.size(), e);
  };
  expect_refused(OCTET_BAD_SPARSITY,
                 "column 1 of matrix 0 has the weights -1, 0, 7, -128 from k = 4", size);
  expect_refused(OCTET_BAD_SPARSITY, "rhs.data is not 2:4", write);
  rhs.type = OCTET_U8;
  expect_refused(OCTET_BAD_SPARSITY, "255, 0, 7, 128", size);
  EXPECT_EQ(stream, Bytes(100, 0x77));
  rows[10 + 6] = 0;
  EXPECT_EQ(size(nullptr), OCTET_OK);
  // A short last group of two may keep both.
  rows[28] = rows[29] = 1;
  EXPECT_EQ(write(nullptr), OCTET_OK);
}

TEST(SparseStream, BadArguments) {
  alignas(8) uint8_t stream[64] = {}, weights[256] = {};
  const octet_rhs_desc rhs = matrix(weights, 1, 32);
  const octet_sparse_stream_format good = format_of(32, 4);
  size_t size = 0;
  const auto with_format = [&](octet_status status, const char* says,
                               const octet_sparse_stream_format* format) {
    expect_refused(status, says, [&](octet_error* e) {
      return octet_sparse_import_stream_size(format, stream, 4, &size, e);
    });
    expect_refused(status, says, [&](octet_error* e) {
      return octet_sparse_import_stream(format, stream, 4, 1, 32, weights, 0, e);
    });
    expect_refused(status, says, [&](octet_error* e) {
      return octet_sparse_export_stream_size(&rhs, format, &size, e);
    });
    expect_refused(status, says, [&](octet_error* e) {
      return octet_sparse_export_stream(&rhs, format, stream, 4, e);
    });
  };
  with_format(OCTET_NULL_POINTER, "format is null", nullptr);
  for (const size_t chunk : {size_t{0}, size_t{16}, size_t{33}, size_t{128}, SIZE_MAX}) {
    const octet_sparse_stream_format bad = format_of(chunk, 4);
    with_format(OCTET_BAD_SIZE, "format.chunk", &bad);
  }
  for (const size_t alignment : {1, 2, 16}) {
    const octet_sparse_stream_format bad = format_of(64, alignment);
    with_format(OCTET_BAD_SIZE, "format.alignment", &bad);
  }
  octet_sparse_stream_format bad = format_of(32, 8);
  with_format(OCTET_BAD_SIZE, "format.alignment", &bad);
  bad = good, bad.keep_zeros = 2;
  with_format(OCTET_UNKNOWN_ENUM, "format.keep_zeros", &bad);
  bad = good, bad.reserved = 1;
  with_format(OCTET_UNSUPPORTED, "format.reserved", &bad);
  bad = good, bad.struct_size = 1;
  with_format(OCTET_BAD_STRUCT_SIZE, "format.struct_size", &bad);

  struct Import {
    const void* stream;
    size_t bytes, n, k;
    void* weights;
    size_t stride;
  };
  const auto refuses = [&](octet_status status, const char* says, const Import& i) {
    expect_refused(status, says, [&](octet_error* e) {
      return octet_sparse_import_stream(&good, i.stream, i.bytes, i.n, i.k, i.weights, i.stride, e);
    });
  };
  EXPECT_EQ(octet_sparse_import_stream(&good, stream, 4, 1, 32, weights, 0, nullptr), OCTET_OK);
  refuses(OCTET_NULL_POINTER, "stream is null", {nullptr, 4, 1, 32, weights, 0});
  refuses(OCTET_BAD_SIZE, "stream_bytes", {stream, 0, 1, 32, weights, 0});
  refuses(OCTET_BAD_SIZE, "stream_bytes", {stream, SIZE_MAX, 1, 32, weights, 0});
  refuses(OCTET_BAD_SIZE, "n = 0", {stream, 4, 0, 32, weights, 0});
  refuses(OCTET_BAD_SIZE, "k = 0", {stream, 4, 1, 0, weights, 0});
  refuses(OCTET_NULL_POINTER, "weights is null", {stream, 4, 1, 32, nullptr, 0});
  refuses(OCTET_BAD_STRIDE, "stride = 31", {stream, 4, 1, 32, weights, 31});
  refuses(OCTET_BAD_SIZE, "leave size_t", {stream, 4, SIZE_MAX, 32, weights, 0});
  refuses(OCTET_BAD_SIZE, "leave size_t", {stream, 4, 1, SIZE_MAX, weights, 0});
  refuses(OCTET_BAD_SIZE, "leave size_t", {stream, 4, PTRDIFF_MAX, 1, weights, 0});
  refuses(OCTET_BAD_SIZE, "leave size_t", {stream, 4, 3, 1, weights, SIZE_MAX / 2});
  refuses(OCTET_OVERLAP, "weights overlap stream", {stream, 4, 1, 32, stream + 3, 0});
  expect_refused(OCTET_NULL_POINTER, "weights is null", [&](octet_error* e) {
    return octet_sparse_import_stream_size(&good, stream, 4, nullptr, e);
  });
  expect_refused(OCTET_NULL_POINTER, "stream is null", [&](octet_error* e) {
    return octet_sparse_import_stream_size(&good, nullptr, 4, &size, e);
  });

  expect_refused(OCTET_NULL_POINTER, "stream_bytes is null", [&](octet_error* e) {
    return octet_sparse_export_stream_size(&rhs, &good, nullptr, e);
  });
  const auto export_refuses = [&](octet_status status, const char* says, const octet_rhs_desc* r,
                                  void* to, size_t bytes) {
    expect_refused(status, says, [&](octet_error* e) {
      return octet_sparse_export_stream(r, &good, to, bytes, e);
    });
  };
  export_refuses(OCTET_NULL_POINTER, "rhs is null", nullptr, stream, 4);
  export_refuses(OCTET_NULL_POINTER, "stream is null", &rhs, nullptr, 4);
  export_refuses(OCTET_BAD_SIZE, "octet_sparse_export_stream_size says 4", &rhs, stream, 3);
  export_refuses(OCTET_OVERLAP, "rhs.data", &rhs, weights + 31, 4);
  octet_rhs_desc other = rhs;
  other.data = nullptr;
  export_refuses(OCTET_NULL_POINTER, "rhs.data is null", &other, stream, 4);
  int32_t zero_point = 5;
  other = rhs, set_raw(&other.sparsity, 5);
  export_refuses(OCTET_UNKNOWN_ENUM, "rhs.sparsity is 5", &other, stream, 4);
  expect_refused(OCTET_UNKNOWN_ENUM, "rhs.sparsity is 5", [&](octet_error* e) {
    return octet_sparse_export_stream_size(&other, &good, &size, e);
  });
  other = rhs, other.zero_points = &zero_point, other.zero_point_count = 1;
  export_refuses(OCTET_BAD_ZERO_POINT, "rhs.zero_points[0] is 5", &other, stream, 4);
  zero_point = 0;
  export_refuses(OCTET_OVERLAP, "rhs.zero_points", &other, &zero_point, 4);
}

}  // namespace
}  // namespace octet_test
