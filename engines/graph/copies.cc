// Copies, quantizes and dequantizes lines of images.
#include "engines/graph/copies.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engines/graph/refused.h"
#include "octet/helpers.h"
#include "octet/image_functions.h"

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

// ---- floats

struct Affine {
  octet_type type;
  float scale;
  int32_t zero_point;
  Arithmetic arithmetic;
};

void quantize_as_xnnpack(const Affine& a, const float* from, size_t n, uint8_t* to) {
  const Bounds all = bounds_of_type(a.type);
  const float inverse = 1 / a.scale, least = (float)(all.least - a.zero_point),
              most = (float)(all.most - a.zero_point);
  for (size_t i = 0; i < n; ++i) {
    const float steps = from[i] * inverse;
    // NaN becomes the largest byte, as on x86.
    const float low = steps < most ? steps : most;
    to[i] = (uint8_t)((int32_t)std::nearbyint(std::max(low, least)) + a.zero_point);
  }
}

void quantize_pixels(const Affine& a, const float* from, size_t n, void* to) {
  if (a.arithmetic == Arithmetic::kXnnpack) return quantize_as_xnnpack(a, from, n, (uint8_t*)to);
  if (a.arithmetic != Arithmetic::kTflite) {
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

Function owned_function(octet_function* function) {
  Function f;
  f.arguments = std::shared_ptr<octet_function>(function, octet_function_destroy);
  octet_error error = {};
  check(octet_function_for_network(function, &f.lines, &error), error);
  return f;
}

Function transpose_function(octet_type type, const Sizes& nhwc, octet_layout to) {
  octet_transpose_desc d = OCTET_TRANSPOSE_DESC_INIT;
  d.input.size = {nhwc.h, nhwc.w, nhwc.channels};
  d.input.values.type = type, d.to = to;
  octet_function* function = nullptr;
  octet_error error = {};
  check(octet_transpose_create(&d, &function, &error), error);
  return owned_function(function);
}

Function quantize_function(octet_type type, float scale, int32_t zero_point,
                           Arithmetic arithmetic) {
  return make(Affine{type, scale, zero_point, arithmetic}, quantize_lines, 1);
}

Function dequantize_function(octet_type type, float scale, int32_t zero_point) {
  return make(Affine{type, scale, zero_point, {}}, dequantize_lines, 1);
}

}  // namespace octet::graph
