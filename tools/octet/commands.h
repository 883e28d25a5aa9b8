// SPDX-License-Identifier: Apache-2.0
// Declares the subcommands, for which main.cc parses the command line. Each returns the exit code
// and throws Error.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tool {

enum ExitCode { kSuccess = 0, kMismatch = 1, kFailure = 2 };

int info(bool json);

// Outputs that are as the contract has them, and others.
struct Verdicts {
  size_t right = 0, wrong = 0;
};
struct Verified {
  Verdicts products, convolutions;
  size_t left_out = 0;     // kernels that were not looked at, or all convolutions
  bool is_right() const {  // nothing at all would be wrong, too
    return !products.wrong && !convolutions.wrong && products.right + convolutions.right > 0;
  }
};
// Prints a row for each. kernel empty: every usable kernel, and every algorithm of convolution, as
// long as there is time; the first one always.
Verified verify_all(const std::string& kernel, const std::function<bool()>& is_time_left);
int verify(const std::string& kernel);

struct ReportArguments {
  std::string to = "octet-report";       // files of this name with .json and .md
  std::vector<std::string> from, peers;  // from: make the page of these reports, and run nothing
  double seconds = 240;
  size_t threads = 1;
};
int report(const ReportArguments& arguments);

struct ExplainArguments {
  std::string shape, isa;  // isa empty: the caller named none
  std::string types = "u8s8u8";
  size_t threads = 1;  // products only // Convolutions only; 0: this machine's
  size_t l2_bytes = 0, l3_bytes = 0, packed_bytes_max = 0;
  bool in_order = false;
  std::string sparse;  // "", "2:4", "auto"
  size_t scale_block = 0;
  bool json = false;
};
int explain_gemm(const ExplainArguments& arguments);
int explain_conv(const ExplainArguments& arguments);

struct BenchArguments {
  std::vector<std::string> cases, types;           // types empty: the cases' defaults
  std::string isa, kernel, algorithm, peer, json;  // empty: not given
  std::string operands = "uniform", requant = "float";
  std::string sparse;    // "", "2:4", "auto"
  std::string run_time;  // "", "kn", "nk"
  size_t scale_block = 0;
  int32_t lhs_zero_point = 0;
  std::optional<int32_t> rhs_zero_point;
  bool residual = false, table = false;
  std::optional<double> check_percent;  // bench plan's largest accepted loss
  bool list = false;                    // print only names and counts of the cases
  size_t threads = 1;
  int repetitions = 9;
};
int bench(const BenchArguments& arguments);
int bench_plan(const BenchArguments& arguments);
int bench_pack(const BenchArguments& arguments);

struct TuneArguments {
  BenchArguments bench;       // its cases, types, tier, threads and JSON
  std::string cache;          // a file; empty: OCTET_TUNING's, or none
  double seconds = 0;         // for all cases; 0: 2 for each, 4 to calibrate
  bool only_missing = false;  // skip cases that the file has
  bool calibrate = false;
  std::string profile;  // a file
};
int tune(const TuneArguments& arguments);
int calibrate(const TuneArguments& arguments);

struct RunArguments {
  BenchArguments bench;  // its cases are networks; its tier, threads, repetitions and JSON
  std::string goal = "time";
  size_t cache_bytes = 0, memory_bytes = 0;  // 0: octet_network_desc's default
  size_t batch = 1;
  std::string weights_max;    // bytes of all packed filters; empty: the library's default
  std::string input, output;  // files of bytes; empty: random, none
  std::string as;             // the engine whose bytes a described model has; empty: its format's
};
int run(const RunArguments& arguments);

struct TrafficArguments {
  std::string network, isa, algorithm, csv, svg, json;  // empty: not given
  std::string types = "u8s8u8";                         // if the network has none
  std::vector<size_t> cache_bytes = {512 * 1024};
  double bandwidth = 5e9, fps = 30;  // bytes and images per second
  size_t batch = 1;
  bool execute = false, chains = false;  // run instead of modelling; in chains
};
size_t parse_bytes(const std::string& text);      // "512K", a cache's
double parse_bandwidth(const std::string& text);  // "5GB/s"
int traffic(const TrafficArguments& arguments);

}  // namespace tool
