// Computes the largest byte of windows, in loops over channels that become vectors.
#include "bench/functions/max_pool.h"

namespace tool {
namespace {

// The outputs of a line whose windows have their pixel kx in the image.
TOOL_INLINE Span outputs_with(size_t kx, const Window& window, size_t in_w, size_t out_w) {
  const size_t stride = window.stride_w, before = window.pad_left;
  const size_t first = before > kx ? (before - kx + stride - 1) / stride : 0;
  const size_t end = in_w + before > kx ? (in_w + before - kx + stride - 1) / stride : 0;
  return {first, std::min(end, out_w)};
}

// A line of outputs takes in pixel kx of all its windows before the next pixel: with a stride of 1
// these lie side by side, and one loop is as long as the line.
template <typename T>
struct MaxLoop {
  static TOOL_INLINE void take_in(T* __restrict to, const T* __restrict from, size_t bytes) {
    for (size_t c = 0; c < bytes; ++c) to[c] = std::max(to[c], from[c]);
  }
  static TOOL_INLINE void take_in_line(const octet_network_image& in,
                                       const octet_network_image& out, const Window& window,
                                       const uint8_t* from, uint8_t* to) {
    const bool dense =
        window.stride_w == 1 && in.pixel == out.channels && out.pixel == out.channels;
    for (size_t kx = 0; kx < window.kernel_w; ++kx) {
      const Span outputs = outputs_with(kx, window, in.w, out.w);
      if (outputs.begin >= outputs.end) continue;
      const size_t step = dense ? outputs.end - outputs.begin : 1;
      for (size_t x = outputs.begin; x < outputs.end; x += step)
        take_in((T*)(to + x * out.pixel),
                (const T*)(from + (x * window.stride_w + kx - window.pad_left) * in.pixel),
                step * out.channels);
    }
  }
  template <typename Change>
  static TOOL_INLINE void change_line(const octet_network_image& out, uint8_t* line,
                                      const Change& change) {
    const bool dense = out.pixel == out.channels;
    const size_t runs = dense ? 1 : out.w, bytes = out.channels * (dense ? out.w : 1);
    for (size_t x = 0; x < runs; ++x) {
      T* const to = (T*)(line + x * out.pixel);
      for (size_t c = 0; c < bytes; ++c) to[c] = change(to[c]);
    }
  }
  static TOOL_INLINE void run(const MaxPool& f, const octet_network_call& call) {
    const octet_network_image &in = call.inputs[0], &out = call.output;
    const T least = (T)f.least, most = (T)f.most;
    for (size_t y = call.first; y < call.end; ++y) {
      uint8_t* const to = output_line(call, y);
      change_line(
          out, to, [&](T) __attribute__((always_inline)) { return least; });
      const Span rows = span_of(y, f.window.kernel_h, f.window.stride_h, f.window.pad_top, in.h);
      for (size_t iy = rows.begin; iy < rows.end; ++iy)
        take_in_line(in, out, f.window, line_of(in, iy), to);
      change_line(
          out, to, [&](T byte) __attribute__((always_inline)) { return std::min(byte, most); });
    }
  }
};

}  // namespace

void run_max_pool(void* context, const octet_network_call* call) {
  const MaxPool& f = *(const MaxPool*)context;
  if (f.type == OCTET_S8)
    run_widest<MaxLoop<int8_t>>(f, *call);
  else
    run_widest<MaxLoop<uint8_t>>(f, *call);
}

}  // namespace tool
