/* SPDX-License-Identifier: Apache-2.0
 * Octet: the functions between products that look at windows, at whole images or at places, in the
 * arithmetic of the engine whose bytes they are to give.
 *
 * octet_*_create() makes an octet_function. octet/functions.h runs it by itself and puts it into a
 * network. Tensors are NHWC; input and output have the same type, of 8 bits unless a descriptor
 * says otherwise, and the sizes that the function was created for. Every byte is the same on every
 * CPU. Sizes are in lines, pixels and channels.
 */
#ifndef OCTET_IMAGE_FUNCTIONS_H_
#define OCTET_IMAGE_FUNCTIONS_H_

#include "octet/functions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of an image. Frozen. */
typedef struct octet_image_size {
  size_t h, w, channels;
} octet_image_size;

/* The only input of each function. Frozen. */
typedef struct octet_image_input {
  octet_image_size size;
  /* Scale and zero point are read, and checked, by
   * - average pools and means, in every arithmetic;
   * - bilinear resizes in OCTET_ARITHMETIC_STANDARD;
   * - softmax: to f32 the scale only.
   * Max pools, other resizes and copies read only the type. */
  octet_quantized values;
  octet_isa max_isa; /* as octet_gemm_desc has it */
  int reserved;      /* must be 0 */
  octet_allocator allocator;
} octet_image_input;

/* ---- pools ----------------------------------------------------------------------------------- */

/* Output (y, x) looks at input lines y * stride_h - pad_top .. + kernel_h - 1, and so for pixels.
 * Pads are smaller than kernels. Each window has a pixel of the image; the output has as many
 * windows as the padded image holds. Frozen. */
typedef struct octet_window {
  size_t kernel_h, kernel_w, stride_h, stride_w;
  size_t pad_top, pad_left, pad_bottom, pad_right;
} octet_window;

/* The largest value of each window: MAX_POOL_2D, ONNX MaxPool. Also of OCTET_S16. */
typedef struct octet_max_pool_desc {
  size_t struct_size;
  octet_image_input input;
  octet_window window;
  /* -- an older struct may end here -- */
  int32_t least, most; /* the output's bounds in its integers; both 0: the type's */
} octet_max_pool_desc;
#define OCTET_MAX_POOL_DESC_INIT OCTET_INIT(octet_max_pool_desc)
OCTET_API octet_status octet_max_pool_create(const octet_max_pool_desc* desc,
                                             octet_function** function, octet_error* error);

/* Averages of windows. OCTET_ARITHMETIC_
 * - TFLITE, XNNPACK: the sum of the values over the window's pixels in the image, divided by their
 *   count and rounded, halves away from 0. `output` is as the input. TFLITE: also of OCTET_S16,
 *   with windows of at most 2^15 pixels instead of 2^22.
 * - ONNXRUNTIME: QLinearAveragePool, which it also takes for AveragePool between DequantizeLinear
 *   and QuantizeLinear. In f32, each operation rounded once: the sum of (x - zero_point) * scale in
 *   the order of lines and pixels, / count / output.scale + output.zero_point, rounded half to
 *   even.
 * - STANDARD: the same, but the zero point is added after rounding. */
typedef struct octet_average_pool_desc {
  size_t struct_size;
  octet_image_input input;
  octet_window window;
  octet_quantized output;
  octet_arithmetic arithmetic;
  /* -- an older struct may end here -- */
  int32_t least, most;   /* bounds of the output in its integers; both 0: the type's */
  int count_include_pad; /* 1: the count is kernel_h * kernel_w. Not TFLITE, XNNPACK */
} octet_average_pool_desc;
#define OCTET_AVERAGE_POOL_DESC_INIT OCTET_INIT(octet_average_pool_desc)
OCTET_API octet_status octet_average_pool_create(const octet_average_pool_desc* desc,
                                                 octet_function** function, octet_error* error);

