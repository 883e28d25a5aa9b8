// SPDX-License-Identifier: Apache-2.0
// Measures how deep the stack gets in every call, on a thread whose stack was painted: embedded
// threads have small stacks. octet.h promises the limits.
#include <pthread.h>
#include <sys/mman.h>

#include <cstring>
#include <functional>

#include "octet/tune.h"
#include "support/conv_case.h"
#include "support/gemm_case.h"

namespace octet_test {
namespace {

constexpr size_t kRun = 20 << 10, kPack = 24 << 10, kOther = 10 << 10, kTuning = 40 << 10;
constexpr size_t kStack = 256 << 10;
constexpr uint8_t kPaint = 0x5c;

void* call(void* function) {
  (*(const std::function<void()>*)function)();
  return nullptr;
}

// The bytes of stack that a thread and its calls touch.
size_t touched(const std::function<void()>& f) {
  const Guarded stack(kStack, Side::kBack, 4096);
  std::memset(stack.data(), kPaint, kStack);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  EXPECT_EQ(pthread_attr_setstack(&attributes, stack.data(), kStack), 0);
  EXPECT_EQ(pthread_create(&thread, &attributes, call, (std::function<void()>*)(&f)), 0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
  size_t untouched = 0;
  while (untouched < kStack && stack.data()[untouched] == kPaint) ++untouched;
  return kStack - untouched;
}

// The bytes of stack that a call alone touches.
size_t first_depth(const std::function<octet_status(octet_error*)>& f) {
  static const size_t empty = touched([] {});
  octet_error error = {};
  const size_t bytes = touched([&] { EXPECT_EQ(f(&error), OCTET_OK) << error.message; });
  return bytes > empty ? bytes - empty : 0;
}

// The second call counts: in the first one the dynamic linker binds functions on the same stack.
size_t depth(const std::function<octet_status(octet_error*)>& f) {
  first_depth(f);
  return first_depth(f);
}

// Must come first: nothing before it may have asked for the CPU.
TEST(Stack, FirstUse) {
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  EXPECT_LE(first_depth([&](octet_error* e) { return octet_get_cpu_info(&info, e); }), kPack);
}

TEST(Stack, Gemm) {
  for (const octet_isa isa : tiers_to_test())
    for (const octet_type dst : {OCTET_S32, OCTET_U8, OCTET_F32})
      for (const bool runtime_rhs : {false, true})
        for (const bool per_row : {false, true})
          for (const octet_type rhs : {OCTET_S8, OCTET_U4}) {
            if (runtime_rhs && is_4bit(rhs)) continue;
            GemmCase c;
            c.rhs = rhs;
            const std::string tier = octet_isa_name(isa);
            const ScopedEnvironment limit("OCTET_MAX_ISA", tier.c_str());
            c.m = 50, c.n = 70, c.k = 300;
            c.dst = dst, c.runtime_rhs = runtime_rhs;
            c.lhs_quant = per_row ? OCTET_LHS_PER_ROW : OCTET_LHS_STATIC;
            c.rhs_zero_points = ZeroPoints::kChannel;
            if (dst == OCTET_F32 && per_row) c.lhs = OCTET_F32, c.lhs_quant = OCTET_LHS_ASYMMETRIC;
            if (dst == OCTET_U8 && !per_row) c.residual = OCTET_S8;
            Gemm gemm(c);
            ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
            gemm.prepare_workspace(c.m, 1);
            EXPECT_LE(depth([&](octet_error*) { return gemm.run(); }), kRun) << tier << ": " << c;
            size_t bytes = 0;
            EXPECT_LE(depth([&](octet_error* e) {
                        return octet_gemm_workspace(gemm.get(), c.m, 3, &bytes, e);
                      }),
                      kOther)
                << tier << ": " << c;
          }
}

TEST(Stack, GemmPackAndCreate) {
  constexpr size_t kN = 70, kK = 300;
  const std::vector<int8_t> weights(kN * kK, 3);
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8, rhs.n = kN, rhs.k = kK, rhs.data = weights.data();
  for (const octet_rhs_order order : {OCTET_KN, OCTET_NK}) {
    rhs.order = order;
    size_t bytes = 0;
    EXPECT_LE(
        depth([&](octet_error* e) { return octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, e); }),
        kOther);
    const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_LE(depth([&](octet_error* e) {
                return octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), bytes, e);
              }),
              kPack);
    EXPECT_LE(depth([&](octet_error* e) { return octet_blob_verify(blob.data(), bytes, e); }),
              kOther);
    octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
    desc.m_max = 9, desc.n = kN, desc.k = kK;
    desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
    desc.packed = blob.data(), desc.packed_bytes = bytes;
    octet_gemm* gemm = nullptr;
    EXPECT_LE(depth([&](octet_error* e) {
                octet_gemm_destroy(gemm);
                return octet_gemm_create(&desc, &gemm, e);
              }),
              kOther);
    octet_gemm_destroy(gemm);
  }
}

