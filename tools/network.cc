#include "network.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tool {
namespace {

constexpr int kVersion = 1;

using nlohmann::json;

json parse(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(fmt::format("cannot read {}", path));
  json network = json::parse(file, nullptr, false);
  if (network.is_discarded()) throw Error(fmt::format("{} is no JSON", path));
  if (!network.is_object() || !network.contains("octet_network"))
    throw Error(fmt::format("{} describes no network: tools/network makes such files", path));
  if (network["octet_network"] != kVersion)
    throw Error(fmt::format("{} is a description of version {}, and this tool reads version {}",
                            path, network["octet_network"].dump(), kVersion));
  if (!network.contains("operators") || !network["operators"].is_array())
    throw Error(fmt::format("{} has no array of operators", path));
  return network;
}

// A text that must be there.
std::string text(const json& op, const char* field, const std::string& where) {
  const auto found = op.is_object() ? op.find(field) : op.end();
  if (found == op.end() || !found->is_string())
    throw Error(fmt::format("{} has no text '{}'", where, field));
  return found->get<std::string>();
}

// TFLite joins the names of what it fused by semicolons, and each has a path.
std::string layer_of(std::string name) {
  name = name.substr(0, name.find(';'));
  constexpr size_t kMost = 30;
  return name.size() > kMost ? name.substr(name.size() - kMost) : name;
}

template <typename Case>
void add(std::vector<Case>* cases, Case added) {
  const auto alike = std::find_if(cases->begin(), cases->end(), [&](const Case& c) {
    return c.shape.name() == added.shape.name();
  });
  if (alike == cases->end())
    cases->push_back(std::move(added));
  else
    ++alike->count;
}

CaseGroup& group_of(std::vector<CaseGroup>* groups, const std::string& name,
                    const std::string& types, bool products) {
  for (CaseGroup& group : *groups)
    if (group.types == types && group.products.empty() != products) return group;
  groups->push_back({name, {}, {}, types});
  return groups->back();
}

}  // namespace

bool is_network_file(const std::string& name) {
  constexpr const char kEnd[] = ".json";
  constexpr size_t kLength = sizeof kEnd - 1;
  return name.size() > kLength && name.compare(name.size() - kLength, kLength, kEnd) == 0;
}

std::vector<CaseGroup> read_network(const std::string& path) {
  const json network = parse(path);
  const std::string name = text(network, "name", path);
  std::vector<CaseGroup> groups;
  size_t index = 0;
  for (const json& op : network["operators"]) {
    const std::string where = fmt::format("{}: operators[{}]", path, index++);
    const std::string kind = text(op, "kind", where);
    if (kind != "convolution" && kind != "product") continue;
    const std::string types = text(op, "types", where), shape = text(op, "case", where),
                      layer = layer_of(text(op, "name", where));
    try {
      parse_types(types);
      CaseGroup& group = group_of(&groups, name, types, kind == "product");
      if (kind == "convolution")
        add(&group.convolutions, {parse_conv(shape), layer, 1});
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
