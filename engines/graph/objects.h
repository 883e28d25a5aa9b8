// Makes the library's objects of a placed graph.
#pragma once

#include <atomic>
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

// Memory of a function, which a run takes before it begins, so that nothing fails in the function.
class RunMemory {
 public:
  virtual ~RunMemory() = default;
  virtual void begin() = 0;  // of a run. Throws std::bad_alloc
  virtual void end() noexcept = 0;
};

// One of the three, with what it borrows.
struct Object {
  std::unique_ptr<octet_conv2d, DestroyConv> conv;
  std::unique_ptr<octet_gemm, DestroyGemm> gemm;
  Function function;
  std::shared_ptr<const Blob> blob;
  // Of a product of two activations or of a layer with a state, so far.
  std::shared_ptr<std::atomic<size_t>> failures;
  std::shared_ptr<RunMemory> memory;  // of a layer with a state
};

// A product of two activations: a function of the lhs and the rhs, each with one matrix behind the
// other, that packs each matrix of the rhs anew. Throws a sentence if the library does not multiply
// such operands. *failures, never null afterwards, counts calls that found no memory and left their
// output undefined.
Function pair_function(const ProductDescription& description, octet_isa isa,
                       std::shared_ptr<std::atomic<size_t>>* failures);

// Layers with a state, kLstm and kSvdf (recurrent/). The check throws a sentence if the layer is of
// no form that Octet computes; constants' data may be null.
void check_state_layer(const Graph& graph, const Op& op);
// Sets the function, of x and the states, which it writes, too, its failures and its memory. A run
// has to call it once, between the memory's begin and end. Packs the weights.
void make_state_layer(const Graph& graph, const Op& op, octet_isa isa, PackedWeights* weights,
                      Object* to);

// Objects of each op of `placed`, in order. Throws a sentence that begins with the operator's name.
std::vector<Object> make_objects(const Graph& graph, const PlacedGraph& placed,
                                 const ProgramOptions& options, PackedWeights* weights);

// The ops of a network of these objects.
std::vector<octet_network_op> network_ops(const PlacedGraph& placed,
                                          const std::vector<Object>& objects);

}  // namespace octet::graph
