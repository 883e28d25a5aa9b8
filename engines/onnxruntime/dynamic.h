// Runs products whose input is quantized by its own range, in the run.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "engines/graph/copies.h"
#include "engines/graph/objects.h"
#include "engines/graph/products.h"
#include "engines/onnxruntime/group.h"
#include "engines/onnxruntime/options.h"
#include "engines/onnxruntime/translate.h"

namespace octet::onnxruntime {

// A product or convolution with an output of f32.
struct DynamicProduct {
  size_t op;                        // of the group's graph
  std::vector<float> scales, bias;  // of the weights; bias: one for each channel, or empty
  graph::Clamp clamp;               // after the bias
  int output;                       // a tensor
};

// All products that read one tensor: it is quantized once, as DynamicQuantizeLinear does.
struct DynamicNodes {
  std::vector<size_t> nodes;  // of the host's graph
  int input;                  // a tensor of f32
  graph::Graph graph;         // an operator from 8 bits to int32 for each product
  std::vector<ShapeRule> rules;
  std::vector<DynamicProduct> products;
};

// DynamicQuantizeLinear with all that reads it (MatMulInteger or ConvInteger, Cast, Mul by the
// scales, Add of a bias, Relu or Clip; MatMulIntegerToFloat), and DynamicQuantizeMatMuls of one
// tensor.
std::vector<DynamicNodes> find_dynamic(const HostGraph& host);

class DynamicGroup : public Group {
 public:
  // Packs the weights of products; throws graph::Refused where Octet does not compute one.
  DynamicGroup(DynamicNodes nodes, std::shared_ptr<const Shared> shared);

  void bind(const std::vector<std::string>& inputs,
            const std::vector<std::string>& outputs) override;
  void run(OrtKernelContext* context) override;

 private:
  // The objects of one shape of the input; none where it has no elements.
  // Convolutions run on channels last: their input and outputs go through a transposition.
  struct Planned {
    std::vector<Shape> outputs;
    std::vector<graph::Object> objects;
    graph::Sizes input;  // of convolutions
    graph::Function to_last;
    std::vector<graph::Sizes> sizes;           // of outputs of convolutions
    std::vector<graph::Function> from_last;    // of outputs
    size_t workspace_bytes = 0;                // of the objects
    size_t input_bytes = 0, output_bytes = 0;  // of what is transposed
  };
  struct Quantized {
    const uint8_t* data;
    float scale;
    int32_t zero_point;
  };
  std::shared_ptr<const Planned> find(const Shape& input);
  graph::Object make(const DynamicProduct& product, const graph::Graph& graph, size_t* bytes) const;
  Quantized quantize(OrtKernelContext* context, const float* from, size_t count, uint8_t* to) const;
  void run_matrix(const graph::Object& object, const Shape& input, const Quantized& x, void* to,
                  uint8_t* workspace, size_t bytes, OrtKernelContext* context) const;
  void run_convolution(const Planned& planned, size_t index, const Quantized& x, void* to,
                       uint8_t* workspace, OrtKernelContext* context) const;
  void transpose(const graph::Function& function, const graph::Sizes& last, bool to_last,
                 const void* from, void* to, OrtKernelContext* context) const;

  DynamicNodes nodes_;
  const std::shared_ptr<const Shared> shared_;
  std::vector<std::vector<uint8_t>> constants_;  // copies of weights
  size_t input_ = 0;
  std::vector<size_t> outputs_;  // of a run, for each product
  std::mutex mutex_;
  std::map<Shape, std::shared_ptr<const Planned>> planned_;
};

}  // namespace octet::onnxruntime
