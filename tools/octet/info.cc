// SPDX-License-Identifier: Apache-2.0
// Runs octet info: the machine, and the tiers and kernels that Octet uses on it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "bench/machine/machine.h"
#include "bench/problems/gemm_plan.h"
#include "tools/octet/commands.h"

namespace tool {
namespace {

using nlohmann::ordered_json;

constexpr size_t kFewRows = 1, kManyRows = 256;

struct Choice {
  std::string types, few_rows, many_rows;
};

std::vector<Choice> choices() {
  std::vector<Choice> all;
  for (const octet_type lhs : {OCTET_U8, OCTET_S8})
    for (const octet_type rhs : {OCTET_S8, OCTET_U8}) {
      const GemmPlan plan(plain_data({kManyRows, 64, 64}, {lhs, rhs, OCTET_S32}), {});
      all.push_back({fmt::format("{} x {}", octet_type_name(lhs), octet_type_name(rhs)),
                     plan.kernel(kFewRows), plan.kernel(kManyRows)});
    }
  return all;
}

std::string size_text(size_t bytes) {
  return bytes ? fmt::format("{} KiB", bytes / 1024) : "unknown or none";
}

const char* state(const octet_kernel_info& kernel) {
  return !kernel.usable      ? "not usable here"
         : kernel.tests_only ? "usable, for tests only"
                             : "usable";
}

void print_text(const octet_cpu_info& cpu) {
  fmt::print("octet     {}\n", octet_version());
  fmt::print("CPU       {}{}; {} CPUs for this process\n", cpu_name(), cpu_model(), cpu_count());
  fmt::print(
      "design    {}; the plan predicts with {}\n", octet_cpu_design_name(cpu.design),
      cpu.design == OCTET_DESIGN_UNKNOWN ? "each tier's usual costs" : "this design's costs");
  if (const double gib = memory_gib()) fmt::print("memory    {:.1f} GiB\n", gib);
  fmt::print("features  {}\n", fmt::join(cpu_features(), " "));
  fmt::print("caches    L1d {}, L2 {}, L3 {}\n", size_text(cpu.l1d_bytes), size_text(cpu.l2_bytes),
             size_text(cpu.l3_bytes));
  if (cpu.known_cores)
    fmt::print("cores     {}, of which {} execute in order\n", cpu.known_cores, cpu.in_order_cores);
  fmt::print("tiers     compiled in: {}\n", names_of(cpu.compiled_isas));
  fmt::print("          usable: {}; best: {}\n", names_of(cpu.detected_isas & ~cpu.demoted_isas),
             octet_isa_name(cpu.best_isa));
  fmt::print("          demoted by the self-test: {}\n\n", names_of(cpu.demoted_isas));
  fmt::print("{:<32}{:<12}{}\n", "kernel", "tier", "state");
  for (const octet_kernel_info& kernel : kernels())
    fmt::print("{:<32}{:<12}{}\n", kernel.name, octet_isa_name(kernel.isa), state(kernel));
  fmt::print("\n{:<12}{:<32}{}\n", "lhs x rhs", fmt::format("kernel for {} row", kFewRows),
             fmt::format("for {} rows", kManyRows));
  for (const Choice& choice : choices())
    fmt::print("{:<12}{:<32}{}\n", choice.types, choice.few_rows, choice.many_rows);
}

ordered_json names_json(uint32_t isas) {
  ordered_json names = ordered_json::array();
  for (const octet_isa isa : tiers_of(isas)) names.push_back(octet_isa_name(isa));
  return names;
}

void print_json(const octet_cpu_info& cpu) {
  ordered_json json = {{"octet", octet_version()},
                       {"cpu", cpu_name() + cpu_model()},
                       {"design", octet_cpu_design_name(cpu.design)},
                       {"features", cpu_features()},
                       {"cpus", cpu_count()}};
  json["caches"] = {
      {"l1d_bytes", cpu.l1d_bytes}, {"l2_bytes", cpu.l2_bytes}, {"l3_bytes", cpu.l3_bytes}};
  json["cores"] = {{"known", cpu.known_cores}, {"in_order", cpu.in_order_cores}};
  json["tiers"] = {{"compiled", names_json(cpu.compiled_isas)},
                   {"detected", names_json(cpu.detected_isas)},
                   {"demoted", names_json(cpu.demoted_isas)},
                   {"best", octet_isa_name(cpu.best_isa)}};
  for (const octet_kernel_info& kernel : kernels())
    json["kernels"].push_back({{"name", kernel.name},
                               {"tier", octet_isa_name(kernel.isa)},
                               {"usable", kernel.usable != 0},
                               {"tests_only", kernel.tests_only != 0}});
  for (const Choice& choice : choices())
    json["choices"].push_back(
        {{"types", choice.types}, {"few_rows", choice.few_rows}, {"many_rows", choice.many_rows}});
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

int info(bool json) {
  json ? print_json(cpu_info()) : print_text(cpu_info());
  return kSuccess;
}

}  // namespace tool
