#include "kernels/conv/stage.h"

#include <string.h>

namespace octet {
namespace {

constexpr size_t kSlack = 64;  // readable bytes behind the last pixel

// Pixels of one line, channel by channel in planes, or side by side. Blocks keep both sides within
// a cache.
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
void transpose(const OutputLine& l, uint8_t* nchw, uint8_t* nhwc, size_t index) {
  const size_t plane = l.out_h * l.out_w, image = index / l.out_h, y = index % l.out_h;
  const size_t planar = image * l.channels * plane + y * l.out_w,
               interleaved = index * l.out_w * l.channels;
  if (l.element_bytes == 1)
    transpose_line<uint8_t, to_planes>(nchw + planar, plane, nhwc + interleaved, l.out_w,
                                       l.channels);
  else
    transpose_line<uint32_t, to_planes>((uint32_t*)nchw + planar, plane,
                                        (uint32_t*)nhwc + interleaved, l.out_w, l.channels);
}

}  // namespace

Stage plan_stage(const ConvShape& s, bool lhs_nchw, bool dst_nchw, bool borders, size_t batch,
                 size_t in_h, size_t in_w, size_t dst_bytes, bool residual) {
  const size_t out_h = conv_out_h(s, in_h), out_w = conv_out_w(s, in_w),
               outputs = batch * out_h * out_w * s.out_channels;
  Stage stage = {};
  stage.input = lhs_nchw || borders;
  stage.output = dst_nchw;
  stage.borders = borders;
  // With borders: just the lines and columns that some window reaches.
  stage.in_h = borders ? (out_h - 1) * s.stride_h + s.dilation_h * (s.kernel_h - 1) + 1 : in_h;
  stage.in_w = borders ? (out_w - 1) * s.stride_w + s.dilation_w * (s.kernel_w - 1) + 1 : in_w;
  stage.row = stage.in_w * s.in_channels;
  stage.image = stage.in_h * stage.row;
  stage.input_bytes = stage.input ? round_up(batch * stage.image + kSlack, 64) : 0;
  stage.output_bytes = stage.output ? round_up(outputs * dst_bytes, 64) : 0;
  stage.residual_bytes = stage.output && residual ? round_up(outputs, 64) : 0;
  return stage;
}

void stage_input_line(const InputLine& l, size_t index) {
  const ConvShape& s = *l.shape;
  const Stage& stage = *l.stage;
  const size_t channels = s.in_channels, image = index / stage.in_h, y = index % stage.in_h;
  const size_t top = stage.borders ? s.pad_top : 0,
               left = stage.borders ? smaller(s.pad_left, stage.in_w) : 0;
  const uint8_t* const zeros = l.zero_rows + image * l.zero_row_stride;  // all bytes alike
  uint8_t* to = l.to + image * stage.image + y * stage.row;
  if (y < top || y - top >= l.in_h) {
    memset(to, zeros[0], stage.row);
    return;
  }
  const size_t inside = smaller(l.in_w, stage.in_w - left), right = stage.in_w - left - inside;
  memset(to, zeros[0], left * channels);
  to += left * channels;
  if (l.nchw) {
    const size_t plane = l.in_h * l.in_w;
    transpose_line<uint8_t, false>((uint8_t*)l.from + image * channels * plane + (y - top) * l.in_w,
                                   plane, to, inside, channels);
  } else {
    const uint8_t* from = l.from + (image * l.in_h + y - top) * l.in_w * l.pixel;
    if (l.pixel == channels)
      memcpy(to, from, inside * channels);
    else
      for (size_t x = 0; x < inside; ++x) memcpy(to + x * channels, from + x * l.pixel, channels);
  }
  memset(to + inside * channels, zeros[0], right * channels);
}

void nhwc_to_nchw(const OutputLine& line, const uint8_t* nhwc, uint8_t* nchw, size_t index) {
  transpose<true>(line, nchw, (uint8_t*)nhwc, index);
}
void nchw_to_nhwc(const OutputLine& line, const uint8_t* nchw, uint8_t* nhwc, size_t index) {
  transpose<false>(line, (uint8_t*)nchw, nhwc, index);
}

}  // namespace octet
