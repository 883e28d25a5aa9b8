// SPDX-License-Identifier: Apache-2.0
// Holds a convolution that is packed, created and ready to run.
#pragma once

#include "bench/machine/contestant.h"
#include "bench/machine/thread_pool.h"
#include "bench/problems/conv_data.h"
#include "bench/problems/forced.h"

namespace tool {

// The filter's description; weights stay with the data.
octet_filter_desc describe_filter(const ConvData& data, const Forced& forced);
// The convolution's descriptor, without packed weights; arrays stay with the data.
octet_conv2d_desc describe_conv(const ConvData& data, const Forced& forced);

class ConvPlan : public Contestant {
 public:
  ConvPlan(const ConvData& data, const Forced& forced, ThreadPool* pool = nullptr);
  void run(size_t calls) override;
  const void* dst() const override { return dst_.as(); }
  size_t blob_bytes() const override { return tool::blob_bytes(packed_.as(), packed_.size()); }
  const char* algorithm() const {
    return octet_conv_algorithm_name(octet_conv2d_algorithm(conv_.get()));
  }
  const char* kernel() const { return octet_conv2d_kernel(conv_.get()); }

 private:
  Buffer packed_, dst_, workspace_;
  Conv conv_;
  octet_conv2d_args args_ = OCTET_CONV2D_ARGS_INIT;
};

// The two steps of making a ConvPlan, to time them. pack_filter allocates an empty blob.
void pack_filter(const ConvData& data, const Forced& forced, Buffer* blob);
Conv create_conv(const ConvData& data, const Forced& forced, const Buffer& packed);

}  // namespace tool
