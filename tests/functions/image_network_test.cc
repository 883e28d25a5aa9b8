// SPDX-License-Identifier: Apache-2.0
// Runs functions of images as ops of networks, with every goal, in bands of lines and on threads,
// and compares with the same functions by themselves; and checks what is refused.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <thread>

#include "functions/image_case.h"
#include "support/refused.h"

namespace octet_test {
namespace {

void on_threads(void*, size_t count, void (*fn)(void*, size_t), void* arg) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) threads.emplace_back(fn, arg, i);
  for (std::thread& thread : threads) thread.join();
}

octet_image_input bytes_of(const octet_image_size& size) {
  octet_image_input input = {};
  input.size = size, input.values = {OCTET_S8, 0.5f, 3};
  return input;
}

// Calls make(desc) for a descriptor of each kind that suits an image, after set(desc).
using Make = std::function<void(octet_status, octet_function*, const octet_image_size&)>;

template <typename Desc, typename Create, typename Set>
void make(Desc desc, const octet_image_size& in, const octet_image_size& out, Create* create,
          const Set& set, const Make& made) {
  desc.input = bytes_of(in);
  set(&desc);
  octet_function* f = nullptr;
  octet_error error = {OCTET_OK, ""};
  const octet_status status = create(&desc, &f, &error);
  EXPECT_EQ(status, OCTET_OK) << error.message;
  made(status, f, out);
}

// A chain of functions with windows, repetitions and shifts of lines.
std::vector<Created> chain_of(octet_image_size size) {
  std::vector<Created> chain;
  const auto add = [&](octet_status status, octet_function* f, const octet_image_size& out) {
    chain.push_back(created(status, f, size, out));
    size = out;
  };
  const octet_quantized same = bytes_of(size).values;
  make(
      octet_max_pool_desc(OCTET_MAX_POOL_DESC_INIT), size,
      {(size.h - 1) / 2 + 1, (size.w - 1) / 2 + 1, size.channels}, octet_max_pool_create,
      [](auto* d) { d->window = {3, 3, 2, 2, 1, 1, 1, 1}; }, add);
  for (const auto interpolation : {OCTET_INTERPOLATION_BILINEAR, OCTET_INTERPOLATION_NEAREST})
    for (const auto coordinates : {OCTET_COORDINATES_HALF_PIXEL, OCTET_COORDINATES_ALIGN_CORNERS,
                                   OCTET_COORDINATES_ASYMMETRIC})
      make(
          octet_resize_desc(OCTET_RESIZE_DESC_INIT), size, {size.h + 3, size.w + 1, size.channels},
          octet_resize_create,
          [&](octet_resize_desc* d) {
            d->out_h = size.h + 3, d->out_w = size.w + 1;
            d->interpolation = interpolation, d->coordinates = coordinates;
            d->arithmetic = OCTET_ARITHMETIC_TFLITE;
          },
          add);
  make(
      octet_pad_desc(OCTET_PAD_DESC_INIT), size, {size.h + 3, size.w + 1, size.channels + 2},
      octet_pad_create,
      [](octet_pad_desc* d) {
        d->before = {2, 1, 1}, d->after = {1, 0, 1}, d->value = 3;
      },
      add);
  make(
      octet_average_pool_desc(OCTET_AVERAGE_POOL_DESC_INIT), size, size, octet_average_pool_create,
      [&](octet_average_pool_desc* d) {
        d->window = {3, 3, 1, 1, 1, 1, 1, 1}, d->output = same;
        d->arithmetic = OCTET_ARITHMETIC_ONNXRUNTIME;
      },
      add);
  make(
      octet_slice_desc(OCTET_SLICE_DESC_INIT), size, {size.h - 3, size.w - 2, size.channels - 1},
      octet_slice_create,
      [&](octet_slice_desc* d) {
        d->first = {2, 1, 1}, d->size = {size.h - 3, size.w - 2, size.channels - 1};
      },
      add);
  make(
      octet_resize_desc(OCTET_RESIZE_DESC_INIT), size, {2 * size.h, 2 * size.w, size.channels},
      octet_resize_create,
      [&](octet_resize_desc* d) { d->out_h = 2 * size.h, d->out_w = 2 * size.w; }, add);
  make(
      octet_softmax_desc(OCTET_SOFTMAX_DESC_INIT), size, size, octet_softmax_create,
      [](octet_softmax_desc* d) {
        d->beta = 1, d->output = {OCTET_S8, 1.0f / 256, -128};
        d->arithmetic = OCTET_ARITHMETIC_ONNXRUNTIME;
      },
      add);
  make(
      octet_reshape_desc(OCTET_RESHAPE_DESC_INIT), size, {size.w, size.h, size.channels},
      octet_reshape_create,
      [&](octet_reshape_desc* d) {
        d->size = {size.w, size.h, size.channels};
      },
      add);
  make(
      octet_transpose_desc(OCTET_TRANSPOSE_DESC_INIT), size, {size.channels, size.h * size.w, 1},
      octet_transpose_create, [](octet_transpose_desc* d) { d->to = OCTET_NCHW; }, add);
  return chain;
}

