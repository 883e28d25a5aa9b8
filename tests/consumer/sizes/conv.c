// SPDX-License-Identifier: Apache-2.0
/* Convolves and does nothing else: see gemm.c. */
#include <octet/octet.h>

int main(void) {
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  octet_conv2d* conv = 0;
  size_t bytes = 0;
  int failed = octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, 0);
  failed |= octet_conv2d_pack(&filter, OCTET_ISA_AUTO, 0, bytes, 0);
  failed |= octet_conv2d_create(&desc, &conv, 0);
  failed |= octet_conv2d_workspace(conv, 1, 1, 1, 1, &bytes, 0);
  failed |= octet_conv2d_run(conv, &args, 0);
  octet_conv2d_destroy(conv);
  return failed;
}
