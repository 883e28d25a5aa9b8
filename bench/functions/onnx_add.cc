// Adds two tensors in float and in integers, as ONNX Runtime does.
#include "bench/functions/onnx_add.h"

#include "bench/functions/lines.h"
#include "bench/functions/round.h"

namespace tool {
namespace {

template <typename T>
struct QLinearLoop {
  static TOOL_INLINE void run(const OnnxAdd& f, const octet_network_call& call) {
    const int32_t shift = f.as_unsigned && f.type == OCTET_S8 ? 128 : 0;
    const auto zero = [&](size_t i) { return (float)(f.zero_points[i] + shift); };
    const float ratio_a = f.scales[0] / f.scales[2], ratio_b = f.scales[1] / f.scales[2];
    const float fixed = zero(2) - __builtin_fmaf(ratio_a, zero(0), ratio_b * zero(1));
    const float least = (float)(f.least + shift), most = (float)(f.most + shift);
    for_each_run(
        call, [&](const uint8_t* a, const uint8_t* b, uint8_t* to,
                  size_t bytes) __attribute__((always_inline)) {
          const T* const from_a = (const T*)a;
          const T* const from_b = (const T*)b;
          for (size_t i = 0; i < bytes; ++i) {
            const float second = __builtin_fmaf((float)(from_b[i] + shift), ratio_b, fixed);
            const float sum = __builtin_fmaf((float)(from_a[i] + shift), ratio_a, second);
            to[i] = (uint8_t)(round_within(sum, least, most) - shift);
          }
        });
  }
};

template <typename T>
struct FloatLoop {
  static TOOL_INLINE void run(const OnnxAdd& f, const octet_network_call& call) {
    const float scale_a = f.scales[0], scale_b = f.scales[1], scale = f.scales[2];
    const int32_t zero_a = f.zero_points[0], zero_b = f.zero_points[1], zero = f.zero_points[2];
    const float least = (float)(f.least - zero), most = (float)(f.most - zero);
    for_each_run(
        call, [&](const uint8_t* a, const uint8_t* b, uint8_t* to, size_t bytes)
                  __attribute__((always_inline)) {
                    const T* const from_a = (const T*)a;
                    const T* const from_b = (const T*)b;
                    for (size_t i = 0; i < bytes; ++i) {
                      const float sum = (float)(from_a[i] - zero_a) * scale_a +
                                        (float)(from_b[i] - zero_b) * scale_b;
                      to[i] = (uint8_t)(round_within(sum / scale, least, most) + zero);
                    }
                  });
  }
};

}  // namespace

void run_qlinear_add(void* context, const octet_network_call* call) {
  run_by_type<QLinearLoop>(*(const OnnxAdd*)context, *call);
}

void run_float_add(void* context, const octet_network_call* call) {
  run_by_type<FloatLoop>(*(const OnnxAdd*)context, *call);
}

}  // namespace tool
