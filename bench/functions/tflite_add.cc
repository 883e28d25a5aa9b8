// Adds two tensors in TFLite's fixed-point arithmetic.
#include "bench/functions/tflite_add.h"

#include "bench/functions/lines.h"

namespace tool {
namespace {

// gemmlowp's RoundingDivideByPOT(x, shift) of |x| < 2^30: half away from zero.
struct Shift {
  explicit Shift(int32_t shift)
      : bits(shift), half(shift ? 1 << (shift - 1) : 0), sign(shift ? -1 : 0) {}
  TOOL_INLINE int32_t right(int32_t x) const { return (x + half + ((x >> 31) & sign)) >> bits; }
  int32_t bits, half, sign;
};

// SaturatingRoundingDoublingHighMul(difference << 20, multiplier) is
// (difference * multiplier + 2^10) >> 11. The multiplier in two parts keeps that within int32.
struct Multiplier {
  explicit Multiplier(int32_t multiplier) : high(multiplier >> 11), low(multiplier & 2047) {}
  TOOL_INLINE int32_t times(int32_t difference) const {
    return difference * high + ((difference * low + 1024) >> 11);
  }
  int32_t high, low;
};

// SaturatingRoundingDoublingHighMul(x, multiplier); multiplier is not -2^31, so nothing saturates.
TOOL_INLINE int32_t high_product(int32_t x, int32_t multiplier) {
  const int64_t product = int64_t{x} * multiplier + (1 << 30);
  return (int32_t)((uint64_t)product >> 31);
}

template <typename T>
struct AddLoop {
  static TOOL_INLINE void run(const TfliteAdd& f, const octet_network_call& call) {
    const octet_residual r = f.add;
    const int32_t zero_a = f.zero_points[0], zero_b = f.zero_points[1], zero = f.zero_points[2];
    const int32_t least = f.least, most = f.most;
    const Multiplier of_a(r.product_multiplier), of_b(r.residual_multiplier);
    const Shift shift_a(-r.product_shift), shift_b(-r.residual_shift), shift(-r.dst_shift);
    const int32_t multiplier = r.dst_multiplier;
    for_each_run(
        call, [&](const uint8_t* a, const uint8_t* b, uint8_t* to, size_t bytes)
                  __attribute__((always_inline)) {
                    for_each_block(
                        bytes, [&](size_t first, size_t n) __attribute__((always_inline)) {
                          int32_t sums[kBlock];
                          const T* const from_a = (const T*)(a + first);
                          const T* const from_b = (const T*)(b + first);
                          for (size_t i = 0; i < n; ++i)
                            sums[i] = shift_a.right(of_a.times(from_a[i] - zero_a)) +
                                      shift_b.right(of_b.times(from_b[i] - zero_b));
                          for (size_t i = 0; i < n; ++i)
                            sums[i] = high_product(sums[i], multiplier);
                          for (size_t i = 0; i < n; ++i) {
                            const int32_t value = shift.right(sums[i]) + zero;
                            to[first + i] = (uint8_t)std::min(std::max(value, least), most);
                          }
                        });
                  });
  }
};

}  // namespace

void run_tflite_add(void* context, const octet_network_call* call) {
  const TfliteAdd& f = *(const TfliteAdd*)context;
  if (f.type == OCTET_S8)
    run_widest<AddLoop<int8_t>>(f, *call);
  else
    run_widest<AddLoop<uint8_t>>(f, *call);
}

}  // namespace tool
