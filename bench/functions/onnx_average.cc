// Averages windows in float, as ONNX Runtime does.
#include "bench/functions/onnx_average.h"

#include "bench/functions/round.h"
#include "bench/functions/sums.h"

namespace tool {
namespace {

template <typename T>
struct WindowLoop {
  static TOOL_INLINE void run(const OnnxAverage& f, const octet_network_call& call) {
    const octet_network_image &in = call.inputs[0], &out = call.output;
    const int32_t shift = f.as_unsigned && f.type == OCTET_S8 ? 128 : 0;
    const int32_t zero = f.zero_points[0];
    const float scale = f.scales[0], out_scale = f.scales[1],
                out_zero = (float)(f.zero_points[1] + shift);
    const float least = (float)(f.least + shift), most = (float)(f.most + shift);
    for (size_t y = call.first; y < call.end; ++y)
      for (size_t x = 0; x < out.w; ++x) {
        const float count = (float)pixels_of(in, f.window, y, x);
        for_each_block(
            out.channels, [&](size_t first, size_t n) __attribute__((always_inline)) {
              float sums[kBlock];
              sum_window<T>(
                  in, f.window, y, x, first, n, sums, [&](T byte) __attribute__((always_inline)) {
                    return (float)(byte - zero) * scale;
                  });
              uint8_t* const to = output_line(call, y) + x * out.pixel + first;
              for (size_t c = 0; c < n; ++c)
                to[c] =
                    (uint8_t)(round_within(sums[c] / count / out_scale + out_zero, least, most) -
                              shift);
            });
      }
  }
};

template <typename T>
struct ImageLoop {
  static TOOL_INLINE void run(const OnnxAverage& f, const octet_network_call& call) {
    const octet_network_image &in = call.inputs[0], &out = call.output;
    const int32_t zero = f.zero_points[0], out_zero = f.zero_points[1];
    const float factor = f.scales[0] / (f.scales[1] * (float)(in.h * in.w));
    const float least = (float)(f.least - out_zero), most = (float)(f.most - out_zero);
    for_each_block(
        out.channels, [&](size_t first, size_t n) __attribute__((always_inline)) {
          int32_t sums[kBlock];
          sum_window<T>(
              in, f.window, 0, 0, first, n,
              sums, [&](T byte) __attribute__((always_inline)) { return byte - zero; });
          uint8_t* const to = output_line(call, 0) + first;
          for (size_t c = 0; c < n; ++c)
            to[c] = (uint8_t)(round_within((float)sums[c] * factor, least, most) + out_zero);
        });
  }
};

}  // namespace

void run_qlinear_average(void* context, const octet_network_call* call) {
  run_by_type<WindowLoop>(*(const OnnxAverage*)context, *call);
}

void run_qlinear_global_average(void* context, const octet_network_call* call) {
  run_by_type<ImageLoop>(*(const OnnxAverage*)context, *call);
}

}  // namespace tool
