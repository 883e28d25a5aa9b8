// octet explain: why a convolution is computed as it is.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "candidates.h"
#include "commands.h"
#include "conv_shape.h"
#include "operands.h"

namespace tool {
namespace {

using nlohmann::ordered_json;

// No weights: the plan assumes the worst ones.
octet_filter_desc filter_without_weights(const ConvShape& shape, octet_type type) {
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  filter.shape = shape.geometry;
  filter.type = type;
  return filter;
}

void print_text(const ConvShape& shape, const std::vector<octet_conv2d_candidate>& all) {
  fmt::print("{:<18}{:<32}{:>12}{:>11}{:>12}{:>12}{:>12}{:>12}  {:<8}{}\n", "algorithm", "kernel",
             "10^6 MACs", "MB", "us", "compute", "memory", "transform", "chosen", "reason");
  for (const octet_conv2d_candidate& c : all) {
    const std::string kernel = c.kernel ? c.kernel : "-";
    if (c.possible)
      fmt::print("{:<18}{:<32}{:>12.2f}{:>11.3f}{:>12.2f}{:>12.2f}{:>12.2f}{:>12.2f}  {:<8}{}\n",
                 octet_conv_algorithm_name(c.algorithm), kernel, c.macs / 1e6, c.bytes / 1e6,
                 c.microseconds, c.compute_microseconds, c.memory_microseconds,
                 c.transform_microseconds, c.chosen ? "<--" : "", c.reason);
    else
      fmt::print("{:<18}{:<32}{:>12}{:>11}{:>12}{:>12}{:>12}{:>12}  {:<8}{}\n",
                 octet_conv_algorithm_name(c.algorithm), kernel, "-", "-", "-", "-", "-", "-", "",
                 c.reason);
  }
  fmt::print(
      "\nThe definition has {:.2f} x 10^6 MACs. Predicted for one thread; measured beside it by: "
      "octet bench plan {}\n",
      shape.ops() / 2e6, shape.name());
}

ordered_json to_json(const octet_conv2d_candidate& c) {
  ordered_json json = {{"algorithm", octet_conv_algorithm_name(c.algorithm)},
                       {"kernel", c.kernel ? ordered_json(c.kernel) : ordered_json()},
                       {"possible", c.possible != 0},
                       {"chosen", c.chosen != 0},
                       {"reason", c.reason}};
  if (!c.possible) return json;
  json["macs"] = c.macs;
  json["bytes"] = c.bytes;
  json["predicted_us"] = c.microseconds;
  json["compute_us"] = c.compute_microseconds;
  json["memory_us"] = c.memory_microseconds;
  json["transform_us"] = c.transform_microseconds;
  return json;
}

}  // namespace

int explain_conv(const ExplainArguments& a) {
  const ConvShape shape = parse_conv(a.shape);
  const OperandTypes types = parse_types(a.types);
  const octet_isa isa = a.isa.empty() ? cpu_info().best_isa : usable_isa(a.isa);
  const std::vector<octet_conv2d_candidate> all =
      candidates(filter_without_weights(shape, types.rhs), isa);
  if (a.json) {
    ordered_json json = {{"name", shape.name()},
                         {"types", types.name()},
                         {"isa", octet_isa_name(isa)},
                         {"macs", shape.ops() / 2}};
    for (const octet_conv2d_candidate& candidate : all)
      json["candidates"].push_back(to_json(candidate));
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{} {} on {}\n\n", shape.name(), types.name(), octet_isa_name(isa));
    print_text(shape, all);
  }
  return kSuccess;
}

}  // namespace tool
