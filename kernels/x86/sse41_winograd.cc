// Winograd's transforms on xmm (kernels/xsimd/winograd.h).
#include "kernels/x86/kernels.h"
#include "kernels/xsimd/winograd.h"

namespace octet {
const WinogradOps sse41_winograd = {
    {input_tile<Winograd2x2, Lanes>, input_tile<Winograd4x4, Lanes>,
     input_tile<Winograd2x2Stride2, Lanes>, input_tile<Winograd2x2Int8, Lanes>},
    {output_tile<Winograd2x2>, output_tile<Winograd4x4>, output_tile<Winograd2x2Stride2>,
     output_tile<Winograd2x2Int8>},
    16};
}  // namespace octet
