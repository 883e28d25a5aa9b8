// SPDX-License-Identifier: Apache-2.0
// Holds a product that is packed, created and ready to run.
#pragma once

#include "bench/machine/contestant.h"
#include "bench/machine/thread_pool.h"
#include "bench/problems/forced.h"
#include "bench/problems/gemm_data.h"

namespace tool {

Buffer pack_weights(const GemmData& data, const Forced& forced);
// Arrays stay with the data.
octet_gemm_desc describe_gemm(const GemmData& data, const Forced& forced, const Buffer& packed);

// The library's choice for this many threads.
octet_gemm_explanation explain(const GemmData& data, const Forced& forced, size_t threads);

class GemmPlan : public Contestant {
 public:
  GemmPlan(const GemmData& data, const Forced& forced, ThreadPool* pool = nullptr);
  void run(size_t calls) override;
  const void* dst() const override { return dst_.as(); }
  const char* kernel(size_t m) const { return octet_gemm_kernel(gemm_.get(), m); }
  const Buffer& packed() const { return packed_; }
  size_t blob_bytes() const override {
    return packed_.size() ? tool::blob_bytes(packed_.as(), packed_.size()) : 0;
  }

 private:
  Buffer packed_, dst_, workspace_;
  Gemm gemm_;
  octet_gemm_args args_ = OCTET_GEMM_ARGS_INIT;
};

}  // namespace tool
