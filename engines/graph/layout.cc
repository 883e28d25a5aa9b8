// SPDX-License-Identifier: Apache-2.0
// Chooses for each tensor the network's tensor in which it lies.
#include "engines/graph/layout.h"

#include <algorithm>
#include <optional>

#include "engines/graph/check.h"
#include "engines/graph/functions.h"
#include "engines/graph/image_functions.h"
#include "engines/graph/products.h"
#include "engines/graph/refused.h"
#include "engines/graph/tables.h"

namespace octet::graph {
namespace {

class Placer {
 public:
  // question: without the bytes of constants.
  Placer(const Graph& g, bool question) : g_(g), question_(question), places_(g.tensors.size()) {}
  size_t at() const { return at_; }  // the operator that is being placed

  PlacedGraph place() {
    for (const int t : g_.inputs) {
      to_.inputs.push_back(kNowhere);
      if (tensor(t).constant || places_[(size_t)t]) continue;
      places_[(size_t)t] = {add_tensor(planes_of(t), stored_type(tensor(t))), false};
    }
    for (at_ = 0; at_ < g_.ops.size(); ++at_) place_op(g_.ops[at_]);
    for (const int t : g_.outputs) place_output(t);
    for (size_t i = 0; i < g_.inputs.size(); ++i) place_input(i);
    return std::move(to_);
  }

 private:
  struct Where {
    size_t node;
    bool moved;  // channels last, in a graph whose tensors have them first
  };
  struct Node {
    bool settled = false;  // an op reads or writes it in its sizes
    bool flat = false;     // an op reads its images as they lie
    bool has_slices = false;
    bool made = false;  // by an op
  };

  const Tensor& tensor(int t) const { return g_.tensors[(size_t)t]; }
  Sizes lies(size_t node) const {
    const octet_network_tensor& t = to_.tensors[node];
    return {t.batch, t.h, t.w, t.channels};
  }
  void set_sizes(size_t node, const Sizes& s) {
    octet_network_tensor& t = to_.tensors[node];
    t.batch = s.batch, t.h = s.h, t.w = s.w, t.channels = s.channels;
  }
  size_t add_tensor(const Sizes& sizes, octet_type type) {
    to_.tensors.push_back(network_tensor(sizes, type));
    nodes_.emplace_back();
    return to_.tensors.size() - 1;
  }
  size_t add_made(const Sizes& sizes, octet_type type) {
    const size_t node = add_tensor(sizes, type);
    nodes_[node].settled = nodes_[node].made = true;
    return node;
  }
  void add_function(Function f, std::vector<size_t> inputs, size_t output) {
    if (inputs.size() > OCTET_NETWORK_INPUTS_MAX)
      refuse("it has more than ", OCTET_NETWORK_INPUTS_MAX, " inputs");
    to_.ops.push_back({at_, false, false, std::move(f), std::move(inputs), output});
  }
  bool is_moved(int t) const { return g_.channels_first && tensor(t).shape.size() > 2; }

  // In the graph's order; of channels first as a transposition reads it, a line for each channel.
  Sizes planes_of(int t) const {
    if (!is_moved(t)) return sizes_of(g_, t, false);
    const Sizes last = sizes_of(g_, t, true);
    return {last.batch, last.channels, last.h * last.w, 1};
  }

  // ---- what operators read

  const Where& where(int t) const {
    const std::optional<Where>& place = places_[(size_t)t];
    if (!place) refuse("it reads ", tensor_name(g_, t), ", which has no place in the network");
    return *place;
  }

  // The node in which the tensor lies in this order of channels.
  size_t ordered(int t, bool moved) {
    const Where at = where(t);
    const Sizes last = sizes_of(g_, t, true);
    if (at.moved == moved || !is_moved(t) || last.h * last.w == 1 || last.channels == 1)
      return at.node;
    for (const auto& [other, node] : turned_)
      if (other == t) return node;
    const Sizes first = planes_of(t);
    const size_t from = moved ? sized(dense(at.node), first) : sized(at.node, last);
    const size_t node = add_made(moved ? last : first, stored_type(tensor(t)));
    add_function(transpose_function(stored_type(tensor(t)), last, moved ? OCTET_NHWC : OCTET_NCHW),
                 {from}, node);
    nodes_[from].settled = true;
    nodes_[from].flat |= moved;
    turned_.push_back({t, node});
    return node;
  }

