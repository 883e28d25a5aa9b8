// SPDX-License-Identifier: Apache-2.0
// Takes turns, samples and medians.
#include "bench/run/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "bench/machine/peak.h"
#include "bench/machine/read_bandwidth.h"

namespace tool {
namespace {

constexpr double kSecondsPerRepetition = 0.02;
constexpr size_t kCallsUntilCached = 4;
// Longer than Octet's threads spin before they sleep (thread_pool.cc)
constexpr std::chrono::milliseconds kWatchingTime(1);

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double percent_equal(const void* a, const void* b, size_t elements, octet_type type) {
  const size_t bytes = type_bytes(type);
  const char *x = (const char*)a, *y = (const char*)b;
  size_t equal = 0;
  for (size_t i = 0; i < elements; ++i)
    equal += std::memcmp(x + i * bytes, y + i * bytes, bytes) == 0;
  return 100.0 * (double)equal / (double)elements;
}

Stopwatch::Stopwatch(Contestant* contestant, const Clock& clock)
    : contestant_(contestant), clock_(clock) {
  contestant->run(1);
  double seconds;
  while ((seconds = contestant->time(calls_, clock)) < kSecondsPerRepetition / 4) calls_ *= 2;
  calls_ = (size_t)std::ceil((double)calls_ * kSecondsPerRepetition / seconds);
}

// Short calls first refill the caches after the turn of another contestant. A last-level cache that
// keeps what falls out of L2 (Intel's since Skylake-SP) holds 45 MB of weights whole from the fifth
// reading on: the first takes 2.6 times as long.
double Stopwatch::repetition() const {
  if (calls_ > 1) contestant_->run(std::min(calls_, kCallsUntilCached));
  return contestant_->time(calls_, clock_) / (double)calls_;
}

void measure(const Contest& contest, const BenchOptions& options, ThreadPool* pool,
             BenchResult* result) {
  const Clock clock(options.threads == 1);
  const PeakLoop* loop = peak_loop(result->kernel.c_str());
  const Stopwatch ours(contest.ours, clock);
  std::optional<Stopwatch> theirs;
  if (contest.peer) theirs.emplace(contest.peer, clock);
  std::vector<double> seconds, peaks, percents, reads, read_percents, peer_seconds, ratios;
  for (int i = 0; i < options.repetitions; ++i) {
    if (contest.streamed) reads.push_back(sample_read_bandwidth(*contest.streamed, pool, clock));
    if (loop) peaks.push_back(sample_peak(*loop, pool, clock));
    seconds.push_back(ours.repetition());
    if (loop) percents.push_back(result->ops / seconds.back() / 1e9 / peaks.back() * 100);
    if (contest.streamed)
      read_percents.push_back(contest.bytes / seconds.back() / 1e9 / reads.back() * 100);
    if (theirs) {
      if (options.threads > 1) std::this_thread::sleep_for(kWatchingTime);
      peer_seconds.push_back(theirs->repetition());
      ratios.push_back(peer_seconds.back() / seconds.back());
    }
  }

  const double time = median(seconds);
  result->microseconds = time * 1e6;
  result->gops = result->ops / time / 1e9;
  result->gbps = contest.bytes / time / 1e9;
  if (loop) {
    result->peak_gops = median(peaks);
    result->percent_of_peak = median(percents);
  }
  if (contest.streamed) {
    result->read_gbps = median(reads);
    result->percent_of_read_bandwidth = median(read_percents);
  }
  if (contest.peer)
    result->peer = {median(peer_seconds) * 1e6, median(ratios), contest.peer->blob_bytes(),
                    contest.peer_verdict};
  result->blob_bytes = contest.ours->blob_bytes();
}

}  // namespace tool
