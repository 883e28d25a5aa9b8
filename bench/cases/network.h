// Reads a network that a file describes, as tools/models makes it of a model: its convolutions and
// products become cases.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/cases/cases.h"

namespace tool {

bool is_network_file(const std::string& name);  // *.json

// A group for all operators of a kind and of the same types; layers that are alike are one case.
// Throws what is wrong with the file, and where.
std::vector<CaseGroup> read_network(const std::string& path);

// Where a layer of these types belongs; a new one, if none is there.
CaseGroup& group_of(std::vector<CaseGroup>* groups, const std::string& network,
                    const std::string& types, bool products);
std::string short_name(std::string layer);  // for a table

// The same with all operators, and what each reads and writes.
struct NetworkTensor {
  std::vector<size_t> shape;  // empty: unknown
  size_t element;             // bytes
  octet_type type;            // U8 where Octet has none of that name
  bool constant;
};
struct NetworkOperator {
  std::string kind, name, shape, types;  // the last two of convolutions and products: a case
  std::vector<size_t> inputs, outputs;   // tensors
};
struct NetworkGraph {
  std::string name;
  std::vector<NetworkOperator> operators;
  std::vector<NetworkTensor> tensors;
};
// The file's JSON: of a version that this tool reads, with an array of operators.
nlohmann::json parse_description(const std::string& path);
NetworkGraph read_graph(const std::string& path);

}  // namespace tool