/* The mean of each channel over an image of n pixels. OCTET_ARITHMETIC_
 * - TFLITE: LiteRT's reference MEAN, MultiplyByQuantizedMultiplier of sum - n * zero_point with n
 *   in the multiplier. A scale that is 2^22 times output.scale or more is OCTET_BAD_SCALE. Also of
 *   OCTET_S16, then for n up to 2^15 and ratios below 2^14.
 * - XNNPACK, of LiteRT 2.1.3 and later, in f32: sum * f + (output.zero_point - n * zero_point * f),
 *   rounded half to even, with f = 1 / n * (scale / output.scale).
 * - ONNXRUNTIME: QLinearGlobalAveragePool, in f32: (sum - n * zero_point) *
 *   (scale / (output.scale * n)), rounded half to even, + output.zero_point.
 * - STANDARD is octet_average_pool_create's, of a window as large as the image. */
typedef struct octet_mean_desc {
  size_t struct_size;
  octet_image_input input;
  octet_quantized output;
  octet_arithmetic arithmetic;
  /* -- an older struct may end here -- */
  int32_t least, most; /* the output's bounds in its integers; both 0: the type's */
} octet_mean_desc;
#define OCTET_MEAN_DESC_INIT OCTET_INIT(octet_mean_desc)
OCTET_API octet_status octet_mean_create(const octet_mean_desc* desc, octet_function** function,
                                         octet_error* error);

/* ---- resizing -------------------------------------------------------------------------------- */

typedef enum octet_interpolation OCTET_INT_ENUM {
  OCTET_INTERPOLATION_NEAREST = 0, /* copies: of any type, the same in every arithmetic */
  /* OCTET_ARITHMETIC_
   * - TFLITE: LiteRT's reference, integers with 10 bits of position for s8 and s16, f32 for u8.
   * - XNNPACK: integers with 11 bits of position, halves up.
   * - ONNXRUNTIME: its Resize of s8 and u8, f32, truncated.
   * - STANDARD: DequantizeLinear, Resize in f32, QuantizeLinear: ONNX Runtime's, between these.
   * The output has the input's quantization but with STANDARD. */
  OCTET_INTERPOLATION_BILINEAR = 1
} octet_interpolation;

/* The place in the input of output pixel i; s = in / out. */
typedef enum octet_coordinates OCTET_INT_ENUM {
  OCTET_COORDINATES_ASYMMETRIC = 0,        /* i * s */
  OCTET_COORDINATES_ALIGN_CORNERS = 1,     /* i * (in - 1) / (out - 1) */
  OCTET_COORDINATES_HALF_PIXEL = 2,        /* (i + 0.5) * s - 0.5 */
  OCTET_COORDINATES_PYTORCH_HALF_PIXEL = 3 /* the same, and 0 where out is 1; not TFLite, XNNPACK */
} octet_coordinates;

/* The neighbour that OCTET_INTERPOLATION_NEAREST takes. */
typedef enum octet_nearest_pixel OCTET_INT_ENUM {
  OCTET_NEAREST_PIXEL_TFLITE = 0, /* TFLite's: floor, with align_corners rounded half up */
  OCTET_NEAREST_PIXEL_ROUND_PREFER_FLOOR = 1,
  OCTET_NEAREST_PIXEL_ROUND_PREFER_CEIL = 2,
  OCTET_NEAREST_PIXEL_FLOOR = 3,
  OCTET_NEAREST_PIXEL_CEIL = 4
} octet_nearest_pixel;

typedef struct octet_resize_desc {
  size_t struct_size;
  octet_image_input input;
  size_t out_h, out_w;
  octet_interpolation interpolation;
  octet_coordinates coordinates;
  octet_nearest_pixel nearest; /* 0 with OCTET_INTERPOLATION_BILINEAR */
  octet_arithmetic arithmetic; /* of OCTET_INTERPOLATION_BILINEAR */
  /* -- an older struct may end here -- */
  /* Of OCTET_INTERPOLATION_BILINEAR with OCTET_ARITHMETIC_STANDARD. Else zeros or a copy of
   * input.values; others are OCTET_UNSUPPORTED. */
  octet_quantized output;
} octet_resize_desc;
#define OCTET_RESIZE_DESC_INIT OCTET_INIT(octet_resize_desc)
OCTET_API octet_status octet_resize_create(const octet_resize_desc* desc, octet_function** function,
                                           octet_error* error);

