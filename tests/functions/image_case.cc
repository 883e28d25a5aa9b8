// SPDX-License-Identifier: Apache-2.0
// Creates functions of images from lists of numbers, and runs them beside guard pages.
#include "functions/image_case.h"

#include <gtest/gtest.h>

#include "support/upper_halves.h"

namespace octet_test {
namespace {

float float_of(int64_t bits) {
  const uint32_t u = (uint32_t)bits;
  float f;
  std::memcpy(&f, &u, sizeof f);
  return f;
}

// Takes one number after the other.
struct Numbers {
  const std::vector<int64_t>& all;
  size_t at = 0;
  int64_t next() { return all.at(at++); }
  size_t size() { return (size_t)next(); }
  octet_quantized quantized(octet_type type) {
    const float scale = float_of(next());
    return {type, scale, (int32_t)next()};
  }
  octet_window window() {
    octet_window w = {};
    for (size_t* field : {&w.kernel_h, &w.kernel_w, &w.stride_h, &w.stride_w, &w.pad_top,
                          &w.pad_left, &w.pad_bottom, &w.pad_right})
      *field = size();
    return w;
  }
};

octet_image_size windows_of(const octet_image_size& in, const octet_window& w) {
  return {(in.h + w.pad_top + w.pad_bottom - w.kernel_h) / w.stride_h + 1,
          (in.w + w.pad_left + w.pad_right - w.kernel_w) / w.stride_w + 1, in.channels};
}

// One tensor of a run, with gaps.
struct Tensor {
  octet_function_tensor t = {};
  Guarded memory;
  size_t pixel_bytes;