struct Network {
  std::vector<octet_network_tensor> tensors;
  std::vector<octet_network_function> functions;
  std::vector<octet_network_op> ops;
};

Network network_of(const std::vector<Created>& chain, size_t batch) {
  Network n;
  const auto add = [&](const octet_image_size& s, int keep) {
    n.tensors.push_back({batch, s.h, s.w, s.channels, OCTET_S8, keep, 0, 0, 0, 0});
  };
  add(chain[0].in, 1);
  n.functions.resize(chain.size());
  for (size_t i = 0; i < chain.size(); ++i) {
    add(chain[i].out, i + 1 == chain.size());
    EXPECT_EQ(octet_function_for_network(chain[i].function.get(), &n.functions[i], nullptr),
              OCTET_OK);
    n.ops.push_back({nullptr, nullptr, &n.functions[i], {i}, 1, i + 1});
  }
  return n;
}

std::vector<uint8_t> run_network(const Network& n, const octet_network_desc& desc,
                                 std::vector<uint8_t> input, size_t bytes) {
  octet_network* network = nullptr;
  octet_error error = {OCTET_OK, ""};
  EXPECT_EQ(octet_network_create(&desc, &network, &error), OCTET_OK) << error.message;
  if (!network) return {};
  size_t workspace_bytes = 0;
  octet_network_workspace(network, &workspace_bytes, &error);
  Guarded workspace(workspace_bytes, Side::kBack, OCTET_ALIGNMENT);
  Guarded output(bytes, Side::kBack), in(input, Side::kBack);
  std::vector<void*> pointers(n.tensors.size());
  pointers.front() = in.data(), pointers.back() = output.data();
  octet_network_args args = OCTET_NETWORK_ARGS_INIT;
  args.tensors = pointers.data();
  args.workspace = workspace.data(), args.workspace_bytes = workspace_bytes;
  args.parallel_for = on_threads, args.concurrency = desc.concurrency;
  EXPECT_EQ(octet_network_run(network, &args, &error), OCTET_OK) << error.message;
  octet_network_destroy(network);
  return {output.data(), output.data() + bytes};
}

TEST(ImageNetworkTest, EqualsFunctionsByThemselves) {
  std::mt19937 random(28);
  for (const octet_image_size size : {octet_image_size{9, 7, 5}, {4, 5, 33}, {16, 11, 16}}) {
    constexpr size_t kBatch = 2;
    const std::vector<Created> chain = chain_of(size);
    std::vector<uint8_t> input(kBatch * size.h * size.w * size.channels), expected;
    for (uint8_t& byte : input) byte = (uint8_t)random();
    expected = input;
    for (const Created& f : chain) expected = run_guarded(f, expected, 0, Side::kBack, kBatch);
    const Network n = network_of(chain, kBatch);
    octet_network_desc desc = OCTET_NETWORK_DESC_INIT;
    desc.tensors = n.tensors.data(), desc.tensor_count = n.tensors.size();
    desc.ops = n.ops.data(), desc.op_count = n.ops.size();
    for (const size_t tasks : {1, 3}) {
      desc.concurrency = tasks;
      desc.parts = nullptr, desc.part_count = 0;
      for (const octet_network_goal goal : {OCTET_NETWORK_TIME, OCTET_NETWORK_TRAFFIC,
                                            OCTET_NETWORK_MEMORY, OCTET_NETWORK_LAYERS}) {
        desc.goal = goal;
        EXPECT_EQ(run_network(n, desc, input, expected.size()), expected) << "goal " << goal;
      }
      // All functions over lines in one chain; the last two look at whole images
      for (const size_t lines : {1, 2, 5}) {
        const octet_network_part parts[] = {{0, chain.size() - 2, lines},
                                            {chain.size() - 2, chain.size() - 1, 0},
                                            {chain.size() - 1, chain.size(), 0}};
        desc.parts = parts, desc.part_count = 3;
        EXPECT_EQ(run_network(n, desc, input, expected.size()), expected) << lines << " lines";
      }
    }
  }
}

