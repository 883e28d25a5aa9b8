// Averages windows in integers, as TFLite does.
#include "bench/functions/tflite_average.h"

#include "bench/functions/sums.h"

namespace tool {
namespace {

template <typename T>
struct AverageLoop {
  static TOOL_INLINE void run(const TfliteAverage& f, const octet_network_call& call) {
    const octet_network_image &in = call.inputs[0], &out = call.output;
    const int32_t least = f.least, most = f.most;
    for (size_t y = call.first; y < call.end; ++y)
      for (size_t x = 0; x < out.w; ++x) {
        const int32_t count = (int32_t)pixels_of(in, f.window, y, x), half = count / 2;
        for_each_block(
            out.channels, [&](size_t first, size_t n) __attribute__((always_inline)) {
              int32_t sums[kBlock];
              sum_window<T>(
                  in, f.window, y, x, first, n, sums,
                  [](T byte) __attribute__((always_inline)) { return int32_t{byte}; });
              uint8_t* const to = output_line(call, y) + x * out.pixel + first;
              for (size_t c = 0; c < n; ++c) {
                const int32_t sum = sums[c] + (sums[c] > 0 ? half : -half);
                // The truncated quotient of these integers is the same in double, which vectors can
                // divide
                const int32_t value = (int32_t)((double)sum / (double)count);
                to[c] = (uint8_t)std::min(std::max(value, least), most);
              }
            });
      }
  }
};

}  // namespace

void run_tflite_average(void* context, const octet_network_call* call) {
  const TfliteAverage& f = *(const TfliteAverage*)context;
  if (f.type == OCTET_S8)
    run_widest<AverageLoop<int8_t>>(f, *call);
  else
    run_widest<AverageLoop<uint8_t>>(f, *call);
}

}  // namespace tool
