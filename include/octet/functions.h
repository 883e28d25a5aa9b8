/* SPDX-License-Identifier: Apache-2.0
 * Octet: functions between products.
 *
 * A function computes one tensor from one to four others: a sum, a product, a look-up, a
 * concatenation, and those of octet/image_functions.h. Tensors are of 8 bits, or of 16 with zero
 * point 0 in TensorFlow Lite's arithmetic; softmax also gives f32, quantization takes it, and
 * functions that only copy take every octet_type but those of 4 bits. A function is
 * created once from the quantization of its tensors, and then called (octet_function_run) or put
 * into a network as an octet_network_function (octet_function_for_network). Each exists in the
 * arithmetic of the engines that models come from, to the byte; the bytes of an output are the same
 * on every CPU, with any number of threads and in any network.
 *
 * Tensors are NHWC. A program that calls none of these functions links nothing of them. A run
 * allocates nothing. docs/functions.md defines the arithmetics.
 */
#ifndef OCTET_FUNCTIONS_H_
#define OCTET_FUNCTIONS_H_

#include "octet/network.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types and calls of all functions -------------------------------------------------------- */

/* real = (value - zero_point) * scale. The limits are for tensors whose scale and zero point a
 * function reads. Frozen. */
typedef struct octet_quantized {
  /* OCTET_S8 or OCTET_U8. OCTET_S16 in OCTET_ARITHMETIC_TFLITE, but not in look-ups and
   * OCTET_UNARY_HARD_SWISH. Functions that only copy (pad, slice, reshape,
   * transpose, nearest resize, concatenation), max pools and octet_dequantize_create take OCTET_S16
   * in every arithmetic, and functions that only copy also OCTET_S32 and OCTET_F32. The output of
   * a softmax of bytes may be OCTET_F32. */
  octet_type type;
  float scale;        /* finite, positive, at most 2^48 */
  int32_t zero_point; /* within the type; 0 of OCTET_S16 */
} octet_quantized;

/* The engine whose arithmetic a function has. */
typedef enum octet_arithmetic OCTET_INT_ENUM {
  /* ONNX's as written: each input dequantized, the operation, the output quantized half to even,
   * each step rounded to float. */
  OCTET_ARITHMETIC_STANDARD = 0,
  OCTET_ARITHMETIC_TFLITE = 1,     /* TensorFlow Lite's reference kernels */
  OCTET_ARITHMETIC_XNNPACK = 2,    /* XNNPACK, LiteRT's default delegate */
  OCTET_ARITHMETIC_ONNXRUNTIME = 3 /* ONNX Runtime's QLinear operators, as on x86 with AVX2 */
} octet_arithmetic;

/* An immutable function. Runs may share it between threads. */
typedef struct octet_function octet_function;

OCTET_API void octet_function_destroy(
    octet_function* function); /* null is allowed; no run in progress */

/* The function as one of a network, which borrows it until the network's destroy. The network
 * checks only that the op's tensors have one batch. The caller must get the rest right, or the run
 * reads and writes beyond tensors:
 * - the number of inputs: two of sums, differences and products, desc.input_count of
 *   concatenations, one of all others;
 * - the types of inputs and output, those of the descriptor;
 * - the sizes: those that octet_function_run takes, of inputs and output. */
OCTET_API octet_status octet_function_for_network(const octet_function* function,
                                                  octet_network_function* to, octet_error* error);

/* A batch of images; strides in bytes. Data and strides are at multiples of the element's bytes (1,
 * 2 for s16, or 4 for s32 and f32). Frozen. */
typedef struct octet_function_tensor {
  void* data;
  size_t h, w, channels; /* none is 0 */
  /* From a pixel to the next, a line to the next, an image to the next; 0: they follow each other
   * without a gap. None is smaller than the pixel, line or image itself. */
  size_t pixel, line, image;
} octet_function_tensor;

typedef struct octet_function_args {
  size_t struct_size;
  size_t batch; /* of all tensors; 0 means 1 */
  /* Inputs beyond the function's number are ignored. */
  octet_function_tensor inputs[OCTET_NETWORK_INPUTS_MAX];
  /* Overlaps no input. All bytes from a tensor's first to its last count, with the gaps between. */
  octet_function_tensor output;
  octet_parallel_for parallel_for;
  void* parallel_context;
  size_t concurrency; /* most tasks; 0 means 1. Small runs make fewer */
  /* -- an older struct may end here -- */
} octet_function_args;
#define OCTET_FUNCTION_ARGS_INIT OCTET_INIT(octet_function_args)

/* Computes the output. A bad argument is found before anything is written: OCTET_NULL_POINTER,
 * OCTET_BAD_STRUCT_SIZE, OCTET_BAD_SIZE (0, beyond memory, or not the size that the function was
 * created for), OCTET_BAD_STRIDE, OCTET_MISALIGNED, OCTET_OVERLAP. */
OCTET_API octet_status octet_function_run(const octet_function* function,
                                          const octet_function_args* args, octet_error* error);

