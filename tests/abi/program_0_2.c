/* A program of version 0.2, compiled for the header of that time and linked with the library of
 * today: it goes on working. Neither of these two files changes any more. */
#include "octet_0_2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 2, N = 3, K = 4 };

static int failed;
static octet_error error;
#define EXPECT(condition) \
  ((condition)            \
       ? (void)0          \
       : (void)(failed = 1, printf("line %d: %s; %s\n", __LINE__, #condition, error.message)))

static const int8_t weights[N * K] = {1, 4, 7, -128, 2, 5, 8, 127, 3, 6, 9, 0};
static const uint8_t lhs[M * K] = {1, 2, 3, 4, 255, 0, 255, 0};
static const uint8_t residual[M * N] = {128, 130, 126, 128, 128, 128};
static const int32_t bias[N] = {10, 20, 30};
static const float scale = 0.0625f;
/* 1*1+2*4+3*7+4*-128 = -482, 1*2+2*5+3*8+4*127 = 544, 1*3+2*6+3*9 = 42; 255*(1+7), 255*(2+8),
 * 255*(3+9); + bias */
static const int32_t accumulators[M * N] = {-472, 564, 72, 2050, 2570, 3090};
/* -29.5, 35.25 + 2, 4.5 - 2, 128.125, 160.625, 193.125; rounded; + 10; 255 - */
static const uint8_t outputs[M * N] = {255, 208, 243, 117, 84, 52};

static void* aligned(size_t bytes) {
  static char memory[1 << 20];
  static size_t used;
  char* const piece = memory + used;
  const size_t gap = OCTET_ALIGNMENT - (uintptr_t)piece % OCTET_ALIGNMENT;
  used += gap + bytes;
  if (used > sizeof memory) exit(1);
  return piece + gap;
}

static octet_epilogue narrow(const uint8_t* lut) {
  octet_epilogue e;
  memset(&e, 0, sizeof e);
  e.bias = bias;
  e.scales = &scale;
  e.scale_count = 1;
  e.dst_zero_point = 10;
  e.residual.type = OCTET_U8;
  e.residual.zero_point = 128;
  e.residual.scale = 1;
  e.lut = lut;
  return e;
}

static void infos(void) {
  octet_cpu_info cpu = OCTET_CPU_INFO_INIT;
  octet_kernel_info kernel = OCTET_KERNEL_INFO_INIT;
  size_t index = 0;
  EXPECT(octet_get_cpu_info(&cpu, &error) == OCTET_OK);
  EXPECT(cpu.compiled_isas >> cpu.best_isa & 1);
  while (octet_get_kernel_info(index, &kernel, &error) == OCTET_OK && kernel.name) ++index;
  EXPECT(index > 0 && error.status == OCTET_BAD_SIZE);
  EXPECT(octet_version()[0] && strcmp(octet_status_name(OCTET_OK), "OCTET_OK") == 0);
}

static void gemm(const uint8_t* lut) {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  octet_blob_info info = OCTET_BLOB_INFO_INIT;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  octet_gemm* object = NULL;
  size_t bytes = 0, scratch = 0;
  int narrowed;
  void* blob;
  rhs.type = OCTET_S8;
  rhs.order = OCTET_NK;
  rhs.n = N;
  rhs.k = K;
  rhs.data = weights;
  EXPECT(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, &error) == OCTET_OK);
  blob = aligned(bytes);
  EXPECT(octet_pack(&rhs, OCTET_ISA_AUTO, blob, bytes, &error) == OCTET_OK);
  EXPECT(octet_blob_get_info(blob, bytes, &info, &error) == OCTET_OK);
  EXPECT(info.n == N && info.k == K && info.bytes == bytes && !info.algorithm && info.form);
  desc.m_max = M;
  desc.n = N;
  desc.k = K;
  desc.lhs_type = OCTET_U8;
  desc.rhs_type = OCTET_S8;
  desc.packed = blob;
  desc.packed_bytes = bytes;
  for (narrowed = 0; narrowed < 2; ++narrowed) {
    int32_t dst[M * N] = {0};
    desc.dst_type = narrowed ? OCTET_U8 : OCTET_S32;
    desc.epilogue.bias = bias;
    if (narrowed) desc.epilogue = narrow(lut);
    EXPECT(octet_gemm_create(&desc, &object, &error) == OCTET_OK);
    EXPECT(octet_gemm_kernel(object, M) != NULL);
    EXPECT(octet_gemm_workspace(object, M, 1, &scratch, &error) == OCTET_OK);
    args.m = M;
    args.lhs = lhs;
    args.dst = dst;
    args.residual = narrowed ? residual : NULL;
    args.workspace = aligned(scratch);
    args.workspace_bytes = scratch;
    EXPECT(octet_gemm_run(object, &args, &error) == OCTET_OK);
    EXPECT(narrowed ? memcmp(dst, outputs, sizeof outputs) == 0
                    : memcmp(dst, accumulators, sizeof accumulators) == 0);
    octet_gemm_destroy(object);
  }
}

/* The same numbers: M pixels, a kernel of 1 x 1. */
static void convolution(const uint8_t* lut) {
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
  octet_blob_info info = OCTET_BLOB_INFO_INIT;
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  octet_conv2d* object = NULL;
  size_t bytes = 0, scratch = 0;
  uint8_t dst[M * N];
  void* blob;
  filter.shape.in_h_max = filter.shape.kernel_h = filter.shape.kernel_w = 1;
  filter.shape.in_w_max = M;
  filter.shape.in_channels = K;
  filter.shape.out_channels = N;
  filter.type = OCTET_S8;
  filter.data = weights;
  EXPECT(octet_conv2d_explain(&filter, OCTET_ISA_AUTO, 0, &candidate, &error) == OCTET_OK);
  EXPECT(candidate.algorithm == OCTET_CONV_DIRECT && candidate.possible && candidate.reason[0]);
  EXPECT(octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, &error) == OCTET_OK);
  blob = aligned(bytes);
  EXPECT(octet_conv2d_pack(&filter, OCTET_ISA_AUTO, blob, bytes, &error) == OCTET_OK);
  EXPECT(octet_blob_verify(blob, bytes, &error) == OCTET_OK);
  EXPECT(octet_blob_get_info(blob, bytes, &info, &error) == OCTET_OK);
  EXPECT(info.shape.in_channels == K && info.shape.kernel_h == 1 && info.form);
  desc.shape = filter.shape;
  desc.lhs_type = desc.dst_type = OCTET_U8;
  desc.rhs_type = OCTET_S8;
  desc.packed = blob;
  desc.packed_bytes = bytes;
  desc.epilogue = narrow(lut);
  EXPECT(octet_conv2d_create(&desc, &object, &error) == OCTET_OK);
  EXPECT(octet_conv2d_algorithm(object) == info.algorithm && octet_conv2d_kernel(object));
  EXPECT(octet_conv2d_workspace(object, 0, 0, 0, 1, &scratch, &error) == OCTET_OK);
  args.out_h = 1;
  args.out_w = M;
  args.lhs = lhs;
  args.dst = dst;
  args.residual = residual;
  args.workspace = aligned(scratch);
  args.workspace_bytes = scratch;
  EXPECT(octet_conv2d_run(object, &args, &error) == OCTET_OK);
  EXPECT(memcmp(dst, outputs, sizeof outputs) == 0);
  octet_conv2d_destroy(object);
}

static void helpers(void) {
  octet_conv2d_shape shape = OCTET_CONV2D_SHAPE_INIT;
  size_t h = 0, w = 0;
  int32_t multiplier = 0, shift = 0;
  shape.kernel_h = shape.kernel_w = 3;
  EXPECT(octet_conv2d_output_size(&shape, 5, 7, &h, &w, &error) == OCTET_OK && h == 3 && w == 5);
  EXPECT(octet_quantize_multiplier(0.375, &multiplier, &shift, &error) == OCTET_OK);
  EXPECT(multiplier == 3 << 29 && shift == -1);
}

int main(void) {
  uint8_t lut[256];
  int i;
  for (i = 0; i < 256; ++i) lut[i] = (uint8_t)(255 - i);
  infos();
  gemm(lut);
  convolution(lut);
  helpers();
  if (!failed) printf("a program of 0.2 with octet %s: ok\n", octet_version());
  return failed;
}
