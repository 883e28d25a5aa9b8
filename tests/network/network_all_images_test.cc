// SPDX-License-Identifier: Apache-2.0
// Checks functions of a network that get all images of their tensors as one.
#include <gtest/gtest.h>

#include <vector>

#include "octet/network.h"
#include "support/gemm_case.h"

namespace octet_test {
namespace {

using Bytes = std::vector<uint8_t>;

// Writes the lines in the opposite order, those of all images.
void reverse_lines(void*, const octet_network_call* call) {
  const octet_network_image &in = call->inputs[0], &out = call->output;
  EXPECT_EQ(call->image, 0u);
  EXPECT_EQ(in.h * in.w * in.channels, out.h * out.w * out.channels);
  for (size_t y = call->first; y < call->end; ++y)
    for (size_t i = 0; i < out.w * out.channels; ++i) {
      const size_t at = (out.h - 1 - y) * out.w * out.channels + i, line = in.w * in.channels;
      ((uint8_t*)octet_network_line(&out, y))[i] =
          ((const uint8_t*)octet_network_line(&in, at / line))[at % line];
    }
}

// Two of them behind each other: 6 images become 4, and 4 images become 6.
struct Network {
  octet_network_function function = {reverse_lines, nullptr, OCTET_NETWORK_ALL_IMAGES, 0, 0, 0};
  octet_network_tensor tensors[3] = {{6, 2, 4, 64, OCTET_U8, 1, 0, 0, 0, 0},
                                     {4, 3, 4, 64, OCTET_U8, 0, 0, 0, 0, 0},
                                     {6, 2, 4, 64, OCTET_U8, 1, 0, 0, 0, 0}};
  octet_network_op ops[2] = {};
  octet_network_desc desc = OCTET_NETWORK_DESC_INIT;
  octet_error error = {};

