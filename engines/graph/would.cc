// SPDX-License-Identifier: Apache-2.0
// Looks at each operator by itself, without its weights, and at the places of all tensors.
#include "engines/graph/would.h"

#include "engines/graph/check.h"
#include "engines/graph/functions.h"
#include "engines/graph/layout.h"
#include "engines/graph/objects.h"
#include "engines/graph/products.h"
#include "engines/graph/refused.h"
#include "engines/graph/tables.h"

namespace octet::graph {
namespace {

void look_at_product(const Graph& g, const Op& op) {
  ProductDescription d;
  d.by_rows = true;
  describe_product(g, op, &d);
  if (d.is_pair) {
    std::shared_ptr<RunMemory> memory;
    pair_function(d, OCTET_ISA_AUTO, &memory);
    return;
  }
  size_t bytes = 0;
  octet_error error = {};
  check(d.is_convolution ? octet_conv2d_pack_size(&d.filter, OCTET_ISA_AUTO, &bytes, &error)
                         : octet_pack_size(&d.rhs, OCTET_ISA_AUTO, &bytes, &error),
        error);
}

void look_at_ends(const Graph& g, const Op& op) {
  if (op.outputs.size() != 1) refuse("it has ", op.outputs.size(), " outputs, not 1");
  if (op.inputs.empty() || op.inputs[0] < 0) refuse("it has no input");
  for (const std::vector<int>* tensors : {&op.inputs, &op.outputs})
    for (const int t : *tensors) {
      if (t < 0) refuse("one of its inputs is left out");
      if (g.tensors[(size_t)t].constant)
        refuse("its input ", tensor_name(g, t), " is a constant; fold it beforehand");
      if (!g.tensors[(size_t)t].type)
        refuse(tensor_name(g, t), " is of a type that is not Octet's");
      sizes_of(g, t, false);
    }
}

void look_at_reshape(const Graph& g, const Op& op) {
  look_at_ends(g, op);
  const Tensor &x = g.tensors[(size_t)op.inputs[0]], &y = g.tensors[(size_t)op.outputs[0]];
  if (x.type != y.type || element_count(x) != element_count(y))
    refuse("its input and its output have different types or numbers of elements");
}

void look_at_concatenation(const Graph& g, const Op& op) {
  look_at_ends(g, op);
  const Tensor& y = g.tensors[(size_t)op.outputs[0]];
  const int rank = (int)y.shape.size(), axis = op.axis < 0 ? op.axis + rank : op.axis;
  if (rank < 2 || axis < 0 || axis >= rank)
    refuse("it joins along axis ", op.axis, " of rank ", rank, "; it would need another axis");
  if (!is_8_or_16_bits(y.type)) refuse("its tensors are not of 8 or 16 bits");
  int64_t along = 0;
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    const Tensor& x = g.tensors[(size_t)op.inputs[k]];
    std::vector<int64_t> shape = x.shape;
    if (lacks_axis(g, op, k) && !g.channels_first) shape.insert(shape.begin() + axis, 1);
    if (shape.size() != y.shape.size() || lacks_axis(g, op, k) != lacks_axis(g, op, 0))
      refuse("its tensors have different ranks");
    for (int i = 0; i < rank; ++i)
      if (i != axis && shape[(size_t)i] != y.shape[(size_t)i])
        refuse(tensor_name(g, op.inputs[k]), " does not fit its output");
    along += shape[(size_t)axis];
    join_table(g, x, y);
  }
  if (along != y.shape[(size_t)axis])
    refuse("its inputs have ", along, " along axis ", axis, ", its output ", y.shape[(size_t)axis]);
}

// Only the layer that writes a variable may read it: another operator would see the old or the new
// values, by the order in which operators run.
void look_at_variables(const Graph& g, const Op& op) {
  for (const int t : op.inputs)
    if (t >= 0 && g.tensors[(size_t)t].variable)
      refuse("it reads ", tensor_name(g, t), ", a variable, which only a layer with a state does");
}

void look_at(const Graph& g, const Op& op) {
  if (!op.refused.empty()) throw Refused(OCTET_UNSUPPORTED, op.refused);
  if (has_state(op.kind)) return check_state_layer(g, op);
  look_at_variables(g, op);
  switch (op.kind) {
    case Kind::kConvolution:
    case Kind::kProduct: return look_at_product(g, op);
    case Kind::kReshape: return look_at_reshape(g, op);
    case Kind::kConcatenate: return look_at_concatenation(g, op);
    case Kind::kSplit:
      for (size_t k = 0; k < op.outputs.size(); ++k) make_function(g, slice_of(g, op, k));
      return;
    default: break;
  }
  if (!is_function(op.kind))
    refuse("it would need an operator '", kind_name(op.kind), "', which is not there");
  make_function(g, op);
}

// The operators that are taken so far, in order, between the tensors that others make and read.
Graph taken_part(const Graph& g, const std::vector<size_t>& order,
                 const std::vector<std::string>& answers, std::vector<size_t>* numbers) {
  Graph part = g;
  part.ops.clear(), part.inputs.clear(), part.outputs.clear();
  std::vector<char> made(g.tensors.size()), read(g.tensors.size());
  numbers->clear();
  for (const size_t i : order) {
    if (!answers[i].empty()) continue;
    const bool splits = g.ops[i].kind == Kind::kSplit;
    for (size_t k = 0; k < (splits ? g.ops[i].outputs.size() : 1); ++k) {
      part.ops.push_back(splits ? slice_of(g, g.ops[i], k) : g.ops[i]);
      numbers->push_back(i);
    }
    for (const int t : g.ops[i].inputs)
      if (t >= 0 && !made[(size_t)t] && !read[(size_t)t] && !g.tensors[(size_t)t].constant)
        part.inputs.push_back(t), read[(size_t)t] = 1;
    for (const int t : g.ops[i].outputs) made[(size_t)t] = 1;
  }
  std::vector<char> wanted(g.tensors.size());
  for (const int t : g.outputs) wanted[(size_t)t] = 1;
  for (size_t i = 0; i < g.ops.size(); ++i)
    for (const int t : g.ops[i].inputs)
      if (t >= 0 && !answers[i].empty()) wanted[(size_t)t] = 1;
  for (size_t t = 0; t < made.size(); ++t)
    if (made[t] && wanted[t]) part.outputs.push_back((int)t);
  return part;
}

// Operators that run by themselves may not find their tensors as others leave them.
void look_at_places(const Graph& g, const std::vector<size_t>& order,
                    std::vector<std::string>* answers) {
  std::vector<size_t> numbers;
  while (true) {
    const Graph part = taken_part(g, order, *answers, &numbers);
    const auto [at, why] = first_unplaced(part);
    if (at == part.ops.size()) return;
    (*answers)[numbers[at]] = join(op_name(g, numbers[at]), ": ", why);
  }
}

}  // namespace

