// SPDX-License-Identifier: Apache-2.0
// Times candidates in turns and drops the slower ones early.
#include "analysis/tune/race.h"

#include "kernels/core/packed_layout.h"

namespace octet {
namespace {

// Length of a turn: long enough for the clock, and to refill caches after other candidates.
constexpr double kTurnSeconds = 0.003;
constexpr size_t kCallsMost = (size_t)1 << 20;
// A candidate that is this many times slower in its first turn is dropped.
constexpr double kHopeless = 2;

void sort(double* values, size_t count) {
  for (size_t i = 1; i < count; ++i)
    for (size_t j = i; j > 0 && values[j] < values[j - 1]; --j) {
      const double smaller_one = values[j];
      values[j] = values[j - 1];
      values[j - 1] = smaller_one;
    }
}

// The quantile of sorted values: share 0.5 is the median.
double quantile(const double* values, size_t count, double share) {
  const double at = share * (double)(count - 1);
  const size_t i = (size_t)at;
  return i + 1 < count ? values[i] + (at - (double)i) * (values[i + 1] - values[i]) : values[i];
}

class Track {
 public:
  Track(const Runners& runners, const TuneClock& clock, Race* race)
      : runners_(runners), clock_(clock), race_(*race) {}

  double now() const { return clock_.now(clock_.context); }

  // Seconds per call. Short calls first run once to refill the caches.
  double turn(size_t i) const {
    const size_t calls = race_.calls[i];
    if (calls > 1) runners_.run(runners_.context, i, 1);
    const double start = now();
    runners_.run(runners_.context, i, calls);
    const double seconds = (now() - start) / (double)calls;
    return seconds > 0 ? seconds : 1e-9;  // the clock is too coarse
  }

  // The first turn, which decides the calls per turn. False if the candidate is hopelessly slower
  // than the first one.
  bool warm_up(size_t i) {
    runners_.run(runners_.context, i, 1);  // fills page tables and caches
    double seconds = 0;
    for (race_.calls[i] = 1; race_.calls[i] < kCallsMost; race_.calls[i] *= 2) {
      seconds = turn(i);
      if (seconds * (double)race_.calls[i] >= kTurnSeconds / 4) break;
    }
    const double calls = kTurnSeconds / seconds;
    race_.calls[i] = calls > 1 ? smaller((size_t)calls, kCallsMost) : 1;
    race_.rounds[i] = 0;
    Standing& s = race_.standings[i];
    if (i == 0) lap_ = seconds;
    s = {seconds, seconds / lap_, false};
    return s.relative < kHopeless;
  }

  void round(size_t i) { race_.seconds[i][race_.rounds[i]++] = turn(i); }

  // Compares with the reference in the same rounds.
  void judge(size_t i) {
    const size_t rounds = smaller(race_.rounds[i], race_.rounds[0]);
    if (!rounds) return;
    double seconds[kRoundsMost], ratios[kRoundsMost];
    for (size_t r = 0; r < rounds; ++r) {
      seconds[r] = race_.seconds[i][r];
      ratios[r] = race_.seconds[i][r] / race_.seconds[0][r];
    }
    sort(seconds, rounds);
    sort(ratios, rounds);
    Standing& s = race_.standings[i];
    s.seconds = quantile(seconds, rounds, 0.5);
    s.relative = quantile(ratios, rounds, 0.5);
    s.wins = rounds >= 3 && s.relative <= 0.99 && quantile(ratios, rounds, 0.75) < 1;
    smallest_[i] = ratios[0];
  }

  // True if the candidate's best round is close enough to the best one's.
  bool has_hope(size_t i, size_t round) const {
    const double slack = round < 2 ? 1.3 : round < 3 ? 1.1 : round < 5 ? 1.04 : 1.02;
    return smallest_[i] <= slack * race_.standings[race_.best].relative;
  }

 private:
  const Runners& runners_;
  const TuneClock& clock_;
  Race& race_;
  double lap_ = 1;  // the reference's time
  double smallest_[kRunnersMost] = {};
};

}  // namespace

void run_race(const Runners& runners, const TuneClock& clock, size_t rounds, double deadline,
              Race* race) {
  Track track(runners, clock, race);
  bool runs[kRunnersMost] = {};
  size_t running = 0;
  for (size_t i = 0; i < runners.count; ++i) running += runs[i] = track.warm_up(i) || i == 0;
  race->best = 0;
  for (size_t round = 1; round <= rounds; ++round) {
    if (runners.count > 1 && running == 1) break;
    if (round > 1 && track.now() >= deadline) break;
    // Each round begins with another candidate, so that no candidate always runs after the same
    // one.
    for (size_t k = 0; k < runners.count; ++k) {
      const size_t i = (k + round) % runners.count;
      if (runs[i]) track.round(i);
    }
    race->best = 0;
    for (size_t i = 0; i < runners.count; ++i) {
      if (!runs[i]) continue;
      track.judge(i);
      if (race->standings[i].relative < race->standings[race->best].relative) race->best = i;
    }
    for (size_t i = 1; i < runners.count; ++i)
      if (runs[i] && !track.has_hope(i, round)) runs[i] = false, --running;
  }
}

}  // namespace octet
