// SPDX-License-Identifier: Apache-2.0
// Builds networks for tests op by op, with random weights, and computes them by calling their
// objects one by one on tensors that lie apart.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "octet/network.h"
#include "support/draw.h"
#include "support/guarded.h"

namespace octet_test {

using Bytes = std::vector<uint8_t>;

size_t element(octet_type type);  // bytes

// A 3x3 convolution with as many output as input pixels.
inline octet_conv2d_shape kernel3(size_t out_channels) {
  octet_conv2d_shape s = OCTET_CONV2D_SHAPE_INIT;
  s.kernel_h = s.kernel_w = 3, s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
  s.out_channels = out_channels;
  return s;
}

class NetworkCase {
 public:
  explicit NetworkCase(uint32_t seed) : draw(seed) {}
  ~NetworkCase();
  NetworkCase(const NetworkCase&) = delete;
  NetworkCase& operator=(const NetworkCase&) = delete;

  Draw draw;
  octet_isa isa = OCTET_ISA_AUTO;          // that objects are packed and created for
  const octet_machine* machine = nullptr;  // of all plans; null: this one
  size_t batch = 0;                        // that draw_network takes; 0: it draws one
  bool s16 = false;                        // draw_network's tensors are s16, not u8
  std::vector<octet_network_tensor> tensors;
  std::vector<octet_network_op> ops;

  size_t tensor(size_t batch, size_t h, size_t w, size_t channels, octet_type type = OCTET_U8);
  size_t slice(size_t parent, size_t first, size_t channels);
  // Each adds an op and returns its output: a new tensor, or `output`.
  static constexpr size_t kNew = SIZE_MAX, kNone = SIZE_MAX;
  // The tensors replace the shape's sizes. If the algorithm cannot compute the layer, the plan's
  // does.
  size_t conv(size_t input, octet_conv2d_shape shape, size_t residual = kNone, size_t output = kNew,
              octet_conv_algorithm algorithm = OCTET_CONV_AUTO);
  size_t gemm(size_t input, size_t n, bool flat = false, size_t residual = kNone);
  size_t add(size_t a, size_t b);
  size_t pool(size_t input, size_t kernel, size_t stride, size_t pad);  // the most
  size_t pool_all(size_t input);
  size_t resize(size_t input, size_t times);

  // Keeps the tensors that no op writes and those that no op reads.
  void keep_ends();
  std::vector<Bytes> inputs();  // random bytes where nothing writes an alias root, else empty
  // All alias roots, of these inputs.
  std::vector<Bytes> compute(const std::vector<Bytes>& inputs) const;

  octet_network_desc desc() const;

  size_t bytes_of(size_t tensor) const {
    const octet_network_tensor& t = tensors[tensor];
    return t.batch * t.h * t.w * t.channels * element(t.type);
  }
  const std::vector<Guarded>& blobs() const { return blobs_; }  // in the order of their ops

 private:
  struct Function {
    octet_network_function function;
    size_t kernel, stride, pad;
  };
  std::vector<int8_t> draw_weights(size_t count);
  octet_network_op op_of(size_t input, size_t residual, size_t output,
                         octet_epilogue* epilogue) const;
  size_t function(std::vector<size_t> inputs, size_t output, const Function& f);
  size_t alias_root(size_t tensor) const;
  Bytes dense(const std::vector<Bytes>& alias_roots, size_t tensor) const;
  void store(std::vector<Bytes>* alias_roots, size_t tensor, const Bytes& bytes) const;

  std::vector<octet_conv2d*> convs_;
  std::vector<octet_gemm*> gemms_;
  std::vector<Guarded> blobs_;
  std::deque<Function> functions_;
};

// A DAG of up to `ops` ops: residuals, slices, strides, dilations, functions between them.
void draw_network(NetworkCase* c, size_t ops);

}  // namespace octet_test
