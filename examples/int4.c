/* SPDX-License-Identifier: Apache-2.0
 * Weights of 4 bits from C99: quantizes a float matrix in blocks of 32 weights that share a scale
 * and a zero point, packs it, and multiplies a float vector by it. The weights are made up; the
 * program compares the result with a product in double of the weights before they were quantized.
 */
#include <octet/octet.h>
#include <octet/quantized_weights.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 48, K = 256, BLOCK = 32, SCALES = N * (K / BLOCK) };

static float values[N * K], x[K], y[N];
static uint8_t weights[N * K / 2]; /* two in a byte */
static uint16_t scales[SCALES];    /* f16 */
static int32_t zero_points[SCALES];

static void check(octet_status status, const octet_error* error) {
  if (status == OCTET_OK) return;
  fprintf(stderr, "%s: %s\n", octet_status_name(status), error->message);
  exit(EXIT_FAILURE);
}

/* Memory at OCTET_ALIGNMENT, which C99 has no function for: *whole is the pointer to free. */
static void* take(size_t bytes, unsigned char** whole) {
  *whole = malloc(bytes + OCTET_ALIGNMENT);
  if (!*whole) exit(EXIT_FAILURE);
  return *whole + (OCTET_ALIGNMENT - (uintptr_t)*whole % OCTET_ALIGNMENT);
}

static void quantize_and_pack(octet_gemm_desc* desc, unsigned char** whole) {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  octet_error error;
  void* blob;
  check(octet_quantize_weights(values, N, K, BLOCK, OCTET_U4, weights, OCTET_F16, scales,
                               zero_points, &error),
        &error);
  rhs.type = OCTET_U4, rhs.order = OCTET_NK;
  rhs.n = N, rhs.k = K;
  rhs.data = weights;
  rhs.scale_block = BLOCK, rhs.scale_type = OCTET_F16, rhs.scales = scales;
  rhs.zero_points = zero_points, rhs.zero_point_count = SCALES;
  check(octet_pack_size(&rhs, OCTET_ISA_AUTO, &desc->packed_bytes, &error), &error);
  blob = take(desc->packed_bytes, whole);
  check(octet_pack(&rhs, OCTET_ISA_AUTO, blob, desc->packed_bytes, &error), &error);
  desc->packed = blob; /* holds all of the weights: the arrays above are free again */
}

int main(void) {
  const float one = 1;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  octet_gemm* gemm;
  octet_error error;
  unsigned char *packed, *workspace;
  double off = 0, all = 0;
  for (int i = 0; i < N * K; ++i) values[i] = (float)(i * 37 % 101 - 40) / 64;
  for (int i = 0; i < K; ++i) x[i] = (float)(i * 29 % 83 - 41) / 16;

  quantize_and_pack(&desc, &packed);
  desc.m_max = 1, desc.n = N, desc.k = K;
  desc.rhs_type = OCTET_U4;
  desc.lhs_type = desc.dst_type = OCTET_F32;
  desc.lhs_quant = OCTET_LHS_SYMMETRIC_BLOCKS; /* x becomes int8, with a scale for each block */
  desc.epilogue.scales = &one, desc.epilogue.scale_count = 1;
  check(octet_gemm_create(&desc, &gemm, &error), &error);
  args.m = 1, args.lhs = x, args.dst = y;
  check(octet_gemm_workspace(gemm, 1, 1, &args.workspace_bytes, &error), &error);
  args.workspace = take(args.workspace_bytes, &workspace);
  check(octet_gemm_run(gemm, &args, &error), &error);

  for (int j = 0; j < N; ++j) {
    double exact = 0;
    for (int i = 0; i < K; ++i) exact += (double)x[i] * values[j * K + i];
    off += (y[j] - exact) * (y[j] - exact), all += exact * exact;
  }
  printf("%s, %d bytes of float weights packed in %d: the error is %.2f %% of y, squared\n",
         octet_gemm_kernel(gemm, 1), (int)sizeof values, (int)desc.packed_bytes, 100 * off / all);
  octet_gemm_destroy(gemm);
  free(workspace), free(packed);
  return off < all * 0.01 ? EXIT_SUCCESS : EXIT_FAILURE; /* a weight has 4 bits */
}
