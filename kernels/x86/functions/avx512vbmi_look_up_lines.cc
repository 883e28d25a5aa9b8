// Looks bytes up in a table of 256 by AVX-512 VBMI.
#include "kernels/generic/functions/look_up.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/look_up.h"

namespace octet {

void avx512vbmi_look_up_lines(void* plan, const octet_network_call* call) {
  const TableRegisters table(((const TablePlan*)plan)->table);
  for_each_run(*call, [&](const uint8_t* from, uint8_t* to, size_t bytes) {
    constexpr size_t kVector = sizeof(__m512i);
    for (; bytes >= kVector; bytes -= kVector, from += kVector, to += kVector)
      _mm512_storeu_si512(to, table.look_up(_mm512_loadu_si512(from)));
    const __mmask64 left = ((__mmask64)1 << bytes) - 1;
    if (left) _mm512_mask_storeu_epi8(to, left, table.look_up(_mm512_maskz_loadu_epi8(left, from)));
  });
}

}  // namespace octet
