// SPDX-License-Identifier: Apache-2.0
// Reads the JSON that describes a network.
#include "bench/cases/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tool {
namespace {

constexpr int kVersion = 1;

using nlohmann::json;

// A required text.
std::string text(const json& op, const char* field, const std::string& where) {
  const auto found = op.is_object() ? op.find(field) : op.end();
  if (found == op.end() || !found->is_string())
    throw Error(fmt::format("{} has no text '{}'", where, field));
  return found->get<std::string>();
}

octet_layout layout_of(const json& op, const std::string& where) {
  if (!op.contains("layout")) return OCTET_NHWC;
  const std::string layout = text(op, "layout", where);
  if (layout == "nhwc") return OCTET_NHWC;
  if (layout == "nchw") return OCTET_NCHW;
  throw Error(fmt::format("{} has the layout '{}', neither nhwc nor nchw", where, layout));
}

// The zero point of an operator's second input; none if the description has none.
std::optional<int32_t> rhs_zero_point_of(const json& network, const json& op, octet_type type) {
  const json none;
  const auto field = [&](const json& from, const char* name) -> const json& {
    return from.is_object() && from.contains(name) ? from[name] : none;
  };
  const json &inputs = field(op, "inputs"), &tensors = field(network, "tensors");
  if (!inputs.is_array() || inputs.size() < 2 || !inputs[1].is_number_unsigned() ||
      !tensors.is_array() || inputs[1].get<size_t>() >= tensors.size())
    return std::nullopt;
  const json& tensor = tensors[inputs[1].get<size_t>()];
  const int32_t middle = type == OCTET_U8 ? 128 : 0;
  std::optional<int32_t> farthest;
  for (const json& z : field(field(tensor, "quantization"), "zero_points")) {
    if (!z.is_number_integer() || z < -128 || z > 255)
      throw Error(fmt::format("{} is no zero point of its weights", z.dump()));
    if (const int32_t zero_point = z.get<int32_t>();
        !farthest || std::abs(zero_point - middle) > std::abs(*farthest - middle))
      farthest = zero_point;
  }
  return farthest;
}

bool same(const GemmCase& a, const GemmCase& b) { return a.shape.name() == b.shape.name(); }
bool same(const ConvCase& a, const ConvCase& b) {
  return a.shape.name() == b.shape.name() && a.layout == b.layout &&
         a.rhs_zero_point == b.rhs_zero_point;
}

template <typename Case>
void add(std::vector<Case>* cases, Case added) {
  const auto alike =
      std::find_if(cases->begin(), cases->end(), [&](const Case& c) { return same(c, added); });
  if (alike == cases->end())
    cases->push_back(std::move(added));
  else
    ++alike->count;
}

}  // namespace

bool is_network_file(const std::string& name) {
  constexpr const char kEnd[] = ".json";
  constexpr size_t kLength = sizeof kEnd - 1;
  return name.size() > kLength && name.compare(name.size() - kLength, kLength, kEnd) == 0;
}

json parse_description(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw Error(fmt::format("{} is a folder", path));
  std::ifstream file(path);
  if (!file) throw Error(fmt::format("cannot read {}", path));
  json network = json::parse(file, nullptr, false);
  if (network.is_discarded()) throw Error(fmt::format("{} is no JSON", path));
  if (!network.is_object() || !network.contains("octet_network"))
    throw Error(fmt::format("{} describes no network: tools/models makes such files", path));
  if (network["octet_network"] != kVersion)
    throw Error(fmt::format("{} is a description of version {}, and this tool reads version {}",
                            path, network["octet_network"].dump(), kVersion));
  if (!network.contains("operators") || !network["operators"].is_array())
    throw Error(fmt::format("{} has no array of operators", path));
  return network;
}

// TFLite joins the names of what it fused by semicolons, and each has a path.
std::string short_name(std::string name) {
  name = name.substr(0, name.find(';'));
  constexpr size_t kMost = 30;
  return name.size() > kMost ? name.substr(name.size() - kMost) : name;
}

CaseGroup& group_of(std::vector<CaseGroup>* groups, const std::string& name,
                    const std::string& types, bool products) {
  for (CaseGroup& group : *groups)
    if (group.types == types && group.products.empty() != products) return group;
  groups->push_back({name, {}, {}, types});
  return groups->back();
}

std::vector<CaseGroup> read_network(const std::string& path) {
  const json network = parse_description(path);
  const std::string name = text(network, "name", path);
  std::vector<CaseGroup> groups;
  size_t index = 0;
  for (const json& op : network["operators"]) {
    const std::string where = fmt::format("{}: operators[{}]", path, index++);
    const std::string kind = text(op, "kind", where);
    if (kind != "convolution" && kind != "product") continue;
    const std::string types = text(op, "types", where), shape = text(op, "case", where),
                      layer = short_name(text(op, "name", where));
    try {
      const OperandTypes operands = parse_types(types);
      CaseGroup& group = group_of(&groups, name, types, kind == "product");
      if (kind == "convolution")
        add(&group.convolutions, {parse_conv(shape), layer, 1, layout_of(op, where),
                                  rhs_zero_point_of(network, op, operands.rhs)});
      else
        add(&group.products, parse_product(shape, layer));
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", where, error.what()));
    }
  }
  if (groups.empty())
    throw Error(fmt::format("{} has neither convolutions nor products of 8 bits", path));
  return groups;
}

}  // namespace tool