  size_t dense(size_t node) { return to_.tensors[node].slice ? copied(node, lies(node)) : node; }

  size_t copied(size_t from, const Sizes& sizes) {
    const bool all_images = lies(from).batch != sizes.batch;
    const size_t node = add_made(sizes, to_.tensors[from].type);
    nodes_[from].settled = true;
    add_function(copy_function(type_bytes(to_.tensors[from].type), {}, all_images), {from}, node);
    return node;
  }

  // The node, in these sizes.
  size_t sized(size_t node, const Sizes& sizes) {
    if (!nodes_[node].settled) set_sizes(node, sizes);
    if (!(lies(node) == sizes)) node = copied(node, sizes);
    nodes_[node].settled = true;
    return node;
  }
  size_t read_sized(int t, bool moved, const Sizes& sizes) {
    return sized(ordered(t, moved), sizes);
  }
  size_t read_rows(int t, size_t depth) {
    size_t node = ordered(t, false);
    const Sizes at = lies(node);
    const bool slice = to_.tensors[node].slice != 0;
    const bool fits = at.channels == depth || (at.image() == depth && !slice);
    if (!fits) {
      const Sizes wanted = sizes_of(g_, t, false);
      node = sized(node, wanted);
    }
    nodes_[node].settled = true;
    nodes_[node].flat |= lies(node).channels != depth;
    return node;
  }

  // ---- constants

  // Of one that is read beside the output y: all of it, or one pixel for each image.
  Sizes of_constant(int t, int y, bool moved) const {
    Sizes sizes = sizes_of(g_, t, moved, tensor(y).shape.size());
    sizes.batch = sizes_of(g_, y, moved).batch;
    return sizes;
  }
  // A tensor with the bytes of the constant that y's operator reads, once for each image, unless it
  // has as many.
  size_t constant(int t, int y, bool moved, const Sizes& sizes) {
    if (!tensor(t).data && !question_)
      throw Refused(OCTET_NULL_POINTER, "the data of its constant is null");
    std::vector<uint8_t> bytes = repeated(g_, t, moved, tensor(y).shape.size(), sizes.count());
    const size_t node = add_made(sizes, stored_type(tensor(t)));
    to_.tensors[node].keep = 1;
    to_.constants.push_back({node, std::move(bytes)});
    return node;
  }

  // ---- operators

  void place_op(const Op& op) {
    const int y = op.outputs[0];
    switch (op.kind) {
      case Kind::kConvolution: return place_convolution(op);
      case Kind::kProduct: return place_product(op);
      case Kind::kReshape: places_[(size_t)y] = {ordered(op.inputs[0], false), false}; return;
      case Kind::kConcatenate: return concatenate(op);
      case Kind::kTranspose: return transpose(op);
      case Kind::kSlice:
        if (take_slice(op)) return;
        break;
      case Kind::kLstm:
      case Kind::kSvdf: return place_state_layer(op);
      default: break;
    }
    if (takes_images(g_, op)) return transpose(op);
    if (is_mean_of_planes(g_, op)) return average_planes(op);
    const Place wanted = place_of(g_, op);
    if (wanted != Place::kElements) return image_function(op, wanted == Place::kImages);
    elementwise(op);
  }

  void image_function(const Op& op, bool channels_last) {
    const int y = op.outputs[0];
    const auto sizes = [&](int t) { return sizes_of(g_, t, channels_last && g_.channels_first); };
    std::vector<size_t> inputs;
    for (const int x : op.inputs) {
      const bool moved = channels_last && is_moved(tensor(x).constant ? y : x);
      inputs.push_back(tensor(x).constant ? constant(x, y, moved, of_constant(x, y, moved))
                                          : read_sized(x, moved, sizes(x)));
    }
    const size_t node = add_made(sizes(y), stored_type(tensor(y)));
    places_[(size_t)y] = {node, channels_last && is_moved(y)};
    add_function(make_function(g_, op), std::move(inputs), node);
  }