// Lines that a transposition writes at once may go on at a ring's beginning: a reader of three
// lines in steps of two leaves a ring of three.
TEST(ImageNetworkTest, TransposesIntoRings) {
  std::mt19937 random(29);
  for (const bool to_nhwc : {true, false})
    for (const octet_image_size size : {octet_image_size{32, 32, 3}, {13, 7, 40}, {18, 5, 4}}) {
      std::vector<Created> chain;
      octet_image_size planes = {size.channels, size.h * size.w, 1};
      const octet_image_size &from = to_nhwc ? planes : size, &to = to_nhwc ? size : planes;
      make(
          octet_transpose_desc(OCTET_TRANSPOSE_DESC_INIT), size, to, octet_transpose_create,
          [&](octet_transpose_desc* d) { d->to = to_nhwc ? OCTET_NHWC : OCTET_NCHW; },
          [&](octet_status status, octet_function* f, const octet_image_size& out) {
            chain.push_back(created(status, f, from, out));
          });
      const octet_image_size half = {(to.h - 1) / 2 + 1, (to.w - 1) / 2 + 1, to.channels};
      make(
          octet_max_pool_desc(OCTET_MAX_POOL_DESC_INIT), to, half, octet_max_pool_create,
          [](auto* d) { d->window = {3, 3, 2, 2, 1, 1, 1, 1}; },
          [&](octet_status status, octet_function* f, const octet_image_size& out) {
            chain.push_back(created(status, f, to, out));
          });
      std::vector<uint8_t> input(size.h * size.w * size.channels);
      for (uint8_t& byte : input) byte = (uint8_t)random();
      const auto expected =
          run_guarded(chain[1], run_guarded(chain[0], input, 0, Side::kBack), 0, Side::kBack);
      const Network n = network_of(chain, 1);
      octet_network_desc desc = OCTET_NETWORK_DESC_INIT;
      desc.tensors = n.tensors.data(), desc.tensor_count = n.tensors.size();
      desc.ops = n.ops.data(), desc.op_count = n.ops.size();
      desc.goal = OCTET_NETWORK_MEMORY;  // rings without a line more than is needed
      const octet_network_part parts[] = {{0, 2, 1}, {0, 2, 2}, {0, 2, 3}, {0, 2, 7}};
      for (size_t i = 0; i <= 4; ++i)
        for (const size_t tasks : {1, 3}) {
          desc.parts = i < 4 ? &parts[i] : nullptr, desc.part_count = i < 4;
          desc.concurrency = tasks;
          EXPECT_EQ(run_network(n, desc, input, expected.size()), expected)
              << to_nhwc << size.h << ", parts " << i << ", " << tasks << " tasks";
        }
    }
}

// Kernels, strides, repetitions and shifts of lines beyond those that a network takes.
TEST(ImageNetworkTest, TakesFunctionsOfManyLines) {
  constexpr size_t kH = 40002;
  const octet_image_size size = {kH, 1, 2};
  const auto runs = [&](octet_status status, octet_function* f, const octet_image_size& out) {
    const Created one = created(status, f, size, out);
    std::vector<uint8_t> input(kH * 2);
    for (size_t i = 0; i < input.size(); ++i) input[i] = (uint8_t)(i * i >> 8);
    const Network n = network_of({one}, 1);
    octet_network_desc desc = OCTET_NETWORK_DESC_INIT;
    desc.tensors = n.tensors.data(), desc.tensor_count = n.tensors.size();
    desc.ops = n.ops.data(), desc.op_count = n.ops.size();
    EXPECT_EQ(run_network(n, desc, input, out.h * 2), run_guarded(one, input, 0, Side::kBack));
  };
  make(
      octet_max_pool_desc(OCTET_MAX_POOL_DESC_INIT), size, {3, 1, 2}, octet_max_pool_create,
      [](auto* d) { d->window = {40000, 1, 1, 1, 0, 0, 0, 0}; }, runs);
  make(
      octet_max_pool_desc(OCTET_MAX_POOL_DESC_INIT), size, {2, 1, 2}, octet_max_pool_create,
      [](auto* d) { d->window = {3, 1, 39999, 1, 0, 0, 0, 0}; }, runs);
  for (const size_t h : {kH - 1, (size_t)7})
    make(
        octet_resize_desc(OCTET_RESIZE_DESC_INIT), size, {h, 1, 2}, octet_resize_create,
        [&](octet_resize_desc* d) { d->out_h = h, d->out_w = 1; }, runs);
  make(
      octet_slice_desc(OCTET_SLICE_DESC_INIT), size, {2, 1, 2}, octet_slice_create,
      [](octet_slice_desc* d) {
        d->first = {40000, 0, 0}, d->size = {2, 1, 2};
      },
      runs);
  make(
      octet_pad_desc(OCTET_PAD_DESC_INIT), size, {2 * kH, 1, 2}, octet_pad_create,
      [](octet_pad_desc* d) { d->before.h = kH; }, runs);
}

