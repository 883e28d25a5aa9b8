// SPDX-License-Identifier: Apache-2.0
// octet_sparse_import_stream*, octet_sparse_export_stream*: converts AMD's stream.
#include "operators/sparse/stream.h"

#include "octet/sparse.h"
#include "operators/common/check.h"
#include "operators/sparse/weights.h"

namespace octet {
namespace {

octet_status read_format(const octet_sparse_stream_format* given, StreamFormat* format,
                         octet_error* error) {
  CallerStruct<octet_sparse_stream_format> f;
  OCTET_TRY(f.read(given, "format", error));
  if (f->chunk != 32 && f->chunk != 64)
    return fail(error, OCTET_BAD_SIZE, "format.chunk is %zu; a mask is of 32 or 64 weights",
                f->chunk);
  const size_t alignment = f->alignment ? f->alignment : 4;
  if (alignment != 4 && !(alignment == 8 && f->chunk == 64))
    return fail(error, OCTET_BAD_SIZE,
                "format.alignment is %zu; it must be 4, or 8 with chunks of 64", alignment);
  if (f->keep_zeros != 0 && f->keep_zeros != 1)
    return fail(error, OCTET_UNKNOWN_ENUM, "format.keep_zeros is %d, neither 0 nor 1",
                f->keep_zeros);
  if (f->reserved)
    return fail(error, OCTET_UNSUPPORTED,
                "format.reserved is not 0; this version has no use for it");
  *format = {f->chunk, alignment, f->keep_zeros != 0};
  return OCTET_OK;
}

// The mistake at the error's offset, as a clause.
const char* describe(StreamFault fault) {
  switch (fault) {
    case StreamFault::kNone: break;
    case StreamFault::kEndsInMask: return "it ends before a mask does";
    case StreamFault::kEndsInWeights: return "it ends before the weights of a mask do";
    case StreamFault::kEndsInGuard: return "it ends before the next multiple of the alignment";
    case StreamFault::kMoreThanTwo: return "a mask has more than two of four bits set";
    case StreamFault::kGuard:
      return "a byte that only aligns the next mask is not 0: is it the chunk, or the alignment?";
    case StreamFault::kBeyond: return "a weight behind the end of its row is not 0";
    case StreamFault::kTrailing: return "it goes on behind the last weight";
  }
  return "";
}

octet_status refuse_stream(const StreamError& e, size_t bytes, octet_error* error) {
  return fail(error, OCTET_BAD_BLOB, "stream (%zu bytes), at offset %zu: %s", bytes, e.offset,
              describe(e.fault));
}

octet_status check_stream(const void* stream, size_t bytes, octet_error* error) {
  if (!stream) return fail(error, OCTET_NULL_POINTER, "stream is null");
  if (bytes == 0 || bytes > PTRDIFF_MAX)
    return fail(error, OCTET_BAD_SIZE, "stream_bytes is %zu", bytes);
  return OCTET_OK;
}

// Writes the stream of a matrix, or only counts its bytes.
struct Export {
  StreamFormat format;
  RhsWeights weights;
  size_t rows;

