// Any combination of features that create accepts gives the reference's bytes. The suites of single
// features say which one broke; this one finds what they do not combine. A failure prints the whole
// case.
#include "support/draw.h"
#include "support/gemm_case.h"

namespace octet_test {
namespace {

GemmCase draw(uint32_t seed, const MicroKernel* kernel) {
  Draw d(seed);
  GemmCase c;
  const size_t mr = kernel ? kernel->mr : 7, nr = kernel ? kernel->nr : 40,
               kr = kernel ? kernel->rhs_layout.kr : 4;
  c.seed = seed;
  c.kernel = kernel ? kernel->name : nullptr;
  c.m = 1 + d.below(3 * mr), c.n = 1 + d.below(2 * nr + 2),
  c.k = 1 + d.below(d.one_in(8) ? 300 : 5 * kr);
  c.batch = d.one_in(3) ? 1 + d.below(4) : 1;
  c.batching = d.any({Batching::kStrided, Batching::kInterleaved, Batching::kArrays});
  c.data = d.one_in(2) ? Data::kRandom : static_cast<Data>(d.below(5));
  c.padded = d.one_in(2);
  c.concurrency = d.one_in(3) ? 1 + d.below(5) : 1;
  c.shared_rhs = d.one_in(3);
  c.order = d.any({OCTET_KN, OCTET_NK});
  c.rhs_zero_points = d.any({ZeroPoints::kNone, ZeroPoints::kTensor, ZeroPoints::kChannel});
  c.runtime_rhs = !(kernel && kernel->is(octet::kNoLeast)) && d.one_in(3);
  c.bias = d.one_in(2), c.per_channel = d.one_in(2);

  Types seen;  // by the kernel
  do {
    c.rhs = d.any({OCTET_S8, OCTET_U8});
    c.lhs = d.any({OCTET_S8, OCTET_U8, OCTET_F32});
    c.lhs_quant =
        c.lhs == OCTET_F32
            ? d.any({OCTET_LHS_SYMMETRIC, OCTET_LHS_ASYMMETRIC})
            : d.any({OCTET_LHS_STATIC, OCTET_LHS_STATIC, OCTET_LHS_PER_TENSOR, OCTET_LHS_PER_ROW});
    seen = {c.lhs != OCTET_F32                   ? c.lhs
            : c.lhs_quant == OCTET_LHS_SYMMETRIC ? OCTET_S8
                                                 : OCTET_U8,
            c.rhs};
  } while (kernel && !serves(*kernel, seen));
  if (c.lhs_quant == OCTET_LHS_STATIC)
    c.lhs_zero_point = d.any({0, least(c.lhs), most(c.lhs), least(c.lhs) + 77});

  c.dst = c.lhs == OCTET_F32
              ? OCTET_F32
              : d.any({OCTET_S32, OCTET_F32, OCTET_U8, OCTET_S8, OCTET_U8, OCTET_S8});
  if (c.dst != OCTET_S32)
    c.activation = d.any({OCTET_ACTIVATION_NONE, OCTET_ACTIVATION_RELU, OCTET_ACTIVATION_RELU6,
                          OCTET_ACTIVATION_CLAMP});
  if (c.dst == OCTET_F32) c.bias_f32 = d.one_in(2);
  if (is_8bit(c.dst)) {
    if (c.lhs_quant == OCTET_LHS_STATIC && d.one_in(3)) c.requant = OCTET_REQUANT_TFLITE;
    if (d.one_in(3)) c.residual = d.any({OCTET_S8, OCTET_U8});
    c.residual_is_dst = c.residual && d.one_in(2);
    c.lut = d.one_in(4);
  }
  if (c.runtime_rhs && d.one_in(2)) {  // then nothing of the object may belong to single columns
    c.n_declared = c.n + d.below(9), c.k_declared = c.k + d.below(9);
    c.bias = c.per_channel = c.bias_f32 = false;
  }
  return c;
}

TEST(Random, BestKernels) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    check(draw(seed, nullptr));
    if (HasFatalFailure()) return;
  }
}

class RandomKernel : public EachKernel {};
OCTET_FOR_EACH_KERNEL(RandomKernel);

TEST_P(RandomKernel, AnyCombination) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    check(draw(seed, &kernel()));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace octet_test
