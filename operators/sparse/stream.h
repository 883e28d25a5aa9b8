// AMD's stream of sparse weights: masks of one bit per weight, and the weights that these tell of.
// include/octet/sparse.h describes it.
#pragma once

#include "operators/sparse/group.h"
#include "packing/packed_rhs.h"

namespace octet {

struct StreamFormat {
  size_t chunk;      // weights: 32 or 64
  size_t alignment;  // of masks
  bool keep_zeros;   // every group has two weights in the stream

  size_t mask_bytes() const { return chunk / 8; }
};

// What one row of the matrix takes, in weights.
constexpr size_t stream_row(size_t k) {
  return (k + kGroupWeights - 1) / kGroupWeights * kGroupWeights;
}

enum class StreamFault {
  kNone,
  kEndsInMask,
  kEndsInWeights,
  kEndsInGuard,
  kMoreThanTwo,  // of four mask bits are set
  kGuard,        // a byte before the next mask is not 0
  kBeyond,       // a weight that only fills up is not 0
  kTrailing      // bytes behind the last chunk
};

struct StreamError {
  StreamFault fault;
  size_t offset;  // in the stream
};

// Reads a whole stream of any number of chunks.
StreamError count_chunks(const StreamFormat& format, const uint8_t* stream, size_t bytes,
                         size_t* chunks);

// Reads the stream of an n x k matrix, row after row; stream_row(k) * n fits size_t. Writes it,
// unless `weights` is null.
StreamError read_stream(const StreamFormat& format, const uint8_t* stream, size_t bytes, size_t n,
                        size_t k, uint8_t* weights, size_t stride);

// Bytes of the stream of `rows` rows, of which row r is column r % n of matrix r / n; writes it,
// unless `stream` is null. Of each group at most two weights are not 0.
size_t write_stream(const StreamFormat& format, const RhsView& rhs, size_t matrix_stride,
                    size_t rows, uint8_t* stream);

}  // namespace octet