// ---- what is refused

template <typename Desc, typename Create, typename Spoil>
void refuses(Desc desc, Create* create, octet_status status, const char* name, const Spoil& spoil) {
  octet_function* f = nullptr;
  octet_function** const to = &f;
  spoil(&desc);
  expect_refused(status, name, [&](octet_error* error) { return create(&desc, to, error); });
  EXPECT_EQ(f, nullptr);
}

TEST(ImageNetworkTest, RefusesBadDescriptors) {
  octet_max_pool_desc max = OCTET_MAX_POOL_DESC_INIT;
  max.input = bytes_of({8, 8, 4}), max.window = {3, 3, 2, 2, 1, 1, 0, 0};
  const auto bad = [&](octet_status status, const char* name,
                       const std::function<void(octet_max_pool_desc*)>& spoil) {
    refuses(max, octet_max_pool_create, status, name, spoil);
  };
  expect_refused(OCTET_NULL_POINTER, "function",
                 [&](octet_error* e) { return octet_max_pool_create(&max, nullptr, e); });
  bad(OCTET_BAD_STRUCT_SIZE, "desc.struct_size", [](auto* d) { d->struct_size = 8; });
  bad(OCTET_UNKNOWN_ENUM, "desc.input.values.type",
      [](auto* d) { d->input.values.type = OCTET_F32; });
  bad(OCTET_UNSUPPORTED, "desc.input.reserved", [](auto* d) { d->input.reserved = 1; });
  bad(OCTET_BAD_SIZE, "desc.input.size.h is 0", [](auto* d) { d->input.size.h = 0; });
  bad(OCTET_BAD_SIZE, "leaves memory", [](auto* d) { d->input.size.channels = PTRDIFF_MAX / 8; });
  bad(OCTET_BAD_SIZE, "stride_w 0", [](auto* d) { d->window.stride_w = 0; });
  bad(OCTET_BAD_SIZE, "kernel_h is 0", [](auto* d) { d->window.kernel_h = 0; });
  bad(OCTET_BAD_SIZE, "pad_left is 3", [](auto* d) { d->window.pad_left = 3; });
  bad(OCTET_BAD_SIZE, "kernel_h is 12", [](auto* d) { d->window.kernel_h = 12; });
  bad(OCTET_BAD_CLAMP, "desc.least", [](auto* d) { d->least = 5, d->most = 4; });
  bad(OCTET_BAD_CLAMP, "desc.most", [](auto* d) { d->most = 128; });
}

TEST(ImageNetworkTest, RefusesBadAverages) {
  octet_average_pool_desc average = OCTET_AVERAGE_POOL_DESC_INIT;
  average.input = bytes_of({8, 8, 4}), average.window = {3, 3, 2, 2, 1, 1, 0, 0};
  average.output = average.input.values;
  average.arithmetic = OCTET_ARITHMETIC_TFLITE;
  const auto create_average = octet_average_pool_create;
  refuses(average, create_average, OCTET_UNSUPPORTED, "desc.count_include_pad",
          [](auto* d) { d->count_include_pad = 1; });
  refuses(average, create_average, OCTET_UNKNOWN_ENUM, "desc.count_include_pad",
          [](auto* d) { d->count_include_pad = 2; });
  refuses(average, create_average, OCTET_UNSUPPORTED, "desc.output has another scale",
          [](auto* d) { d->output.zero_point = 4; });
  refuses(average, create_average, OCTET_BAD_SCALE, "desc.output is 0",
          [](auto* d) { d->output.scale = 0; });
  refuses(average, create_average, OCTET_BAD_ZERO_POINT, "desc.input.values is 200",
          [](auto* d) { d->input.values.zero_point = 200; });
  refuses(average, create_average, OCTET_UNKNOWN_ENUM, "desc.arithmetic",
          [](auto* d) { set_raw(&d->arithmetic, 4); });
  refuses(average, create_average, OCTET_BAD_SIZE, "at most 2^22", [](auto* d) {
    d->input.size = {3000, 3000, 1}, d->window = {3000, 3000, 1, 1, 0, 0, 0, 0};
  });

  octet_mean_desc mean = OCTET_MEAN_DESC_INIT;
  mean.input = average.input, mean.output = average.output;
  refuses(mean, octet_mean_create, OCTET_UNSUPPORTED, "octet_average_pool_create", [](auto*) {});
  mean.arithmetic = OCTET_ARITHMETIC_TFLITE;
  refuses(mean, octet_mean_create, OCTET_BAD_SCALE, "less than 2^22",
          [](auto* d) { d->input.values.scale = 0x1p22f, d->output.scale = 1; });
}

