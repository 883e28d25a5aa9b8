/* SPDX-License-Identifier: Apache-2.0
 * Weights of which, along K, at most two of every four are not
 * zero (2:4): functions that read and write the forms of other tools, and that prune dense weights.
 * Reading and pruning give dense weights, which octet_pack and octet_conv2d_pack take.
 * docs/sparse_weights.md says where such weights come from, and what pruning costs.
 *
 * A group is four weights along K from a multiple of four on; a short last one counts as filled up
 * with zeros. Of a filter, K is the input channels of one kernel position.
 *
 * On failure a function leaves its outputs untouched. No function allocates. In a library that was
 * built without sparse weights (OCTET_WITH_SPARSE=OFF) all are OCTET_UNSUPPORTED.
 */
#ifndef OCTET_SPARSE_H_
#define OCTET_SPARSE_H_

#include <octet/octet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- AMD's stream ---------------------------------------------------------------------------- */

/* How AIE-ML kernels read sparse weights from memory (AMD UG1603, "Sparse Matrix Multiplication";
 * UG1529, "Sparse Data Format"). Weights are cut into chunks; a chunk is
 *
 *     a mask, little-endian, whose bit i tells that weight i of the chunk is in the stream,
 *     these weights, a byte each, in order,
 *     bytes of 0 up to a multiple of the alignment, counted from the stream's beginning.
 *
 * Weights that are not in the stream are 0, so a zero point other than 0 has no stream. The N x K
 * matrix is taken column after column (of N), each rounded up to whole groups with zeros, and the
 * last chunk is filled up with zeros. Tiled matrices: see docs/sparse_weights.md. */
typedef struct octet_sparse_stream_format {
  size_t struct_size;
  /* Weights under one mask: 32 (AIE-ML since UG1603 2025.1) or 64 (before, and AIE-ML v2). */
  size_t chunk;
  /* -- an older struct may end here -- */
  size_t alignment; /* of masks: 4 or, with chunks of 64, 8 (AIE-ML v2); 0 means 4 */
  /* Export: 1 lets every group have exactly two weights in the stream, the first zeros of those
   * with fewer, as UG1603 wants since 2025.1. Import takes both. */
  int keep_zeros;
  int reserved; /* must be 0 */
} octet_sparse_stream_format;
#define OCTET_SPARSE_STREAM_FORMAT_INIT OCTET_INIT(octet_sparse_stream_format)

/* The weights in a stream, those that fill it up included: a multiple of format.chunk. */
OCTET_API octet_status octet_sparse_import_stream_size(const octet_sparse_stream_format* format,
                                                       const void* stream, size_t stream_bytes,
                                                       size_t* weights, octet_error* error);

/* Writes all n x k weights as OCTET_NK: column n at weights + n * stride (0 means dense); bytes
 * between columns are left alone. The stream must hold these weights and no more: a part that is
 * missing, left over or contradicts the description above is OCTET_BAD_BLOB, and the message has
 * its offset. */
OCTET_API octet_status octet_sparse_import_stream(const octet_sparse_stream_format* format,
                                                  const void* stream, size_t stream_bytes, size_t n,
                                                  size_t k, void* weights, size_t stride,
                                                  octet_error* error);

/* The bytes that octet_sparse_export_stream will write. Reads the weights: of a group with three
 * that are not zero the message has column, k and values. Matrices of a batch follow each other. */
OCTET_API octet_status octet_sparse_export_stream_size(const octet_rhs_desc* rhs,
                                                       const octet_sparse_stream_format* format,
                                                       size_t* stream_bytes, octet_error* error);

OCTET_API octet_status octet_sparse_export_stream(const octet_rhs_desc* rhs,
                                                  const octet_sparse_stream_format* format,
                                                  void* stream, size_t stream_bytes,
                                                  octet_error* error);

/* ---- values and places ----------------------------------------------------------------------- */

/* How GPUs take 2:4 weights: N x K / 2 values, row after row the two of each group, and metadata of
 * four bits per group: the place of its first value in the lower two, that of the second, which is
 * larger, in the upper two. Eight groups make a little-endian word of 32 bits, the first group in
 * its lowest bits. Weights that are not among the values are 0. */
typedef enum octet_sparse_metadata OCTET_INT_ENUM {
  OCTET_METADATA_ROWS = 0, /* words row after row; k is a multiple of 8 */
  /* As CUTLASS and PyTorch's SparseSemiStructuredTensorCUTLASS have it for int8: word w of row r is
   * word w / 2 * 2n + r / 16 * 32 + r % 8 * 4 + w % 2 * 2 + r / 8 % 2. n is a multiple of 16, k of
   * 64. */
  OCTET_METADATA_CUTLASS = 1
} octet_sparse_metadata;

/* Writes all n x k weights as octet_sparse_import_stream does. values_bytes is n * k / 2,
 * metadata_bytes n * k / 8. Places that are not in order are OCTET_BAD_BLOB, and the message has
 * their offset. The wrong order of metadata cannot be found out: it gives other weights. */
OCTET_API octet_status octet_sparse_import_indexed(octet_sparse_metadata order, size_t n, size_t k,
                                                   const void* values, size_t values_bytes,
                                                   const void* metadata, size_t metadata_bytes,
                                                   void* weights, size_t stride,
                                                   octet_error* error);

/* Writes the weights of one matrix. Of a group with fewer than two weights the last zeros are among
 * the values, as in the first versions of PyTorch's conversion. Later versions take other zeros
 * ({5, 0, 0, 0}: at 0 and 2, not 0 and 3), so that weights may have other bytes there; import reads
 * all of them. */
OCTET_API octet_status octet_sparse_export_indexed(const octet_rhs_desc* rhs,
                                                   octet_sparse_metadata order, void* values,
                                                   size_t values_bytes, void* metadata,
                                                   size_t metadata_bytes, octet_error* error);

/* ---- pruning --------------------------------------------------------------------------------- */

/* The loss of one output channel by pruning, in terms of r - zero_point. The share of the magnitude
 * that is gone is magnitude_removed / magnitude. Frozen. */
typedef struct octet_sparse_loss {
  uint64_t weights, removed;             /* that were not zero, and of these are now */
  uint64_t magnitude, magnitude_removed; /* sums of absolute values */
  uint64_t energy, energy_removed;       /* of squares */
} octet_sparse_loss;

/* Keeps the two weights of each group that are farthest from the zero point, and makes the others
 * the zero point. Of two at equal distance the one at the smaller k stays. A scale per channel
 * would change no choice, because a group is of one channel. This is the plain baseline: training
 * must follow where accuracy counts.
 *
 * pruned is laid out as rhs.data, and may be it; otherwise they may not overlap. Only weights are
 * written, not what lies between rows. losses: null, or batch x n. */
OCTET_API octet_status octet_sparse_prune(const octet_rhs_desc* rhs, void* pruned,
                                          octet_sparse_loss* losses, octet_error* error);

/* The same of a convolution's weights: groups are of input channels. losses: null, or
 * out_channels. */
OCTET_API octet_status octet_sparse_prune_filter(const octet_filter_desc* filter, void* pruned,
                                                 octet_sparse_loss* losses, octet_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OCTET_SPARSE_H_ */
