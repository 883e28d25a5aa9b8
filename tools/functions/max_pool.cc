#include "max_pool.h"

namespace tool {
namespace {

template <typename T>
struct MaxLoop {
  static TOOL_INLINE void run(const MaxPool& f, const octet_network_call& call) {
    const octet_network_image &in = call.inputs[0], &out = call.output;
    const T least = static_cast<T>(f.least), most = static_cast<T>(f.most);
    for (size_t y = call.first; y < call.end; ++y)
      for (size_t x = 0; x < out.w; ++x) {
        T* const __restrict to = reinterpret_cast<T*>(output_line(call, y) + x * out.pixel);
        const size_t channels = out.channels;
        for (size_t c = 0; c < channels; ++c) to[c] = least;
        for_each_pixel(
            in, f.window, y, x, 0, [&](const uint8_t* bytes) __attribute__((always_inline)) {
              const T* const __restrict from = reinterpret_cast<const T*>(bytes);
              for (size_t c = 0; c < channels; ++c) to[c] = std::max(to[c], from[c]);
            });
        for (size_t c = 0; c < channels; ++c) to[c] = std::min(to[c], most);
      }
  }
};

}  // namespace

void run_max_pool(void* context, const octet_network_call* call) {
  const MaxPool& f = *static_cast<const MaxPool*>(context);
  if (f.type == OCTET_S8)
    run_widest<MaxLoop<int8_t>>(f, *call);
  else
    run_widest<MaxLoop<uint8_t>>(f, *call);
}

}  // namespace tool
