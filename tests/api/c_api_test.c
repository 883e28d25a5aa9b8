// SPDX-License-Identifier: Apache-2.0
/* The header is C99, and a C program can do everything: pack, create, query, run, destroy.
 * Compiled with -Wpedantic -Werror. */
#include <octet/network.h>
#include <octet/octet.h>
#include <octet/quantized_weights.h>
#include <octet/sparse.h>
#include <octet/traffic.h>
#include <octet/tune.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 2, N = 3, K = 4 };

static int failed;
#define EXPECT(condition) \
  ((condition) ? (void)0 : (void)(failed = 1, printf("line %d: %s\n", __LINE__, #condition)))

int main(void) {
  static const int8_t weights[K * N] = {1, 2, 3, 4, 5, 6, 7, 8, 9, -128, 127, 0};
  static const uint8_t lhs[M * K] = {1, 2, 3, 4, 255, 0, 255, 0};
  static const int32_t bias[N] = {10, 20, 30};
  /* 1*1+2*4+3*7+4*-128 = -482, 1*2+2*5+3*8+4*127 = 544, 1*3+2*6+3*9 = 42; 255*(1+7), 255*(2+8),
   * 255*(3+9) */
  static const int32_t expected[M * N] = {-472, 564, 72, 2050, 2570, 3090};
  int32_t dst[M * N];
  octet_error error;
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  octet_gemm* gemm = NULL;
  size_t bytes = 0;
  char* memory;
  void* blob;
  void* workspace = NULL;
  char* workspace_memory = NULL;

  memset(&error, 0, sizeof error);
  rhs.type = OCTET_S8;
  rhs.n = N;
  rhs.k = K;
  rhs.data = weights;
  EXPECT(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, &error) == OCTET_OK);
  memory = malloc(bytes + OCTET_ALIGNMENT);
  if (!memory) return 1;
  blob = memory + (OCTET_ALIGNMENT - (uintptr_t)memory % OCTET_ALIGNMENT);
  EXPECT(octet_pack(&rhs, OCTET_ISA_AUTO, blob, bytes, &error) == OCTET_OK);
  EXPECT(octet_blob_verify(blob, bytes, &error) == OCTET_OK);

  desc.m_max = M;
  desc.n = N;
  desc.k = K;
  desc.lhs_type = OCTET_U8;
  desc.rhs_type = OCTET_S8;
  desc.dst_type = OCTET_S32;
  desc.packed = blob;
  desc.packed_bytes = bytes;
  desc.epilogue.bias = bias;
  EXPECT(octet_gemm_create(&desc, &gemm, &error) == OCTET_OK);
  EXPECT(octet_gemm_kernel(gemm, M) != NULL);
  EXPECT(octet_gemm_workspace(gemm, M, 1, &bytes, &error) == OCTET_OK);
  if (bytes) {
    workspace_memory = malloc(bytes + OCTET_ALIGNMENT);
    if (!workspace_memory) return 1;
    workspace =
        workspace_memory + (OCTET_ALIGNMENT - (uintptr_t)workspace_memory % OCTET_ALIGNMENT);
  }
  args.m = M;
  args.lhs = lhs;
  args.dst = dst;
  args.workspace = workspace;
  args.workspace_bytes = bytes;
  EXPECT(octet_gemm_run(gemm, &args, &error) == OCTET_OK);
  EXPECT(memcmp(dst, expected, sizeof dst) == 0);
  octet_gemm_destroy(gemm);

  /* The two largest weights of each of the columns 1 4 7 -128, 2 5 8 127 and 3 6 9 0. */
  {
    static const uint8_t stream[12] = {0xcc, 0x06, 0, 0, 7, 0x80, 8, 127, 6, 9, 0, 0};
    int8_t pruned[K * N], columns[N * K];
    octet_sparse_loss losses[N];
    octet_sparse_stream_format format = OCTET_SPARSE_STREAM_FORMAT_INIT;
    format.chunk = 32;
    EXPECT(octet_sparse_prune(&rhs, pruned, losses, &error) == OCTET_OK);
    EXPECT(losses[1].removed == 2 && losses[1].magnitude_removed == 7 && losses[1].energy == 16222);
    EXPECT(octet_sparse_import_stream(&format, stream, sizeof stream, N, K, columns, 0, &error) ==
           OCTET_OK);
    for (bytes = 0; bytes < N * K; ++bytes)
      EXPECT(columns[bytes] == pruned[bytes % K * N + bytes / K]);
  }

  /* Values outside an enumeration, as only C can spell them. */
  EXPECT(strcmp(octet_status_name((octet_status)99), "unknown status") == 0);
  EXPECT(strcmp(octet_isa_name((octet_isa)257), "unknown") == 0);
  desc.lhs_type = (octet_type)99;
  EXPECT(octet_gemm_create(&desc, &gemm, &error) == OCTET_UNKNOWN_ENUM);
  EXPECT(error.status == OCTET_UNKNOWN_ENUM && strstr(error.message, "desc.lhs_type") != NULL);
  EXPECT(gemm == NULL);
  if (failed && error.status) printf("%s: %s\n", octet_status_name(error.status), error.message);
  free(workspace_memory);
  free(memory);
  if (!failed) printf("octet %s from C: ok\n", octet_version());
  return failed;
}
