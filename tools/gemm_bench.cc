#include "gemm_bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "clock.h"
#include "gemm_check.h"
#include "peak.h"
#include "peer.h"
#include "read_bandwidth.h"

namespace tool {
namespace {

constexpr double kSecondsPerRepetition = 0.02;
constexpr std::chrono::milliseconds kSpinningTime(10);  // the peer's threads spin for a while before they sleep
constexpr size_t kFewRows = 16;                         // up to here the time to read the weights matters

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Runs a contestant often enough that the clock does not matter.
class Stopwatch {
 public:
  Stopwatch(Contestant* contestant, const Clock& clock) : contestant_(contestant), clock_(clock) {
    contestant->run(1);
    double seconds;
    while ((seconds = clock.time([&] { contestant->run(calls_); })) < kSecondsPerRepetition / 4) calls_ *= 2;
    calls_ = static_cast<size_t>(std::ceil(static_cast<double>(calls_) * kSecondsPerRepetition / seconds));
  }
  // Seconds per call. After somebody else's turn short calls first refill the caches.
  double repetition() const {
    if (calls_ > 1) contestant_->run(1);
    return clock_.time([&] { contestant_->run(calls_); }) / static_cast<double>(calls_);
  }

 private:
  Contestant* contestant_;
  const Clock& clock_;
  size_t calls_ = 1;
};

double bytes_touched(const GemmData& d) {
  return static_cast<double>(d.shape.m * d.shape.k + d.shape.k * d.shape.n + d.shape.m * d.shape.n * type_bytes(d.types.dst));
}

}  // namespace

BenchResult bench_gemm(const GemmCase& gemm, const GemmTypes& types, const BenchOptions& options, ThreadPool* pool) {
  const GemmData data = plain_data(gemm.shape, types);
  GemmPlan plan(data, options.forced, pool);
  plan.run(1);
  const Verdict verdict = check_product(data, plan.dst());
  BenchResult result = {gemm, types, plan.kernel(gemm.shape.m), verdict.right, verdict.first_error};
  if (!verdict.right) return result;

  const std::unique_ptr<Contestant> peer = options.with_peer ? make_peer_gemm(data, options.threads) : nullptr;
  bool peer_right = false;
  if (peer) {
    peer->run(1);
    peer_right = check_product(data, peer->dst(), 1).right;
  }

  const Clock clock(options.threads == 1);
  const PeakLoop* loop = peak_loop(plan.kernel(gemm.shape.m));
  const bool few_rows = gemm.shape.m <= kFewRows;
  const Stopwatch ours(&plan, clock);
  const std::unique_ptr<Stopwatch> theirs = peer ? std::make_unique<Stopwatch>(peer.get(), clock) : nullptr;
  std::vector<double> seconds, peaks, percents, reads, read_percents, peer_seconds, ratios;
  for (int i = 0; i < options.repetitions; ++i) {
    if (few_rows) reads.push_back(sample_read_bandwidth(plan.packed(), pool, clock));
    if (loop) peaks.push_back(sample_peak(*loop, pool, clock));
    seconds.push_back(ours.repetition());
    if (loop) percents.push_back(gemm.shape.ops() / seconds.back() / 1e9 / peaks.back() * 100);
    if (few_rows) read_percents.push_back(bytes_touched(data) / seconds.back() / 1e9 / reads.back() * 100);
    if (theirs) {
      peer_seconds.push_back(theirs->repetition());
      ratios.push_back(peer_seconds.back() / seconds.back());
      if (options.threads > 1) std::this_thread::sleep_for(kSpinningTime);
    }
  }

  const double time = median(seconds);
  result.microseconds = time * 1e6;
  result.gops = gemm.shape.ops() / time / 1e9;
  result.gbps = bytes_touched(data) / time / 1e9;
  if (loop) {
    result.peak_gops = median(peaks);
    result.percent_of_peak = median(percents);
  }
  if (few_rows) {
    result.read_gbps = median(reads);
    result.percent_of_read_bandwidth = median(read_percents);
  }
  if (peer) result.peer = {median(peer_seconds) * 1e6, median(ratios), peer_right};
  return result;
}

}  // namespace tool
