// SPDX-License-Identifier: Apache-2.0
// Multiplies rows of int8 by packed weights, and leaves the sums in int32.
#pragma once

#include <vector>

#include "engines/graph/recurrent/layer.h"

namespace octet::graph::recurrent {

// sums[m, n] = sum over k of (rows[m, k] - zero_point) * weights[n, k] + bias[n], exact.
class Sums {
 public:
  Sums() = default;
  ~Sums() { octet_gemm_destroy(gemm_); }
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  // Once. weights is n x k, one row behind the other; bias has n values or none; runs have at most
  // rows_max rows. Throws OCTET_ACCUMULATOR_OVERFLOW where sums could leave int32.
  void pack(const std::vector<int8_t>& weights, size_t n, size_t k, int32_t zero_point,
            const std::vector<int32_t>& bias, size_t rows_max, const Packing& packing);

  // Throws unless sums first..first + count - 1 of any row, shifted to the left as `shift` says,
  // stay in int32. After pack.
  void need_shift(size_t first, size_t count, int32_t shift) const;

  size_t workspace_bytes() const { return workspace_bytes_; }
  // stride: elements from one row to the next. sums is dense.
  void run(const int8_t* rows, size_t stride, size_t count, int32_t* sums, void* workspace) const;

 private:
  std::shared_ptr<const Blob> blob_;
  octet_gemm* gemm_ = nullptr;
  size_t workspace_bytes_ = 0;
  std::vector<int64_t> most_;  // the largest magnitude of a sum, for each column
};

}  // namespace octet::graph::recurrent
