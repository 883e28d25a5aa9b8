// Who is fastest: candidates take turns, so that what slows the machine for a while slows all of
// them, and who is surely slower leaves early.
#pragma once

#include "dispatch/api/error.h"
#include "kernels/core/strict_float.h"

namespace octet {

struct TuneClock {
  double (*now)(void* context);  // seconds
  void* context;
};

constexpr size_t kRunnersMost = 128, kRoundsMost = 15;

// What takes part. run() computes candidate i so many times; it cannot fail once it has been tried.
struct Runners {
  size_t count;  // 1 .. kRunnersMost; the first one is the reference
  void* context;
  void (*run)(void* context, size_t candidate, size_t calls);
};

struct Standing {
  double seconds;   // per call, the median of its turns
  double relative;  // to the reference, the median over rounds; a lap's ratio if it has no round
  // That it is faster by more than the noise: by 1 % in the median, and faster at all in three of
  // four rounds.
  bool wins;
};

struct Race {
  size_t calls[kRunnersMost];   // per turn
  size_t rounds[kRunnersMost];  // that it ran
  double seconds[kRunnersMost][kRoundsMost];
  Standing standings[kRunnersMost];
  size_t best;  // the smallest `relative`
};

// Ends after `rounds` (3 .. kRoundsMost), at the deadline, or when only the reference is left.
void run_race(const Runners& runners, const TuneClock& clock, size_t rounds, double deadline,
              Race* race);

}  // namespace octet
