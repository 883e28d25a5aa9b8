// Holds a described model with its weights, for octet_network_create: in TFLite mode, or, for ONNX,
// in float mode.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "bench/functions/max_pool.h"
#include "bench/functions/onnx_add.h"
#include "bench/functions/onnx_average.h"
#include "bench/functions/tflite_add.h"
#include "bench/functions/tflite_average.h"
#include "bench/machine/api.h"
#include "bench/machine/buffer.h"
#include "bench/problems/filter_limits.h"
#include "octet/network.h"

namespace tool {

// A function between convolutions: an addition or a pooling of 8 bits.
struct DescribedFunction {
  octet_network_function lines;  // its context is `arguments`
  std::variant<TfliteAdd, OnnxAdd, MaxPool, TfliteAverage, OnnxAverage> arguments;
};

// A convolution or a product before its weights are packed; its pointers are valid until the next
// one is read.
struct DescribedLayer {
  std::string network, name, shape;  // shape: a case
  size_t output;                     // the tensor that it makes
  // Null for the other kind
  const octet_conv2d_desc* conv;
  const octet_filter_desc* filter;
  const octet_gemm_desc* gemm;
  const octet_rhs_desc* rhs;
};
using LayerVisitor = std::function<void(const DescribedLayer&)>;

class DescribedNetwork {
 public:
  // Only reads the convolutions and products, each by itself, even if Octet does not compute their
  // inputs. Returns lines about left-out ones.
  static std::vector<std::string> each_layer(const std::string& path, const LayerVisitor& visitor);

  // batch: a multiple of the model's images; weights_max: octet_conv2d_limit_packed's limit; fuse:
  // additions become residuals of convolutions where bytes stay equal. Throws an error that names
  // the fault of the file, or the operators that Octet does not compute.
  DescribedNetwork(const std::string& path, octet_isa isa, size_t batch, size_t weights_max,
                   bool fuse = true);

  octet_network_desc desc() const;
  // The tensors that come from outside, and the results, in the model's order.
  const std::vector<size_t>& inputs() const { return inputs_; }
  const std::vector<size_t>& outputs() const { return outputs_; }
  // The description's tensors with the outputs' bytes, often reshapes.
  const std::vector<size_t>& described_outputs() const { return described_outputs_; }
  // Lines about operators that are not computed and outputs that are not written.
  const std::vector<std::string>& left_out() const { return left_out_; }
  size_t operator_count() const { return operator_count_; }  // the model's
  size_t runs() const { return runs_; }                      // of these, computed ones
  // The library's message with the file's operators in place of ops[...].
  std::string named(const std::string& message) const;
  const FilterLimits& limits() const { return limits_; }

 private:
  friend class DescriptionReader;
  friend class OperatorReader;
  DescribedNetwork(octet_isa isa, size_t weights_max) : limits_(isa, weights_max) {}

  FilterLimits limits_;
  std::vector<octet_network_tensor> tensors_;
  std::vector<octet_network_op> ops_;
  std::vector<std::string> op_names_;  // of ops_
  std::vector<size_t> inputs_, outputs_, described_outputs_;
  std::vector<std::string> left_out_;
  size_t operator_count_ = 0, runs_ = 0;
  std::vector<Conv> convs_;
  std::vector<Gemm> gemms_;
  std::deque<Buffer> blobs_;
  std::deque<DescribedFunction> functions_;
};

}  // namespace tool
