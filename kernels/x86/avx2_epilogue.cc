// The epilogue of the AVX2 tiers in vectors, and the requantization of tiles in memory. Both are
// intrinsics in loops over rows and columns: compilers need not speed them up.
#include "kernels/x86/shared/epilogue.h"

#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/store_tile_ymm.h"

namespace octet {

bool avx2_epilogue(const Epilogue& f, const EpilogueTile& t) { return epilogue_by_vectors(f, t); }

void avx2_requantize(const Tile& t, const int32_t* acc, size_t acc_stride) {
  requantize_tile(t, acc, acc_stride);
}

}  // namespace octet
