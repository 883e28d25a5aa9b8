// SPDX-License-Identifier: Apache-2.0
// Draws a valid product: descriptors, arguments, operands, and the outputs that the reference
// expects.
#pragma once

#include "fuzz/epilogue.h"
#include "fuzz/fuzz.h"
#include "fuzz/matrices.h"

namespace octet_fuzz {

class Product {
 public:
  explicit Product(Choices* c);

  // rhs of packed weights; desc without the fields that Epilogue describes, the blob and the way;
  // args without workspace.
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  Epilogue epilogue;
  // Why create must refuse it, or null.
  const char* refused() const;
  // Sparse packing settles the zero points that s16 values have not.
  bool zero_points_may_remain() const { return s16_ && has_zero_points_ && rhs.sparsity; }
  bool runtime_rhs = false;
  bool in_place = false;  // dst is the residual
  // run knows only the zero points of run-time weights, and refuses those that may leave int32.
  bool run_may_refuse = false;
  bool run_must_refuse = false;

  Matrices lhs, weights, dst, residual;
  Block lhs_zero_points, lhs_scales, rhs_zero_points, machine;
  Foreseen before, after;  // a run: the contents of the operands
  uint64_t outputs() const { return uint64_t{args.m} * n_ * batch_; }
  // Reports the place of an unexpected byte.
  [[noreturn]] void report(const char* what, const char* kernel, const uint8_t* byte) const;

 private:
  void draw_sizes();
  void draw_lhs();
  void draw_weights();
  void make_sparse();
  void draw_quantization();
  void draw_dst();
  void draw_parallel();
  void draw_residual();
  std::vector<Range> ranges() const;
  std::vector<int32_t> weights_of(size_t matrix) const;  // [k][n], without zero points
  void compute();
  void compute_row(size_t b, size_t i, const std::vector<int32_t>& weights);

  Choices* c_;
  size_t n_ = 1, k_ = 1, batch_ = 1;  // the run's sizes
  size_t matrices_ = 1;               // of weights
  bool s16_ = false;                  // an s16 lhs
  bool pairable_ = false;             // deep enough for weights in pairs (packing/paired.h)
  bool has_zero_points_ = false;      // of weights, one that is not 0
  std::vector<int32_t> zero_points_;  // of weights
  Parallel parallel_ = {Random(0), 1};
};

// Each makes a valid descriptor or valid arguments invalid and says how, or returns null where its
// rule does not apply.
const char* spoil(Choices* c, Scratch* scratch, octet_rhs_desc* rhs);
const char* spoil(Choices* c, Scratch* scratch, octet_gemm_desc* desc);
const char* spoil(Choices* c, Scratch* scratch, const Product& p, const octet_gemm_desc& desc,
                  octet_gemm_args* args);

}  // namespace octet_fuzz