/* ---- softmax --------------------------------------------------------------------------------- */

/* Over the channels of each pixel. Of bytes, exponentials are correctly rounded floats of
 * exp(-input.values.scale * beta * i), i the distance to the largest channel, and are added in the
 * order of channels. With OCTET_ARITHMETIC_ONNXRUNTIME all of them have a factor in common.
 *
 * Of OCTET_S16, with OCTET_ARITHMETIC_TFLITE only, exponentials and the sum's reciprocal are of
 * tables, in integers. The output is of OCTET_S16 with a scale of 2^-15, and there are at most 2^16
 * channels, else it is OCTET_BAD_SIZE. Another type of the output is OCTET_UNSUPPORTED; another
 * scale of it, or an input.values.scale * beta of 5 or more, is OCTET_BAD_SCALE. */
typedef struct octet_softmax_desc {
  size_t struct_size;
  octet_image_input input;
  float beta; /* ONNX: 1; OCTET_ARITHMETIC_ONNXRUNTIME takes no other */
  /* Of the input's type, or, of bytes, OCTET_F32: exponential / sum; then output.scale and
   * output.zero_point are 0. */
  octet_quantized output;
  /* Of integer outputs; docs/functions.md has the formulas. OCTET_ARITHMETIC_XNNPACK is
   * OCTET_ARITHMETIC_TFLITE. */
  octet_arithmetic arithmetic;
  /* -- an older struct may end here -- */
} octet_softmax_desc;
#define OCTET_SOFTMAX_DESC_INIT OCTET_INIT(octet_softmax_desc)
OCTET_API octet_status octet_softmax_create(const octet_softmax_desc* desc,
                                            octet_function** function, octet_error* error);

/* ---- copies: of any type but those of 4 bits ------------------------------------------------- */

/* PAD: the image with a border of `value`. */
typedef struct octet_pad_desc {
  size_t struct_size;
  octet_image_input input;
  octet_image_size before, after; /* lines, pixels and channels to add */
  int32_t value;                  /* s8, u8, s16: the zero point, as a rule. Others: the 32 bits */
  /* -- an older struct may end here -- */
} octet_pad_desc;
#define OCTET_PAD_DESC_INIT OCTET_INIT(octet_pad_desc)
OCTET_API octet_status octet_pad_create(const octet_pad_desc* desc, octet_function** function,
                                        octet_error* error);

/* SLICE, SPLIT, CROP: `size` lines, pixels and channels from `first` on. */
typedef struct octet_slice_desc {
  size_t struct_size;
  octet_image_input input;
  octet_image_size first, size;
  /* -- an older struct may end here -- */
} octet_slice_desc;
#define OCTET_SLICE_DESC_INIT OCTET_INIT(octet_slice_desc)
OCTET_API octet_status octet_slice_create(const octet_slice_desc* desc, octet_function** function,
                                          octet_error* error);

/* RESHAPE, FLATTEN, SQUEEZE: the same elements in the same order as an image of `size`. */
typedef struct octet_reshape_desc {
  size_t struct_size;
  octet_image_input input;
  octet_image_size size;
  /* -- an older struct may end here -- */
} octet_reshape_desc;
#define OCTET_RESHAPE_DESC_INIT OCTET_INIT(octet_reshape_desc)
OCTET_API octet_status octet_reshape_create(const octet_reshape_desc* desc,
                                            octet_function** function, octet_error* error);

/* Between NHWC and NCHW. `input.size` is the NHWC image's, on either side; the NCHW one is, to a
 * network, an image of h = channels, w = h * w and one channel. */
typedef struct octet_transpose_desc {
  size_t struct_size;
  octet_image_input input;
  octet_layout to; /* OCTET_NHWC or OCTET_NCHW */
  /* -- an older struct may end here -- */
} octet_transpose_desc;
#define OCTET_TRANSPOSE_DESC_INIT OCTET_INIT(octet_transpose_desc)
OCTET_API octet_status octet_transpose_create(const octet_transpose_desc* desc,
                                              octet_function** function, octet_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OCTET_IMAGE_FUNCTIONS_H_ */
