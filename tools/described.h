// A described model with its weights, as octet_network_create takes it: in TFLite mode, or, as ONNX
// has it, in float mode.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "api.h"
#include "buffer.h"
#include "octet/network.h"

namespace tool {

// A function between convolutions: an addition or a pooling of 8 bits.
struct DescribedFunction {
  octet_network_function lines;
  octet_type type;
  int32_t least, most;  // the activation's
  // Of a pooling
  bool average;
  size_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left;
  // Of an addition: the first input is the product
  octet_residual add;
  int32_t zero_points[3];  // of both inputs and the output
  float scales[3];         // likewise; ONNX's arithmetic only
};

// A convolution or a product before its weights are packed; what it points to is gone when the next
// one is read.
struct DescribedLayer {
  std::string network, name, shape;  // shape: a case
  // Of a convolution, or of a product; else null
  const octet_conv2d_desc* conv;
  const octet_filter_desc* filter;
  const octet_gemm_desc* gemm;
  const octet_rhs_desc* rhs;
};
using LayerSink = std::function<void(const DescribedLayer&)>;

class DescribedNetwork {
 public:
  // Only reads the convolutions and products, each by itself: whether Octet computes what they read
  // does not matter. Gives those that are left out.
  static std::vector<std::string> each_layer(const std::string& path, const LayerSink& sink);

  // batch: times the images that the model is of. Throws what is wrong with the file, or what of it
  // Octet does not compute.
  DescribedNetwork(const std::string& path, octet_isa isa, size_t batch);

  octet_network_desc desc() const;
  const std::vector<size_t>& inputs() const { return inputs_; }  // tensors that come from outside
  // Operators after the last one that is computed, such as a softmax: nothing reads what they make.
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  friend class DescriptionReader;
  DescribedNetwork() = default;

  std::vector<octet_network_tensor> tensors_;
  std::vector<octet_network_op> ops_;
  std::vector<size_t> inputs_;
  std::vector<std::string> left_out_;
  std::vector<Conv> convs_;
  std::vector<Gemm> gemms_;
  std::deque<Buffer> blobs_;
  std::deque<DescribedFunction> functions_;
};

}  // namespace tool
