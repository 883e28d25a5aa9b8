// SPDX-License-Identifier: Apache-2.0
// Checks structs of callers that were compiled for an older or a newer header: every size around
// every limit, of every struct that has a struct_size.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "octet/network.h"
#include "octet/sparse.h"
#include "octet/traffic.h"
#include "octet/tune.h"
#include "support/guarded.h"

namespace octet_test {
namespace {

constexpr size_t kLargest = 4096;
using Bytes = std::vector<uint8_t>;

// The effects of a call: its status, its sentence, the bytes that it wrote.
struct Outcome {
  octet_status status = OCTET_OK;
  std::string message;
  Bytes output;
  bool operator==(const Outcome& o) const {
    return status == o.status && message == o.message && output == o.output;
  }
};
std::ostream& operator<<(std::ostream& out, const Outcome& o) {
  return out << octet_status_name(o.status) << " '" << o.message << "', " << o.output.size()
             << " bytes";
}

// The first bytes of `full` as a struct of `size` bytes that touches the guard page behind it;
// bytes beyond `full` are zero.
template <typename Struct>
Guarded resized(const Struct& full, size_t size) {
  Guarded memory(size, Side::kBack, alignof(Struct));
  std::memset(memory.data(), 0, size);
  std::memcpy(memory.data(), &full, std::min(size, sizeof full));
  std::memcpy(memory.data(), &size, sizeof size);
  return memory;
}

template <typename Struct>
std::vector<size_t> sizes_between(size_t least) {
  std::vector<size_t> sizes;
  for (size_t size = sizeof(size_t); size <= sizeof(Struct) + 2 * alignof(Struct); ++size)
    sizes.push_back(size);
  for (const size_t size : {least, kLargest - alignof(Struct), kLargest - 1, kLargest, kLargest + 1,
                            kLargest + alignof(Struct)})
    sizes.push_back(size);
  return sizes;
}

template <typename Struct>
bool may_be(size_t size, size_t least) {
  return size >= least && size <= kLargest && size % alignof(Struct) == 0;
}

template <typename Struct>
void expect_bad_size(const Outcome& got, size_t size, const std::string& name) {
  EXPECT_EQ(got.status, OCTET_BAD_STRUCT_SIZE) << size;
  EXPECT_EQ(got.message.find(name + ".struct_size is " + std::to_string(size)), 0u) << got.message;
}

// Checks a struct that the library reads in `use`; the first `least` bytes suffice it, or do not.
template <typename Struct, typename Use>
void expect_reads(const Struct& full, size_t least, const std::string& name, const Use& use,
                  bool suffices = true) {
  const Outcome whole = use(&full);
  EXPECT_EQ(whole.status, OCTET_OK) << whole.message;
  bool differs = false;
  for (const size_t size : sizes_between<Struct>(least)) {
    SCOPED_TRACE(name + ", " + std::to_string(size) + " of " + std::to_string(sizeof full));
    const Guarded memory = resized(full, size);
    memory.read_only();
    const Outcome got = use(memory.data<const Struct>());
    if (!may_be<Struct>(size, least)) {
      expect_bad_size<Struct>(got, size, name);
      continue;
    }
    // The outcome equals a struct of today's size whose other fields are zero.
    Struct zeroed = {};
    std::memcpy(&zeroed, &full, std::min(size, sizeof full));
    zeroed.struct_size = sizeof zeroed;
    EXPECT_EQ(got, use(&zeroed));
    if (size == least && suffices) {
      EXPECT_EQ(got.status, OCTET_OK) << got.message;
    }
    differs |= !(got == whole);
  }
  EXPECT_TRUE(differs) << "no field beyond the least has a part in the outcome";

  // Fields that a larger struct adds must be zero.
  for (const size_t size : {sizeof full + alignof(Struct), kLargest})
    for (const size_t at : {sizeof full, size - 1}) {
      Guarded memory = resized(full, size);
      memory.data()[at] = 1;
      const Outcome got = use(memory.data<const Struct>());
      expect_bad_size<Struct>(got, size, name);
      EXPECT_NE(got.message.find("byte " + std::to_string(at)), std::string::npos) << got.message;
    }
  for (const size_t size : {size_t{0}, SIZE_MAX, SIZE_MAX - alignof(Struct) + 1}) {
    Struct lying = full;
    lying.struct_size = size;
    expect_bad_size<Struct>(use(&lying), size, name);
  }
}

// Checks a struct that the library fills in.
template <typename Struct, typename Use>
void expect_fills(size_t least, const std::string& name, const Use& use) {
  Struct full = {};
  full.struct_size = sizeof full;
  ASSERT_EQ(use(&full).status, OCTET_OK);
  for (const size_t size : sizes_between<Struct>(least)) {
    SCOPED_TRACE(name + ", " + std::to_string(size) + " of " + std::to_string(sizeof full));
    Guarded memory(size, Side::kBack, alignof(Struct));
    std::memcpy(memory.data(), &size, sizeof size);
    Bytes want(memory.data(), memory.data() + size);
    const Outcome got = use(memory.data<Struct>());
    if (may_be<Struct>(size, least)) {
      EXPECT_EQ(got.status, OCTET_OK) << got.message;
      std::fill(want.begin(), want.end(), uint8_t{0});
      std::memcpy(want.data(), &full, std::min(size, sizeof full));
      std::memcpy(want.data(), &size, sizeof size);
    } else {
      expect_bad_size<Struct>(got, size, name);
    }
    EXPECT_EQ(Bytes(memory.data(), memory.data() + size), want);
  }
}

template <typename Call>
Outcome outcome_of(const Call& call, Bytes output = {}) {
  octet_error error = {OCTET_OK, ""};
  const octet_status status = call(&error);
  return {status, error.message, status ? Bytes() : std::move(output)};
}

constexpr size_t kM = 3, kN = 5, kK = 8;

struct Product {
  std::vector<int8_t> weights = std::vector<int8_t>(kN * kK);
  Bytes lhs = Bytes(kM * kK), residual = Bytes(kM * kN);
  const float scale = 0.5f;
  const int32_t zero_point = 3;
  const std::vector<int32_t> bias = std::vector<int32_t>(kN, 100);
  const Bytes lut = Bytes(256, 9);
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  Guarded blob;

