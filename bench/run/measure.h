// SPDX-License-Identifier: Apache-2.0
// Times the contestants of a bench: each has a turn in every repetition, the CPU's peak is sampled
// beside it, medians count.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/machine/clock.h"
#include "bench/machine/contestant.h"
#include "bench/machine/thread_pool.h"
#include "bench/problems/forced.h"
#include "bench/problems/operands.h"

namespace tool {

class Peer;

struct BenchOptions {
  Forced forced;
  Operands operands = {};
  size_t threads = 1;
  int repetitions = 9;
  Peer* peer = nullptr;
};

double percent_equal(const void* a, const void* b, size_t elements, octet_type type);

struct PeerVerdict {
  bool right = false;        // or 8-bit outputs off by one, for another rounding
  double percent_equal = 0;  // of the elements, to Octet's
};

// Lets a comparable peer compute once and judges its outputs. right(outputs): whether they keep the
// contract, but for one.
template <typename Right>
std::optional<PeerVerdict> judge(Contestant* peer, const void* ours, size_t elements,
                                 octet_type type, const Right& right) {
  if (!peer) return {};
  peer->run(1);
  const void* const theirs = peer->dst();
  return PeerVerdict{right(theirs), percent_equal(ours, theirs, elements, type)};
}

struct PeerResult {
  double microseconds;
  double ratio;       // peer's time / ours, the median over repetitions taken in alternation
  size_t blob_bytes;  // of its packed weights; 0 = unknown
  std::optional<PeerVerdict> verdict;  // none if the peer is not comparable
};

// The result of a bench for one case, a product or a convolution.
struct BenchResult {
  std::string name, network;
  int count;  // how often the network has it
  // The definition's multiplications and additions, also of algorithms with fewer
  double ops;
  OperandTypes types;
  Operands operands;
  std::string algorithm, kernel;
  bool verified;
  std::string first_error;                        // if not verified
  std::optional<double> largest_difference = {};  // from the contract: approximate algorithms only
  double microseconds = 0;
  double gops = 0;
  size_t blob_bytes = 0;
  double gbps = 0;  // lhs, weights and dst, each once
  // The peak is the dot-product instruction's, sampled beside each repetition
  std::optional<double> percent_of_peak = {};
  std::optional<double> peak_gops = {};
  std::optional<double> read_gbps = {};  // speed of reading the packed weights, for few rows
  std::optional<double> percent_of_read_bandwidth = {};
  std::optional<PeerResult> peer = {};
};

double median(std::vector<double> values);

// Runs a contestant so often that the clock's cost and resolution do not matter.
class Stopwatch {
 public:
  Stopwatch(Contestant* contestant, const Clock& clock);
  double repetition() const;  // seconds per call

 private:
  Contestant* contestant_;
  const Clock& clock_;
  size_t calls_ = 1;
};

struct Contest {
  Contestant* ours;
  Contestant* peer;  // null = none
  std::optional<PeerVerdict> peer_verdict;
  double bytes;            // read or written by a call
  const Buffer* streamed;  // the weights that a call reads once, if their reading matters; else
                           // null
};

// Fills in the figures of a verified result.
void measure(const Contest& contest, const BenchOptions& options, ThreadPool* pool,
             BenchResult* result);

}  // namespace tool
