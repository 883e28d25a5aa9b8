// Copies, transposes, quantizes and dequantizes lines of images.
#include "engines/graph/copies.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "octet/helpers.h"

namespace octet::graph {
namespace {

// ---- copies

struct Copy {
  size_t element;
  bool has_table;
  uint8_t table[256];
};

// Elements of an image in their order, piece by piece: a line, or, of a slice, a pixel.
class Pieces {
 public:
  Pieces(const octet_network_image& image, size_t element, size_t first_byte)
      : image_(image),
        dense_(image.pixel == image.channels * element),
        piece_(dense_ ? image.w * image.pixel : image.channels * element),
        index_(first_byte / piece_),
        used_(first_byte % piece_) {}

  uint8_t* data() const {
    const size_t y = dense_ ? index_ : index_ / image_.w, x = dense_ ? 0 : index_ % image_.w;
    return (uint8_t*)octet_network_line(&image_, y) + x * image_.pixel + used_;
  }
  size_t left() const { return piece_ - used_; }
  void advance(size_t bytes) {
    used_ += bytes;
    if (used_ == piece_) ++index_, used_ = 0;
  }

 private:
  const octet_network_image& image_;
  const bool dense_;
  const size_t piece_;
  size_t index_, used_;
};

void copy_lines(void* context, const octet_network_call* call) {
  const Copy& copy = *(const Copy*)context;
  const octet_network_image& out = call->output;
  const size_t line = out.w * out.channels * copy.element;
  Pieces from(call->inputs[0], copy.element, call->first * line);
  Pieces to(out, copy.element, call->first * line);
  for (size_t left = (call->end - call->first) * line; left > 0;) {
    const size_t bytes = std::min({left, from.left(), to.left()});
    uint8_t* const out_bytes = to.data();
    const uint8_t* const in_bytes = from.data();
    if (copy.has_table)
      for (size_t i = 0; i < bytes; ++i) out_bytes[i] = copy.table[in_bytes[i]];
    else
      std::memcpy(out_bytes, in_bytes, bytes);
    from.advance(bytes), to.advance(bytes), left -= bytes;
  }
}

// ---- orders of channels

struct Channels {
  size_t channels, pixels;
};

// The plane-wise image is dense.
template <typename T>
void to_channels_last(void* context, const octet_network_call* call) {
  const Channels& c = *(const Channels*)context;
  const octet_network_image& out = call->output;
  const T* const from = (const T*)octet_network_line(&call->inputs[0], 0);
  for (size_t y = call->first; y < call->end; ++y)
    for (size_t channel = 0; channel < c.channels; ++channel) {
      const T* const plane = from + channel * c.pixels + y * out.w;
      uint8_t* to = (uint8_t*)octet_network_line(&out, y) + channel * sizeof(T);
      for (size_t x = 0; x < out.w; ++x, to += out.pixel) std::memcpy(to, plane + x, sizeof(T));
    }
}

template <typename T>
void to_channels_first(void* context, const octet_network_call* call) {
  const Channels& c = *(const Channels*)context;
  const octet_network_image &in = call->inputs[0], &out = call->output;
  const size_t line = out.w * out.channels;
  T* to = (T*)octet_network_line(&out, call->first);
  for (size_t i = call->first * line; i < call->end * line; ++i, ++to) {
    const size_t channel = i / c.pixels, pixel = i % c.pixels;
    const uint8_t* const from = (const uint8_t*)octet_network_line(&in, pixel / in.w) +
                                pixel % in.w * in.pixel + channel * sizeof(T);
    std::memcpy(to, from, sizeof(T));
  }
}

// ---- floats

struct Affine {
  octet_type type;
  float scale;
  int32_t zero_point;
  bool half_away;
};

void quantize_pixels(const Affine& a, const float* from, size_t n, void* to) {
  if (!a.half_away) {
    octet_quantize(from, n, a.scale, a.zero_point, a.type, to, nullptr);
    return;
  }
  const Bounds all = bounds_of_type(a.type);
  for (size_t i = 0; i < n; ++i) {
    const float steps = std::clamp(std::round(from[i] / a.scale), -65536.f, 65536.f);
    const int32_t whole = std::isnan(steps) ? 0 : (int32_t)steps;
    ((uint8_t*)to)[i] = (uint8_t)std::clamp(whole + a.zero_point, all.least, all.most);
  }
}

template <typename Convert>
void for_each_pixel(const octet_network_call& call, const Convert& convert) {
  const octet_network_image &in = call.inputs[0], &out = call.output;
  for (size_t y = call.first; y < call.end; ++y)
    for (size_t x = 0; x < out.w; ++x)
      convert((const uint8_t*)octet_network_line(&in, y) + x * in.pixel,
              (uint8_t*)octet_network_line(&out, y) + x * out.pixel, out.channels);
}

void quantize_lines(void* context, const octet_network_call* call) {
  for_each_pixel(*call, [&](const uint8_t* from, uint8_t* to, size_t n) {
    quantize_pixels(*(const Affine*)context, (const float*)from, n, to);
  });
}

void dequantize_lines(void* context, const octet_network_call* call) {
  const Affine& a = *(const Affine*)context;
  for_each_pixel(*call, [&](const uint8_t* from, uint8_t* to, size_t n) {
    octet_dequantize(from, a.type, n, a.scale, a.zero_point, (float*)to, nullptr);
  });
}

template <typename Arguments>
Function make(const Arguments& arguments, void (*run)(void*, const octet_network_call*),
              size_t kernel_h) {
  Function f;
  f.arguments = std::make_shared<Arguments>(arguments);
  f.lines.run = run, f.lines.context = f.arguments.get(), f.lines.kernel_h = kernel_h;
  return f;
}

}  // namespace

Function copy_function(size_t element, const std::vector<uint8_t>& table) {
  Copy copy = {element, !table.empty(), {}};
  std::copy(table.begin(), table.end(), copy.table);
  return make(copy, copy_lines, 0);  // any line may want all of the input's
}

Function channels_last_function(size_t element, size_t channels, size_t pixels) {
  return make(Channels{channels, pixels},
              element == 1 ? to_channels_last<uint8_t> : to_channels_last<uint32_t>, 0);
}

Function channels_first_function(size_t element, size_t channels, size_t pixels) {
  return make(Channels{channels, pixels},
              element == 1 ? to_channels_first<uint8_t> : to_channels_first<uint32_t>, 0);
}

Function quantize_function(octet_type type, float scale, int32_t zero_point, bool half_away) {
  return make(Affine{type, scale, zero_point, half_away}, quantize_lines, 1);
}

Function dequantize_function(octet_type type, float scale, int32_t zero_point) {
  return make(Affine{type, scale, zero_point, false}, dequantize_lines, 1);
}

}  // namespace octet::graph
