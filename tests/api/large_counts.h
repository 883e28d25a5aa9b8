// SPDX-License-Identifier: Apache-2.0
// Lists counts near the ends of size_t and of 32 bits, and makes objects of every kind in which
// they replace a count.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dispatch/os/os.h"
#include "octet/helpers.h"
#include "octet/network.h"
#include "octet/sparse.h"
#include "octet/traffic.h"
#include "octet/tune.h"
#include "support/draw.h"
#include "support/guarded.h"
#include "support/refused.h"

namespace octet_test {

constexpr size_t kBeyond = SIZE_MAX / 2 + 1;  // no memory is so large, and no sum of two of them
// In 32 bits the fourth is 0
constexpr size_t kHuge[] = {SIZE_MAX, SIZE_MAX - 63, kBeyond, (size_t)(uint64_t{1} << 32),
                            size_t{1} << 31};

struct Count {
  const char* name;
  size_t* at;
  // The caller promises this much memory, so there is no run where the promise could be true.
  bool promises = false;
  // The length of an array that must equal another count, so it is not tried beside others.
  bool alone = false;
};

struct Call {
  const char* name;
  // Without has_memory the call reads none of the promised memory.
  std::function<octet_status(bool has_memory, octet_error*)> run;
};

inline void expect_answer(const Call& call, bool has_memory, bool refused) {
  octet_error error = {OCTET_OK, ""};
  const octet_status status = call.run(has_memory, &error);
  if (status == OCTET_OK) {
    EXPECT_FALSE(refused) << call.name << " took it";
    return;
  }
  EXPECT_EQ(error.status, status) << call.name;
  EXPECT_STRNE(error.message, "") << call.name;
}

// Each count by itself and, where `pairs`, beside each other one.
inline void try_counts(const std::vector<Count>& counts, const std::vector<Call>& calls,
                       bool pairs = true) {
  const auto all = [&](bool has_memory, bool refused) {
    for (const Call& call : calls) expect_answer(call, has_memory, refused);
  };
  octet_error error = {};
  for (const Call& call : calls)
    ASSERT_EQ(call.run(true, &error), OCTET_OK) << call.name << ": " << error.message;
  for (const Count& a : counts)
    for (const size_t first : kHuge) {
      const size_t before = *a.at;
      *a.at = first;
      {
        SCOPED_TRACE(a.name + (" = " + std::to_string(first)));
        const bool beyond = a.promises && first >= kBeyond;
        all(!a.promises || beyond, beyond);
      }
      for (const Count& b : counts) {
        if (!pairs || &b <= &a || a.alone || b.alone) continue;
        for (const size_t second : {SIZE_MAX, kBeyond, size_t{1} << 31}) {
          SCOPED_TRACE(a.name + (" = " + std::to_string(first)) + ", " + b.name + " = " +
                       std::to_string(second));
          const size_t old = *b.at;
          *b.at = second;
          all(!a.promises && !b.promises, false);
          *b.at = old;
        }
      }
      *a.at = before;
      if (testing::Test::HasFailure()) return;
    }
}

// ---- common values

// Runs the tasks in turn; a run with too many would never end.
inline void in_turn(void*, size_t count, void (*fn)(void*, size_t), void* arg) {
  ASSERT_LE(count, 4096u);
  for (size_t i = 0; i < count; ++i) fn(arg, i);
}

// Refuses gigabytes, which arrays over legal numbers of columns may take.
inline octet_allocator small_memory() {
  return {[](void*, size_t bytes, size_t alignment) -> void* {
            return bytes > size_t{1} << 24 ? nullptr : octet::os::allocate(bytes, alignment);
          },
          [](void*, void* memory) { octet::os::release(memory); }, nullptr};
}

// kScratch: enough for all tasks that any run below can have, on the slowest tier, too.
constexpr size_t kM = 6, kN = 8, kK = 16, kBatch = 2, kScratch = size_t{1} << 25;

struct Memory {
  std::vector<uint8_t> lhs = std::vector<uint8_t>(4096), rhs = lhs, dst = lhs, residual = lhs;
  Guarded scratch{kScratch, Side::kBack, OCTET_ALIGNMENT};
  const float scale = 0.01f;
};

struct Traffic {
  octet_traffic* get = nullptr;
  octet_traffic_options options = OCTET_TRAFFIC_OPTIONS_INIT;
  Traffic() {
    options.cache_bytes = 4096;
    EXPECT_EQ(octet_traffic_create(&options, &get, nullptr), OCTET_OK);
  }
  ~Traffic() { octet_traffic_destroy(get); }
};

inline octet_tune_options quick(double* now) {
  octet_tune_options options = OCTET_TUNE_OPTIONS_INIT;
  options.seconds = 1e-3, options.concurrency = 2, options.parallel_for = in_turn;
  options.clock = [](void* at) { return *(double*)at += 1e-3; };
  options.clock_context = now;
  return options;
}

// ---- products

struct Product : Memory {
  octet_rhs_desc weights = OCTET_RHS_DESC_INIT;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  Guarded blob;
  size_t blob_bytes = 0, rows = kM, tasks = 2;

