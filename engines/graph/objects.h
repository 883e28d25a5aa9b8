// SPDX-License-Identifier: Apache-2.0
// Makes the library's objects of a placed graph.
#pragma once

#include <memory>
#include <vector>

#include "engines/graph/layout.h"
#include "engines/graph/products.h"
#include "engines/graph/program.h"

namespace octet::graph {

struct DestroyConv {
  void operator()(octet_conv2d* conv) const { octet_conv2d_destroy(conv); }
};
struct DestroyGemm {
  void operator()(octet_gemm* gemm) const { octet_gemm_destroy(gemm); }
};
struct DestroyNetwork {
  void operator()(octet_network* network) const { octet_network_destroy(network); }
};
using Network = std::unique_ptr<octet_network, DestroyNetwork>;

// One of the three objects, with the memory that it borrows.
struct Object {
  std::unique_ptr<octet_conv2d, DestroyConv> conv;
  std::unique_ptr<octet_gemm, DestroyGemm> gemm;
  Function function;
  std::shared_ptr<const Blob> blob;
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;  // as OpFacts has it
  // Of a product of two activations or of a layer with a state: calls of the function lie between
  // the memory's begin and end.
  std::shared_ptr<RunMemory> memory;
};

// A product of two activations: a function of the lhs and the rhs, each with one matrix behind the
// other, that packs each matrix of the rhs anew. Throws a sentence if the library does not multiply
// such operands. *memory is the function's, never null afterwards.
Function pair_function(const ProductDescription& description, octet_isa isa,
                       std::shared_ptr<RunMemory>* memory);

// Layers with a state, kLstm and kSvdf (recurrent/). The check throws a sentence if the layer is of
// no form that Octet computes; constants' data may be null.
void check_state_layer(const Graph& graph, const Op& op);
// Sets the function, of x and the states, which it writes, too, and its memory. A run has to call
// it once. Packs the weights.
void make_state_layer(const Graph& graph, const Op& op, octet_isa isa, PackedWeights* weights,
                      Object* to);

// Objects of each op of `placed`, in order. Throws a sentence that begins with the operator's name.
std::vector<Object> make_objects(const Graph& graph, const PlacedGraph& placed,
                                 const ProgramOptions& options, PackedWeights* weights);

// The ops of a network of these objects.
std::vector<octet_network_op> network_ops(const PlacedGraph& placed,
                                          const std::vector<Object>& objects);

}  // namespace octet::graph
