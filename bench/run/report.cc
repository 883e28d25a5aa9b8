// SPDX-License-Identifier: Apache-2.0
// Formats the rows and totals of a bench.
#include "bench/run/report.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <fstream>

#include "bench/machine/machine.h"
#include "bench/peers/peer.h"

namespace tool {
namespace {

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f}", *value) : "-";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[sizeof "2026-01-31"];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

bool is_wrong(const PeerResult& peer) { return peer.verdict && !peer.verdict->right; }

}  // namespace

void print_header(const Table& table) {
  fmt::print("{:<9}{:<7} {:<{}}{:>5}", "", "types", "case", table.convolutions ? 42 : 16, "count");
  if (table.convolutions) fmt::print("  {:<17}", "algorithm");
  fmt::print("{:>12}{:>8}{:>7}", "us", "GOPS", "% peak");
  if (!table.convolutions) fmt::print("{:>8}{:>8}", "GB/s", "% read");
  if (table.peer) fmt::print("{:>12}{:>8}", "peer us", "ratio");
  if (table.sparse) fmt::print("{:>8}", "bytes");
  fmt::print("  {:<9}{:<27}network\n", "verified", "kernel");
}

void print_row(const Table& table, const BenchResult& r, size_t index, size_t total) {
  fmt::print("{:<9}{:<7} {:<{}}{:>5}", fmt::format("[{}/{}]", index, total), r.types.name(), r.name,
             table.convolutions ? 42 : 16, r.count);
  if (table.convolutions) fmt::print("  {:<17}", r.algorithm);
  if (!r.verified) {
    fmt::print("  WRONG with {}: {}\n", r.kernel, r.first_error);
    return;
  }
  fmt::print("{:>12.3f}{:>8.1f}{:>7}", r.microseconds, r.gops, number(r.percent_of_peak));
  if (!table.convolutions) fmt::print("{:>8.2f}{:>8}", r.gbps, number(r.percent_of_read_bandwidth));
  if (table.peer && r.peer) fmt::print("{:>12.3f}{:>8.3f}", r.peer->microseconds, r.peer->ratio);
  if (table.peer && !r.peer) fmt::print("{:>12}{:>8}", "-", "-");
  if (r.operands.sparse && r.peer)
    fmt::print("{:>8.3f}", (double)r.blob_bytes / (double)r.peer->blob_bytes);
  std::string verified = r.largest_difference ? fmt::format("+-{}", *r.largest_difference) : "yes";
  if (r.peer && is_wrong(*r.peer)) verified += ", but the peer is wrong ";
  fmt::print(r.network.empty() ? "  {:<9}{}\n" : "  {:<9}{:<27}{}\n", verified, r.kernel,
             r.network);
  std::fflush(stdout);
}

void Totals::add(const BenchResult& r) {
  ++cases;
  wrong += !r.verified;
  if (!r.verified) return;
  microseconds += r.microseconds * r.count;
  ops += r.ops * r.count;
  if (!r.peer) return;
  ++peer_cases;
  peer_wrong += is_wrong(*r.peer);
  compared_us += r.microseconds * r.count;
  peer_us += r.peer->microseconds * r.count;
  log_ratios += std::log(r.peer->ratio);
}

double Totals::mean_ratio() const { return std::exp(log_ratios / (double)peer_cases); }

void print_totals(const std::string& title, const Totals& t) {
  fmt::print("{:<25} {} cases, {} wrong; {:.3f} ms weighted by count, {:.1f} GOPS", title, t.cases,
             t.wrong, t.microseconds / 1e3, t.gops());
  if (t.peer_cases) {
    fmt::print("; peer {:.3f} ms, ratio {:.3f}, geometric mean {:.3f}", t.peer_us / 1e3, t.ratio(),
               t.mean_ratio());
    if (t.peer_cases < t.cases) fmt::print(" ({} of the cases)", t.peer_cases);
    if (t.peer_wrong) fmt::print("; the peer is wrong in {}", t.peer_wrong);
  }
  fmt::print("\n");
}

