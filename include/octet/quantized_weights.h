/* SPDX-License-Identifier: Apache-2.0
 * Weights of 4 bits as other tools store them, and f32 weights in 4 bits: to the form that
 * octet_rhs_desc takes with OCTET_NK, but for octet_dequantize_gguf, which makes f32. docs/int4.md
 * has an example of each.
 *
 * `weights` becomes n rows (the columns of the product) of k weights, dense, two in a byte (but one
 * of GGUF's Q8_0), element 2 i in the low half of byte i: (n * k + 1) / 2 bytes. Each `block`
 * consecutive weights of a row share a scale and, perhaps, a zero point: n x (k / block) of them,
 * row after row. A weight q stands for (q - zero point) * scale. octet_pack takes blocks of 16 to
 * 256 as octet_rhs_desc.scale_block. A block of k is a scale per channel: then scale_block is 0,
 * the scales, f32, go to the epilogue, and each column has one zero point.
 *
 * On failure a function leaves its outputs untouched. No function allocates. Outputs may not
 * overlap any other array.
 */
#ifndef OCTET_QUANTIZED_WEIGHTS_H_
#define OCTET_QUANTIZED_WEIGHTS_H_

#include <octet/octet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- GGUF ------------------------------------------------------------------------------------ */

/* A tensor of type Q4_0: OCTET_U4 with the zero point 8, and f16 scales of blocks of 32, which
 * divides k. `blocks` holds n * (k / 32) blocks of 18 bytes at any alignment: a little-endian f16
 * scale, then 16 bytes, of which byte j has weight j in its low half and weight j + 16 in its high
 * half. GGUF lists dimensions the other way round: k comes first. */
OCTET_API octet_status octet_import_q4_0(const void* blocks, size_t n, size_t k, uint8_t* weights,
                                         uint16_t* scales, octet_error* error);

/* Types of tensors by GGUF's own numbers, in blocks of 32 weights. */
typedef enum octet_gguf_type OCTET_INT_ENUM {
  OCTET_GGUF_Q4_0 = 2, /* 18 bytes, as above: (q - 8) * scale */
  OCTET_GGUF_Q4_1 = 3, /* 20 bytes: an f16 scale, an f16 minimum, 16 bytes: q * scale + minimum */
  OCTET_GGUF_Q8_0 = 8  /* 34 bytes: an f16 scale, 32 of s8: q * scale */
} octet_gguf_type;

/* A tensor as it is, in scale blocks of 32, which divides k: n rows of k weights, dense. Q4_0 and
 * Q4_1 become OCTET_U4, with zero points of 8 and 0, Q8_0 becomes OCTET_S8 of n * k bytes. minimums
 * is null but for Q4_1. Activations of Q8_0 are read in the same way: their values are the lhs, and
 * their scales, as floats, the lhs_scales of OCTET_LHS_PER_BLOCK. Statuses, and `blocks`
 * at any alignment, are as octet_dequantize_gguf has them; minimums that the type has not are
 * OCTET_UNSUPPORTED. */
OCTET_API octet_status octet_import_gguf(octet_gguf_type type, const void* blocks, size_t n,
                                         size_t k, void* weights, uint16_t* scales,
                                         uint16_t* minimums, octet_error* error);

/* Writes a tensor as f32 to `values`, the caller's memory for n rows of k values, dense.
 * octet_quantize_weights or octet_quantize makes other integers of them, such as those of a scale
 * per channel. Only a sum with a minimum rounds, once. `blocks` is at any alignment.
 *
 * OCTET_UNKNOWN_ENUM, OCTET_NULL_POINTER, OCTET_MISALIGNED (of values); OCTET_BAD_SIZE if 32 does
 * not divide k, or n or k is 0; OCTET_OVERLAP; OCTET_BAD_SCALE if a scale or a minimum is not
 * finite. */
OCTET_API octet_status octet_dequantize_gguf(octet_gguf_type type, const void* blocks, size_t n,
                                             size_t k, float* values, octet_error* error);