TEST(ImageNetworkTest, RefusesBadPlaces) {
  const octet_image_input input = bytes_of({8, 8, 4});
  octet_resize_desc resize = OCTET_RESIZE_DESC_INIT;
  resize.input = input, resize.out_h = resize.out_w = 3;
  const auto create_resize = octet_resize_create;
  refuses(resize, create_resize, OCTET_BAD_SIZE, "desc.out_h", [](auto* d) { d->out_h = 0; });
  refuses(resize, create_resize, OCTET_BAD_SIZE, "desc.out_w",
          [](auto* d) { d->out_w = (1 << 20) + 1; });
  refuses(resize, create_resize, OCTET_UNSUPPORTED, "desc.coordinates",
          [](auto* d) { d->coordinates = OCTET_COORDINATES_PYTORCH_HALF_PIXEL; });
  refuses(resize, create_resize, OCTET_UNSUPPORTED, "desc.nearest", [](auto* d) {
    d->interpolation = OCTET_INTERPOLATION_BILINEAR, d->nearest = OCTET_NEAREST_PIXEL_CEIL;
  });
  refuses(resize, create_resize, OCTET_UNSUPPORTED, "desc.output is neither 0",
          [](auto* d) { d->output = d->input.values, d->output.zero_point = 4; });
  refuses(resize, create_resize, OCTET_UNSUPPORTED, "desc.output is neither 0", [](auto* d) {
    d->interpolation = OCTET_INTERPOLATION_BILINEAR, d->arithmetic = OCTET_ARITHMETIC_XNNPACK;
    d->output.scale = 1;
  });

  octet_softmax_desc softmax = OCTET_SOFTMAX_DESC_INIT;
  softmax.input = input, softmax.beta = 1, softmax.output.type = OCTET_F32;
  refuses(softmax, octet_softmax_create, OCTET_BAD_SCALE, "desc.beta",
          [](auto* d) { d->beta = 0; });
  refuses(softmax, octet_softmax_create, OCTET_UNSUPPORTED, "desc.output.scale",
          [](auto* d) { d->output.scale = 1; });
  softmax.output = softmax.input.values;
  refuses(softmax, octet_softmax_create, OCTET_UNKNOWN_ENUM, "desc.arithmetic",
          [](auto* d) { d->arithmetic = (octet_arithmetic)4; });
  refuses(softmax, octet_softmax_create, OCTET_UNSUPPORTED, "desc.beta",
          [](auto* d) { d->arithmetic = OCTET_ARITHMETIC_ONNXRUNTIME, d->beta = 2; });

  octet_slice_desc slice = OCTET_SLICE_DESC_INIT;
  slice.input = input, slice.size = {8, 8, 4};
  refuses(slice, octet_slice_create, OCTET_BAD_SIZE, "desc.first.w",
          [](auto* d) { d->first.w = 1; });
  octet_reshape_desc reshape = OCTET_RESHAPE_DESC_INIT;
  reshape.input = input, reshape.size = {8, 8, 5};
  refuses(reshape, octet_reshape_create, OCTET_BAD_SIZE, "desc.size", [](auto*) {});
  octet_pad_desc pad = OCTET_PAD_DESC_INIT;
  pad.input = input;
  refuses(pad, octet_pad_create, OCTET_BAD_ZERO_POINT, "desc.value",
          [](auto* d) { d->value = 128; });
  refuses(pad, octet_pad_create, OCTET_BAD_SIZE, "desc.before.w",
          [](auto* d) { d->before.w = SIZE_MAX; });
  octet_transpose_desc transpose = OCTET_TRANSPOSE_DESC_INIT;
  transpose.input = input;
  refuses(transpose, octet_transpose_create, OCTET_UNKNOWN_ENUM, "desc.to",
          [](auto* d) { set_raw(&d->to, 2); });
}

}  // namespace
}  // namespace octet_test