  // In the order of channels in which one of the inputs lies.
  void elementwise(const Op& op) {
    bool moved = false;
    for (const int t : op.inputs) moved |= !tensor(t).constant && where(t).moved;
    const size_t first = ordered(op.inputs[tensor(op.inputs[0]).constant], moved);
    nodes_[first].settled = true;
    const Sizes sizes = lies(first);
    std::vector<size_t> inputs;
    for (const int t : op.inputs)
      inputs.push_back(tensor(t).constant ? constant(t, op.outputs[0], moved, sizes)
                                          : sized(ordered(t, moved), sizes));
    const size_t node = add_made(sizes, stored_type(tensor(op.outputs[0])));
    places_[(size_t)op.outputs[0]] = {node, moved};
    add_function(make_function(g_, op), std::move(inputs), node);
  }

  // From the graph's order of axes to the graph's order; slices of images, too.
  void transpose(const Op& op) {
    const int x = op.inputs[0], y = op.outputs[0];
    const size_t node = sized(dense(ordered(x, false)), sizes_of(g_, x, false));
    nodes_[node].flat = true;
    Sizes sizes = sizes_of(g_, y, false);
    if (sizes.batch != lies(node).batch && lies(node).batch == 1 && op.kind == Kind::kTranspose)
      sizes = {1, 1, sizes.count() / sizes.channels, sizes.channels};
    const size_t made = add_made(sizes, stored_type(tensor(y)));
    places_[(size_t)y] = {made, false};
    add_function(make_function(g_, op), {node}, made);
  }

  // A line of the output for each channel, so that tasks divide them.
  void average_planes(const Op& op) {
    const int x = op.inputs[0], y = op.outputs[0];
    const size_t node = sized(dense(ordered(x, false)), sizes_of(g_, x, false));
    nodes_[node].flat = true;
    const Sizes sizes = sizes_of(g_, x, true);
    const size_t made = add_made({sizes.batch, sizes.channels, 1, 1}, stored_type(tensor(y)));
    places_[(size_t)y] = {made, false};
    add_function(make_function(g_, op), {node}, made);
  }

  void place_convolution(const Op& op) {
    const int x = op.inputs[0], y = op.outputs[0], r = input_of(op, 3);
    const Sizes sizes = sizes_of_convolution(g_, op, y);
    std::vector<size_t> inputs = {read_sized(x, is_moved(x), sizes_of_convolution(g_, op, x))};
    if (r >= 0) inputs.push_back(read_sized(r, is_moved(r), sizes));
    const size_t node = add_made(sizes, stored_type(tensor(y)));
    places_[(size_t)y] = {node, is_moved(y)};
    to_.ops.push_back({at_, true, false, {}, std::move(inputs), node});
  }

  // Of two activations: the rows of both, as they lie in the graph's order.
  void place_pair(const Op& op) {
    const int y = op.outputs[0];
    std::vector<size_t> inputs;
    for (const size_t i : {0, 1})
      inputs.push_back(read_sized(op.inputs[i], false, sizes_of(g_, op.inputs[i], false)));
    const size_t node = add_made(sizes_of(g_, y, false), stored_type(tensor(y)));
    places_[(size_t)y] = {node, false};
    to_.ops.push_back({at_, true, false, {}, std::move(inputs), node});
  }