/* ---- GPTQ, AWQ ------------------------------------------------------------------------------- */

/* Words of eight nibbles, nibble i in bits 4 i to 4 i + 3. n is a multiple of 8. */
typedef enum octet_qweight_layout OCTET_INT_ENUM {
  /* qweight is (k / 8) x n words along k, qzeros (k / group) x (n / 8) words along n, both in
   * order. A zero point is stored less 1. "checkpoint_format": "gptq", or none. */
  OCTET_QWEIGHT_GPTQ = 0,
  /* As OCTET_QWEIGHT_GPTQ, but zero points as they are. "checkpoint_format": "gptq_v2" */
  OCTET_QWEIGHT_GPTQ_V2 = 1,
  /* qweight is k x (n / 8) words along n, qzeros as above, zero points as they are. The nibbles of
   * a word are columns 0, 2, 4, 6, 1, 3, 5, 7 of eight. "version": "gemm" */
  OCTET_QWEIGHT_AWQ = 2
} octet_qweight_layout;

/* The tensors of a layer with n outputs and k inputs, as their files name them. Frozen. */
typedef struct octet_qweight {
  octet_qweight_layout layout;
  size_t n, k;
  size_t group; /* weights of a column that share a scale: divides k; k where files say -1 */
  const int32_t* qweight;
  const int32_t* qzeros;
  const uint16_t* scales; /* f16, (k / group) x n */
  /* GPTQ only: the group of each of the k weights, i / group for weight i; null says so, too.
   * Any other order ("desc_act") is OCTET_UNSUPPORTED. */
  const int32_t* g_idx;
} octet_qweight;

/* OCTET_U4 with zero points in blocks of `group`. scale_type is OCTET_F16, the scales as they are,
 * or OCTET_F32. A zero point of 16 (a GPTQ nibble of 15), which tools read in two ways, is
 * OCTET_BAD_ZERO_POINT. */
OCTET_API octet_status octet_import_qweight(const octet_qweight* from, uint8_t* weights,
                                            octet_type scale_type, void* scales,
                                            int32_t* zero_points, octet_error* error);

/* ---- ONNX Runtime ---------------------------------------------------------------------------- */

/* MatMulNBits keeps weights and scales as octet_rhs_desc takes them where its block divides K. Its
 * packed zero points are n rows of (blocks + 1) / 2 bytes, the even block in the low half: this
 * makes n x blocks values of them. Without that input all zero points are 8. */
OCTET_API octet_status octet_unpack_zero_points(const uint8_t* packed, size_t n, size_t blocks,
                                                int32_t* zero_points, octet_error* error);

/* ---- f32 weights ----------------------------------------------------------------------------- */

/* Quantizes n rows of k weights in blocks of `block`, which divides k:
 *
 *     OCTET_S4, symmetric:  scale = max|w| / 7,                        zero point 0
 *     OCTET_U4, asymmetric: scale = (max(w, 0) - min(w, 0)) / 15,
 *                           zero point = round_half_even(-min(w, 0) / scale)
 *     q = round_half_even(w / scale) + zero point
 *
 * in f32, zero points and weights saturated. scale_type is OCTET_F16 or OCTET_F32; the scale is
 * rounded to it (nearest even) before it divides. A scale below 2^-100, or one that rounds to 0 in
 * f16, becomes 1, and all weights of its block are 0: OCTET_F32 keeps such small weights.
 * zero_points is null for OCTET_S4. A weight that is NaN or infinite, or a scale beyond its type or
 * 2^48, is OCTET_BAD_SCALE. */
OCTET_API octet_status octet_quantize_weights(const float* values, size_t n, size_t k, size_t block,
                                              octet_type type, uint8_t* weights,
                                              octet_type scale_type, void* scales,
                                              int32_t* zero_points, octet_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OCTET_QUANTIZED_WEIGHTS_H_ */
