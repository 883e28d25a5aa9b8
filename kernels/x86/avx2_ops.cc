// SPDX-License-Identifier: Apache-2.0
// The operations of the AVX2 tiers besides multiplying.
#include <cpuid.h>

#include "kernels/core/parts.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/avx2_plain_ops.h"
#include "kernels/x86/shared/quantize_floats.h"
#include "kernels/x86/shared/tflite.h"

namespace octet {
namespace {
void epilogue_x86(const Epilogue& f, const EpilogueTile& t) {
  if (!avx2_epilogue(f, t)) avx2_apply_epilogue(f, t);
}

// Whether there is FMA, which AVX2's CPUs of VIA lack, and rounds as MXCSR says, which valgrind's
// does not.
bool fma_rounds_by_mxcsr() {
  enum { kUnknown, kNo, kYes };
  static int known = kUnknown;
  int is = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (is != kUnknown) return is == kYes;
  unsigned eax, ebx, ecx, edx;
  is = kNo;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx & bit_FMA) {
    __m128 sum = _mm_set_ss(1);
    const __m128 less = _mm_set_ss(0x1.8p-24f);  // three quarters of 1's last bit
    __asm__ volatile("" : "+x"(sum));
    {
      const TowardsZero rounding(true);
      sum = _mm_fmadd_ss(sum, less, sum);
      __asm__ volatile("" : "+x"(sum));
    }
    if (_mm_cvtss_f32(sum) == 1) is = kYes;
  }
  __atomic_store_n(&known, is, __ATOMIC_RELAXED);
  return is == kYes;
}
}  // namespace

const TierOps avx2_ops = {avx2_init,
                          epilogue_x86,
                          avx2_sum_rows,
                          quantize_rows_by<quantize_floats_x86>,
                          measure_rows,
                          find_ends,
                          quantize_floats_x86,
                          avx2_copy_windows,
                          OCTET_IF(INT16, avx2_split_s16, nullptr),
                          OCTET_IF(INT16, avx2_finish_s16, nullptr),
                          avx2_find_tflite_add,
                          TfliteForm::kFloats,
                          fma_rounds_by_mxcsr,
                          avx2_look_up};
}  // namespace octet
