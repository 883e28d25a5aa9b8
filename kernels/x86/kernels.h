// SPDX-License-Identifier: Apache-2.0
// Declares the x86 kernels and their tiers' operations.
#pragma once

#include "kernels/core/depthwise_kernel.h"
#include "kernels/core/runtime_weights.h"
#include "kernels/core/scale_blocks.h"
#include "kernels/core/tier_ops.h"
#include "kernels/core/winograd_ops.h"
#include "kernels/generic/functions/elementwise.h"
#include "kernels/generic/functions/image_function.h"
#include "kernels/x86/shared/layouts.h"

namespace octet {

extern const MicroKernel amxint8_u8s8_2x64x4, amxint8_u8s8_32x32x4, amxint8_u8s8_16x64x4,
    amxint8_s8s8_32x32x4, amxint8_s8s8_16x64x4;
extern const MicroKernel avx512vnni_u8s8_6x64x4;
void avx512vnni_multiply_u8s8(const Tile& t);  // its function
void avx512vnni_add_tap(const TapRows& t);     // its MicroKernel::add_tap
extern const MicroKernel avx512vnni_u8s8_sparse_8x32x16;
extern const MicroKernel avx512vnni_u8s8_sparse_4x32x32;
extern const MicroKernel avxvnni_u8s8_6x16x4, avxvnni_s8s8_6x16x4;
void avxvnni_add_tap(const TapRows& t);  // its MicroKernel::add_tap
extern const MicroKernel avxvnni_u8s8_sparse_4x16x16;
extern const MicroKernel avxvnni_u8s8_sparse_4x16x32;
extern const MicroKernel avx512bw_s16s8_12x32x4;
extern const MicroKernel avx512bw_u8s8_6x64x4;
extern const MicroKernel avx2_s16s8_6x16x4;
extern const MicroKernel avx2_s8s8_sparse_4x16x16;
extern const MicroKernel avx2_u8s8_8x8x4;
extern const MicroKernel avx2_u8s8_rows_6x64x4;
extern const MicroKernel avx2_u8s8_6x64x4;
extern const MicroKernel sse41_s16s8_6x8x4;
extern const MicroKernel avx512vnni_u8s4_6x64x8;
extern const MicroKernel avxvnni_u8s4_6x16x8;
extern const MicroKernel avx2_u8s4_6x16x8;
extern const MicroKernel sse41_s16s4_6x8x8;

extern const MicroKernel avx512vnni_s16s16_14x32x2;
extern const MicroKernel avx512bw_s16s16_14x32x2;
extern const MicroKernel avxvnni_s16s16_6x16x2;
extern const MicroKernel avx2_s16s16_6x16x2;
extern const MicroKernel sse41_s16s16_3x16x2;

extern const MicroKernel avx512vnni_s16s8_12x32x4;

// Members `s16` of the int8 kernels.
extern const DepthwiseKernel avx512vnni_s16s8_full_dw64;
extern const DepthwiseKernel avx512vnni_s16s8_full_dw32;
extern const DepthwiseKernel avx512bw_s16s8_full_dw64;
extern const DepthwiseKernel avx2_s16s8_full_dw32;
extern const DepthwiseKernel avxvnni_s16s8_full_dw32;
extern const DepthwiseKernel sse41_s16s8_full_dw16;

extern const DepthwiseKernel avx512vnni_u8s8_dw64;
extern const DepthwiseKernel avx512vnni_u8s8_dw32;
extern const DepthwiseKernel avx512bw_s16s8_dw64;
extern const DepthwiseKernel avx512bw_u8s16_dw64;
extern const DepthwiseKernel avxvnni_u8s8_dw32;
extern const DepthwiseKernel avxvnni_u8s16_dw32;
extern const DepthwiseKernel avx2_s16s8_dw32;
extern const DepthwiseKernel avx512vnni_u8s16_dw64;
extern const DepthwiseKernel avx512vnni_u8s16_dw32;
extern const DepthwiseKernel avx512vnni_u8s8_group64;
extern const DepthwiseKernel avxvnni_u8s8_group64;
extern const DepthwiseKernel avx2_s16s8_group64;
extern const ByteWindowsKernel avx2_byte_windows;
extern const DepthwiseKernel avx2_u8s16_dw32;
extern const DepthwiseKernel sse41_s16s8_dw16;
extern const DepthwiseKernel sse41_u8s16_dw16;

extern const TierOps sse41_ops, avx2_ops, avx512vnni_ops;
extern const RuntimeOps sse41_runtime, avx2_runtime, avxvnni_runtime, avx512vnni_runtime;
extern const ScaleBlockKernel avx512vnni_s8u4_blocks_8x32x8, avxvnni_s8u4_blocks_6x16x8,
    avx2_s8u4_blocks_4x16x8, sse41_s8u4_blocks_2x16x8;
// Do the epilogue of a tile in vectors. Return false, and write nothing, if they cannot.
bool avx2_epilogue(const Epilogue& f, const EpilogueTile& t);
bool avx512vnni_epilogue(const Epilogue& f, const EpilogueTile& t);
// Their part with a residual (kernels/x86/shared/epilogue_float.h).
void avx2_add_residual(const Epilogue& f, const EpilogueTile& t);
void avx512vnni_add_residual(const Epilogue& f, const EpilogueTile& t);
// See Epilogue::look_up
void avx2_look_up(const uint8_t* lut, uint8_t* dst, size_t stride, size_t rows, size_t cols);
void avx512vnni_look_up(const uint8_t* lut, uint8_t* dst, size_t stride, size_t rows, size_t cols);
void avx512vbmi_look_up(const uint8_t* lut, uint8_t* dst, size_t stride, size_t rows, size_t cols);
extern const ImageFunctions avx2_image_functions;
void avx512bw_resize(const Resize& f, const ImageCall& call);
extern const WinogradOps sse41_winograd, avx2_winograd, avx512bw_winograd;
extern const ElementwiseOps sse41_elementwise, avx2_elementwise;
void avx512vnni_add_fixed(const BinaryPlan& plan, const uint8_t* a, const uint8_t* b, uint8_t* out,
                          size_t bytes);                                    // a PairsBody
void avx512vbmi_look_up_lines(void* plan, const octet_network_call* call);  // a FunctionBody

}  // namespace octet