  explicit Product(bool packed, octet_type dst_type = OCTET_U8) {
    weights.type = OCTET_S8, weights.n = kN, weights.k = kK, weights.batch = kBatch;
    weights.data = rhs.data();
    desc.m_max = kM, desc.n = kN, desc.k = kK, desc.batch_max = kBatch;
    desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = dst_type;
    desc.allocator = small_memory();
    if (dst_type != OCTET_S32) {
      desc.epilogue.scales = &scale, desc.epilogue.scale_count = 1;
      desc.epilogue.residual.type = OCTET_U8, desc.epilogue.residual.scale = 1;
      args.residual = residual.data();
    }
    pack();
    if (packed)
      desc.packed = blob.data(), desc.packed_bytes = blob.bytes();
    else
      args.rhs = rhs.data(), args.n = kN, args.k = kK;
    args.m = kM, args.batch = kBatch, args.lhs = lhs.data(), args.dst = this->dst.data();
    args.workspace = scratch.data(), args.workspace_bytes = kScratch;
    args.parallel_for = in_turn, args.concurrency = 2;
  }
  void pack() {
    EXPECT_EQ(octet_pack_size(&weights, OCTET_ISA_AUTO, &blob_bytes, nullptr), OCTET_OK);
    blob = Guarded(blob_bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_pack(&weights, OCTET_ISA_AUTO, blob.data(), blob_bytes, nullptr), OCTET_OK);
  }
  // Creates it, asks for workspaces of `rows` and `tasks`, and runs it.
  octet_status use(bool has_memory, octet_error* error) const {
    octet_gemm* gemm = nullptr;
    octet_status status = octet_gemm_create(&desc, &gemm, error);
    size_t bytes = 0;
    if (status == OCTET_OK) status = octet_gemm_workspace(gemm, rows, tasks, &bytes, error);
    if (gemm) octet_gemm_kernel(gemm, rows);
    if (status == OCTET_OK && has_memory) status = octet_gemm_run(gemm, &args, error);
    octet_gemm_destroy(gemm);
    return status;
  }
  octet_status explain(octet_error* error) const {
    octet_gemm_explanation e = OCTET_GEMM_EXPLANATION_INIT;
    return octet_gemm_explain(&desc, tasks, &e, error);
  }
};

// ---- convolutions

constexpr size_t kSide = 7, kChannels = 8;

struct Layer : Memory {
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  octet_conv2d_pads pads = {1, 1, 1, 1};
  Guarded blob;
  size_t blob_bytes = 0, batch = 0, in_h = 0, in_w = 0, tasks = 2, out_h = kSide, out_w = kSide;

  explicit Layer(octet_conv_algorithm algorithm, bool transposed = false) {
    octet_conv2d_shape& s = filter.shape;
    s.batch_max = kBatch, s.in_h_max = s.in_w_max = kSide, s.in_channels = s.out_channels = 8;
    s.kernel_h = s.kernel_w = 3, s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
    s.groups = algorithm == OCTET_CONV_DEPTHWISE ? 8 : algorithm == OCTET_CONV_GROUPED ? 2 : 1;
    s.transposed = transposed;
    filter.type = OCTET_S8, filter.data = rhs.data(), filter.algorithm = algorithm;
    EXPECT_EQ(octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &blob_bytes, nullptr), OCTET_OK);
    blob = Guarded(blob_bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_conv2d_pack(&filter, OCTET_ISA_AUTO, blob.data(), blob_bytes, nullptr),
              OCTET_OK);
    desc.shape = s, desc.lhs_type = desc.dst_type = OCTET_U8, desc.rhs_type = OCTET_S8;
    desc.packed = blob.data(), desc.packed_bytes = blob_bytes;
    desc.epilogue.scales = &scale, desc.epilogue.scale_count = 1;
    desc.epilogue.residual.type = OCTET_U8, desc.epilogue.residual.scale = 1;
    desc.allocator = small_memory();
    args.batch = kBatch, args.in_h = args.in_w = args.out_h = args.out_w = kSide;
    args.lhs = lhs.data(), args.dst = dst.data(), args.residual = residual.data();
    args.workspace = scratch.data(), args.workspace_bytes = kScratch;
    args.parallel_for = in_turn, args.concurrency = 2;
  }
  std::vector<Count> counts_of(octet_conv2d_shape* s, bool promise) const {
    return {{"batch_max", &s->batch_max},
            {"in_h_max", &s->in_h_max},
            {"in_w_max", &s->in_w_max},
            {"in_channels", &s->in_channels, promise},
            {"out_channels", &s->out_channels, promise},
            {"groups", &s->groups},
            {"kernel_h", &s->kernel_h, promise},
            {"kernel_w", &s->kernel_w, promise},
            {"stride_h", &s->stride_h},
            {"stride_w", &s->stride_w},
            {"dilation_h", &s->dilation_h},
            {"dilation_w", &s->dilation_w},
            {"pad_top", &s->pad_top},
            {"pad_bottom", &s->pad_bottom},
            {"pad_left", &s->pad_left},
            {"pad_right", &s->pad_right},
            {"output_padding_h", &s->output_padding_h},
            {"output_padding_w", &s->output_padding_w}};
  }
  // The run knows the size of the output's memory.
  octet_status use(octet_error* error) const {
    octet_conv2d* conv = nullptr;
    octet_status status = octet_conv2d_create(&desc, &conv, error);
    size_t bytes = 0;
    if (status == OCTET_OK)
      status = octet_conv2d_workspace(conv, batch, in_h, in_w, tasks, &bytes, error);
    if (status == OCTET_OK) status = octet_conv2d_run(conv, &args, error);
    octet_conv2d_destroy(conv);
    return status;
  }
};

}  // namespace octet_test