  void place_product(const Op& op) {
    if (!tensor(op.inputs[1]).constant) return place_pair(op);
    const size_t depth = depth_of(g_, op), x = read_rows(op.inputs[0], depth);
    const int y = op.outputs[0], r = input_of(op, 3);
    Sizes sizes = lies(x);
    if (sizes.channels != depth) sizes.h = sizes.w = 1;
    sizes.channels = (size_t)tensor(op.inputs[1]).shape[op.weights_kn ? 1 : 0];
    std::vector<size_t> inputs = {x};
    if (r >= 0) inputs.push_back(read_sized(r, false, sizes));
    const size_t node = add_made(sizes, stored_type(tensor(y)));
    places_[(size_t)y] = {node, false};
    to_.ops.push_back({at_, true, false, {}, std::move(inputs), node});
  }

  // One line of rows, so that a run makes one task of it: its steps follow each other.
  void place_state_layer(const Op& op) {
    const auto line = [&](int t) {
      const Sizes sizes = sizes_of(g_, t, false);
      return Sizes{1, 1, sizes.count() / sizes.channels, sizes.channels};
    };
    const int x = op.inputs[0], y = op.outputs[0];
    std::vector<size_t> inputs = {read_sized(x, false, line(x))};
    for (const int t : op.inputs)
      if (t >= 0 && tensor(t).variable) inputs.push_back(read_sized(t, false, line(t)));
    const size_t node = add_made(line(y), stored_type(tensor(y)));
    places_[(size_t)y] = {node, false};
    to_.ops.push_back({at_, false, true, {}, std::move(inputs), node});
  }

  // ---- joined tensors

  void concatenate(const Op& op) {
    const int y = op.outputs[0];
    const size_t rank = tensor(y).shape.size();
    size_t axis = (size_t)(op.axis < 0 ? op.axis + (int)rank : op.axis);
    if (axis == 0) return join_images(op);
    bool moved = false;
    for (const int t : op.inputs) moved |= where(t).moved;
    if (moved) axis = axis == 1 ? rank - 1 : axis - 1;
    const Sizes all = sizes_from_axis(g_, y, moved, axis);
    const size_t parent = add_made(all, stored_type(tensor(y)));
    nodes_[parent].has_slices = true;
    places_[(size_t)y] = {parent, moved};
    size_t first = 0;
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const int t = op.inputs[i];
      const Sizes own = sizes_of_joined(g_, op, i, moved, axis);
      const std::vector<uint8_t> table =
          op.tables.empty() ? join_table(g_, tensor(t), tensor(y)) : op.tables[i];
      const size_t node = ordered(t, moved);
      if (table.empty() && can_be_slice(node, parent, own)) {
        make_slice(node, parent, first);
      } else {
        const bool all_images = lies(node).batch != own.batch;
        const size_t slice = add_made(own, stored_type(tensor(y)));
        make_slice(slice, parent, first);
        nodes_[node].settled = true;
        add_function(copy_function(type_bytes(stored_type(tensor(y))), table, all_images), {node},
                     slice);
      }
      first += own.channels;
    }
  }

  // Some inputs after the other, as many as an op of a network may have at once.
  void join_images(const Op& op) {
    const int y = op.outputs[0];
    const Sizes all = sizes_of(g_, y, false);
    std::vector<size_t> nodes;
    std::vector<std::vector<uint8_t>> tables;
    Sizes sizes = all;
    sizes.batch = 0;
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const int t = op.inputs[i];
      const Sizes own = sizes_of_joined(g_, op, i, false, 0);
      nodes.push_back(read_sized(t, false, own));
      tables.push_back(join_table(g_, tensor(t), tensor(y)));
      sizes.batch += own.batch;
      if (nodes.size() < OCTET_NETWORK_INPUTS_MAX && i + 1 < op.inputs.size()) continue;
      const size_t node = add_made(sizes, stored_type(tensor(y)));
      add_function(join_images_function(type_bytes(stored_type(tensor(y))), std::move(tables)),
                   std::move(nodes), node);
      nodes = {node}, tables = {{}};
    }
    places_[(size_t)y] = {nodes[0], false};
  }

