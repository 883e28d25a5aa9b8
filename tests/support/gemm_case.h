// SPDX-License-Identifier: Apache-2.0
// Describes one complete product in a line: its data is generated from the seed, its expected bytes
// come from support/reference, its buffers lie between guard pages, and `check` runs it through the
// public API.
#pragma once

#include <iosfwd>
#include <memory>

#include "operators/gemm/choice.h"
#include "support/epilogue_case.h"
#include "support/guarded.h"
#include "support/kernels.h"

namespace octet_test {

// The values of lhs and rhs. kEnds: the type's minimum or maximum, at random. kNeverLeast: random,
// but no minimum in rhs.
enum class Data { kRandom, kLeastLeast, kLeastMost, kMostLeast, kMostMost, kEnds, kNeverLeast };
enum class ZeroPoints { kNone, kTensor, kChannel };
enum class Batching { kStrided, kInterleaved, kArrays };

struct GemmCase : EpilogueCase {
  const char* kernel = nullptr;  // forced, and proved to have run
  octet_isa max_isa = OCTET_ISA_AUTO;
  size_t m = 1, n = 1, k = 1, batch = 1;
  octet_type lhs = OCTET_U8, rhs = OCTET_S8;
  Data data = Data::kRandom;
  uint32_t seed = 1;

  octet_lhs_quant lhs_quant = OCTET_LHS_STATIC;
  int32_t lhs_zero_point = 0;
  ZeroPoints rhs_zero_points = ZeroPoints::kNone;
  octet_rhs_order order = OCTET_KN;
  bool runtime_rhs = false;
  // Packed weights are made 2:4 if this asks for it, and for kernels of sparse weights
  octet_sparsity sparsity = OCTET_SPARSE_NONE;
  bool made_sparse = false;               // weights are 2:4 without a sparsity
  size_t m_declared = 0;                  // 0 = m
  size_t n_declared = 0, k_declared = 0;  // run-time rhs; 0 = n, k
  bool shared_rhs = false;                // one matrix for the whole batch

  bool padded = false;  // strides longer than a row
  Batching batching = Batching::kStrided;
  size_t concurrency = 1;
};

std::ostream& operator<<(std::ostream& out, const GemmCase& c);

// The place of one operand's matrices in memory, in elements.
struct Placement {
  size_t rows = 0, cols = 0, batch = 1, stride = 0, batch_stride = 0;
  size_t elements() const { return (batch - 1) * batch_stride + (rows - 1) * stride + cols; }
  size_t at(size_t b, size_t i, size_t j) const { return b * batch_stride + i * stride + j; }
};

// The logical operands, dense, as the reference reads them.
struct Operands {
  std::vector<int32_t> lhs, rhs;  // [batch][m][k], [batch or 1][k][n]
  std::vector<float> lhs_f32;
  std::vector<int32_t> lhs_zero_points, rhs_zero_points, residual;
  std::vector<float> lhs_scales;
  Epilogue epilogue;
};

// A created object with its arguments, ready to run. All memory that create copies is freed by
// then.
class Gemm {
 public:
  explicit Gemm(const GemmCase& c, Side side = Side::kBack, octet_allocator allocator = {});
  ~Gemm() { octet_gemm_destroy(gemm_); }
  Gemm(const Gemm&) = delete;
  Gemm& operator=(const Gemm&) = delete;

  const octet_gemm* get() const { return gemm_; }
  octet_gemm_args& args() { return args_; }
  octet_error& error() { return error_; }
  octet_status status() const { return status_; }  // from pack and create

  // Creates the object anew with this choice, and clears dst and the workspace. Returns create's
  // status.
  octet_status choose(const octet::Choice& choice);
  // A fresh workspace of exactly the queried bytes.
  void prepare_workspace(size_t m, size_t concurrency);
  octet_status run() { return octet_gemm_run(gemm_, &args_, &error_); }
  // The first `rows` rows of every matrix are as expected, every other byte of dst is untouched.
  testing::AssertionResult as_expected(size_t rows) const;
  std::vector<uint8_t> dst_bytes() const { return {dst_.data(), dst_.data() + dst_.bytes()}; }
  void clear_dst();

 private:
  void generate();
  void place();
  void compute();
  octet_status pack();
  octet_status create(octet_allocator allocator, const octet::Choice* choice = nullptr);

  GemmCase c_;
  Side side_;
  Operands ops_;
  std::vector<uint32_t> expected_;  // [batch][m][n], each element's bits
  Placement lhs_at_, rhs_at_, dst_at_, residual_at_;
  Guarded lhs_, rhs_, blob_, dst_, residual_, workspace_, lhs_zero_points_, lhs_scales_,
      rhs_zero_points_;
  std::vector<const void*> lhs_array_, rhs_array_, residual_array_;
  std::vector<void*> dst_array_;
  octet_gemm* gemm_ = nullptr;
  octet_gemm_args args_ = OCTET_GEMM_ARGS_INIT;
  octet_error error_ = {};
  octet_status status_ = OCTET_OK;
};

// Threads of the standard library, as a user would write parallel_for.
void threaded_for(void* context, size_t count, void (*fn)(void* arg, size_t index), void* arg);

// Runs the case with its buffers against the back guard and against the front guard. Nothing but ==
// counts.
void check(const GemmCase& c);

}  // namespace octet_test
