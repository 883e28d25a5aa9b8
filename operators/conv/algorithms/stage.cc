// Copies lines between layouts and element types: NCHW, NHWC, floats to int8.
#include "operators/conv/algorithms/stage.h"

#include <string.h>

namespace octet {
namespace {

// Transposes the pixels of a line between planes (NCHW) and contiguous pixels (NHWC). Blocks keep
// both sides within a cache.
template <typename T, bool to_planes>
void transpose_line(T* planes, size_t plane, T* pixels, size_t width, size_t channels) {
  constexpr size_t kBlock = 16;
  for (size_t x0 = 0; x0 < width; x0 += kBlock)
    for (size_t c = 0; c < channels; ++c)
      for (size_t x = x0; x < smaller(width, x0 + kBlock); ++x) {
        T& in_plane = planes[c * plane + x];
        T& in_pixel = pixels[x * channels + c];
        if (to_planes)
          in_plane = in_pixel;
        else
          in_pixel = in_plane;
      }
}

template <bool to_planes>
void transpose(const Tensor& t, size_t image, size_t y, uint8_t* pixels) {
  const size_t plane = t.h * t.w;
  uint8_t* const planes = t.data + (image * t.channels * plane + y * t.w) * t.element;
  if (t.element == 1)
    transpose_line<uint8_t, to_planes>(planes, plane, pixels, t.w, t.channels);
  else
    transpose_line<uint32_t, to_planes>((uint32_t*)planes, plane, (uint32_t*)pixels, t.w,
                                        t.channels);
}

// Quantizes `width` pixels of a line of floats.
void quantize_line(const Tensor& from, const Quantizer& q, size_t image, size_t y, size_t width,
                   uint8_t* to) {
  const float* const data = (const float*)from.data;
  const size_t channels = from.channels;
  if (!from.nchw) {
    const size_t pixel = from.pixel / sizeof(float);
    const float* const pixels = (const float*)from.line(image, y);
    if (pixel == channels) return q.quantize(q.by, pixels, width * channels, to);
    for (size_t x = 0; x < width; ++x)
      q.quantize(q.by, pixels + x * pixel, channels, to + x * channels);
    return;
  }
  constexpr size_t kPiece = 64;
  uint8_t piece[kPiece];  // of a plane's line
  const size_t plane = from.h * from.w;
  const float* const planes = data + image * channels * plane + y * from.w;
  for (size_t x0 = 0; x0 < width; x0 += kPiece)
    for (size_t c = 0; c < channels; ++c) {
      const size_t pixels = smaller(width - x0, kPiece);
      q.quantize(q.by, planes + c * plane + x0, pixels, piece);
      for (size_t x = 0; x < pixels; ++x) to[(x0 + x) * channels + c] = piece[x];
    }
}

}  // namespace

void nchw_to_nhwc(const Tensor& from, size_t image, size_t y, uint8_t* to) {
  transpose<false>(from, image, y, to);
}

void nhwc_to_nchw(const uint8_t* from, size_t image, size_t y, const Tensor& to) {
  transpose<true>(to, image, y, (uint8_t*)from);
}

void stage_line(const Tensor& from, const Quantizer& q, const Borders& b, size_t image, size_t y,
                uint8_t zero, uint8_t* to) {
  const size_t channels = from.channels;
  if (y < b.top || y - b.top >= from.h) {
    memset(to, zero, b.w * channels);
    return;
  }
  const size_t left = smaller(b.left, b.w), inside = smaller(from.w, b.w - left),
               right = b.w - left - inside;
  memset(to, zero, left * channels);
  to += left * channels;
  if (q.quantize) {
    quantize_line(from, q, image, y - b.top, inside, to);
  } else if (from.nchw) {
    const size_t plane = from.h * from.w;
    transpose_line<uint8_t, false>(from.data + image * channels * plane + (y - b.top) * from.w,
                                   plane, to, inside, channels);
  } else {
    const uint8_t* const pixels = from.line(image, y - b.top);
    if (from.pixel == channels)
      memcpy(to, pixels, inside * channels);
    else
      for (size_t x = 0; x < inside; ++x)
        memcpy(to + x * channels, pixels + x * from.pixel, channels);
  }
  memset(to + inside * channels, zero, right * channels);
}

}  // namespace octet
