// octet bench: GEMM shapes verified, then timed beside the CPU's peak and, if wanted, a peer.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "clock.h"
#include "commands.h"
#include "gemm_bench.h"
#include "machine.h"
#include "peer.h"

namespace tool {
namespace {

using nlohmann::ordered_json;

BenchOptions to_options(const BenchArguments& a) {
  BenchOptions options;
  if (!a.isa.empty()) options.forced.isa = usable_isa(a.isa);
  if (!a.kernel.empty()) options.forced.kernel = usable_kernel(a.kernel).name;
  options.threads = a.threads;
  options.repetitions = a.repetitions;
  options.with_peer = !a.peer.empty();
  if (options.with_peer && peer_name().empty()) throw Error("this octet was built without oneDNN: install libdnnl-dev and build again");
  return options;
}

std::vector<GemmCase> to_cases(const std::vector<std::string>& names) {
  std::vector<GemmCase> cases;
  for (const std::string& name : names) {
    if (name == "gemm")
      cases.insert(cases.end(), gemm_suite().begin(), gemm_suite().end());
    else
      cases.push_back({parse_shape(name), "", 1});
  }
  return cases;
}

// ---- the table --------------------------------------------------------------------------------------------------------------------

void print_header(const BenchOptions& options) {
  fmt::print("{:<9}{:<8}{:<16}{:>5}{:>12}{:>8}{:>7}{:>8}{:>8}", "", "types", "case", "count", "us", "GOPS", "% peak", "GB/s", "% read");
  if (options.with_peer) fmt::print("{:>12}{:>7}", "peer us", "ratio");
  fmt::print("  {:<24}network\n", "kernel");
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.1f}", *value) : "-"; }

void print_row(const BenchResult& r, const BenchOptions& options, size_t index, size_t total) {
  fmt::print("{:<9}{:<8}{:<16}{:>5}", fmt::format("[{}/{}]", index, total), r.types.name(), r.gemm.shape.name(), r.gemm.count);
  if (!r.verified) {
    fmt::print("  WRONG with {}: {}\n", r.kernel, r.first_error);
    return;
  }
  fmt::print("{:>12.3f}{:>8.1f}{:>7}{:>8.2f}{:>8}", r.microseconds, r.gops, number(r.percent_of_peak), r.gbps,
             number(r.percent_of_read_bandwidth));
  if (options.with_peer) {
    if (r.peer)
      fmt::print("{:>12.3f}{:>7.3f}{}", r.peer->microseconds, r.peer->ratio, r.peer->verified ? "" : " peer is wrong");
    else
      fmt::print("{:>12}{:>7}", "-", "-");
  }
  fmt::print(*r.gemm.network ? "  {:<24}{}\n" : "  {}\n", r.kernel, r.gemm.network);
  std::fflush(stdout);
}

// ---- the summary ------------------------------------------------------------------------------------------------------------------

struct Totals {
  size_t cases = 0, wrong = 0, peer_cases = 0;
  double microseconds = 0, ops = 0;  // weighted by count
  double compared_us = 0, peer_us = 0, log_ratios = 0;

