// SPDX-License-Identifier: Apache-2.0
// Checks that octet_network_* refuse bad arguments with the right status and message.
#include "support/network_case.h"
#include "support/refused.h"

namespace octet_test {
namespace {

// 0: input; 1: after a convolution; 2: its sum with the input; 3: after a product.
struct Good {
  NetworkCase c{1};
  octet_network_desc desc;

  Good() {
    const size_t input = c.tensor(1, 6, 5, 8), at = c.conv(input, kernel3(8));
    c.gemm(c.add(input, at), 12);
    c.keep_ends();
  }
  octet_status create(octet_error* error) {
    desc = c.desc();
    octet_network* network = nullptr;
    const octet_status status = octet_network_create(&desc, &network, error);
    EXPECT_EQ(status == OCTET_OK, network != nullptr);
    octet_network_destroy(network);
    return status;
  }
  void expect(octet_status status, const char* words) {
    expect_refused(status, words, [&](octet_error* error) { return create(error); });
  }
};

TEST(BadNetwork, TheGoodOne) {
  Good good;
  octet_error error = {};
  EXPECT_EQ(good.create(&error), OCTET_OK) << error.message;
}

TEST(BadNetwork, Pointers) {
  Good good;
  const octet_network_desc desc = good.c.desc();
  octet_network* network = nullptr;
  expect_refused(OCTET_NULL_POINTER, "desc is null",
                 [&](octet_error* e) { return octet_network_create(nullptr, &network, e); });
  expect_refused(OCTET_NULL_POINTER, "network is null",
                 [&](octet_error* e) { return octet_network_create(&desc, nullptr, e); });
  const auto expect = [&](octet_status status, const char* words, auto change) {
    octet_network_desc d = desc;
    change(&d);
    expect_refused(status, words,
                   [&](octet_error* e) { return octet_network_create(&d, &network, e); });
  };
  using Desc = octet_network_desc*;
  expect(OCTET_NULL_POINTER, "desc.tensors is null", [](Desc d) { d->tensors = nullptr; });
  expect(OCTET_NULL_POINTER, "desc.ops is null", [](Desc d) { d->ops = nullptr; });
  expect(OCTET_BAD_SIZE, "desc.tensor_count is 0", [](Desc d) { d->tensor_count = 0; });
  expect(OCTET_BAD_SIZE, "desc.op_count is 0", [](Desc d) { d->op_count = 0; });
  octet_machine machine = OCTET_MACHINE_INIT;
  machine.l2_bytes = 1;
  const octet_network_part all = {0, desc.op_count, 0};
  expect(OCTET_BAD_SIZE, "desc.machine", [&](Desc d) { d->machine = &machine; });
  expect(OCTET_BAD_SIZE, "desc.machine",
         [&](Desc d) { d->machine = &machine, d->parts = &all, d->part_count = 1; });
  octet_network_destroy(nullptr);
}

TEST(BadNetwork, Tensors) {
  const auto expect = [](octet_status status, const char* words, auto change) {
    Good good;
    change(&good.c.tensors);
    good.expect(status, words);
  };
  using Tensors = std::vector<octet_network_tensor>*;
  expect(OCTET_BAD_SIZE, "tensors[1].h = 0", [](Tensors t) { (*t)[1].h = 0; });
  expect(OCTET_BAD_SIZE, "tensors[2].channels", [](Tensors t) { (*t)[2].channels = SIZE_MAX; });
  expect(OCTET_BAD_SIZE, "leave size_t", [](Tensors t) {
    (*t)[2].h = (*t)[2].w = (*t)[2].batch = (*t)[2].channels = (size_t)1 << 30;
  });
  expect(OCTET_UNKNOWN_ENUM, "tensors[0].type = 9", [](Tensors t) { set_raw(&(*t)[0].type, 9); });
  expect(OCTET_UNSUPPORTED, "tensors[1]: keep", [](Tensors t) { (*t)[1].keep = 2; });
  expect(OCTET_UNSUPPORTED, "tensors[1]: keep", [](Tensors t) { (*t)[1].reserved = 1; });
}

TEST(BadNetwork, Slices) {
  const auto expect = [](octet_status status, const char* words, auto change) {
    Good good;
    octet_network_tensor slice = good.c.tensors[1];
    slice.slice = 1, slice.parent = 0, slice.channels = 3, slice.first_channel = 5;
    change(&slice);
    good.c.tensors.push_back(slice);
    good.expect(status, words);
  };
  using Slice = octet_network_tensor*;
  expect(OCTET_BAD_NETWORK, "tensors[4].parent = 4 is a slice", [](Slice s) { s->parent = 4; });
  expect(OCTET_BAD_NETWORK, "tensors[4].parent = 5 is no tensor", [](Slice s) { s->parent = 5; });
  expect(OCTET_UNSUPPORTED, "tensors[4].keep", [](Slice s) { s->keep = 1; });
  expect(OCTET_BAD_SIZE, "tensors[4]", [](Slice s) { s->w = 4; });
  expect(OCTET_BAD_SIZE, "tensors[4]", [](Slice s) { s->type = OCTET_S8; });
  expect(OCTET_BAD_SIZE, "channels 6 to 9", [](Slice s) { s->first_channel = 6; });
  expect(OCTET_BAD_SIZE, "tensors[0] has 8", [](Slice s) { s->first_channel = SIZE_MAX; });
}

TEST(BadNetwork, Ops) {
  const auto expect = [](octet_status status, const char* words, auto change) {
    Good good;
    change(&good.c);
    good.expect(status, words);
  };
  expect(OCTET_BAD_NETWORK, "ops[0] must be one of",
         [](NetworkCase* c) { c->ops[0].gemm = c->ops[2].gemm; });
  expect(OCTET_BAD_NETWORK, "has 0 of them", [](NetworkCase* c) { c->ops[0].conv2d = nullptr; });
  expect(OCTET_BAD_SIZE, "ops[1].input_count = 5",
         [](NetworkCase* c) { c->ops[1].input_count = 5; });
  expect(OCTET_BAD_SIZE, "ops[0].input_count = 2, but this op reads 1 tensor",
         [](NetworkCase* c) { c->ops[0].input_count = 2; });
  expect(OCTET_BAD_NETWORK, "ops[1].inputs[1] = 4",
         [](NetworkCase* c) { c->ops[1].inputs[1] = 4; });
  expect(OCTET_BAD_NETWORK, "ops[2].output = 9", [](NetworkCase* c) { c->ops[2].output = 9; });
  expect(OCTET_SIZE_ABOVE_MAXIMUM, "its w is 6", [](NetworkCase* c) { c->tensors[0].w = 6; });
  expect(OCTET_BAD_SIZE, "ops[0].output = 1: its w is 4, but must be 5",
         [](NetworkCase* c) { c->tensors[1].w = 4; });
  expect(OCTET_BAD_SIZE, "the number of its channels is 9",
         [](NetworkCase* c) { c->tensors[0].channels = 9; });
  expect(OCTET_UNSUPPORTED, "ops[0].inputs[0] = 0 is s8, but the op reads u8",
         [](NetworkCase* c) { c->tensors[0].type = OCTET_S8; });
  expect(OCTET_UNSUPPORTED, "is f32, but the op makes u8",
         [](NetworkCase* c) { c->tensors[3].type = OCTET_F32; });
  expect(OCTET_SIZE_ABOVE_MAXIMUM, "m_max = 30", [](NetworkCase* c) { c->tensors[2].h = 7; });
  expect(OCTET_SIZE_ABOVE_MAXIMUM, "has 31 rows, above the product's m_max = 30",
         [](NetworkCase* c) { c->tensors[2].h = 31, c->tensors[2].w = 1; });
  expect(OCTET_BAD_SIZE, "its batch is 1, but must be 2",
         [](NetworkCase* c) { c->tensors[2].batch = 2; });
  octet_network_function function = {};
  expect(OCTET_NULL_POINTER, "ops[1].function->run",
         [&](NetworkCase* c) { c->ops[1].function = &function; });
  function = *Good().c.ops[1].function;
  function.stride_h = SIZE_MAX;
  expect(OCTET_BAD_SIZE, "ops[1].function->stride_h",
         [&](NetworkCase* c) { c->ops[1].function = &function; });
}

// Two networks in one, of one image and of two.
TEST(BadNetwork, ImageByImage) {
  NetworkCase c(3);
  c.conv(c.tensor(2, 6, 5, 8), kernel3(8));
  c.conv(c.tensor(1, 6, 5, 8), kernel3(8));
  c.keep_ends();
  octet_network_desc desc = c.desc();
  octet_network* network = nullptr;
  const auto refused = [&](std::vector<octet_network_part> parts, const char* words) {
    desc.parts = parts.data(), desc.part_count = parts.size();
    expect_refused(OCTET_UNSUPPORTED, words,
                   [&](octet_error* e) { return octet_network_create(&desc, &network, e); });
  };
  const size_t by_image = OCTET_NETWORK_BY_IMAGE;
  refused({{0, 2, by_image}},
          "desc.parts[0] cannot run image by image: ops[0] has 2 images, ops[1] 1");
  refused({{0, 1, by_image}, {1, 2, by_image | 3}}, "desc.parts[1] cannot run image by image");
  std::vector<octet_network_part> parts = {{0, 1, by_image}, {1, 2, 0}};
  desc.parts = parts.data(), desc.part_count = parts.size();
  octet_error error = {};
  EXPECT_EQ(octet_network_create(&desc, &network, &error), OCTET_OK) << error.message;
  octet_network_destroy(network);
}

TEST(BadNetwork, Order) {
  const auto expect = [](const char* words, auto change) {
    Good good;
    change(&good.c);
    good.expect(OCTET_BAD_NETWORK, words);
  };
  expect("ops[0].inputs[1] = 1 is read before it is written, by ops[1]",
         [](NetworkCase* c) { std::swap(c->ops[0], c->ops[1]); });
  expect("ops[0].inputs[0] = 0 is neither written by an op nor kept",
         [](NetworkCase* c) { c->tensors[0].keep = 0; });
  expect("tensors[1] is written twice: by ops[0] and ops[1]",
         [](NetworkCase* c) { c->ops[1].output = 1; });
  expect("ops[1].inputs[0] = 2 is read before it is written, by ops[1]",  // a cycle of one
         [](NetworkCase* c) { c->ops[1].inputs[0] = 2; });
  expect("ops[0].inputs[0] = 2 is read before it is written, by ops[1]",  // a cycle of two
         [](NetworkCase* c) { c->ops[0].inputs[0] = 2; });
}

TEST(BadNetwork, SlicesThatMeet) {
  NetworkCase c(3);
  const size_t input = c.tensor(1, 6, 5, 8), whole = c.tensor(1, 6, 5, 12);
  c.conv(input, kernel3(8), NetworkCase::kNone, c.slice(whole, 0, 8));
  c.conv(input, kernel3(4), NetworkCase::kNone, c.slice(whole, 8, 4));
  c.conv(whole, kernel3(4));
  c.keep_ends();
  const auto create = [&](octet_error* error) {
    const octet_network_desc desc = c.desc();
    octet_network* network = nullptr;
    const octet_status status = octet_network_create(&desc, &network, error);
    octet_network_destroy(network);
    return status;
  };
  EXPECT_EQ(create(nullptr), OCTET_OK);
  c.tensors[3].first_channel = 7;
  expect_refused(OCTET_BAD_NETWORK, "tensors[2] and tensors[3] share channels", create);
  c.tensors[3].first_channel = 8;
  c.ops.erase(c.ops.begin() + 1);
  expect_refused(OCTET_BAD_NETWORK, "ops[1].inputs[0] = 1 is written in part only", create);
}

// A network passes neither weights nor zero points to a run.
TEST(BadNetwork, WhatARunWouldHaveToBring) {
  for (const bool weights : {true, false}) {
    NetworkCase c(3);
    c.gemm(c.tensor(1, 6, 5, 8), 12);
    c.keep_ends();
    const float scale = 1;
    octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
    d.m_max = 30, d.n = 12, d.k = 8;
    d.lhs_type = OCTET_U8, d.rhs_type = OCTET_S8, d.dst_type = OCTET_U8;
    d.epilogue.scales = &scale, d.epilogue.scale_count = 1;
    if (!weights) {
      d.packed = c.blobs()[0].data(), d.packed_bytes = c.blobs()[0].bytes();
      d.lhs_quant = OCTET_LHS_PER_TENSOR;
    }
    octet_gemm* gemm = nullptr;
    octet_error error = {};
    ASSERT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
    c.ops[0].gemm = gemm;
    const octet_network_desc desc = c.desc();
    octet_network* network = nullptr;
    expect_refused(OCTET_UNSUPPORTED,
                   weights ? "ops[0].gemm wants weights with each run"
                           : "ops[0].gemm wants zero points or scales with each run",
                   [&](octet_error* e) { return octet_network_create(&desc, &network, e); });
    octet_gemm_destroy(gemm);
  }
}

// The images of a slice have other channels between their pixels.
TEST(BadNetwork, ProductsOfImagesThatAreSlices) {
  NetworkCase c(3);
  const size_t whole = c.tensor(1, 2, 3, 12);
  c.gemm(c.slice(whole, 4, 8), 4, true);
  c.keep_ends();
  const octet_network_desc desc = c.desc();
  octet_network* network = nullptr;
  expect_refused(OCTET_BAD_SIZE, "ops[0].inputs[0] = 1: the number of its channels is 8",
                 [&](octet_error* e) { return octet_network_create(&desc, &network, e); });
}

// A tensor comes from the caller as a whole, or ops write all that is read of it.
TEST(BadNetwork, KeptTensorsThatAreWrittenInPart) {
  NetworkCase c(3);
  const size_t input = c.tensor(1, 6, 5, 8), whole = c.tensor(1, 6, 5, 12),
               unwritten = c.slice(whole, 8, 4);
  c.conv(input, kernel3(8), NetworkCase::kNone, c.slice(whole, 0, 8));
  c.conv(unwritten, kernel3(4));
  c.keep_ends();
  c.tensors[whole].keep = 1;
  const octet_network_desc desc = c.desc();
  octet_network* network = nullptr;
  expect_refused(OCTET_BAD_NETWORK, "ops[1].inputs[0] = 2 is written in part only",
                 [&](octet_error* e) { return octet_network_create(&desc, &network, e); });
}

TEST(BadNetwork, AddressesOfTensors) {
  for (const octet_type type : {OCTET_S32, OCTET_F32}) {
    NetworkCase c(3);
    const size_t input = c.tensor(1, 6, 5, 8), output = c.add(input, input);
    c.tensors[output].type = type;
    c.keep_ends();
    const octet_network_desc desc = c.desc();
    octet_network* network = nullptr;
    octet_error error = {};
    ASSERT_EQ(octet_network_create(&desc, &network, &error), OCTET_OK) << error.message;
    const Guarded to(size_t{4} * 6 * 5 * 8 + 4, Side::kBack, 4);
    Bytes from(6 * 5 * 8 + 1);
    octet_network_args args = OCTET_NETWORK_ARGS_INIT;
    for (size_t off = 0; off <= 4; ++off) {
      void* const tensors[] = {from.data() + 1, to.data() + off};
      args.tensors = tensors;
      const auto run = [&](octet_error* e) { return octet_network_run(network, &args, e); };
      if (off % 4)
        expect_refused(OCTET_MISALIGNED, "args.tensors[1] is at", run);
      else
        EXPECT_EQ(run(&error), OCTET_OK) << error.message;
    }
    octet_network_destroy(network);
  }
}

TEST(BadNetwork, Plans) {
  Good good;
  const auto expect = [&](octet_status status, const char* words, auto change) {
    octet_network_desc d = good.c.desc();
    change(&d);
    octet_network* network = nullptr;
    expect_refused(status, words,
                   [&](octet_error* e) { return octet_network_create(&d, &network, e); });
    EXPECT_EQ(network, nullptr);
  };
  using Desc = octet_network_desc*;
  expect(OCTET_UNKNOWN_ENUM, "desc.goal = 9", [](Desc d) { set_raw(&d->goal, 9); });
  expect(OCTET_UNSUPPORTED, "desc.reserved", [](Desc d) { d->reserved = 1; });
  expect(OCTET_UNSUPPORTED, "desc.memory_bytes", [](Desc d) { d->memory_bytes = 1; });
  expect(OCTET_BAD_SIZE, "desc.memory_bytes = 1, but the tensors need at least",
         [](Desc d) { d->goal = OCTET_NETWORK_MEMORY, d->memory_bytes = 1; });
  expect(OCTET_NULL_POINTER, "desc.parts is null", [](Desc d) { d->part_count = 1; });
  octet_network_part parts[] = {{0, 1, 0}, {1, 3, 2}};
  const auto expect_parts = [&](octet_status status, const char* words) {
    expect(status, words, [&](Desc d) { d->parts = parts, d->part_count = 2; });
  };
  parts[1].first_op = 2;
  expect_parts(OCTET_BAD_NETWORK, "desc.parts[1] is of ops 2 to 3, but must begin with op 1");
  parts[1] = {1, 4, 2};
  expect_parts(OCTET_BAD_NETWORK, "desc.parts[1] is of ops 1 to 4");
  parts[1] = {1, 1, 2};
  expect_parts(OCTET_BAD_NETWORK, "desc.parts[1]");
  parts[1] = {1, 2, 2};
  expect_parts(OCTET_BAD_NETWORK, "desc.parts ends before op 2 of 3");
  // Parts beyond the array are not read
  expect(OCTET_BAD_NETWORK, "desc.part_count = 4, but there are 3 ops",
         [&](Desc d) { d->parts = parts, d->part_count = 4; });
  good.c.gemm(3, 4, true);
  parts[1] = {1, 4, 1};
  expect_parts(OCTET_UNSUPPORTED, "desc.parts[1] cannot be a chain: one of its products reads");
}

TEST(BadNetwork, Runs) {
  Good good;
  octet_network_desc desc = good.c.desc();
  desc.concurrency = 2, desc.goal = OCTET_NETWORK_LAYERS;
  octet_network* network = nullptr;
  ASSERT_EQ(octet_network_create(&desc, &network, nullptr), OCTET_OK);
  size_t bytes = 0;
  expect_refused(OCTET_NULL_POINTER, "bytes is null",
                 [&](octet_error* e) { return octet_network_workspace(network, nullptr, e); });
  expect_refused(OCTET_NULL_POINTER, "network is null",
                 [&](octet_error* e) { return octet_network_workspace(nullptr, &bytes, e); });
  ASSERT_EQ(octet_network_workspace(network, &bytes, nullptr), OCTET_OK);
  const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
  Bytes memory(6 * 5 * 8 + 6 * 5 * 12);
  void* const tensors[] = {memory.data(), nullptr, nullptr, memory.data() + 6 * 5 * 8};
  octet_network_args args = OCTET_NETWORK_ARGS_INIT;
  args.tensors = tensors, args.workspace = workspace.data(), args.workspace_bytes = bytes;
  octet_error error = {};
  ASSERT_EQ(octet_network_run(network, &args, &error), OCTET_OK) << error.message;
  const Bytes before = memory;
  const auto expect = [&](octet_status status, const char* words, auto change) {
    octet_network_args changed = args;
    change(&changed);
    expect_refused(status, words,
                   [&](octet_error* e) { return octet_network_run(network, &changed, e); });
    EXPECT_EQ(memory, before);
  };
  using Args = octet_network_args*;
  expect(OCTET_NULL_POINTER, "args.tensors is null", [](Args a) { a->tensors = nullptr; });
  void* const without[] = {memory.data(), nullptr, nullptr, nullptr};
  expect(OCTET_NULL_POINTER, "args.tensors[3]", [&](Args a) { a->tensors = without; });
  void* const over[] = {memory.data(), nullptr, nullptr, memory.data() + 6 * 5 * 8 - 1};
  expect(OCTET_OVERLAP, "args.tensors[3], which is written, overlaps args.tensors[0]",
         [&](Args a) { a->tensors = over; });
  void* const inside[] = {workspace.data(), nullptr, nullptr, memory.data()};
  expect(OCTET_OVERLAP, "args.tensors[0] overlaps args.workspace",
         [&](Args a) { a->tensors = inside; });
  // ops[0] and ops[2] have packed weights; the add between them has none
  const std::vector<Guarded>& packed = good.c.blobs();
  expect(OCTET_OVERLAP, "args.workspace overlaps the packed weights of ops[0]",
         [&](Args a) { a->workspace = packed[0].data(); });
  // The weights of ops[0] would be named first if they lay behind, within the workspace
  const auto first = (uintptr_t)packed[0].data(), second = (uintptr_t)packed[1].data();
  if (first < second || first - second >= args.workspace_bytes)
    expect(OCTET_OVERLAP, "args.workspace overlaps the packed weights of ops[2]",
           [&](Args a) { a->workspace = packed[1].data(); });
  void* const onto[] = {memory.data(), nullptr, nullptr, packed[1].data()};
  expect(OCTET_OVERLAP, "args.tensors[3] overlaps the packed weights of ops[2]",
         [&](Args a) { a->tensors = onto; });
  expect(OCTET_NULL_POINTER, "args.workspace is null", [](Args a) { a->workspace = nullptr; });
  expect(OCTET_WORKSPACE_TOO_SMALL, "this run needs", [](Args a) { --a->workspace_bytes; });
  expect(OCTET_MISALIGNED, "args.workspace",
         [](Args a) { a->workspace = (uint8_t*)a->workspace + 1; });
  expect(OCTET_SIZE_ABOVE_MAXIMUM, "args.concurrency = 3", [](Args a) {
    a->parallel_for = [](void*, size_t, void (*)(void*, size_t), void*) {};
    a->concurrency = 3;
  });
  octet_network_explanation e = OCTET_NETWORK_EXPLANATION_INIT;
  expect_refused(OCTET_BAD_SIZE, "index = 3, but the network runs in 3 parts",
                 [&](octet_error* error) { return octet_network_explain(network, 3, &e, error); });
  expect_refused(OCTET_NULL_POINTER, "network is null",
                 [&](octet_error* error) { return octet_network_explain(nullptr, 0, &e, error); });
  octet_network_destroy(network);
}

}  // namespace
}  // namespace octet_test
