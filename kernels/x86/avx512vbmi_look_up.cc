// SPDX-License-Identifier: Apache-2.0
// Maps bytes of rows through a table of 256, in place, by AVX-512 VBMI.
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/epilogue_rows.h"
#include "kernels/x86/shared/look_up.h"

namespace octet {
void avx512vbmi_look_up(const uint8_t* lut, uint8_t* dst, size_t stride, size_t rows, size_t cols) {
  look_up_tile(TableRegisters(lut), dst, stride, rows, cols);
}

}  // namespace octet