  // Values that follow each other along one axis are channels of their source, if that lies, or can
  // lie, with this axis and the axes behind it as channels. Returns false if not.
  bool take_slice(const Op& op) {
    const int x = op.inputs[0], y = op.outputs[0];
    if (op.inputs.size() != 1 || tensor(x).constant) return false;
    const auto [node, moved] = where(x);
    const std::optional<AxisPart> part = axis_part(g_, op, moved);
    if (!part) return false;
    const Sizes all = sizes_from_axis(g_, x, moved, part->axis),
                own = sizes_from_axis(g_, y, moved, part->axis);
    if (!nodes_[node].settled && only_slices_read(g_, x)) set_sizes(node, all);
    if (!(lies(node) == all)) return false;
    nodes_[node].settled = nodes_[node].has_slices = true;
    to_.cuts_images |= part->axis == 0 && tensor(x).shape.size() > 1;
    const octet_network_tensor source = to_.tensors[node];
    const size_t made = add_made(own, source.type),
                 first = part->first * own.channels / part->count;
    make_slice(made, source.slice ? source.parent : node, first + source.first_channel);
    places_[(size_t)y] = {made, moved};
    return true;
  }

  void make_slice(size_t node, size_t parent, size_t first) {
    octet_network_tensor& t = to_.tensors[node];
    t.slice = 1, t.parent = parent, t.first_channel = first;
  }

  bool can_be_slice(size_t node, size_t parent, const Sizes& sizes) const {
    const Node& n = nodes_[node];
    if (!n.made || n.flat || n.has_slices || to_.tensors[node].slice || !(lies(node) == sizes))
      return false;
    for (const int t : g_.outputs)
      if (places_[(size_t)t] && places_[(size_t)t]->node == node) return false;
    // An op that reads one slice of a tensor and writes another one could meet itself.
    const auto is_part = [&](size_t other) {
      return to_.tensors[other].slice && to_.tensors[other].parent == parent;
    };
    for (const PlacedOp& op : to_.ops) {
      bool touches = op.output == node, other = is_part(op.output);
      for (const size_t input : op.inputs) touches |= input == node, other |= is_part(input);
      if (touches && other) return false;
    }
    return true;
  }

  // ---- ends

  bool is_end(size_t node) const {
    for (const int t : g_.inputs)
      if (places_[(size_t)t] && places_[(size_t)t]->node == node) return true;
    return to_.tensors[node].keep != 0 || to_.tensors[node].slice != 0;
  }

  void place_output(int t) {
    size_t node = ordered(t, false);
    if (is_end(node)) node = copied(node, lies(node));
    to_.tensors[node].keep = 1;
    to_.outputs.push_back(node);
  }

  void place_input(size_t i) {
    const int t = g_.inputs[i];
    if (tensor(t).constant || !places_[(size_t)t]) return;
    const size_t node = places_[(size_t)t]->node;
    for (const PlacedOp& op : to_.ops)
      for (const size_t input : op.inputs)
        if (input == node || (to_.tensors[input].slice && to_.tensors[input].parent == node))
          to_.inputs[i] = node;
    to_.tensors[node].keep = to_.inputs[i] != kNowhere;
  }

  const Graph& g_;
  const bool question_;
  std::vector<std::optional<Where>> places_;
  std::vector<Node> nodes_;
  std::vector<std::pair<int, size_t>> turned_;  // tensors in their other order of channels
  PlacedGraph to_;
  size_t at_ = 0;
};

}  // namespace

PlacedGraph place(const Graph& graph) {
  Placer placer(graph, false);
  try {
    return placer.place();
  } catch (const Refused& refused) {
    const std::string name = placer.at() < graph.ops.size() ? op_name(graph, placer.at())
                                                            : std::string("an output of the graph");
    throw Refused(refused.status(), join(name, ": ", refused.why()));
  }
}

std::pair<size_t, std::string> first_unplaced(const Graph& graph) {
  Placer placer(graph, true);
  try {
    placer.place();
    return {graph.ops.size(), ""};
  } catch (const Refused& refused) {
    return {placer.at(), refused.why()};
  }
}

}  // namespace octet::graph