  size_t write(uint8_t* stream) const {
    return write_stream(format, weights.view, weights.matrix_stride, rows, stream);
  }
};

octet_status prepare(const octet_rhs_desc* rhs, const octet_sparse_stream_format* format, Export* e,
                     octet_error* error) {
  OCTET_TRY(read_sparse_rhs(rhs, &e->weights, error));
  OCTET_TRY(read_format(format, &e->format, error));
  const RhsView& v = e->weights.view;
  size_t weights;
  if (__builtin_mul_overflow(e->weights.batch, v.n, &e->rows) ||
      __builtin_mul_overflow(e->rows, stream_row(v.k) + 8, &weights) || weights > PTRDIFF_MAX)
    return fail(error, OCTET_BAD_SIZE, "rhs.n = %zu, rhs.k = %zu: the stream leaves ptrdiff_t", v.n,
                v.k);
  return check_sparse(e->weights, error);
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_sparse_import_stream_size(const octet_sparse_stream_format* format,
                                             const void* stream, size_t stream_bytes,
                                             size_t* weights, octet_error* error) {
  StreamFormat f;
  OCTET_TRY(read_format(format, &f, error));
  OCTET_TRY(check_stream(stream, stream_bytes, error));
  if (!weights) return fail(error, OCTET_NULL_POINTER, "weights is null");
  size_t chunks;
  const StreamError e = count_chunks(f, (const uint8_t*)stream, stream_bytes, &chunks);
  if (e.fault != StreamFault::kNone) return refuse_stream(e, stream_bytes, error);
  if (chunks > PTRDIFF_MAX / f.chunk)
    return fail(error, OCTET_BAD_SIZE, "stream_bytes = %zu: the weights leave ptrdiff_t",
                stream_bytes);
  *weights = chunks * f.chunk;
  return OCTET_OK;
}

octet_status octet_sparse_import_stream(const octet_sparse_stream_format* format,
                                        const void* stream, size_t stream_bytes, size_t n, size_t k,
                                        void* weights, size_t stride, octet_error* error) {
  StreamFormat f;
  OCTET_TRY(read_format(format, &f, error));
  OCTET_TRY(check_stream(stream, stream_bytes, error));
  if (n == 0 || k == 0)
    return fail(error, OCTET_BAD_SIZE, "n = %zu, k = %zu: neither may be 0", n, k);
  if (!weights) return fail(error, OCTET_NULL_POINTER, "weights is null");
  const size_t step = stride ? stride : k;
  if (step < k)
    return fail(error, OCTET_BAD_STRIDE, "stride = %zu is smaller than a row of k = %zu", stride,
                k);
  size_t bytes, streamed;
  if (k > PTRDIFF_MAX - kGroupWeights || __builtin_mul_overflow(n, stream_row(k), &streamed) ||
      !span_bytes(1, 0, n, step, k, 1, &bytes))
    return fail(error, OCTET_BAD_SIZE, "n = %zu, k = %zu, stride = %zu: the weights leave size_t",
                n, k, stride);
  if (meet(extent_of(weights, bytes), extent_of(stream, stream_bytes)))
    return fail(error, OCTET_OVERLAP, "weights overlap stream");
  const uint8_t* const from = (const uint8_t*)stream;
  const StreamError e = read_stream(f, from, stream_bytes, n, k, nullptr, step);
  if (e.fault != StreamFault::kNone) return refuse_stream(e, stream_bytes, error);
  read_stream(f, from, stream_bytes, n, k, (uint8_t*)weights, step);
  return OCTET_OK;
}

octet_status octet_sparse_export_stream_size(const octet_rhs_desc* rhs,
                                             const octet_sparse_stream_format* format,
                                             size_t* stream_bytes, octet_error* error) {
  if (!stream_bytes) return fail(error, OCTET_NULL_POINTER, "stream_bytes is null");
  Export e;
  OCTET_TRY(prepare(rhs, format, &e, error));
  *stream_bytes = e.write(nullptr);
  return OCTET_OK;
}

octet_status octet_sparse_export_stream(const octet_rhs_desc* rhs,
                                        const octet_sparse_stream_format* format, void* stream,
                                        size_t stream_bytes, octet_error* error) {
  Export e;
  OCTET_TRY(prepare(rhs, format, &e, error));
  if (!stream) return fail(error, OCTET_NULL_POINTER, "stream is null");
  const size_t bytes = e.write(nullptr);
  if (stream_bytes < bytes)
    return fail(error, OCTET_BAD_SIZE,
                "stream_bytes = %zu, but octet_sparse_export_stream_size says %zu", stream_bytes,
                bytes);
  const RhsWeights& w = e.weights;
  if (meet(extent_of(stream, bytes), extent_of(w.rhs->data, w.data_bytes)))
    return fail(error, OCTET_OVERLAP, "stream overlaps rhs.data");
  if (meet(extent_of(stream, bytes),
           extent_of(w.rhs->zero_points, w.rhs->zero_point_count * sizeof(int32_t))))
    return fail(error, OCTET_OVERLAP, "stream overlaps rhs.zero_points");
  e.write((uint8_t*)stream);
  return OCTET_OK;
}
