// Holds a described model as a program of engines/graph: in TFLite mode, or, for ONNX, in ONNX
// Runtime's arithmetic.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/machine/api.h"
#include "bench/problems/filter_limits.h"
#include "engines/graph/products.h"
#include "engines/graph/program.h"

namespace tool {

// A convolution or a product before its weights are packed.
struct DescribedLayer {
  std::string network, name, shape;                     // shape: a case
  const octet::graph::ProductDescription& description;  // valid until the next one is read
};
using LayerVisitor = std::function<void(const DescribedLayer&)>;

class DescribedNetwork {
 public:
  // Only reads the convolutions and products, each by itself, even if Octet does not compute their
  // inputs. Returns lines about left-out ones.
  static std::vector<std::string> each_layer(const std::string& path, const LayerVisitor& visitor);

  // batch: a multiple of the model's images; weights_max: octet_conv2d_limit_packed's limit. Throws
  // an error that names the fault of the file, or the operators that Octet does not compute.
  DescribedNetwork(const std::string& path, octet_isa isa, size_t batch, size_t weights_max);

  const octet::graph::Program& program() const { return *program_; }
  // The description's tensors that come from outside, and the results, in the model's order.
  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<int>& outputs() const { return outputs_; }
  // Lines about operators that are not computed and outputs that are not written.
  const std::vector<std::string>& left_out() const { return left_out_; }
  size_t operator_count() const { return operator_count_; }  // the model's
  size_t runs() const { return runs_; }                      // of these, computed ones
  const FilterLimits& limits() const { return limits_; }

 private:
  FilterLimits limits_;
  std::unique_ptr<octet::graph::Program> program_;
  std::vector<int> inputs_, outputs_;
  std::vector<std::string> left_out_;
  size_t operator_count_ = 0, runs_ = 0;
};

}  // namespace tool
