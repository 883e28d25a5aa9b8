/* SPDX-License-Identifier: Apache-2.0
 * Numbers that a framework keeps in another form than octet.h takes them: TFLite's multipliers from
 * scales, paddings from sizes, quantized values from floats, a look-up table from a function.
 * Nothing here is needed where the caller has these numbers already; all of it is exact or rounds
 * as the numeric contract does (DESIGN.md), so it gives the same on every CPU. docs/integration.md
 * uses it.
 *
 * On failure a function leaves its outputs untouched. No function allocates.
 */
#ifndef OCTET_HELPERS_H_
#define OCTET_HELPERS_H_

#include <octet/octet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- TFLite's multipliers -------------------------------------------------------------------- */

/* TFLite multiplies the scales of a layer in double or in float, depending on the operator, and the
 * other way gives other bytes now and then. These are TFLite's ways, each of which ends in
 * octet_quantize_multiplier. */
typedef enum octet_tflite_op OCTET_INT_ENUM {
  /* CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV. int8: (double)lhs * rhs[n] / dst, also if all
   * channels share one scale. uint8: (double)(float)(lhs * rhs) / dst. */
  OCTET_TFLITE_CONVOLUTION = 0,
  /* FULLY_CONNECTED, int8 or uint8: in float with one weight scale, in double with one per
   * channel. */
  OCTET_TFLITE_FULLY_CONNECTED = 1
} octet_tflite_op;

/* multipliers[i], shifts[i] of `count` weight scales, for octet_epilogue. type is that of the input
 * and the output, OCTET_S8 or OCTET_U8; uint8 has one scale per tensor. A product so small that
 * TFLite has no multiplier for it becomes 0. */
OCTET_API octet_status octet_tflite_multipliers(octet_tflite_op op, octet_type type,
                                                float lhs_scale, const float* rhs_scales,
                                                size_t count, float dst_scale, int32_t* multipliers,
                                                int32_t* shifts, octet_error* error);

/* The six multipliers and shifts of a TFLite ADD, int8 or uint8, that follows a product;
 * product_scale is that of the tensor between the two. Type and zero points of *residual are left
 * to the caller. Where the product has a fused activation of its own, it is
 * octet_epilogue.product_activation, with the same product_scale. */
OCTET_API octet_status octet_tflite_add(float product_scale, float residual_scale, float dst_scale,
                                        octet_residual* residual, octet_error* error);

/* ---- padding --------------------------------------------------------------------------------- */

typedef enum octet_padding OCTET_INT_ENUM {
  OCTET_PADDING_VALID = 0,
  OCTET_PADDING_SAME = 1,      /* an odd one at the end: TensorFlow, ONNX's SAME_UPPER */
  OCTET_PADDING_SAME_LOWER = 2 /* an odd one at the beginning: ONNX */
} octet_padding;

/* Sets the pads and output paddings of `shape` for an input of its in_h_max x in_w_max. With SAME
 * the output has ceil(in / stride) pixels along an axis, or, transposed, in * stride; VALID pads
 * nothing. SAME depends on the input's size: an object that runs on several has the right pads for
 * those that leave the same remainder when divided by the strides. For others set
 * octet_conv2d_args.pads, of a convolution that declares the most that SAME pads: those for an
 * input of 1 x 1. */
OCTET_API octet_status octet_conv2d_set_padding(octet_padding padding, octet_conv2d_shape* shape,
                                                octet_error* error);

/* For a transposed convolution whose output size is given, as TFLite and ONNX's output_shape do:
 * sets pads and output paddings so that an input of in_h_max x in_w_max gives out_h x out_w.
 * Surplus pixels are cut off on both sides, an odd one where `padding` says; with VALID at the end
 * only. */
OCTET_API octet_status octet_conv2d_set_output_size(octet_padding padding, size_t out_h,
                                                    size_t out_w, octet_conv2d_shape* shape,
                                                    octet_error* error);

/* ---- quantization ---------------------------------------------------------------------------- */

/* quantized[i] = round_half_even(values[i] / scale) + zero_point, saturated to OCTET_S8 or
 * OCTET_U8: ONNX QuantizeLinear. NaN becomes the zero point. */
OCTET_API octet_status octet_quantize(const float* values, size_t count, float scale,
                                      int32_t zero_point, octet_type type, void* quantized,
                                      octet_error* error);

/* values[i] = (quantized[i] - zero_point) * scale of OCTET_S8, OCTET_U8, or OCTET_S32 with zero
 * point 0: ONNX DequantizeLinear. */
OCTET_API octet_status octet_dequantize(const void* quantized, octet_type type, size_t count,
                                        float scale, int32_t zero_point, float* values,
                                        octet_error* error);

/* Quantizes a tensor by its own range, as a run does with each row or image of an f32 lhs:
 * OCTET_LHS_SYMMETRIC to s8, OCTET_LHS_ASYMMETRIC to u8 (ONNX DynamicQuantizeLinear). Values that
 * hold NaN or infinity, or whose range leaves float, become zeros with the scale NaN. */
OCTET_API octet_status octet_dynamic_quantize(octet_lhs_quant quant, const float* values,
                                              size_t count, void* quantized, float* scale,
                                              int32_t* zero_point, octet_error* error);

/* octet_dynamic_quantize in at most `concurrency` tasks of parallel_for, of which each has enough
 * work to be worth its start; parallel_for may be null. The bytes are the same. parallel_for is
 * called at most twice, each time with more than one task. */
OCTET_API octet_status octet_dynamic_quantize_in_tasks(octet_lhs_quant quant, const float* values,
                                                       size_t count,
                                                       octet_parallel_for parallel_for,
                                                       void* parallel_context, size_t concurrency,
                                                       void* quantized, float* scale,
                                                       int32_t* zero_point, octet_error* error);

/* ---- look-up tables -------------------------------------------------------------------------- */

/* The table of a function for octet_epilogue's lut. The product is quantized with src_scale and
 * src_zero_point, the output with dst_scale and dst_zero_point, both of OCTET_S8 or OCTET_U8:
 *
 *     lut[(uint8_t)q] = round_half_even(function(context, (q - src_zero_point) * src_scale)
 *                                       / dst_scale) + dst_zero_point
 *
 * in double and saturated. A framework's own table of the same function may round otherwise. A
 * function that gives NaN is refused. */
OCTET_API octet_status octet_make_lut(double (*function)(void* context, double x), void* context,
                                      octet_type type, float src_scale, int32_t src_zero_point,
                                      float dst_scale, int32_t dst_zero_point, uint8_t lut[256],
                                      octet_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OCTET_HELPERS_H_ */
