// SPDX-License-Identifier: Apache-2.0
// Runs octet explain: why a product or a convolution is computed as it is.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/problems/candidates.h"
#include "bench/problems/conv_shape.h"
#include "bench/problems/gemm_plan.h"
#include "bench/problems/operands.h"
#include "tools/octet/bench_options.h"
#include "tools/octet/commands.h"

namespace tool {
namespace {

using nlohmann::ordered_json;

// No weights: the plan assumes the worst ones.
octet_filter_desc filter_without_weights(const ConvShape& shape, const OperandTypes& types) {
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  filter.shape = shape.geometry;
  filter.type = types.rhs;
  filter.dst_type = types.dst;
  return filter;
}

void print_text(const ConvShape& shape, octet_isa isa,
                const std::vector<octet_conv2d_candidate>& all) {
  fmt::print("{:<18}{:<32}{:>12}{:>11}{:>13}{:>12}{:>12}{:>12}{:>12}  {:<8}{}\n", "algorithm",
             "kernel", "10^6 MACs", "MB", "packed MB", "us", "compute", "memory", "transform",
             "chosen", "reason");
  for (const octet_conv2d_candidate& c : all) {
    const std::string kernel = c.kernel ? c.kernel : "-";
    const std::string packed =
        c.packed_bytes ? fmt::format("{:.3f}", (double)c.packed_bytes / 1e6) : "-";
    if (c.possible)
      fmt::print(
          "{:<18}{:<32}{:>12.2f}{:>11.3f}{:>13}{:>12.2f}{:>12.2f}{:>12.2f}{:>12.2f}  {:<8}{}\n",
          octet_conv_algorithm_name(c.algorithm), kernel, c.macs / 1e6, c.bytes / 1e6, packed,
          c.microseconds, c.compute_microseconds, c.memory_microseconds, c.transform_microseconds,
          c.chosen ? "<--" : "", c.reason);
    else
      fmt::print("{:<18}{:<32}{:>12}{:>11}{:>13}{:>12}{:>12}{:>12}{:>12}  {:<8}{}\n",
                 octet_conv_algorithm_name(c.algorithm), kernel, "-", "-", packed, "-", "-", "-",
                 "-", "", c.reason);
  }
  for (const octet_conv2d_candidate& c : all)
    if (c.chosen && c.kernel && c.origin) fmt::print("\nChosen, {}: {}\n", c.origin, c.choice);
  if (std::none_of(all.begin(), all.end(), [](const auto& c) { return c.kernel; }))
    fmt::print("\nThis library has no kernels of {}; weights may be packed for it.\n",
               octet_isa_name(isa));
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
                       {"reason", c.reason},
                       {"choice", c.choice},
                       {"origin", c.origin ? ordered_json(c.origin) : ordered_json()},
                       {"packed_bytes", c.packed_bytes}};
  if (!c.possible) return json;
  json["macs"] = c.macs;
  json["bytes"] = c.bytes;
  json["predicted_us"] = c.microseconds;
  json["compute_us"] = c.compute_microseconds;
  json["memory_us"] = c.memory_microseconds;
  json["transform_us"] = c.transform_microseconds;
  return json;
}

void print_text(const octet_gemm_explanation& e, size_t threads) {
  const auto line = [](const char* what, const std::string& value) {
    fmt::print("{:<12}{}\n", what, value);
  };
  line("kernel", e.kernel);
  if (e.small_m) line("few rows", fmt::format("{} for at most {}", e.small_kernel, e.small_m));
  line("multiplies",
       fmt::format("{} by {}", octet_type_name(e.lhs_type), octet_type_name(e.rhs_type)));
  line("tier", octet_isa_name(e.isa));
  line("weights",
       fmt::format("panels of {} columns (the last a multiple of {}), {} deep; read by {}",
                   e.panel_columns, e.panel_step, e.panel_depth, octet_isa_name(e.layout_isa)));
  line("block", fmt::format("{} rows", e.block_rows));
  line("tasks", fmt::format("{} along rows, {} along columns, for {} threads", e.row_tasks,
                            e.column_tasks, threads));
  line("workspace", fmt::format("{} bytes", e.workspace_bytes));
  line("reason", e.reason);
  line("choice", e.choice);
  line("origin", e.origin);
}

ordered_json to_json(const octet_gemm_explanation& e) {
  return {{"kernel", e.kernel},
          {"small_kernel", e.small_kernel},
          {"small_m", e.small_m},
          {"isa", octet_isa_name(e.isa)},
          {"layout_isa", octet_isa_name(e.layout_isa)},
          {"lhs_type", octet_type_name(e.lhs_type)},
          {"rhs_type", octet_type_name(e.rhs_type)},
          {"panel_columns", e.panel_columns},
          {"panel_step", e.panel_step},
          {"panel_depth", e.panel_depth},
          {"block_rows", e.block_rows},
          {"batch_tasks", e.batch_tasks},
          {"row_tasks", e.row_tasks},
          {"column_tasks", e.column_tasks},
          {"workspace_bytes", e.workspace_bytes},
          {"reason", e.reason},
          {"choice", e.choice},
          {"origin", e.origin}};
}

}  // namespace

int explain_gemm(const ExplainArguments& a) {
  size_t sizes[3];
  if (!parse_triple(a.shape, sizes))
    throw Error("'" + a.shape + "' is no product: it is MxNxK, such as 128x768x3072");
  const GemmShape shape = {sizes[0], sizes[1], sizes[2]};
  const OperandTypes types = parse_types(a.types);
  Forced forced;
  if (!a.isa.empty()) forced.isa = usable_tier(a.isa);
  forced.sparsity = parse_sparsity(a.sparse);
  Operands operands;
  operands.sparse = !a.sparse.empty();
  check_scale_block(a.scale_block, types);
  operands.scale_block = a.scale_block;
  const octet_gemm_explanation e = explain(plain_data(shape, types, operands), forced, a.threads);
  if (a.json) {
    ordered_json json = {{"name", shape.name()}, {"types", types.name()}, {"threads", a.threads}};
    json.update(to_json(e));
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{} {}\n\n", shape.name(), types.name());
    print_text(e, a.threads);
  }
  return kSuccess;
}

int explain_conv(const ExplainArguments& a) {
  const ConvShape shape = parse_conv(a.shape);
  const OperandTypes types = parse_types(a.types);
  const octet_isa isa = a.isa.empty() ? cpu_info().best_isa : any_tier(a.isa);
  octet_filter_desc filter = filter_without_weights(shape, types);
  octet_machine machine = OCTET_MACHINE_INIT;
  machine.l2_bytes = a.l2_bytes;
  machine.l3_bytes = a.l3_bytes;
  machine.in_order = a.in_order;
  if (a.l2_bytes) filter.machine = &machine;
  filter.packed_bytes_max = a.packed_bytes_max;
  filter.sparsity = parse_sparsity(a.sparse);
  const std::vector<octet_conv2d_candidate> all = candidates(filter, isa);
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
    print_text(shape, isa, all);
  }
  return kSuccess;
}

}  // namespace tool
