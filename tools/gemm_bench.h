// One GEMM case, verified and then timed.
#pragma once

#include <optional>
#include <string>

#include "gemm_plan.h"
#include "gemm_suite.h"

namespace tool {

struct BenchOptions {
  Forced forced;
  size_t threads = 1;
  int repetitions = 9;
  bool with_peer = false;
};

struct PeerResult {
  double microseconds;
  double ratio;  // peer's time / ours, the median over repetitions taken in alternation
  bool verified;
};

struct BenchResult {
  GemmCase gemm;
  GemmTypes types;
  std::string kernel;
  bool verified;
  std::string first_error;  // if not verified
  double microseconds = 0;
  double gops = 0;
  double gbps = 0;                             // lhs, weights and dst, each once
  std::optional<double> percent_of_peak = {};  // of the dot-product instruction, sampled beside each repetition
  std::optional<double> peak_gops = {};
  std::optional<double> read_gbps = {};  // of a read of the packed weights, for few rows
  std::optional<double> percent_of_read_bandwidth = {};
  std::optional<PeerResult> peer = {};
};

// A case that is not right is not timed.
BenchResult bench_gemm(const GemmCase& gemm, const GemmTypes& types, const BenchOptions& options, ThreadPool* pool);

}  // namespace tool