  Product() {
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = (int8_t)(i * 29);
    for (size_t i = 0; i < lhs.size(); ++i) lhs[i] = (uint8_t)(i * 37);
    rhs.type = OCTET_S8, rhs.order = OCTET_NK, rhs.n = kN, rhs.k = kK, rhs.data = weights.data();
    blob = pack(&rhs);
    desc.m_max = kM, desc.n = kN, desc.k = kK;
    desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
    desc.packed = blob.data(), desc.packed_bytes = blob.bytes();
    args.m = kM, args.lhs = lhs.data();
  }

  static Guarded pack(const octet_rhs_desc* r) {
    size_t bytes = 0;
    EXPECT_EQ(octet_pack_size(r, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
    Guarded packed(bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_pack(r, OCTET_ISA_AUTO, packed.data(), bytes, nullptr), OCTET_OK);
    return packed;
  }

  Outcome run(const octet_gemm_desc* d) const {
    octet_gemm* gemm = nullptr;
    const Outcome created =
        outcome_of([&](octet_error* e) { return octet_gemm_create(d, &gemm, e); });
    if (created.status) return created;
    Bytes dst(kM * kN * 4);
    alignas(OCTET_ALIGNMENT) uint8_t workspace[4 * OCTET_ALIGNMENT];
    octet_gemm_args a = args;
    a.dst = dst.data(), a.workspace = workspace, a.workspace_bytes = sizeof workspace;
    const Outcome done = outcome_of([&](octet_error* e) { return octet_gemm_run(gemm, &a, e); });
    octet_gemm_destroy(gemm);
    return {done.status, done.message, dst};
  }
};

TEST(StructSize, RhsDesc) {
  Product p;
  p.rhs.zero_points = &p.zero_point, p.rhs.zero_point_count = 1;
  expect_reads(p.rhs, offsetof(octet_rhs_desc, zero_points), "rhs", [](const octet_rhs_desc* rhs) {
    size_t bytes = 0;
    const Outcome sized =
        outcome_of([&](octet_error* e) { return octet_pack_size(rhs, OCTET_ISA_AUTO, &bytes, e); });
    if (sized.status) {
      const Outcome packed = outcome_of([&](octet_error* e) {
        alignas(OCTET_ALIGNMENT) uint8_t blob[OCTET_ALIGNMENT];
        return octet_pack(rhs, OCTET_ISA_AUTO, blob, sizeof blob, e);
      });
      EXPECT_EQ(packed, sized);
      return sized;
    }
    const Guarded blob = Product::pack(rhs);
    return Outcome{OCTET_OK, "", Bytes(blob.data(), blob.data() + bytes)};
  });
}

// Every field of the epilogue but those of double mode: each size ends after another one.
TEST(StructSize, GemmDesc) {
  Product p;
  p.desc.epilogue.bias = p.bias.data();
  expect_reads(p.desc, offsetof(octet_gemm_desc, epilogue), "desc",
               [&](const octet_gemm_desc* d) { return p.run(d); });
  octet_gemm_desc desc = p.desc;
  octet_epilogue& e = desc.epilogue;
  desc.dst_type = OCTET_U8;
  e.scales = &p.scale, e.scale_count = 1, e.dst_zero_point = 7,
  e.activation = OCTET_ACTIVATION_RELU;
  Bytes lut(256);
  for (size_t i = 0; i < lut.size(); ++i) lut[i] = (uint8_t)(~i);
  e.lut = lut.data();
  p.residual.assign(kM * kN, 130), p.args.residual = p.residual.data();
  e.residual.type = OCTET_U8, e.residual.zero_point = 128, e.residual.scale = 1;
  e.product_activation = OCTET_ACTIVATION_CLAMP;
  e.product_clamp_min = -1, e.product_clamp_max = 3;
  const Outcome whole = p.run(&desc);
  EXPECT_EQ(whole.status, OCTET_OK) << whole.message;
  const size_t end = offsetof(octet_gemm_desc, epilogue) + offsetof(octet_epilogue, factors);
  for (size_t size = offsetof(octet_gemm_desc, epilogue); size < end; size += 8) {
    octet_gemm_desc zeroed = OCTET_GEMM_DESC_INIT;
    std::memcpy(&zeroed, &desc, size);
    zeroed.struct_size = sizeof zeroed;
    const Guarded memory = resized(desc, size);
    memory.read_only();
    const Outcome got = p.run(memory.data<const octet_gemm_desc>());
    EXPECT_EQ(got, p.run(&zeroed)) << size;
    EXPECT_FALSE(got == whole) << size;
  }
}

TEST(StructSize, GemmArgs) {
  Product p;
  p.desc.batch_max = 2;
  octet_gemm* gemm = nullptr;
  ASSERT_EQ(octet_gemm_create(&p.desc, &gemm, nullptr), OCTET_OK);
  std::vector<int32_t> dst(2 * kM * kN);
  Guarded workspace(1024, Side::kBack, OCTET_ALIGNMENT);
  size_t calls = 0;
  p.args.dst = dst.data(), p.args.batch = 2, p.args.lhs_batch_stride = 1;
  p.args.workspace = workspace.data(), p.args.workspace_bytes = workspace.bytes();
  p.args.parallel_context = &calls, p.args.concurrency = 2;
  p.args.parallel_for = [](void* context, size_t count, void (*fn)(void*, size_t), void* arg) {
    ++*(size_t*)context;
    for (size_t i = 0; i < count; ++i) fn(arg, i);
  };
  p.lhs.resize(p.lhs.size() + 1);
  p.args.lhs = p.lhs.data();
  size_t needed = 0;
  EXPECT_EQ(octet_gemm_workspace(gemm, kM, 1, &needed, nullptr), OCTET_OK);
  const auto run = [&](const octet_gemm_args* a) {
    calls = 0;
    std::fill(dst.begin(), dst.end(), 0);
    Outcome o = outcome_of([&](octet_error* e) { return octet_gemm_run(gemm, a, e); });
    for (const int32_t value : dst) o.output.push_back((uint8_t)value);
    o.output.push_back((uint8_t)calls);
    return o;
  };
  expect_reads(p.args, offsetof(octet_gemm_args, workspace), "args", run, needed == 0);
  octet_gemm_destroy(gemm);
}

struct Layer {
  std::vector<int8_t> weights = std::vector<int8_t>(9 * 16 * 16, 3);
  Bytes lhs = Bytes(4 * 4 * 16, 5);
  const int32_t zero_point = 3;
  const std::vector<int32_t> bias = std::vector<int32_t>(16, 100);
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  Guarded blob;

  Layer() {
    octet_conv2d_shape& s = filter.shape;
    s.in_h_max = s.in_w_max = 4, s.in_channels = s.out_channels = 16, s.kernel_h = s.kernel_w = 3;
    s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = 1;
    filter.type = OCTET_S8, filter.data = weights.data();
    filter.algorithm = OCTET_CONV_WINOGRAD_2X2;
    blob = pack(&filter);
    desc.shape = s;
    desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
    desc.packed = blob.data(), desc.packed_bytes = blob.bytes();
    args.lhs = lhs.data();
  }

  static Guarded pack(const octet_filter_desc* f) {
    size_t bytes = 0;
    EXPECT_EQ(octet_conv2d_pack_size(f, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
    Guarded packed(bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_conv2d_pack(f, OCTET_ISA_AUTO, packed.data(), bytes, nullptr), OCTET_OK);
    return packed;
  }
};

TEST(StructSize, FilterDesc) {
  const Layer l;
  const size_t least = offsetof(octet_filter_desc, zero_points);
  expect_reads(l.filter, least, "filter", [](const octet_filter_desc* filter) {
    size_t bytes = 0;
    const Outcome sized = outcome_of(
        [&](octet_error* e) { return octet_conv2d_pack_size(filter, OCTET_ISA_AUTO, &bytes, e); });
    octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
    const Outcome explained = outcome_of([&](octet_error* e) {
      return octet_conv2d_explain(filter, OCTET_ISA_AUTO, 0, &candidate, e);
    });
    EXPECT_EQ(explained, sized);
    if (sized.status) return sized;
    const Guarded blob = Layer::pack(filter);
    return Outcome{OCTET_OK, "", Bytes(blob.data(), blob.data() + bytes)};
  });
}

TEST(StructSize, Machine) {
  Layer l;
  octet_machine machine = OCTET_MACHINE_INIT;
  machine.l2_bytes = 1 << 18;
  machine.in_order = 1;
  expect_reads(machine, offsetof(octet_machine, in_order), "filter.machine",
               [&](const octet_machine* m) {
                 l.filter.machine = m;
                 octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
                 const Outcome o = outcome_of([&](octet_error* e) {
                   return octet_conv2d_explain(&l.filter, OCTET_ISA_AUTO, 0, &candidate, e);
                 });
                 const auto* const time = (uint8_t*)(&candidate.microseconds);
                 return Outcome{o.status, o.message, Bytes(time, time + sizeof(double))};
               });
}

TEST(StructSize, SparseStream) {
  Product p;
  const Bytes weights(kN * kK);
  p.rhs.data = weights.data();
  octet_sparse_stream_format format = OCTET_SPARSE_STREAM_FORMAT_INIT;
  format.chunk = 64;
  format.alignment = 8;
  format.keep_zeros = 1;
  expect_reads(format, offsetof(octet_sparse_stream_format, alignment), "format",
               [&](const octet_sparse_stream_format* f) {
                 Bytes stream(256);
                 const Outcome o = outcome_of([&](octet_error* e) {
                   return octet_sparse_export_stream(&p.rhs, f, stream.data(), stream.size(), e);
                 });
                 return Outcome{o.status, o.message, o.status ? Bytes() : stream};
               });
}

TEST(StructSize, ConvDesc) {
  Layer l;
  l.desc.epilogue.bias = l.bias.data();
  const auto create_and_run = [&](const octet_conv2d_desc* d) {
    octet_conv2d* conv = nullptr;
    const Outcome created =
        outcome_of([&](octet_error* e) { return octet_conv2d_create(d, &conv, e); });
    if (created.status) return created;
    size_t bytes = 0;
    EXPECT_EQ(octet_conv2d_workspace(conv, 0, 0, 0, 1, &bytes, nullptr), OCTET_OK);
    const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
    std::vector<int32_t> dst(4 * 4 * 16);
    octet_conv2d_args args = l.args;
    args.dst = dst.data(), args.workspace = workspace.data(), args.workspace_bytes = bytes;
    Outcome o = outcome_of([&](octet_error* e) { return octet_conv2d_run(conv, &args, e); });
    octet_conv2d_destroy(conv);
    for (const int32_t value : dst) o.output.push_back((uint8_t)value);
    return o;
  };
  expect_reads(l.desc, offsetof(octet_conv2d_desc, epilogue), "desc", create_and_run);
}

TEST(StructSize, ConvArgs) {
  Layer l;
  octet_conv2d_shape& s = l.filter.shape;
  s.kernel_h = s.kernel_w = 1, s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = 0;
  l.filter.algorithm = OCTET_CONV_IM2COL;
  l.blob = Layer::pack(&l.filter);
  l.desc.shape = s, l.desc.packed = l.blob.data(), l.desc.packed_bytes = l.blob.bytes();
  l.desc.max_isa = OCTET_ISA_AUTO;
  octet_conv2d* conv = nullptr;
  octet_error error = {};
  ASSERT_EQ(octet_conv2d_create(&l.desc, &conv, &error), OCTET_OK) << error.message;
  size_t bytes = 0;
  ASSERT_EQ(octet_conv2d_workspace(conv, 0, 0, 0, 1, &bytes, nullptr), OCTET_OK);
  const Guarded workspace(2 * bytes, Side::kBack, OCTET_ALIGNMENT);
  l.args.workspace = workspace.data(), l.args.workspace_bytes = workspace.bytes();
  size_t calls = 0;
  std::vector<int32_t> dst(4 * 4 * 16);
  l.args.dst = dst.data(), l.args.parallel_context = &calls, l.args.concurrency = 2;
  l.args.parallel_for = [](void* context, size_t count, void (*fn)(void*, size_t), void* arg) {
    ++*(size_t*)context;
    for (size_t i = 0; i < count; ++i) fn(arg, i);
  };
  const auto run = [&](const octet_conv2d_args* a) {
    calls = 0;
    std::fill(dst.begin(), dst.end(), 0);
    Outcome o = outcome_of([&](octet_error* e) { return octet_conv2d_run(conv, a, e); });
    for (const int32_t value : dst) o.output.push_back((uint8_t)value);
    o.output.push_back((uint8_t)calls);
    return o;
  };
  expect_reads(l.args, offsetof(octet_conv2d_args, workspace), "args", run, bytes == 0);
  octet_conv2d_destroy(conv);
}

TEST(StructSize, CpuInfo) {
  expect_fills<octet_cpu_info>(
      offsetof(octet_cpu_info, l1d_bytes), "info", [](octet_cpu_info* info) {
        return outcome_of([&](octet_error* e) { return octet_get_cpu_info(info, e); });
      });
}

TEST(StructSize, KernelInfo) {
  expect_fills<octet_kernel_info>(
      offsetof(octet_kernel_info, isa), "info", [](octet_kernel_info* info) {
        return outcome_of([&](octet_error* e) { return octet_get_kernel_info(0, info, e); });
      });
}

TEST(StructSize, BlobInfo) {
  const Layer l;
  const Product p;
  for (const Guarded* blob : {&l.blob, &p.blob})
    expect_fills<octet_blob_info>(
        offsetof(octet_blob_info, algorithm), "info", [&](octet_blob_info* info) {
          return outcome_of([&](octet_error* e) {
            return octet_blob_get_info(blob->data(), blob->bytes(), info, e);
          });
        });
}

TEST(StructSize, Candidate) {
  const Layer l;
  expect_fills<octet_conv2d_candidate>(
      offsetof(octet_conv2d_candidate, macs), "candidate", [&](octet_conv2d_candidate* candidate) {
        return outcome_of([&](octet_error* e) {
          return octet_conv2d_explain(&l.filter, OCTET_ISA_AUTO, 0, candidate, e);
        });
      });
}

TEST(StructSize, Explanation) {
  const Product p;
  expect_fills<octet_gemm_explanation>(offsetof(octet_gemm_explanation, lhs_type), "explanation",
                                       [&](octet_gemm_explanation* explanation) {
                                         return outcome_of([&](octet_error* e) {
                                           return octet_gemm_explain(&p.desc, 1, explanation, e);
                                         });
                                       });
}

TEST(StructSize, WhatTuningFillsIn) {
  octet_tuning* tuning = nullptr;
  ASSERT_EQ(octet_tuning_create(&tuning, nullptr), OCTET_OK);
  expect_fills<octet_tuning_report>(
      sizeof(octet_tuning_report), "report", [&](octet_tuning_report* report) {
        return outcome_of(
            [&](octet_error* e) { return octet_tuning_load(tuning, "/no/such/file", report, e); });
      });
  octet_tuning_destroy(tuning);
  // The clock advances with each call, so all results are equal.
  Product p;
  double now = 0;
  octet_tune_options options = OCTET_TUNE_OPTIONS_INIT;
  options.clock = [](void* now) { return *(double*)now += 1; };
  options.clock_context = &now;
  expect_fills<octet_tune_result>(
      offsetof(octet_tune_result, seconds), "result", [&](octet_tune_result* result) {
        now = 0;
        return outcome_of(
            [&](octet_error* e) { return octet_tune_gemm(&p.desc, &options, nullptr, result, e); });
      });
}

struct OneOp {
  octet_network_tensor tensors[2] = {};
  octet_network_function function = {};
  octet_network_op op = {};
  octet_network_desc desc = OCTET_NETWORK_DESC_INIT;
  octet_network* network = nullptr;

  OneOp() {
    for (octet_network_tensor& t : tensors)
      t.batch = t.w = 1, t.h = 2, t.channels = 4, t.type = OCTET_U8, t.keep = 1;
    function.run = [](void*, const octet_network_call* call) {
      for (size_t y = call->first; y < call->end; ++y)
        std::memcpy(octet_network_line(&call->output, y), octet_network_line(&call->inputs[0], y),
                    4);
    };
    desc.concurrency = 2;
    op.function = &function, op.input_count = 1, op.output = 1;
    desc.tensors = tensors, desc.tensor_count = 2, desc.ops = &op, desc.op_count = 1;
  }
  ~OneOp() { octet_network_destroy(network); }
  OneOp(const OneOp&) = delete;
  OneOp& operator=(const OneOp&) = delete;
};

TEST(StructSize, Networks) {
  OneOp one;
  ASSERT_EQ(octet_network_create(&one.desc, &one.network, nullptr), OCTET_OK);
  uint8_t from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to[8];
  void* const tensors[] = {from, to};
  size_t calls = 0;
  octet_network_args args = OCTET_NETWORK_ARGS_INIT;
  args.tensors = tensors, args.concurrency = 2, args.parallel_context = &calls;
  args.parallel_for = [](void* context, size_t count, void (*fn)(void*, size_t), void* arg) {
    ++*(size_t*)context;
    for (size_t i = 0; i < count; ++i) fn(arg, i);
  };
  const auto run = [&](const octet_network_args* a) {
    calls = 0;
    std::memset(to, 0, sizeof to);
    Outcome o = outcome_of([&](octet_error* e) { return octet_network_run(one.network, a, e); });
    o.output.assign(to, to + sizeof to);
    o.output.push_back((uint8_t)calls);
    return o;
  };
  expect_reads(args, offsetof(octet_network_args, parallel_for), "args", run);
  expect_reads(one.desc, offsetof(octet_network_desc, concurrency), "desc",
               [&](const octet_network_desc* d) {
                 octet_network* network = nullptr;
                 Outcome o = outcome_of(
                     [&](octet_error* e) { return octet_network_create(d, &network, e); });
                 if (o.status) return o;
                 o.output.push_back((uint8_t)octet_network_run(network, &args, nullptr));
                 octet_network_destroy(network);
                 return o;
               });
  expect_fills<octet_network_explanation>(
      sizeof(octet_network_explanation), "explanation", [&](octet_network_explanation* e) {
        return outcome_of(
            [&](octet_error* error) { return octet_network_explain(one.network, 0, e, error); });
      });
}

TEST(StructSize, WhatTrafficReadsAndFillsIn) {
  octet_traffic* traffic = nullptr;
  octet_traffic_options options = OCTET_TRAFFIC_OPTIONS_INIT;
  options.cache_bytes = 4096;
  ASSERT_EQ(octet_traffic_create(&options, &traffic, nullptr), OCTET_OK);
  expect_fills<octet_layer_traffic>(
      sizeof(octet_layer_traffic), "layer", [&](octet_layer_traffic* layer) {
        return outcome_of([&](octet_error* e) { return octet_traffic_get(traffic, 0, layer, e); });
      });
  octet_traffic_destroy(traffic);
}

// A struct that ends in padding cannot grow there: the library would read bytes that old callers
// did not set. A struct that the library fills in may end in padding.
TEST(StructSize, NoPaddingAtTheEnd) {
  const auto end = [](size_t offset, size_t size) { return offset + size; };
  EXPECT_EQ(end(offsetof(octet_rhs_desc, minimums), sizeof(void*)), sizeof(octet_rhs_desc));
  EXPECT_EQ(end(offsetof(octet_filter_desc, has_lut), sizeof(int)), sizeof(octet_filter_desc));
  EXPECT_EQ(end(offsetof(octet_machine, tuning), sizeof(void*)), sizeof(octet_machine));
  EXPECT_EQ(end(offsetof(octet_sparse_stream_format, reserved), sizeof(int)),
            sizeof(octet_sparse_stream_format));
  EXPECT_EQ(end(offsetof(octet_epilogue, bias_s64), sizeof(void*)), sizeof(octet_epilogue));
  EXPECT_EQ(end(offsetof(octet_gemm_desc, epilogue), sizeof(octet_epilogue)),
            sizeof(octet_gemm_desc));
  EXPECT_EQ(end(offsetof(octet_conv2d_desc, epilogue), sizeof(octet_epilogue)),
            sizeof(octet_conv2d_desc));
  EXPECT_EQ(end(offsetof(octet_gemm_args, concurrency), sizeof(size_t)), sizeof(octet_gemm_args));
  EXPECT_EQ(end(offsetof(octet_conv2d_args, pads), sizeof(void*)), sizeof(octet_conv2d_args));
}

TEST(StructSize, ReservedIsZero) {
  Product p;
  Layer l;
  const auto expect_refused = [](const Outcome& o, size_t i) {
    EXPECT_EQ(o.status, OCTET_UNSUPPORTED);
    EXPECT_EQ(o.message.find("desc.reserved[" + std::to_string(i) + "]"), 0u) << o.message;
  };
  for (size_t i = 0; i < std::size(p.desc.reserved); ++i) {
    octet_gemm_desc desc = p.desc;
    desc.reserved[i] = 1;
    expect_refused(p.run(&desc), i);
  }
  for (size_t i = 0; i < std::size(l.desc.reserved); ++i) {
    octet_conv2d_desc desc = l.desc;
    desc.reserved[i] = ~(UINTPTR_MAX >> 1);
    octet_conv2d* conv = nullptr;
    expect_refused(outcome_of([&](octet_error* e) { return octet_conv2d_create(&desc, &conv, e); }),
                   i);
  }
}

}  // namespace
}  // namespace octet_test
