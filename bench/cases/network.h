// SPDX-License-Identifier: Apache-2.0
// Reads the description of a network that tools/models made of a model: its convolutions and
// products become cases.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/cases/cases.h"

namespace tool {

bool is_network_file(const std::string& name);  // *.json

// Makes a group of all operators of a kind and of the same types; equal layers are one case. Throws
// Error with the fault and its place.
std::vector<CaseGroup> read_network(const std::string& path);

// The group for a layer of these types; a new one if there is none.
CaseGroup& group_of(std::vector<CaseGroup>* groups, const std::string& network,
                    const std::string& types, bool products);
std::string short_name(std::string layer);  // for a table

// The network with all operators, and the tensors that each reads and writes.
struct NetworkTensor {
  std::vector<size_t> shape;  // empty: unknown
  size_t element;             // bytes
  octet_type type;            // U8 if Octet has none of that name
  bool constant;
};
struct NetworkOperator {
  std::string kind, name, shape, types;  // shape, types: a convolution's or product's case
  std::vector<size_t> inputs, outputs;   // tensors
};
struct NetworkGraph {
  std::string name;
  std::vector<NetworkOperator> operators;
  std::vector<NetworkTensor> tensors;
};
// The file's JSON; checks its version and that it has an array of operators.
nlohmann::json parse_description(const std::string& path);
NetworkGraph read_graph(const std::string& path);

}  // namespace tool
