// SPDX-License-Identifier: Apache-2.0
// Measures seconds. A single-threaded bench reads the thread's own clock, which stands still while
// the thread is preempted: on a shared machine wall time would measure the neighbours. Several
// threads are timed by wall time, and so is everything on Windows, whose clock of a thread ticks
// every 16 ms.
#pragma once

#include <time.h>

namespace tool {

class Clock {
 public:
  explicit Clock(bool single_thread) : id_(single_thread ? kThread : CLOCK_MONOTONIC) {}
  double now() const {
    timespec t;
    clock_gettime(id_, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
  }
  template <typename Function>
  double time(Function&& function) const {
    const double start = now();
    function();
    return now() - start;
  }
  const char* name() const { return id_ == CLOCK_MONOTONIC ? "wall" : "thread cpu"; }

 private:
#if defined(_WIN32)
  static constexpr clockid_t kThread = CLOCK_MONOTONIC;
#else
  static constexpr clockid_t kThread = CLOCK_THREAD_CPUTIME_ID;
#endif
  clockid_t id_;
};

}  // namespace tool
