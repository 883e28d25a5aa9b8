// SPDX-License-Identifier: Apache-2.0
// Draws functions of networks.
#include "fuzz/network/functions.h"

#include "fuzz/fuzz.h"

namespace octet_fuzz {
namespace {

size_t read(const uint8_t* at, size_t element) {
  return element == 2 ? (size_t)value_at(OCTET_S16, at) : *at;
}

octet_quantized quantized(Choices* c, octet_type type) {
  const float scale = c->any({0.02f, 0.03f, 0x1p-6f});
  if (type == OCTET_S16) return {type, scale / 256, 0};
  return {type, scale, c->any({centre(type), centre(type) + 9})};
}

struct Maker {
  Choices* c;
  const octet_network_tensor& in;
  LibraryFunction made;

  octet_image_input image(const octet_quantized& values) const {
    octet_image_input input = {};
    input.size = {in.h, in.w, in.channels}, input.values = values;
    return input;
  }
  template <typename Desc>
  void create(const char* what, Desc* desc,
              octet_status (*with)(const Desc*, octet_function**, octet_error*)) {
    octet_function* function = nullptr;
    must_accept(what, [&](octet_error* e) { return with(desc, &function, e); });
    made.object.reset(function);
    must_accept("octet_function_for_network", [&](octet_error* e) {
      return octet_function_for_network(function, &made.lines, e);
    });
  }

  void sum() {
    octet_add_desc d = OCTET_ADD_DESC_INIT;
    d.a = quantized(c, in.type), d.b = quantized(c, in.type), d.output = quantized(c, in.type);
    d.arithmetic = OCTET_ARITHMETIC_TFLITE;
    made.inputs = 2;
    if (c->one_in(2)) return create("octet_add_create", &d, octet_add_create);
    create("octet_mul_create", &d, octet_mul_create);
  }
  void unary() {
    octet_unary_desc d = OCTET_UNARY_DESC_INIT;
    const bool s16 = in.type == OCTET_S16;
    d.input = quantized(c, in.type), d.arithmetic = OCTET_ARITHMETIC_TFLITE;
    d.function = c->any(
        {OCTET_UNARY_LEAKY_RELU, OCTET_UNARY_LOGISTIC, OCTET_UNARY_TANH, OCTET_UNARY_REQUANTIZE});
    if (d.function == OCTET_UNARY_LEAKY_RELU) d.alpha = 0.3f;
    if (d.function == OCTET_UNARY_REQUANTIZE && in.type != OCTET_U8)
      made.type = c->any({OCTET_S8, OCTET_S16});
    d.output = quantized(c, made.type);
    if (s16 && (d.function == OCTET_UNARY_LOGISTIC || d.function == OCTET_UNARY_TANH))
      d.output.scale = 0x1p-15f;
    create("octet_unary_create", &d, octet_unary_create);
  }
  void pool() {
    octet_window w = {};
    w.kernel_h = 1 + c->below(std::min<size_t>(in.h, 4)), w.stride_h = 1 + c->below(3);
    w.kernel_w = 1 + c->below(std::min<size_t>(in.w, 3)), w.stride_w = 1 + c->below(2);
    w.pad_top = c->below(w.kernel_h), w.pad_left = c->below(w.kernel_w);
    made.h = (in.h + w.pad_top - w.kernel_h) / w.stride_h + 1;
    made.w = (in.w + w.pad_left - w.kernel_w) / w.stride_w + 1;
    if (c->one_in(2)) {
      octet_max_pool_desc d = OCTET_MAX_POOL_DESC_INIT;
      d.input = image(quantized(c, in.type)), d.window = w;
      return create("octet_max_pool_create", &d, octet_max_pool_create);
    }
    octet_average_pool_desc d = OCTET_AVERAGE_POOL_DESC_INIT;
    d.input = image(quantized(c, in.type)), d.window = w, d.output = d.input.values;
    d.arithmetic = OCTET_ARITHMETIC_TFLITE;
    create("octet_average_pool_create", &d, octet_average_pool_create);
  }
  void softmax() {
    octet_softmax_desc d = OCTET_SOFTMAX_DESC_INIT;
    d.input = image(quantized(c, in.type)), d.beta = c->any({1.0f, 0.5f});
    const bool s16 = in.type == OCTET_S16;
    d.output = {in.type, s16 ? 0x1p-15f : 0x1p-8f, s16 ? 0 : least(in.type)};
    d.arithmetic = OCTET_ARITHMETIC_TFLITE;
    create("octet_softmax_create", &d, octet_softmax_create);
  }
  void resize() {
    octet_resize_desc d = OCTET_RESIZE_DESC_INIT;
    made.h = d.out_h = 1 + c->below(20), made.w = d.out_w = 1 + c->below(6);
    d.input = image(quantized(c, in.type));
    d.interpolation = c->any({OCTET_INTERPOLATION_BILINEAR, OCTET_INTERPOLATION_NEAREST});
    d.coordinates = (octet_coordinates)c->below(OCTET_COORDINATES_HALF_PIXEL + 1);
    d.arithmetic = OCTET_ARITHMETIC_TFLITE;
    create("octet_resize_create", &d, octet_resize_create);
  }
};

}  // namespace

void mix(void* context, const octet_network_call* call) {
  const Mix& m = *(const Mix*)context;
  const octet_network_function& f = m.lines;
  const size_t repeat = f.repeat_h ? f.repeat_h : 1, stride = f.stride_h ? f.stride_h : 1;
  for (size_t y = call->first; y < call->end; ++y) {
    auto* const out = (uint8_t*)octet_network_line(&call->output, y);
    for (size_t x = 0; x < call->output.w; ++x)
      for (size_t c = 0; c < call->output.channels; ++c) {
        size_t sum = y + 3 * x + 5 * c;
        for (size_t k = 0; k < OCTET_NETWORK_INPUTS_MAX && call->inputs[k].h; ++k) {
          const octet_network_image& in = call->inputs[k];
          const size_t lines = f.kernel_h ? f.kernel_h : in.h;
          for (size_t i = 0; i < lines; ++i) {
            const size_t t = f.kernel_h ? y * stride + i : i, pad = f.kernel_h ? f.pad_top : 0;
            if (t < pad || (t - pad) / repeat >= in.h) continue;
            const auto* const line =
                (const uint8_t*)octet_network_line(&in, f.kernel_h ? (t - pad) / repeat : t);
            const uint8_t* const at = line + x % in.w * in.pixel + c % in.channels * m.elements[k];
            sum += (2 * i + 7) * read(at, m.elements[k]);
          }
        }
        const auto mixed = (uint16_t)(sum + (sum >> 8));
        std::memcpy(out + x * call->output.pixel + c * m.out_element, &mixed, m.out_element);
      }
  }
}

LibraryFunction draw_function(Choices* c, const octet_network_tensor& in) {
  Maker maker = {c, in, {}};
  LibraryFunction& made = maker.made;
  made.h = in.h, made.w = in.w, made.channels = in.channels, made.type = in.type;
  switch (c->below(5)) {
    case 0:
      maker.sum();
      break;
    case 1:
      maker.unary();
      break;
    case 2:
      maker.pool();
      break;
    case 3:
      maker.softmax();
      break;
    default:
      maker.resize();
  }
  return std::move(made);
}

}  // namespace octet_fuzz
