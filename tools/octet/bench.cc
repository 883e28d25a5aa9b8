// SPDX-License-Identifier: Apache-2.0
// Runs octet bench: products and convolutions are verified, then timed beside the CPU's peak and,
// if wanted, a peer.
#include <fmt/format.h>

#include "bench/described/model_cases.h"
#include "bench/peers/peer.h"
#include "bench/problems/candidates.h"
#include "bench/problems/conv_shape.h"
#include "bench/run/conv_bench.h"
#include "bench/run/gemm_bench.h"
#include "bench/run/report.h"
#include "tools/octet/bench_options.h"
#include "tools/octet/commands.h"

namespace tool {
namespace {

std::vector<OperandTypes> types_of(const CaseGroup& group, const BenchArguments& a) {
  std::vector<std::string> names = a.types;
  const std::string requant = "--requant " + a.requant;
  const bool rounds = parse_requant(a.requant) != Requant::kFloat;
  const bool bytes = rounds || a.residual || a.table;
  if (names.empty() && !group.types.empty()) names = {group.types};
  if (names.empty() && group.convolutions.empty() && !bytes) names = {"u8s8s32", "u8s8u8"};
  if (names.empty()) names = {"u8s8u8"};
  std::vector<OperandTypes> types;
  for (const std::string& name : names) types.push_back(parse_types(name));
  const char* const bytes_only = rounds       ? requant.c_str()
                                 : a.residual ? "--residual"
                                 : a.table    ? "--table"
                                              : nullptr;
  const bool tflite_only = parse_requant(a.requant) == Requant::kTflite && !a.residual && !a.table;
  for (const OperandTypes& t : types)
    if (is_4bit(t.rhs) && !group.convolutions.empty())
      throw Error(
          fmt::format("{}: filters of 4 bits are packed in 8 bits; measure those", t.name()));
    else if (bytes_only && t.dst != OCTET_U8 && t.dst != OCTET_S8 &&
             (t.dst != OCTET_S16 || !tflite_only))
      throw Error(fmt::format("{} is for outputs of 8 bits, not for {}", bytes_only, t.name()));
  return types;
}

// "name count layer", a case a line.
template <typename Case>
void list(const std::vector<Case>& cases) {
  for (const Case& c : cases) fmt::print("{} {} {}\n", c.shape.name(), c.count, c.network);
}

// Where the plan's costs were fitted to no machine like this one, says what to send.
void ask_for_report(octet_isa isa) {
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  filter.shape = parse_conv("ic64oc64_ih14kh3ph1").geometry;
  filter.type = OCTET_S8;
  for (const octet_conv2d_candidate& c : candidates(filter, isa))
    if (c.origin && c.origin == std::string("predicted, costs not measured"))
      fmt::print(
          "\nNobody has measured this tier's costs on a CPU like this one, so its plans may be "
          "poor. octet report writes, in under five minutes, the file to send; octet tune "
          "--calibrate fits the costs here.\n");
}

size_t size(const CaseGroup& group) { return group.products.size() + group.convolutions.size(); }

}  // namespace

int bench(const BenchArguments& a) {
  BenchOptions options = to_options(a);
  const std::vector<CaseGroup> groups = parse_cases(a.cases, options.operands.likeness);
  if (a.list) {
    for (const CaseGroup& group : groups) list(group.products), list(group.convolutions);
    return kSuccess;
  }
  for (const CaseGroup& group : groups)
    if (!group.products.empty() && !a.algorithm.empty())
      throw Error("--algorithm is for convolutions");
    else if (!group.convolutions.empty() && options.operands.run_time)
      throw Error("--run-time is for products; filters of convolutions are packed");
  for (const std::string& name : a.types) parse_types(name);
  JsonFile file(a.json);
  ThreadPool pool(options.threads);
  pin_if_single(options);
  if (!a.sparse.empty() && !a.peer.empty())
    throw Error("--sparse compares with dense weights already: no --peer beside it");
  const std::unique_ptr<Peer> peer =  // shares that CPU
      a.sparse.empty() ? make_peer(a.peer, options.forced, &pool)
                       : make_peer_dense(options.forced, &pool);
  options.peer = peer.get();
  ordered_json json = {{"machine", machine_json(options)}, {"cases", ordered_json::array()}};

  print_machine(options);
  Totals all;
  std::vector<std::pair<std::string, Totals>> parts;
  for (const CaseGroup& group : groups) {
    const Table table = {!group.convolutions.empty(), options.peer != nullptr,
                         options.operands.sparse};
    const std::vector<OperandTypes> all_types = types_of(group, a);
    print_header(table);
    size_t index = 0;
    for (const OperandTypes& types : all_types) {
      Totals part;
      const auto report = [&](const BenchResult& result) {
        all.add(result);
        part.add(result);
        json["cases"].push_back(to_json(result));
        json["cases"].back()["suite"] = group.name;
        print_row(table, result, ++index, size(group) * all_types.size());
      };
      for (const GemmCase& gemm : group.products) report(bench_gemm(gemm, types, options, &pool));
      for (const ConvCase& conv : group.convolutions)
        report(bench_conv(conv, types, options, &pool));
      parts.emplace_back(fmt::format("{} {}", group.name, types.name()), part);
    }
    fmt::print("\n");
  }

  summarize(all, parts, &json);
  ask_for_report(options.forced.isa);
  file.write(json);
  return all.wrong ? kMismatch : kSuccess;
}

}  // namespace tool
