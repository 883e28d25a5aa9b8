// SPDX-License-Identifier: Apache-2.0
// Runs products whose input is quantized by its own range, in the run, and chains of them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
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
  std::vector<std::vector<ShapeRule>> rules;
  std::vector<DynamicProduct> products;
};

// DynamicQuantizeLinear with all that reads it (MatMulInteger or ConvInteger, Cast, Mul by the
// scales, Add of a bias, Relu or Clip; MatMulIntegerToFloat), and DynamicQuantizeMatMuls of one
// tensor. A chain's later elements read nothing but a product of the element before, which nothing
// else reads.
using DynamicChain = std::vector<DynamicNodes>;
struct FoundDynamic {
  std::vector<DynamicChain> chains;
  std::map<size_t, std::string> refused;  // nodes of these kinds in none of them, and why
};
FoundDynamic find_dynamic(const HostGraph& host);

// A tensor of u8 as DynamicQuantizeLinear makes it.
struct Quantized {
  const uint8_t* data;
  float scale;
  int32_t zero_point;
};
Quantized quantize(OrtKernelContext* context, size_t threads, const float* from, size_t count,
                   uint8_t* to);

// Of a chain, only its first tensor comes from the host. Tensors between convolutions lie with
// channels last; those of the host go through a transposition.
class DynamicWork : public Work {
 public:
  // Packs the weights of products; throws graph::Refused where Octet does not compute one.
  DynamicWork(DynamicChain chain, std::shared_ptr<const Shared> shared);

  std::vector<Shape> shapes(const std::vector<Shape>& given) override;
  void run(OrtKernelContext* context, const std::vector<Given>& from,
           const std::vector<void*>& to) override;

 private:
  struct Product {
    graph::Object object;
    Shape shape;                // of the output
    graph::Sizes last;          // of a convolution: the same, channels last
    graph::Function from_last;  // of a convolution: transposes to the host's order
  };
  struct Stage {
    Shape input;
    graph::Sizes last;
    graph::Function to_last;  // of a first stage of convolutions
    std::vector<Product> products;
  };
  // All for one shape of the first tensor. There are no stages where it has no elements.
  struct Planned {
    std::vector<Shape> outputs;
    std::vector<Stage> stages;
    // Of a run: bytes of each stage, the first one's bytes before a transposition, floats between
    // stages, floats before a transposition, the objects' workspace.
    size_t quantized = 0, moved = 0, between = 0, staged = 0, workspace = 0;
  };
  // The parts of a run's memory.
  struct Places {
    uint8_t *quantized, *moved, *between, *staged, *workspace;
  };

  void keep_weights();
  Shape assumed_input() const;
  std::shared_ptr<const Planned> find(const Shape& input);
  std::shared_ptr<const Planned> plan(const Shape& input) const;
  Stage plan_stage(size_t index, const Shape& input, Planned* planned) const;
  Product make(const DynamicProduct& product, const graph::Graph& graph, size_t* bytes) const;
  void run_stages(const Planned& planned, const void* from, const std::vector<void*>& to,
                  const Places& memory, OrtKernelContext* context) const;
  void run_product(const Stage& stage, const Product& product, const Quantized& x, void* to,
                   const Places& memory, size_t bytes, OrtKernelContext* context) const;
  void transpose(const graph::Function& function, const graph::Sizes& last, bool to_last,
                 const void* from, void* to, OrtKernelContext* context) const;

  DynamicChain chain_;
  std::vector<size_t> next_;  // of each stage but the last: the product that the next one reads
  const std::shared_ptr<const Shared> shared_;
  std::vector<std::vector<uint8_t>> constants_;  // copies of weights
  Recent<Shape, Planned> planned_;
  graph::Workspaces memory_;
};

}  // namespace octet::onnxruntime
