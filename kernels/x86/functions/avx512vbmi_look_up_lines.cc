// SPDX-License-Identifier: Apache-2.0
// Looks bytes up in a table of 256 by AVX-512 VBMI.
#include "kernels/generic/functions/look_up.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/look_up.h"

namespace octet {
namespace {

constexpr size_t kVector = sizeof(__m512i);

// Pixels of `bytes` that lie side by side in the input, but not in the output, as in a slice: a
// vector of them is looked up at a time.
template <size_t bytes>
void look_up_pixels(const TableRegisters& table, const octet_network_call& call) {
  alignas(kVector) uint8_t pixels[kVector];
  const octet_network_image &in = call.inputs[0], &out = call.output;
  for (size_t y = call.first; y < call.end; ++y) {
    const uint8_t* from = input_line(in, y);
    uint8_t* to = output_line(call, y);
    for (size_t left = out.w * bytes, some; left > 0; left -= some, from += some) {
      some = left < kVector ? left : kVector;
      const __mmask64 mask = ~(__mmask64)0 >> (kVector - some);
      _mm512_store_si512(pixels, table.look_up(_mm512_maskz_loadu_epi8(mask, from)));
      for (size_t i = 0; i < some; i += bytes, to += out.pixel)
        __builtin_memcpy(to, pixels + i, bytes);
    }
  }
}

}  // namespace

void avx512vbmi_look_up_lines(void* plan, const octet_network_call* call) {
  const TableRegisters table(((const TablePlan*)plan)->table);
  const size_t channels = call->output.channels;
  if (call->inputs[0].pixel == channels && call->output.pixel != channels) {
    if (channels == 8) return look_up_pixels<8>(table, *call);
    if (channels == 16) return look_up_pixels<16>(table, *call);
    if (channels == 32) return look_up_pixels<32>(table, *call);
  }
  for_each_run(*call, [&](const uint8_t* from, uint8_t* to, size_t bytes) {
    for (; bytes >= kVector; bytes -= kVector, from += kVector, to += kVector)
      _mm512_storeu_si512(to, table.look_up(_mm512_loadu_si512(from)));
    const __mmask64 left = ((__mmask64)1 << bytes) - 1;
    if (left) _mm512_mask_storeu_epi8(to, left, table.look_up(_mm512_maskz_loadu_epi8(left, from)));
  });
}

}  // namespace octet
