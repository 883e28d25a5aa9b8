// SPDX-License-Identifier: Apache-2.0
// Runs a region of quantized operators: a network for each shape of its inputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/graph/program.h"
#include "engines/onnxruntime/group.h"
#include "engines/onnxruntime/options.h"
#include "engines/onnxruntime/translate.h"

namespace octet::onnxruntime {

// How the shape of one tensor follows from others.
struct Step {
  std::vector<int> inputs;
  int output;
  ShapeRule rule;
};

class Region : public Work {
 public:
  // graph: quantized operators, with the shapes that are known or assumed. steps: for the shapes of
  // all tensors that nodes make, in an order in which they follow; empty where shapes are fixed.
  // Throws graph::Refused where no network can be made.
  Region(graph::Graph graph, std::vector<Step> steps, std::shared_ptr<const Shared> shared);

  std::vector<Shape> shapes(const std::vector<Shape>& given) override;
  void run(OrtKernelContext* context, const std::vector<Given>& from,
           const std::vector<void*>& to) override;

  const std::string& report() const { return report_; }  // a sentence about how much runs

 private:
  struct Planned {
    std::vector<Shape> inputs, outputs;
    std::unique_ptr<graph::Program> program;  // null: there are no elements
  };
  std::shared_ptr<const Planned> plan(graph::Graph graph) const;
  std::shared_ptr<const Planned> find(const std::vector<Shape>& inputs);
  graph::Graph with_shapes(const std::vector<Shape>& inputs) const;
  void keep_constants();

  graph::Graph graph_;
  const std::vector<Step> steps_;
  const std::shared_ptr<const Shared> shared_;
  std::vector<std::vector<uint8_t>> constants_;  // copies, where programs are still to be made
  std::string report_;
  Recent<std::vector<Shape>, Planned> planned_;
};

}  // namespace octet::onnxruntime