ordered_json to_json(const BenchResult& r) {
  ordered_json json = {{"name", r.name},
                       {"network", r.network},
                       {"count", r.count},
                       {"types", r.types.name()},
                       {"requant", requant_name(r.operands.requant)},
                       {"lhs_zero_point", r.operands.lhs_zero_point},
                       {"rhs_zero_point", or_null(r.operands.zero_point_of(r.types.rhs))},
                       {"operands", likeness_name(r.operands.likeness)},
                       {"sparse", r.operands.sparse},
                       {"run_time_weights", r.operands.run_time == OCTET_KN   ? "kn"
                                            : r.operands.run_time == OCTET_NK ? "nk"
                                                                              : ""},
                       {"residual", r.operands.residual},
                       {"table", r.operands.table},
                       {"kernel", r.kernel},
                       {"algorithm", r.algorithm},
                       {"verified", r.verified}};
  if (!r.verified) {
    json["first_error"] = r.first_error;
    return json;
  }
  if (r.largest_difference) json["largest_difference"] = *r.largest_difference;
  json["octet_us"] = r.microseconds;
  json["gops"] = r.gops;
  json["concurrent_peak_gops"] = or_null(r.peak_gops);
  json["percent_of_concurrent_peak"] = or_null(r.percent_of_peak);
  json["gbps"] = r.gbps;
  if (r.read_gbps) {
    json["read_gbps"] = *r.read_gbps;
    json["percent_of_read_bandwidth"] = *r.percent_of_read_bandwidth;
  }
  if (r.peer && r.operands.sparse) {
    json["dense_us"] = r.peer->microseconds;
    json["ratio_to_dense"] = r.peer->ratio;
    json["blob_bytes"] = r.blob_bytes;
    json["dense_blob_bytes"] = r.peer->blob_bytes;
  }
  if (r.peer) {
    json["peer_us"] = r.peer->microseconds;
    json["ratio"] = r.peer->ratio;
    const std::optional<PeerVerdict>& verdict = r.peer->verdict;
    json["peer_verified"] = verdict ? ordered_json(verdict->right) : nullptr;
    json["peer_percent_equal"] = verdict ? ordered_json(verdict->percent_equal) : nullptr;
  }
  return json;
}

ordered_json to_json(const Totals& t) {
  ordered_json json = {
      {"cases", t.cases}, {"wrong", t.wrong}, {"octet_us", t.microseconds}, {"gops", t.gops()}};
  if (t.peer_cases) {
    json["peer_cases"] = t.peer_cases;
    json["peer_wrong"] = t.peer_wrong;
    json["peer_us"] = t.peer_us;
    json["ratio"] = t.ratio();
    json["geometric_mean_ratio"] = t.mean_ratio();
  }
  return json;
}

ordered_json machine_json(const BenchOptions& options) {
  return {{"cpu", cpu_name()},
          {"date", today()},
          {"features", cpu_features()},
          {"cpus", cpu_count()},
          {"octet", octet_version()},
          {"best_isa", octet_isa_name(cpu_info().best_isa)},
          {"isa", octet_isa_name(options.forced.isa == OCTET_ISA_AUTO ? cpu_info().best_isa
                                                                      : options.forced.isa)},
          {"threads", options.threads},
          {"repetitions", options.repetitions},
          {"clock", Clock(options.threads == 1).name()},
          {"peer", options.peer ? ordered_json(options.peer->name()) : ordered_json()},
          {"peer_call_us", options.peer ? or_null(options.peer->call_us()) : ordered_json()}};
}

void print_machine(const BenchOptions& options) {
  fmt::print("{}; {} thread{}, median of {} repetitions, {} time{}\n", cpu_name(), options.threads,
             options.threads == 1 ? "" : "s", options.repetitions,
             Clock(options.threads == 1).name(),
             options.peer ? "; peer: " + options.peer->name() : "");
}

JsonFile::JsonFile(const std::string& path) : path_(path) {
  if (path.empty()) return;
  stream_ = std::make_shared<std::ofstream>(path);
  if (!*stream_) throw Error(fmt::format("cannot write '{}'", path));
}

void JsonFile::write(const ordered_json& json) {
  if (stream_ && !(*stream_ << json.dump(2) << '\n'))
    throw Error(fmt::format("cannot write '{}'", path_));
}

}  // namespace tool
