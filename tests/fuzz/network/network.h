// SPDX-License-Identifier: Apache-2.0
// Declares a network that the fuzz target draws: of convolutions, products and functions in any
// order, on tensors of bytes or, in one network of three, of s16 values, too.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "fuzz/data.h"
#include "fuzz/fuzz.h"
#include "fuzz/memory.h"
#include "fuzz/network/functions.h"
#include "octet/network.h"
#include "octet/traffic.h"

namespace octet_fuzz {

using Bytes = std::vector<uint8_t>;

struct Destroy {
  void operator()(octet_conv2d* conv) const { octet_conv2d_destroy(conv); }
  void operator()(octet_gemm* gemm) const { octet_gemm_destroy(gemm); }
  void operator()(octet_network* network) const { octet_network_destroy(network); }
  void operator()(octet_traffic* traffic) const { octet_traffic_destroy(traffic); }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

class Network {
 public:
  explicit Network(Choices* c) : c_(c), random_(c->random()) {}

  void draw();
  // All alias roots after the ops one by one; inputs are drawn here.
  void compute();
  void live();

 private:
  size_t channels() { return c_->any<size_t>({1, 2, 3, 4, 8, 16, 17}); }
  octet_type type() {
    return s16_ ? c_->any({OCTET_S16, OCTET_S16, OCTET_U8, OCTET_S8})
                : c_->any({OCTET_U8, OCTET_S8});
  }
  // Of the output of a convolution or a product: of bytes as it comes.
  octet_type type_of_output(size_t in) {
    if (tensors_[in].type == OCTET_S16) return OCTET_S16;
    if (open_ != kNone && is_8bit(tensors_[open_].type)) return tensors_[open_].type;
    return type_8bit(c_);
  }
  static size_t bytes_of(const octet_network_tensor& t) {
    return t.batch * t.h * t.w * t.channels * element_bytes(t.type);
  }
  size_t alias_root(size_t i) const { return tensors_[i].slice ? tensors_[i].parent : i; }

  size_t tensor(size_t h, size_t w, size_t channels, octet_type type);
  // A new tensor, or a slice of one whose rest other ops may write.
  size_t output(size_t h, size_t w, size_t channels, octet_type type);
  size_t pick() {  // the latest ones more often
    return there_[there_.size() - 1 - c_->below(std::min<size_t>(there_.size(), 4))];
  }
  // Another tensor of these sizes, of bytes where `i` is.
  size_t alike(size_t i);
  void add_op();
  void function(size_t first, size_t inputs);
  // One of the library's, of two tensors of the same type now and then.
  void library_function(size_t in);
  void add(const octet_network_op& op);
  // Draws the fields that convolutions and products share.
  template <typename Desc>
  void complete(Desc* desc, octet_network_op* op, size_t depth);
  Block weights(size_t count);
  void convolution(size_t in);
  void product(size_t in, bool flat);

  // ---- one by one

  Bytes dense(size_t i) const;
  void compute(const octet_network_op& op);

  // ---- together

  bool reads_its_alias_root(const octet_network_op& op) const {
    for (size_t k = 0; k < op.input_count; ++k)
      if (alias_root(op.inputs[k]) == alias_root(op.output)) return true;
    return false;
  }
  bool is_flat(const octet_network_op& op) const {
    return op.gemm && tensors_[op.inputs[0]].h * tensors_[op.inputs[0]].w > 1 &&
           tensors_[op.output].h * tensors_[op.output].w == 1;
  }
  std::vector<octet_network_part> draw_parts();
  void run(const octet_network& network, size_t concurrency);
  // Of which there is no model of the traffic.
  bool multiplies_s16() const {
    for (const octet_network_op& op : ops_)
      if ((op.conv2d || op.gemm) && tensors_[op.inputs[0]].type == OCTET_S16) return true;
    return false;
  }
  void walk(const octet_network& network, const octet_network_args& args);
  // The smallest possible memory is enough.
  void within_memory(octet_network_desc desc);

  static constexpr size_t kNone = SIZE_MAX;
  Choices* c_;
  Random random_;
  size_t batch_ = 1;
  bool s16_ = false;
  float scale_ = 1;
  std::vector<octet_network_tensor> tensors_;
  std::vector<octet_network_op> ops_;
  std::vector<size_t> there_;       // tensors that ops may read
  size_t open_ = kNone, used_ = 0;  // the tensor whose channels are handed out in slices
  std::deque<Mix> mixes_;
  std::deque<LibraryFunction> library_;
  std::deque<Block> blobs_;  // outlive the objects
  std::vector<Owned<octet_conv2d>> convs_;
  std::vector<Owned<octet_gemm>> gemms_;
  std::vector<Bytes> alias_roots_, before_;
};

}  // namespace octet_fuzz