// The clock advances with each call: no time passes, but every candidate runs.
TEST(Stack, Tuning) {
  constexpr size_t kN = 70, kK = 300;
  double now = 0;
  octet_tune_options options = OCTET_TUNE_OPTIONS_INIT;
  options.clock = [](void* now) { return *(double*)now += 0.1; };
  options.clock_context = &now;
  octet_tuning* tuning = nullptr;
  ASSERT_EQ(octet_tuning_create(&tuning, nullptr), OCTET_OK);
  octet_gemm_desc gemm = OCTET_GEMM_DESC_INIT;
  gemm.m_max = 9, gemm.n = kN, gemm.k = kK;
  gemm.lhs_type = OCTET_U8, gemm.rhs_type = OCTET_S8, gemm.dst_type = OCTET_S32;
  EXPECT_LE(
      depth([&](octet_error* e) { return octet_tune_gemm(&gemm, &options, tuning, nullptr, e); }),
      kTuning);
  const std::vector<int8_t> weights(16 * 16 * 9, 3);
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  filter.shape = square(9, 16, 16, 3, 1, 1);
  filter.type = OCTET_S8, filter.data = weights.data();
  octet_conv2d_desc conv = OCTET_CONV2D_DESC_INIT;
  conv.shape = filter.shape;
  conv.lhs_type = OCTET_U8, conv.rhs_type = OCTET_S8, conv.dst_type = OCTET_S32;
  EXPECT_LE(depth([&](octet_error* e) {
              return octet_tune_conv2d(&filter, &conv, &options, tuning, nullptr, e);
            }),
            kTuning);
  // Creates with the measured choice.
  octet_machine machine = OCTET_MACHINE_INIT;
  machine.tuning = tuning;
  gemm.machine = &machine;
  octet_gemm* object = nullptr;
  EXPECT_LE(depth([&](octet_error* e) {
              octet_gemm_destroy(object);
              return octet_gemm_create(&gemm, &object, e);
            }),
            kOther);
  octet_gemm_destroy(object);
  octet_tuning_destroy(tuning);
}

TEST(Stack, Convolution) {
  octet_conv2d_shape transposed = square(9, 40, 20, 3, 2);
  transposed.transposed = 1;
  for (const octet_isa isa : tiers_to_test())
    for (const octet_conv2d_shape& shape :
         {square(20, 64, 64, 3, 1, 1), square(20, 64, 64, 3, 2, 1), square(20, 3, 64, 7, 2, 3),
          square(20, 64, 64, 3, 1, 1, 64), square(20, 64, 64, 5, 1, 2, 64),
          square(20, 64, 64, 3, 1, 1, 8), square(20, 64, 64, 1), transposed})
      for (const octet_type dst : {OCTET_S32, OCTET_U8}) {
        ConvCase c;
        c.shape = shape, c.dst = dst;
        c.lhs_zero_point = 3, c.accuracy = OCTET_ACCURACY_APPROXIMATE;
        c.filter_zero_points =
            shape.kernel_h == 1 ? FilterZeroPoints::kChannel : FilterZeroPoints::kCentre;
        if (dst == OCTET_U8) c.residual = OCTET_U8;
        const ConvProblem problem(c);
        for (const octet_conv_algorithm algorithm : possible_algorithms(problem, isa)) {
          ConvHow how;
          how.isa = isa, how.algorithm = algorithm;
          Conv conv(problem, how);
          ASSERT_EQ(conv.status(), OCTET_OK) << how << ": " << conv.error().message;
          EXPECT_LE(depth([&](octet_error*) { return conv.run(); }), kRun) << how << ": " << c;

          octet_filter_desc filter = problem.filter_desc();
          filter.algorithm = algorithm;
          size_t bytes = 0;
          EXPECT_LE(depth([&](octet_error* e) {
                      return octet_conv2d_pack_size(&filter, isa, &bytes, e);
                    }),
                    kOther);
          const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
          EXPECT_LE(depth([&](octet_error* e) {
                      return octet_conv2d_pack(&filter, isa, blob.data(), bytes, e);
                    }),
                    kPack)
              << how << ": " << c;
        }
      }
}

TEST(Stack, ConvolutionCreate) {
  ConvCase c;
  c.shape = square(20, 64, 64, 3, 1, 1), c.dst = OCTET_S32;
  const ConvProblem problem(c);
  const Conv conv(problem);
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  desc.shape = c.shape;
  desc.lhs_type = c.lhs, desc.rhs_type = c.rhs, desc.dst_type = c.dst;
  desc.packed = conv.blob().data(), desc.packed_bytes = conv.blob().bytes();
  octet_conv2d* created = nullptr;
  EXPECT_LE(depth([&](octet_error* e) {
              octet_conv2d_destroy(created);
              return octet_conv2d_create(&desc, &created, e);
            }),
            kOther);
  octet_conv2d_destroy(created);
  const octet_filter_desc filter = problem.filter_desc();
  octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
  EXPECT_LE(depth([&](octet_error* e) {
              return octet_conv2d_explain(&filter, OCTET_ISA_AUTO, 0, &candidate, e);
            }),
            kOther);
  octet_filter_desc limited = filter;
  octet_filter_desc* const filters[] = {&limited};
  EXPECT_LE(depth([&](octet_error* e) {
              limited.packed_bytes_max = 0;
              return octet_conv2d_limit_packed(filters, 1, OCTET_ISA_AUTO, 0, nullptr, e);
            }),
            kOther);
}

// A refusal's sentence is printed by the C library.
TEST(Stack, Refusals) {
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm* gemm = nullptr;
  EXPECT_LE(depth([&](octet_error*) {
              octet_error error;
              EXPECT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_UNKNOWN_ENUM);
              return OCTET_OK;
            }),
            kOther);
}

}  // namespace
}  // namespace octet_test