  Tensor(const octet_image_size& size, size_t element, size_t gap, size_t batch, Side side)
      : pixel_bytes(size.channels * element) {
    t.h = size.h, t.w = size.w, t.channels = size.channels;
    t.pixel = pixel_bytes + gap * element;
    t.line = t.w * t.pixel + 2 * gap * element;
    t.image = t.h * t.line + 3 * gap * element;
    const size_t bytes =
        (batch - 1) * t.image + (t.h - 1) * t.line + (t.w - 1) * t.pixel + pixel_bytes;
    memory = Guarded(bytes, side, element);
    t.data = memory.data();
  }
  template <typename Each>
  void for_each_pixel(size_t batch, const Each& each) {
    for (size_t n = 0; n < batch; ++n)
      for (size_t y = 0; y < t.h; ++y)
        for (size_t x = 0; x < t.w; ++x)
          each((uint8_t*)t.data + n * t.image + y * t.line + x * t.pixel);
  }
};

}  // namespace

Created created(octet_status status, octet_function* function, const octet_image_size& in,
                const octet_image_size& out, size_t in_element, size_t out_element) {
  EXPECT_EQ(status, OCTET_OK);
  return {std::shared_ptr<octet_function>(function, octet_function_destroy), in, out, in_element,
          out_element};
}

Created create_from_numbers(const std::string& name, const std::vector<int64_t>& numbers,
                            octet_isa isa) {
  Numbers n = {numbers};
  octet_image_input input = {};
  constexpr octet_type kTypes[] = {OCTET_S8, OCTET_U8, OCTET_S16};
  const octet_type type = kTypes[n.size()];
  input.size.h = n.size(), input.size.w = n.size(), input.size.channels = n.size();
  input.values.type = type;
  input.max_isa = isa;
  const octet_image_size in = input.size;
  octet_function* f = nullptr;
  octet_error error = {OCTET_OK, ""};
  octet_status status = OCTET_UNSUPPORTED;
  octet_image_size out = in;
  if (name == "max_pool") {
    octet_max_pool_desc desc = OCTET_MAX_POOL_DESC_INIT;
    desc.input = input, desc.window = n.window();
    desc.least = (int32_t)n.next(), desc.most = (int32_t)n.next();
    out = windows_of(in, desc.window);
    status = octet_max_pool_create(&desc, &f, &error);
  } else if (name == "average_pool") {
    octet_average_pool_desc desc = OCTET_AVERAGE_POOL_DESC_INIT;
    desc.window = n.window();
    desc.arithmetic = (octet_arithmetic)n.next();
    desc.count_include_pad = (int)n.next();
    input.values = n.quantized(type), desc.output = n.quantized(type);
    desc.input = input;
    desc.least = (int32_t)n.next(), desc.most = (int32_t)n.next();
    out = windows_of(in, desc.window);
    status = octet_average_pool_create(&desc, &f, &error);
  } else if (name == "mean") {
    octet_mean_desc desc = OCTET_MEAN_DESC_INIT;
    desc.arithmetic = (octet_arithmetic)n.next();
    input.values = n.quantized(type), desc.output = n.quantized(type);
    desc.input = input;
    out.h = out.w = 1;
    status = octet_mean_create(&desc, &f, &error);
  } else if (name == "resize") {
    octet_resize_desc desc = OCTET_RESIZE_DESC_INIT;
    out.h = desc.out_h = n.size(), out.w = desc.out_w = n.size();
    desc.interpolation = (octet_interpolation)n.next();
    desc.coordinates = (octet_coordinates)n.next();
    desc.nearest = (octet_nearest_pixel)n.next();
    desc.arithmetic = (octet_arithmetic)n.next();
    input.values = n.quantized(type), desc.output = n.quantized(type);
    desc.input = input;
    status = octet_resize_create(&desc, &f, &error);
  } else if (name == "softmax") {
    octet_softmax_desc desc = OCTET_SOFTMAX_DESC_INIT;
    input.values.scale = float_of(n.next());
    desc.input = input, desc.beta = float_of(n.next());
    desc.output.type = (octet_type)n.next();
    desc.output.scale = float_of(n.next()), desc.output.zero_point = (int32_t)n.next();
    desc.arithmetic = (octet_arithmetic)n.next();
    status = octet_softmax_create(&desc, &f, &error);
  }
  EXPECT_EQ(status, OCTET_OK) << name << ": " << error.message;
  const size_t element = type == OCTET_S16 ? 2 : 1;
  return created(status, f, in, out, element, element);
}

std::vector<uint8_t> run_guarded(const Created& f, const std::vector<uint8_t>& input, size_t gap,
                                 Side side, size_t batch, octet_parallel_for parallel_for,
                                 size_t tasks) {
  Tensor in(f.in, f.in_element, gap, batch, side), out(f.out, f.out_element, gap, batch, side);
  size_t at = 0;
  in.for_each_pixel(batch, [&](uint8_t* pixel) {
    std::memcpy(pixel, input.data() + at, in.pixel_bytes);
    at += in.pixel_bytes;
  });
  EXPECT_EQ(at, input.size());
  octet_function_args args = OCTET_FUNCTION_ARGS_INIT;
  args.batch = batch;
  args.inputs[0] = in.t, args.output = out.t;
  args.parallel_for = parallel_for, args.concurrency = tasks;
  octet_error error = {OCTET_OK, ""};
  const octet_status status = octet_function_run(f.function.get(), &args, &error);
  const bool in_use = octet_test::upper_halves_in_use();
  EXPECT_EQ(status, OCTET_OK) << error.message;
  EXPECT_FALSE(in_use) << "the upper halves of vector registers";
  std::vector<uint8_t> output;
  out.for_each_pixel(batch, [&](uint8_t* pixel) {
    output.insert(output.end(), pixel, pixel + out.pixel_bytes);
    std::memset(pixel, Guarded::kUntouched, out.pixel_bytes);
  });
  size_t touched = 0;
  for (size_t i = 0; i < out.memory.bytes(); ++i)
    touched += out.memory.data()[i] != Guarded::kUntouched;
  EXPECT_EQ(touched, 0u) << "bytes between pixels";
  return output;
}

}  // namespace octet_test
