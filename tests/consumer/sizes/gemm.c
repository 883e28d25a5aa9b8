// SPDX-License-Identifier: Apache-2.0
/* Multiplies matrices and does nothing else, so that its size is that of the smallest program with
 * products. It is linked, not run. */
#include <octet/octet.h>

int main(void) {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  octet_gemm* gemm = 0;
  size_t bytes = 0;
  int failed = octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, 0);
  failed |= octet_pack(&rhs, OCTET_ISA_AUTO, 0, bytes, 0);
  failed |= octet_gemm_create(&desc, &gemm, 0);
  failed |= octet_gemm_workspace(gemm, 1, 1, &bytes, 0);
  failed |= octet_gemm_run(gemm, &args, 0);
  octet_gemm_destroy(gemm);
  return failed;
}