const char* kind_name(Kind kind) {
  static const char* const names[] = {"other",
                                      "convolution",
                                      "product",
                                      "add",
                                      "subtract",
                                      "multiply",
                                      "max pool",
                                      "average pool",
                                      "mean",
                                      "pad",
                                      "concatenate",
                                      "slice",
                                      "split",
                                      "reshape",
                                      "transpose",
                                      "activation",
                                      "logistic",
                                      "tanh",
                                      "hard swish",
                                      "leaky relu",
                                      "softmax",
                                      "resize nearest",
                                      "resize bilinear",
                                      "quantize",
                                      "dequantize",
                                      "depth to space",
                                      "space to depth",
                                      "function of floats",
                                      "LSTM",
                                      "SVDF"};
  const auto i = (size_t)kind;
  return i < sizeof names / sizeof *names ? names[i] : "other";
}

std::vector<std::string> would(const Graph& given) {
  std::vector<std::string> all(given.ops.size());
  Graph graph;
  std::vector<size_t> order, from;
  try {
    check_graph(given);
    graph = with_requantizations(given, &from);
    order = check_graph(graph);
  } catch (const Refused& refused) {
    for (std::string& answer : all) answer = refused.why();
    return all;
  }
  std::vector<std::string> answers(graph.ops.size());
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    try {
      look_at(graph, graph.ops[i]);
    } catch (const Refused& refused) {
      answers[i] = join(op_name(graph, i), ": ", refused.what());
    }
  }
  look_at_places(graph, order, &answers);
  for (size_t i = 0; i < answers.size(); ++i)
    if (all[from[i]].empty()) all[from[i]] = answers[i];
  return all;
}

}  // namespace octet::graph