  Network() {
    for (size_t i = 0; i < 2; ++i) {
      ops[i].function = &function;
      ops[i].inputs[0] = i, ops[i].input_count = 1, ops[i].output = i + 1;
    }
    desc.tensors = tensors, desc.tensor_count = 3, desc.ops = ops, desc.op_count = 2;
  }
  octet_status create() {
    octet_network* network = nullptr;
    const octet_status status = octet_network_create(&desc, &network, &error);
    EXPECT_EQ(network == nullptr, status != OCTET_OK);
    octet_network_destroy(network);
    return status;
  }
};

TEST(NetworkAllImages, TwiceReversedIsEqual) {
  for (const octet_network_goal goal :
       {OCTET_NETWORK_TIME, OCTET_NETWORK_TRAFFIC, OCTET_NETWORK_MEMORY, OCTET_NETWORK_LAYERS})
    for (const size_t concurrency : {1, 3}) {
      Network n;
      n.desc.goal = goal, n.desc.concurrency = concurrency;
      octet_network* network = nullptr;
      ASSERT_EQ(octet_network_create(&n.desc, &network, &n.error), OCTET_OK) << n.error.message;
      size_t bytes = 0;
      ASSERT_EQ(octet_network_workspace(network, &bytes, nullptr), OCTET_OK);
      Bytes in(6 * 2 * 4 * 64), out(in.size()), room(bytes + OCTET_ALIGNMENT);
      for (size_t i = 0; i < in.size(); ++i) in[i] = (uint8_t)(i * 7 + i / 256);
      void* const pointers[3] = {in.data(), nullptr, out.data()};
      octet_network_args args = OCTET_NETWORK_ARGS_INIT;
      args.tensors = pointers;
      args.workspace = (void*)(((uintptr_t)room.data() + OCTET_ALIGNMENT - 1) &
                               ~(uintptr_t)(OCTET_ALIGNMENT - 1));
      args.workspace_bytes = bytes, args.concurrency = concurrency;
      args.parallel_for = threaded_for;
      EXPECT_EQ(octet_network_run(network, &args, &n.error), OCTET_OK) << n.error.message;
      EXPECT_EQ(out, in);
      octet_network_destroy(network);
    }
}

// A function that counts in a kept tensor, its second input, how often it was called.
void count_in_state(void*, const octet_network_call* call) {
  EXPECT_EQ(call->first, 0u);
  EXPECT_EQ(call->end, 1u);
  for (size_t i = 0; i < call->output.w * call->output.channels; ++i)
    ((uint8_t*)call->output.data)[i] = ((const uint8_t*)call->inputs[0].data)[i];
  ++*(uint8_t*)call->inputs[1].data;
}

TEST(NetworkAllImages, ASingleLineIsOneCallThatMayKeepAState) {
  for (const octet_network_goal goal :
       {OCTET_NETWORK_TIME, OCTET_NETWORK_TRAFFIC, OCTET_NETWORK_MEMORY, OCTET_NETWORK_LAYERS}) {
    const octet_network_function function = {
        count_in_state, nullptr, OCTET_NETWORK_ALL_IMAGES, 0, 0, 0};
    const octet_network_tensor tensors[3] = {{64, 8, 16, 16, OCTET_U8, 1, 0, 0, 0, 0},
                                             {2, 1, 1, 3, OCTET_U8, 1, 0, 0, 0, 0},
                                             {1, 1, 64 * 8 * 16, 16, OCTET_U8, 1, 0, 0, 0, 0}};
    octet_network_op op = {};
    op.function = &function, op.inputs[1] = 1, op.input_count = 2, op.output = 2;
    octet_network_desc desc = OCTET_NETWORK_DESC_INIT;
    desc.tensors = tensors, desc.tensor_count = 3, desc.ops = &op, desc.op_count = 1;
    desc.goal = goal, desc.concurrency = 3;
    octet_network* network = nullptr;
    octet_error error = {};
    ASSERT_EQ(octet_network_create(&desc, &network, &error), OCTET_OK) << error.message;
    Bytes in(64 * 8 * 16 * 16, 5), state(6), out(in.size());
    void* const pointers[3] = {in.data(), state.data(), out.data()};
    octet_network_args args = OCTET_NETWORK_ARGS_INIT;
    args.tensors = pointers, args.concurrency = 3, args.parallel_for = threaded_for;
    for (int run = 0; run < 4; ++run)
      EXPECT_EQ(octet_network_run(network, &args, &error), OCTET_OK) << error.message;
    EXPECT_EQ(state, (Bytes{4, 0, 0, 0, 0, 0}));
    EXPECT_EQ(out, in);
    octet_network_destroy(network);
  }
}

TEST(NetworkAllImages, RunsInNoChainAndNotImageByImage) {
  Network n;
  for (octet_network_tensor& t : n.tensors) t.batch = 4, t.h = 3;
  octet_network_part part = {0, 2, OCTET_NETWORK_BY_IMAGE};
  n.desc.parts = &part, n.desc.part_count = 1;
  EXPECT_EQ(n.create(), OCTET_UNSUPPORTED);
  EXPECT_STREQ(n.error.message, "desc.parts[0] cannot run image by image: ops[0] reads all images");
  part.band_lines = 1;
  EXPECT_EQ(n.create(), OCTET_UNSUPPORTED);
  EXPECT_STREQ(n.error.message,
               "desc.parts[0] cannot be a chain: one of its functions reads all images");
  part.band_lines = 0;
  EXPECT_EQ(n.create(), OCTET_OK) << n.error.message;
}

TEST(NetworkAllImages, OtherFunctionsKeepTheNumberOfImages) {
  Network n;
  n.function.kernel_h = 0;
  EXPECT_EQ(n.create(), OCTET_BAD_SIZE);
  n.function.kernel_h = OCTET_NETWORK_ALL_IMAGES - 1;
  EXPECT_EQ(n.create(), OCTET_BAD_SIZE);
}

}  // namespace
}  // namespace octet_test
