// SPDX-License-Identifier: Apache-2.0
// Runs octet report: a report of a machine, to be sent, in under five minutes. It verifies the
// library and times a fixed list of products and networks, beside the peers that are there.
#include <fmt/format.h>

#include <chrono>
#include <fstream>

#include "bench/cases/cases.h"
#include "bench/machine/machine.h"
#include "bench/peers/peer.h"
#include "bench/run/conv_bench.h"
#include "bench/run/gemm_bench.h"
#include "bench/run/report.h"
#include "tools/octet/bench_options.h"
#include "tools/octet/commands.h"
#include "tools/octet/report_page.h"

namespace tool {
namespace {

// Changing these makes reports of different versions hard to compare.
const std::vector<std::string> kProducts = {"64x64x64",     "512x512x512",  "1024x1024x1024",
                                            "1x4096x4096",  "16x4096x4096", "128x768x768",
                                            "196x256x1024", "3136x64x256"};
const std::vector<std::string> kNetworks = {"mobilenet_v2", "resnet50"};
constexpr int kRepetitions = 3;
constexpr double kVerifyingShare = 0.4;  // of the time

std::string compiler() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

class Budget {
 public:
  explicit Budget(double seconds) : seconds_(seconds) {}
  double used() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  bool spent(double share = 1) const { return used() >= share * seconds_; }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const double seconds_;
};

ordered_json head(const BenchOptions& options) {
  const octet_cpu_info& cpu = cpu_info();
  ordered_json machine = machine_json(options);
  for (const char* other : {"octet", "date", "peer", "peer_call_us"}) machine.erase(other);
  machine["cpu"] = cpu_name() + cpu_model();
  machine["design"] = octet_cpu_design_name(cpu.design);
  machine["memory_gib"] = memory_gib();
  machine["caches"] = {
      {"l1d_bytes", cpu.l1d_bytes}, {"l2_bytes", cpu.l2_bytes}, {"l3_bytes", cpu.l3_bytes}};
  machine["demoted"] = names_of(cpu.demoted_isas);
  return {{"report", 1},
          {"octet", octet_version()},
          {"commit", OCTET_COMMIT},
          {"compiler", compiler()},
          {"date", machine_json(options)["date"]},
          {"machine", machine}};
}

// Times a list beside the peer of the options, or alone, as long as the budget lasts.
ordered_json measure_all(const std::string& name, const std::vector<CaseGroup>& groups,
                         const BenchOptions& options, ThreadPool* pool, const Budget& budget,
                         Totals* all) {
  ordered_json json = {{"suite", name},
                       {"peer", options.peer ? ordered_json(options.peer->name()) : ordered_json()},
                       {"cases", ordered_json::array()},
                       {"left_out", ordered_json::array()}};
  const OperandTypes types = parse_types("u8s8u8");
  Totals totals;
  for (const CaseGroup& group : groups) {
    const Table table = {!group.convolutions.empty(), options.peer != nullptr, false};
    const size_t count = group.products.size() + group.convolutions.size();
    print_header(table);
    size_t index = 0;
    const auto take = [&](const auto& shape, const auto& bench) {
      ++index;
      if (budget.spent()) return json["left_out"].push_back(shape.name());
      const BenchResult result = bench();
      totals.add(result), all->add(result);
      json["cases"].push_back(to_json(result));
      print_row(table, result, index, count);
    };
    for (const GemmCase& c : group.products)
      take(c.shape, [&] { return bench_gemm(c, types, options, pool); });
    for (const ConvCase& c : group.convolutions)
      take(c.shape, [&] { return bench_conv(c, types, options, pool); });
  }
  if (totals.cases) print_totals(name, totals);
  json["summary"] = to_json(totals);
  return json;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(fmt::format("cannot read '{}'", path));
  return {std::istreambuf_iterator<char>(file), {}};
}

ordered_json read_report(const std::string& path) {
  const ordered_json json = ordered_json::parse(read_file(path), nullptr, false);
  if (!json.is_object() || json.value("report", 0) != 1)
    throw Error(fmt::format("'{}' is no report of this version's", path));
  return json;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text) || !file.flush()) throw Error(fmt::format("cannot write '{}'", path));
}

int pages_of(const ReportArguments& a) {
  std::vector<ordered_json> reports;
  for (const std::string& path : a.from) reports.push_back(read_report(path));
  try {
    write_file(a.to + ".md", report_page(reports));
  } catch (const ordered_json::exception& error) {
    throw Error(
        fmt::format("a report lacks something, or has it of another kind: {}", error.what()));
  }
  return kSuccess;
}

}  // namespace

int report(const ReportArguments& a) {
  if (!a.from.empty()) return pages_of(a);
  const Budget budget(a.seconds);
  BenchArguments bench;
  bench.threads = a.threads, bench.repetitions = kRepetitions;
  BenchOptions options = to_options(bench);
  JsonFile file(a.to + ".json");
  ThreadPool pool(options.threads);
  ordered_json json = head(options);
  pin_if_single(options);  // peers share that CPU
  std::vector<std::unique_ptr<Peer>> peers;
  if (std::unique_ptr<Peer> onednn = make_onednn(options.threads))
    peers.push_back(std::move(onednn));
  for (const std::string& wanted : a.peers)
    if (wanted != "onednn") peers.push_back(make_peer(wanted, options.forced, &pool));
  if (peers.empty()) peers.emplace_back();

  const auto step = [&](const std::string& what) {
    fmt::print("\n== {} ({:.0f} of {:.0f} s)\n", what, budget.used(), a.seconds);
    std::fflush(stdout);
  };
  step("verifying every kernel and algorithm");
  const Verified verified = verify_all("", [&] { return !budget.spent(kVerifyingShare); });
  json["verified"] = {
      {"products", {{"right", verified.products.right}, {"wrong", verified.products.wrong}}},
      {"convolutions",
       {{"right", verified.convolutions.right}, {"wrong", verified.convolutions.wrong}}},
      {"left_out", verified.left_out}};
  json["results"] = ordered_json::array();
  Totals all;
  const auto measure = [&](const std::string& name, const std::vector<std::string>& cases) {
    for (const std::unique_ptr<Peer>& peer : peers) {
      options.peer = peer.get();
      step(name + (peer ? " beside " + peer->name() : ""));
      json["results"].push_back(
          measure_all(name, parse_cases(cases), options, &pool, budget, &all));
    }
  };
  measure("products", kProducts);
  for (const std::string& network : kNetworks) measure(network, {network});
  json["seconds"] = budget.used();
  file.write(json);
  write_file(a.to + ".md", report_page({json}));
  fmt::print("\nWrote {0}.json and {0}.md in {1:.0f} s\n", a.to, budget.used());
  return verified.is_right() && !all.wrong ? kSuccess : kMismatch;
}

}  // namespace tool