/* ---- sum, difference, product ---------------------------------------------------------------- */

/* An input that is one pixel for all pixels of the output, with as many channels or with one. */
typedef enum octet_broadcast OCTET_INT_ENUM {
  OCTET_BROADCAST_NONE = 0,
  OCTET_BROADCAST_A = 1,
  OCTET_BROADCAST_B = 2
} octet_broadcast;

/* inputs[0] = a, inputs[1] = b, of the output's sizes. Types, of 8 bits, may differ with
 * OCTET_ARITHMETIC_STANDARD only. Elsewhere all are alike, or OCTET_UNSUPPORTED. */
typedef struct octet_add_desc {
  size_t struct_size;
  octet_quantized a, b, output;
  octet_arithmetic arithmetic;
  octet_broadcast broadcast;
  /* Bounds of the output in its integers, a fused activation's; both 0: the type's. */
  int32_t least, most;
  octet_isa max_isa; /* as octet_gemm_desc has it */
  int reserved;      /* must be 0 */
  octet_allocator allocator;
  /* -- an older struct may end here -- */
} octet_add_desc;
#define OCTET_ADD_DESC_INIT OCTET_INIT(octet_add_desc)
typedef octet_add_desc octet_sub_desc;
typedef octet_add_desc octet_mul_desc;
#define OCTET_SUB_DESC_INIT OCTET_INIT(octet_sub_desc)
#define OCTET_MUL_DESC_INIT OCTET_INIT(octet_mul_desc)

/* a + b. Of 8 bits create compares the results of all pairs of bytes, in about 0.1 ms with AVX2. On
 * failure *function is null, here and in all that create functions. OCTET_BAD_SCALE are these
 * ratios of the inputs' scales to the output's:
 * - STANDARD: none.
 * - TFLITE: the larger one of 2^19 or more; of OCTET_S16 of 2^14 or more.
 * - XNNPACK: the larger one outside [2^-10, 2^8).
 * - ONNXRUNTIME: either one outside [2^-100, 2^100]. */
OCTET_API octet_status octet_add_create(const octet_add_desc* desc, octet_function** function,
                                        octet_error* error);
/* a - b, with the ratios of a sum. There is none in ONNX Runtime's arithmetic. */
OCTET_API octet_status octet_sub_create(const octet_sub_desc* desc, octet_function** function,
                                        octet_error* error);
/* a * b. OCTET_BAD_SCALE are these values of a.scale * b.scale / output.scale:
 * - STANDARD, ONNXRUNTIME: outside [2^-126, 2^96).
 * - TFLITE: outside [2^-126, 2^14); of OCTET_S16 outside [2^-126, 1).
 * - XNNPACK: outside [2^-16, 2^8). */
OCTET_API octet_status octet_mul_create(const octet_mul_desc* desc, octet_function** function,
                                        octet_error* error);

/* ---- look-up --------------------------------------------------------------------------------- */

/* out = table[in], both read as unsigned bytes. octet_make_lut makes tables. */
typedef struct octet_lut_desc {
  size_t struct_size;
  octet_type input, output; /* OCTET_S8 or OCTET_U8 */
  uint8_t table[256];
  octet_isa max_isa;
  int reserved; /* must be 0 */
  octet_allocator allocator;
  /* -- an older struct may end here -- */
} octet_lut_desc;
#define OCTET_LUT_DESC_INIT OCTET_INIT(octet_lut_desc)

OCTET_API octet_status octet_lut_create(const octet_lut_desc* desc, octet_function** function,
                                        octet_error* error);

/* ---- functions of one value: tables made here, or of 16 bits --------------------------------- */

typedef enum octet_unary OCTET_INT_ENUM {
  OCTET_UNARY_REQUANTIZE = 0, /* x: TFLite's QUANTIZE of integers, ONNX's Dequantize-Quantize */
  OCTET_UNARY_LOGISTIC = 1,   /* 1 / (1 + exp(-x)) */
  OCTET_UNARY_TANH = 2,
  OCTET_UNARY_HARD_SWISH = 3, /* x * min(max(x + 3, 0), 6) / 6 */
  /* x, or alpha * x of negative x. TFLite's RELU and RELU6 of 16 bits are this with alpha = 1 and
   * bounds: they round as it does, not as QUANTIZE. */
  OCTET_UNARY_LEAKY_RELU = 4
} octet_unary;

/* docs/functions.md has the formulas. OCTET_ARITHMETIC_ONNXRUNTIME is that of QLinearSigmoid and
 * QLinearLeakyRelu, and the same as OCTET_ARITHMETIC_STANDARD. Types of input and output may differ
 * in these two, and in TFLite's OCTET_UNARY_REQUANTIZE, but for u8 beside s16. Of OCTET_S16 there
 * is no OCTET_UNARY_HARD_SWISH, and LOGISTIC and TANH give a scale of 2^-15. */
