// SPDX-License-Identifier: Apache-2.0
// Reads the provider's options: a table of the values that each key takes.
#include "engines/onnxruntime/options.h"

#include <cstdlib>
#include <filesystem>

#include "engines/graph/refused.h"

namespace octet::onnxruntime {
namespace {

constexpr size_t kMostThreads = 4096;  // no run of Octet has more tasks

template <typename Value>
void choose(const std::string& key, const std::string& given,
            const std::map<std::string, Value>& values, Value* out) {
  const auto found = values.find(given);
  if (found != values.end()) {
    *out = found->second;
    return;
  }
  std::string all;
  for (const auto& [name, value] : values) all += (all.empty() ? "" : ", ") + name;
  graph::refuse("option ", key, " = ", given, ": it takes one of ", all);
}

size_t read_count(const std::string& given) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(given.c_str(), &end, 10);
  if (given.empty() || given[0] < '0' || given[0] > '9' || *end || value < 1 ||
      value > kMostThreads)
    graph::refuse("option threads = ", given, ": it takes 1 to ", kMostThreads);
  return value;
}

std::string read_folder(const std::string& given) {
  std::error_code error;
  if (!given.empty() && !std::filesystem::is_directory(given, error))
    graph::refuse("option cache = ", given, ": it takes a folder that exists");
  return given;
}

}  // namespace

Options read_options(const std::map<std::string, std::string>& entries) {
  using graph::Arithmetic;
  Options o;
  for (const auto& [key, value] : entries) {
    if (key == "as")
      choose<Arithmetic>(
          key, value,
          {{"onnxruntime", Arithmetic::kOnnxruntime}, {"standard", Arithmetic::kStandard}},
          &o.arithmetic);
    else if (key == "threads")
      o.threads = read_count(value);
    else if (key == "goal")
      choose<octet_network_goal>(key, value,
                                 {{"time", OCTET_NETWORK_TIME},
                                  {"layers", OCTET_NETWORK_LAYERS},
                                  {"traffic", OCTET_NETWORK_TRAFFIC},
                                  {"memory", OCTET_NETWORK_MEMORY}},
                                 &o.goal);
    else if (key == "accuracy_level")
      choose<bool>(key, value, {{"model", false}, {"4", true}}, &o.any_accuracy);
    else if (key == "floats")
      choose<bool>(key, value, {{"0", false}, {"1", true}}, &o.floats);
    else if (key == "cache")
      o.cache = read_folder(value);
    else if (key == "report")
      choose<bool>(key, value, {{"0", false}, {"1", true}}, &o.report);
    else
      graph::refuse(
          "option ", key, " = ", value,
          " is none; there are as, threads, goal, accuracy_level, floats, cache and report");
  }
  return o;
}

}  // namespace octet::onnxruntime