  void add(const BenchResult& r) {
    ++cases;
    wrong += !r.verified;
    if (!r.verified) return;
    microseconds += r.microseconds * r.gemm.count;
    ops += r.gemm.shape.ops() * r.gemm.count;
    if (!r.peer) return;
    ++peer_cases;
    compared_us += r.microseconds * r.gemm.count;
    peer_us += r.peer->microseconds * r.gemm.count;
    log_ratios += std::log(r.peer->ratio);
  }
  double gops() const { return microseconds > 0 ? ops / microseconds / 1e3 : 0; }
  double mean_ratio() const { return std::exp(log_ratios / static_cast<double>(peer_cases)); }
};

void print_totals(const std::string& title, const Totals& t) {
  fmt::print("{:<9}{} cases, {} wrong; {:.3f} ms weighted by count, {:.1f} GOPS", title, t.cases, t.wrong, t.microseconds / 1e3, t.gops());
  if (t.peer_cases)
    fmt::print("; peer {:.3f} ms, ratio {:.3f}, geometric mean {:.3f}", t.peer_us / 1e3, t.peer_us / t.compared_us, t.mean_ratio());
  fmt::print("\n");
}

// ---- JSON -------------------------------------------------------------------------------------------------------------------------

ordered_json or_null(const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(); }

ordered_json to_json(const BenchResult& r) {
  ordered_json json = {{"name", r.gemm.shape.name()}, {"network", r.gemm.network}, {"count", r.gemm.count}, {"types", r.types.name()},
                       {"kernel", r.kernel},          {"algorithm", "gemm"},       {"verified", r.verified}};
  if (!r.verified) {
    json["first_error"] = r.first_error;
    return json;
  }
  json["octet_us"] = r.microseconds;
  json["gops"] = r.gops;
  json["concurrent_peak_gops"] = or_null(r.peak_gops);
  json["percent_of_concurrent_peak"] = or_null(r.percent_of_peak);
  json["gbps"] = r.gbps;
  if (r.read_gbps) {
    json["read_gbps"] = *r.read_gbps;
    json["percent_of_read_bandwidth"] = *r.percent_of_read_bandwidth;
  }
  if (r.peer) {
    json["peer_us"] = r.peer->microseconds;
    json["ratio"] = r.peer->ratio;
    json["peer_verified"] = r.peer->verified;
  }
  return json;
}

ordered_json to_json(const Totals& t) {
  ordered_json json = {{"cases", t.cases}, {"wrong", t.wrong}, {"octet_us", t.microseconds}, {"gops", t.gops()}};
  if (t.peer_cases) {
    json["peer_us"] = t.peer_us;
    json["ratio"] = t.peer_us / t.compared_us;
    json["geometric_mean_ratio"] = t.mean_ratio();
  }
  return json;
}

ordered_json machine_json(const BenchOptions& options) {
  return {{"cpu", cpu_name()},
          {"features", cpu_features()},
          {"cpus", cpu_count()},
          {"octet", octet_version()},
          {"best_isa", octet_isa_name(cpu_info().best_isa)},
          {"threads", options.threads},
          {"repetitions", options.repetitions},
          {"clock", Clock(options.threads == 1).name()},
          {"peer", options.with_peer ? ordered_json(peer_name()) : ordered_json()}};
}

// Opened before the benches run, so that a bad path does not cost their time.
std::ofstream open_file(const std::string& path) {
  std::ofstream file(path);
  if (!file) throw Error(fmt::format("cannot write '{}'", path));
  return file;
}

}  // namespace

int bench(const BenchArguments& a) {
  const BenchOptions options = to_options(a);
  const std::vector<GemmCase> cases = to_cases(a.cases);
  std::vector<GemmTypes> types;
  for (const std::string& name : a.types) types.push_back(parse_types(name));
  std::ofstream file;
  if (!a.json.empty()) file = open_file(a.json);
  ordered_json json = {{"machine", machine_json(options)}, {"cases", ordered_json::array()}};
  if (options.threads == 1) pin_to_current_cpu();
  ThreadPool pool(options.threads);

  fmt::print("{}; {} thread{}, median of {} repetitions, {} time{}\n", cpu_name(), options.threads, options.threads == 1 ? "" : "s",
             options.repetitions, Clock(options.threads == 1).name(), options.with_peer ? "; peer: " + peer_name() : "");
  print_header(options);
  Totals all;
  std::vector<Totals> by_types(types.size());
  for (size_t t = 0; t < types.size(); ++t)
    for (const GemmCase& gemm : cases) {
      const BenchResult result = bench_gemm(gemm, types[t], options, &pool);
      all.add(result);
      by_types[t].add(result);
      json["cases"].push_back(to_json(result));
      print_row(result, options, all.cases, types.size() * cases.size());
    }

  fmt::print("\n");
  json["summary"] = to_json(all);
  for (size_t t = 0; t < types.size(); ++t) {
    print_totals(types[t].name(), by_types[t]);
    json["summary"]["types"][types[t].name()] = to_json(by_types[t]);
  }
  if (types.size() > 1) print_totals("all", all);
  if (!a.json.empty() && !(file << json.dump(2) << '\n')) throw Error(fmt::format("cannot write '{}'", a.json));
  return all.wrong ? kMismatch : kSuccess;
}

}  // namespace tool
