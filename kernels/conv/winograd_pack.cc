// Weights into Winograd's domain.
#include <string.h>

#include "kernels/conv/winograd.h"

namespace octet {
namespace {

int32_t weight(const ConvShape& shape, const FilterView& f, size_t o, size_t tap, size_t i) {
  return (int8_t)(*f.at(shape, o, tap / 3, tap % 3, i) ^ (f.is_u8 ? 0x80 : 0));
}

// Whether no output channel's sum over a chunk of `chunk` input channels can leave the range in which the factor can be removed.
bool fits(const WinogradScheme& s, const ConvShape& shape, const FilterView& filter, size_t chunk) {
  const size_t channels = shape.group_in();
  for (size_t o = 0; o < shape.out_channels; ++o)
    for (size_t first = 0; first < channels; first += chunk) {
      int32_t sum = 0;
      for (size_t i = first; i < smaller(channels, first + chunk); ++i)
        for (size_t tap = 0; tap < 9; ++tap) {
          const int32_t w = weight(shape, filter, o, tap, i);
          sum += w < 0 ? -w : w;
        }
      if (sum >= s.weight_limit) return false;
    }
  return true;
}

// The fewest equal chunks that fit, so that a run knows the chunk's size and nothing else.
size_t choose_chunk(const WinogradScheme& s, const RhsLayout& layout, const ConvShape& shape, const FilterView& filter) {
  const size_t channels = shape.group_in(), least = (size_t)(s.weight_limit - 1) / (9 * 128) / layout.kr * layout.kr;  // fits any weights
  for (size_t parts = 1;; ++parts) {
    const size_t chunk = round_up(divide_up(channels, parts), layout.kr);
    if (chunk <= least || fits(s, shape, filter, chunk)) return chunk;
  }
}

// out[y][x] = G w G^T of one pair of channels. At most 18432 in magnitude.
void transform(const WinogradScheme& s, const int32_t (&w)[9], int16_t* out) {
  int32_t lines[kMaxPatch][3];
  for (size_t y = 0; y < s.patch; ++y)
    for (size_t x = 0; x < 3; ++x) lines[y][x] = s.g[y][0] * w[x] + s.g[y][1] * w[3 + x] + s.g[y][2] * w[6 + x];
  for (size_t y = 0; y < s.patch; ++y)
    for (size_t x = 0; x < s.patch; ++x) out[y * s.patch + x] = (int16_t)(s.g[x][0] * lines[y][0] + s.g[x][1] * lines[y][1] + s.g[x][2] * lines[y][2]);
}

}  // namespace

const char* winograd_refuse(const WinogradScheme& s, const ConvShape& shape, bool weight_zero_points) {
  if (shape.kernel_h != 3 || shape.kernel_w != 3) return "the kernel is not 3x3";
  if (shape.transposed) return "the convolution is transposed";
  if (shape.stride_h != s.stride || shape.stride_w != s.stride) return s.stride == 1 ? "the stride is not 1" : "the stride is not 2";
  if (shape.dilation_h != 1 || shape.dilation_w != 1) return "the kernel is dilated";
  if (weight_zero_points) return "a weight zero point is not 0 (128 for u8), and w - zero_point would leave 8 bits";
  return nullptr;
}

size_t winograd_payload_bytes(const WinogradScheme& s, const RhsLayout& layout, const ConvShape& shape) {
  size_t bytes;
  if (__builtin_mul_overflow(layout.depth(shape.group_in()), round_up(shape.group_out(), layout.width), &bytes)) return 0;
  if (__builtin_mul_overflow(bytes, s.taps() * domain_bytes(layout.domain), &bytes)) return 0;
  if (__builtin_mul_overflow(bytes, shape.groups, &bytes)) return 0;
  if (__builtin_add_overflow(bytes, sizeof(WinogradHeader), &bytes)) return 0;
  return bytes;
}

void winograd_pack(const WinogradScheme& s, const RhsLayout& layout, const ConvShape& shape, const FilterView& filter, uint8_t* payload) {
  const WinogradWeights sizes(s, layout, shape);
  WinogradHeader header = {};
  header.chunk = (uint32_t)choose_chunk(s, layout, shape, filter);
  memcpy(payload, &header, sizeof header);
  payload += sizeof header;
  memset(payload, 0, shape.groups * sizes.group_bytes);
  const size_t group_out = shape.group_out();
  for (size_t o = 0; o < shape.out_channels; ++o) {
    const size_t lane = o % group_out % layout.width;
    uint8_t* const panel = payload + o / group_out * sizes.group_bytes + o % group_out / layout.width * sizes.panel_bytes;
    for (size_t i = 0; i < shape.group_in(); ++i) {
      int32_t w[9];
      int16_t taps[kMaxTaps];
      for (size_t tap = 0; tap < 9; ++tap) w[tap] = weight(shape, filter, o, tap, i);
      transform(s, w, taps);
      uint8_t* const at = panel + ((i / layout.kr * layout.width + lane) * layout.kr + i % layout.kr) * sizeof(int16_t);
      for (size_t tap = 0; tap < s.taps(); ++tap) memcpy(at + tap * sizes.tap_bytes, &taps[tap], sizeof(int16_t));
    }
  }
}

}  // namespace octet
