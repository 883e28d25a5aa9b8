// SPDX-License-Identifier: Apache-2.0
/* Multiplies 3 x 4 by 4 x 2 and checks the result: proof that an installed Octet compiles, links
 * and runs in a C99 program. */
#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include <octet/octet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                      \
  do {                                                   \
    if ((call) != OCTET_OK) {                            \
      fprintf(stderr, "%s: %s\n", #call, error.message); \
      return 1;                                          \
    }                                                    \
  } while (0)

static void* aligned(size_t bytes) {
  void* memory = NULL;
  return bytes && posix_memalign(&memory, OCTET_ALIGNMENT, bytes) == 0 ? memory : NULL;
}

int main(void) {
  static const uint8_t lhs[3 * 4] = {1, 2, 3, 4, 5, 6, 7, 8, 255, 0, 128, 1};
  static const int8_t weights[4 * 2] = {1, -1, 2, -2, 3, 127, -128, 4};
  static const int32_t expected[3 * 2] = {-498, 392, -986, 904, 511, 16005};
  int32_t dst[3 * 2];
  octet_error error;
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  octet_gemm* gemm = NULL;
  size_t blob_bytes, workspace_bytes;
  void* blob;

  rhs.type = OCTET_S8;
  rhs.n = 2;
  rhs.k = 4;
  rhs.data = weights;
  CHECK(octet_pack_size(&rhs, OCTET_ISA_AUTO, &blob_bytes, &error));
  blob = aligned(blob_bytes);
  if (!blob) return 1;
  CHECK(octet_pack(&rhs, OCTET_ISA_AUTO, blob, blob_bytes, &error));

  desc.m_max = 3;
  desc.n = 2;
  desc.k = 4;
  desc.lhs_type = OCTET_U8;
  desc.rhs_type = OCTET_S8;
  desc.dst_type = OCTET_S32;
  desc.packed = blob;
  desc.packed_bytes = blob_bytes;
  CHECK(octet_gemm_create(&desc, &gemm, &error));
  CHECK(octet_gemm_workspace(gemm, 3, 1, &workspace_bytes, &error));

  args.m = 3;
  args.lhs = lhs;
  args.dst = dst;
  args.workspace = aligned(workspace_bytes);
  args.workspace_bytes = workspace_bytes;
  CHECK(octet_gemm_run(gemm, &args, &error));
  printf("octet %s, kernel %s\n", octet_version(), octet_gemm_kernel(gemm, 3));

  octet_gemm_destroy(gemm);
  free(args.workspace);
  free(blob);
  if (memcmp(dst, expected, sizeof dst) != 0) {
    fprintf(stderr, "wrong product\n");
    return 1;
  }
  return 0;
}