typedef struct octet_unary_desc {
  size_t struct_size;
  octet_quantized input, output;
  octet_unary function;
  octet_arithmetic arithmetic;
  float alpha; /* of OCTET_UNARY_LEAKY_RELU: 0 to 2^20. Else 0 */
  octet_isa max_isa;
  int reserved; /* must be 0 */
  octet_allocator allocator;
  /* -- an older struct may end here -- */
  int32_t least, most; /* bounds of the output in its integers; both 0: the type's */
} octet_unary_desc;
#define OCTET_UNARY_DESC_INIT OCTET_INIT(octet_unary_desc)

/* Writes table[byte of the input] = byte of the output, as octet_lut_desc and octet_epilogue take
 * it. The bytes are the same on every system: nothing of libm is used. With r = input.scale /
 * output.scale, OCTET_BAD_SCALE are
 * - TFLITE: r or r * alpha of 2^22 or more; of HARD_SWISH, as with XNNPACK, r outside [2^-9, 2^7)
 *   or input.scale outside [3 * 2^-24, 3 * 2^23);
 * - XNNPACK, REQUANTIZE and LEAKY_RELU: r or r * alpha outside [2^-8, 2^7].
 * OCTET_S16 is OCTET_UNSUPPORTED. */
OCTET_API octet_status octet_unary_table(const octet_unary_desc* desc, uint8_t table[256],
                                         octet_error* error);

/* The function that looks up in that table, or, of OCTET_S16, computes. OCTET_BAD_SCALE are then r
 * or r * alpha of 2^15 or more; of LOGISTIC and TANH instead an input.scale outside [2^-44, 4], or
 * an output.scale other than 2^-15. */
OCTET_API octet_status octet_unary_create(const octet_unary_desc* desc, octet_function** function,
                                          octet_error* error);

/* ---- concatenation --------------------------------------------------------------------------- */

typedef enum octet_axis OCTET_INT_ENUM {
  OCTET_AXIS_H = 0,
  OCTET_AXIS_W = 1,
  OCTET_AXIS_CHANNELS = 2
} octet_axis;

/* inputs[0], inputs[1], ... side by side along an axis; along the other two they have the output's
 * sizes. Concatenations of concatenations take more inputs: the inner ones with the output's
 * quantization. SPLIT is octet_slice_create. */
typedef struct octet_concat_desc {
  size_t struct_size;
  size_t input_count; /* 1 to OCTET_NETWORK_INPUTS_MAX */
  /* All of the output's type. S32 and F32 are only copied: scale and zero point are not read. S16
   * is only copied, too: another scale than the output's is OCTET_UNSUPPORTED. */
  octet_quantized inputs[OCTET_NETWORK_INPUTS_MAX];
  octet_quantized output;
  octet_axis axis;
  /* Of inputs whose scale or zero point is not the output's:
   * - TFLITE, XNNPACK: TFLite's CONCATENATION of u8. s8 is OCTET_UNSUPPORTED, as in LiteRT.
   * - ONNXRUNTIME, STANDARD: QLinearConcat, and DequantizeLinear - Concat - QuantizeLinear. */
  octet_arithmetic arithmetic;
  octet_isa max_isa;
  int reserved; /* must be 0 */
  octet_allocator allocator;
  /* -- an older struct may end here -- */
} octet_concat_desc;
#define OCTET_CONCAT_DESC_INIT OCTET_INIT(octet_concat_desc)

OCTET_API octet_status octet_concat_create(const octet_concat_desc* desc, octet_function** function,
                                           octet_error* error);

/* ---- from f32, and to f32 -------------------------------------------------------------------- */

typedef struct octet_quantize_desc {
  size_t struct_size;
  octet_quantized quantized; /* the output of octet_quantize_create, the input of the other one */
  /* octet_quantize_create, saturated:
   * - STANDARD, ONNXRUNTIME: round_half_even(x / scale) + zero_point, octet_quantize's. NaN gives
   *   the zero point.
   * - TFLITE: halves away from zero. NaN, which TFLite does not define, gives the zero point.
   * - XNNPACK: round_half_even(x * (1 / scale)) + zero_point. NaN gives the largest value.
   * OCTET_S16: octet_quantize_create with TFLITE only.
   * octet_dequantize_create: (q - zero_point) * scale in each. */
  octet_arithmetic arithmetic;
  octet_isa max_isa;
  int reserved; /* must be 0 */
  octet_allocator allocator;
  /* -- an older struct may end here -- */
} octet_quantize_desc;
#define OCTET_QUANTIZE_DESC_INIT OCTET_INIT(octet_quantize_desc)

/* From f32. XNNPACK: a scale below 2^-126 is OCTET_BAD_SCALE. */
OCTET_API octet_status octet_quantize_create(const octet_quantize_desc* desc,
                                             octet_function** function, octet_error* error);
/* To f32. */
OCTET_API octet_status octet_dequantize_create(const octet_quantize_desc* desc,
                                               octet_function** function, octet_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OCTET_FUNCTIONS_H_ */
