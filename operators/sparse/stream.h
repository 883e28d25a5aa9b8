// SPDX-License-Identifier: Apache-2.0
// AMD's stream of sparse weights: masks with one bit per weight, and the weights whose bits are
// set. include/octet/sparse.h describes it.
#pragma once

#include "operators/sparse/group.h"
#include "packing/packed_rhs.h"

namespace octet {

struct StreamFormat {
  size_t chunk;      // weights: 32 or 64
  size_t alignment;  // alignment of masks
  bool keep_zeros;   // the stream has two weights of every group

  size_t mask_bytes() const { return chunk / 8; }
};

// Weights per row of the stream.
constexpr size_t stream_row(size_t k) {
  return (k + kGroupWeights - 1) / kGroupWeights * kGroupWeights;
}

enum class StreamFault {
  kNone,
  kEndsInMask,
  kEndsInWeights,
  kEndsInGuard,
  kMoreThanTwo,  // more than two of four mask bits are set
  kGuard,        // a byte before the next mask is not 0
  kBeyond,       // a padding weight is not 0
  kTrailing      // bytes follow the last chunk
};

struct StreamError {
  StreamFault fault;
  size_t offset;  // offset in the stream
};

// Reads a whole stream and counts its chunks.
StreamError count_chunks(const StreamFormat& format, const uint8_t* stream, size_t bytes,
                         size_t* chunks);

// Reads the stream of an n x k matrix, row by row; stream_row(k) * n fits size_t. Writes the
// weights unless `weights` is null.
StreamError read_stream(const StreamFormat& format, const uint8_t* stream, size_t bytes, size_t n,
                        size_t k, uint8_t* weights, size_t stride);

// Returns the bytes of the stream of `rows` rows, of which row r is column r % n of matrix r / n.
// Writes it unless `stream` is null. Each group has at most two weights that are not 0.
size_t write_stream(const StreamFormat& format, const RhsView& rhs, size_t matrix_stride,
                    size_t rows, uint8_t* stream);

}  // namespace octet
