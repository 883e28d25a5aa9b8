// Walks through the bytes of an image's lines, as functions over lines do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bench/functions/widest.h"
#include "octet/network.h"

namespace tool {

TOOL_INLINE const uint8_t* line_of(const octet_network_image& image, size_t y) {
  return (const uint8_t*)octet_network_line(&image, y);
}
TOOL_INLINE uint8_t* output_line(const octet_network_call& call, size_t y) {
  return (uint8_t*)octet_network_line(&call.output, y);
}

// Calls add(a, b, to, bytes) for all output bytes of a call with two inputs of the output's sizes,
// with as many bytes at a time as are contiguous in all three images.
template <typename Add>
TOOL_INLINE void for_each_run(const octet_network_call& call, const Add& add) {
  const octet_network_image &a = call.inputs[0], &b = call.inputs[1], &out = call.output;
  const bool dense =
      a.pixel == out.channels && b.pixel == out.channels && out.pixel == out.channels;
  const size_t runs = dense ? 1 : out.w, bytes = dense ? out.w * out.channels : out.channels;
  for (size_t y = call.first; y < call.end; ++y)
    for (size_t x = 0; x < runs; ++x)
      add(line_of(a, y) + x * a.pixel, line_of(b, y) + x * b.pixel,
          output_line(call, y) + x * out.pixel, bytes);
}

// ---- windows

struct Window {
  size_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left;
};

// The part of a window that lies in the image.
struct Span {
  size_t begin, end;
};
// Requires kernel > pad and a window with at least one of the `in` lines or pixels.
TOOL_INLINE Span span_of(size_t out, size_t kernel, size_t stride, size_t pad, size_t in) {
  const size_t at = out * stride;
  return {at > pad ? at - pad : 0, std::min(at + kernel - pad, in)};
}

// Calls pixel(bytes of the first of the channels) for each pixel of the window at (y, x) of the
// output that is there, line by line.
template <typename Pixel>
TOOL_INLINE void for_each_pixel(const octet_network_image& in, const Window& window, size_t y,
                                size_t x, size_t first_channel, const Pixel& pixel) {
  const Span rows = span_of(y, window.kernel_h, window.stride_h, window.pad_top, in.h);
  const Span columns = span_of(x, window.kernel_w, window.stride_w, window.pad_left, in.w);
  for (size_t iy = rows.begin; iy < rows.end; ++iy) {
    const uint8_t* const line = line_of(in, iy) + first_channel;
    for (size_t ix = columns.begin; ix < columns.end; ++ix) pixel(line + ix * in.pixel);
  }
}
TOOL_INLINE size_t pixels_of(const octet_network_image& in, const Window& window, size_t y,
                             size_t x) {
  const Span rows = span_of(y, window.kernel_h, window.stride_h, window.pad_top, in.h);
  const Span columns = span_of(x, window.kernel_w, window.stride_w, window.pad_left, in.w);
  return (rows.end - rows.begin) * (columns.end - columns.begin);
}

// ---- blocks of channels

constexpr size_t kBlock = 256;

// Calls block(first channel, channels) for blocks of at most kBlock channels.
template <typename Block>
TOOL_INLINE void for_each_block(size_t channels, const Block& block) {
  for (size_t first = 0; first < channels; first += kBlock)
    block(first, std::min(kBlock, channels - first));
}

// Runs a loop for the function's type, s8 or u8.
template <template <typename> class Loop, typename Function>
void run_by_type(const Function& f, const octet_network_call& call) {
  if (f.type == OCTET_S8)
    run_widest<Loop<int8_t>>(f, call);
  else
    run_widest<Loop<uint8_t>>(f, call);
}

}  // namespace tool
