// SPDX-License-Identifier: Apache-2.0
// Searches the best choice by races of candidates.
#include "analysis/tune/search.h"

#include <stdlib.h>
#include <string.h>

#include "dispatch/api/struct_size.h"
#include "operators/gemm/trace.h"

namespace octet {
namespace {

constexpr double kSeconds = 2, kSecondsMost = 1e6;
// Shares of the time: up to the end of the first race, and up to the end of races near the best
// choice.
constexpr double kFirst = 0.45, kNear = 0.8;
constexpr size_t kRacesNear = 4;
// A clock that does not advance in so many readings (about a tenth of a second) is refused.
constexpr size_t kReadings = (size_t)1 << 22;
// The second best choice of a race within this factor is varied, too.
constexpr double kClose = 1.1;

double monotonic_seconds(void*) { return now_microseconds() * 1e-6; }

class Search {
 public:
  Search(const TuneProblem& problem, const octet_tune_options& options, octet_error* error)
      : problem_(problem),
        options_(options),
        clock_{options.clock, options.clock_context},
        error_(error) {}
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  ~Search() { free(candidates_); }

  octet_status run(octet_tune_result* result, TuningEntry* found);

 private:
  struct Candidates {
    Choices choices;
    void* objects[kChoicesMost];
    Race race;
  };

  double now() const { return clock_.now(clock_.context); }
  octet_status check_clock() const;
  octet_status race(size_t rounds, double share);
  octet_status create_all();
  void destroy_all();
  static void run_one(void* self, size_t i, size_t calls) {
    const Search& s = *(const Search*)self;
    s.problem_.run(s.problem_.context, s.candidates_->objects[i], calls);
  }
  // The second best of the last race, without the best one and the plan; 0 if there is none
  size_t second() const;

  const TuneProblem& problem_;
  const octet_tune_options& options_;
  const TuneClock clock_;
  octet_error* const error_;
  Candidates* candidates_ = nullptr;  // of the race that runs
  double start_ = 0;
  size_t measured_ = 1;  // 1 for the plan
};

octet_status Search::check_clock() const {
  const double first = now();
  for (size_t i = 0; i < kReadings; ++i)
    if (now() > first) return OCTET_OK;
  return fail(error_, OCTET_UNSUPPORTED,
              "options.clock stands still: it says %g, and nothing later in %zu readings", first,
              kReadings);
}

octet_status Search::create_all() {
  Choices& c = candidates_->choices;
  size_t kept = 0;
  octet_status status = OCTET_OK;
  for (size_t i = 0; i < c.count && !status; ++i) {
    c.list[kept] = c.list[i];
    status = problem_.create(problem_.context, c.list[kept], &candidates_->objects[kept], error_);
    if (status == OCTET_OK)
      ++kept;
    else if (i > 0 && status == OCTET_KERNEL_UNUSABLE)
      status = OCTET_OK;
  }
  c.count = kept;
  return status;
}

void Search::destroy_all() {
  for (size_t i = 0; i < candidates_->choices.count; ++i)
    problem_.destroy(problem_.context, candidates_->objects[i]);
}

octet_status Search::race(size_t rounds, double share) {
  const octet_status status = create_all();
  if (status == OCTET_OK) {
    run_race({candidates_->choices.count, this, run_one}, clock_, rounds,
             start_ + share * options_.seconds, &candidates_->race);
    for (size_t i = 0; options_.watcher && i < candidates_->choices.count; ++i) {
      char text[kChoiceBytes];
      to_text(candidates_->choices.list[i], text);
      options_.watcher(options_.watcher_context, text, candidates_->race.standings[i].relative);
    }
  }
  destroy_all();
  return status;
}

size_t Search::second() const {
  const Race& race = candidates_->race;
  size_t second = 0;
  double least = kClose * race.standings[race.best].relative;
  for (size_t i = 1; i < candidates_->choices.count; ++i)
    if (i != race.best && race.standings[i].relative < least)
      second = i, least = race.standings[i].relative;
  return second;
}

octet_status Search::run(octet_tune_result* result, TuningEntry* found) {
  OCTET_TRY(check_clock());
  candidates_ = (Candidates*)malloc(sizeof *candidates_);
  if (!candidates_) return fail(error_, OCTET_OUT_OF_MEMORY, "no memory for the race of choices");
  start_ = now();
  Choices& choices = candidates_->choices;
  const Race& race_of = candidates_->race;
  choices.count = 0;
  choices.add(problem_.plan);
  problem_.begin(problem_.context, &choices);
  OCTET_TRY(race(7, kFirst));
  measured_ = choices.count;
  Choice best = choices.list[race_of.best];
  for (size_t races = 0; races < kRacesNear; ++races) {
    const Choice before = best;
    const size_t next = second();
    const Choice other = choices.list[next];
    choices.count = 0;
    choices.add(problem_.plan);
    choices.add(best);
    const size_t known = choices.count;
    problem_.around(problem_.context, best, &choices);
    if (next) problem_.around(problem_.context, other, &choices);
    if (choices.count == known) break;
    OCTET_TRY(race(7, kNear));
    measured_ += choices.count - known;
    best = choices.list[race_of.best];
    if (best == before || now() - start_ >= kNear * options_.seconds) break;
  }
  choices.count = 0;
  choices.add(problem_.plan);
  choices.add(best);
  OCTET_TRY(race(kRoundsMost, 1));
  const Standing &plan = race_of.standings[0], &last = race_of.standings[choices.count - 1];
  if (last.relative >= 1) best = problem_.plan;
  const double better = last.relative < 1 ? last.relative : 1;
  result->plan_us = plan.seconds * 1e6;
  result->best_us = result->plan_us * better;
  result->chosen_us = last.wins ? result->best_us : result->plan_us;
  result->candidates = measured_;
  result->changed = last.wins;
  found->choice = last.wins ? best : problem_.plan;
  to_text(problem_.plan, result->plan);
  to_text(best, result->best);
  to_text(found->choice, result->choice);
  result->seconds = now() - start_;
  found->figures = {(uint64_t)(result->plan_us * 1e3), (uint64_t)(result->chosen_us * 1e3),
                    options_.concurrency};
  return OCTET_OK;
}

}  // namespace

void Choices::add(const Choice& choice) {
  if (count == kChoicesMost) return;
  for (size_t i = 0; i < count; ++i)
    if (list[i] == choice) return;
  list[count++] = choice;
}

octet_status read_options(const octet_tune_options* given, octet_tune_options* options,
                          octet_error* error) {
  *options = OCTET_TUNE_OPTIONS_INIT;
  if (given) {
    CallerStruct<octet_tune_options> known;
    OCTET_TRY(known.read(given, "options", error));
    *options = *known;
  }
  if (!(options->seconds >= 0 && options->seconds <= kSecondsMost))
    return fail(error, OCTET_BAD_SIZE, "options.seconds is %g; it must be 0 to 1e6",
                options->seconds);
  if (options->concurrency > 1 && !options->parallel_for)
    return fail(error, OCTET_NULL_POINTER,
                "options.parallel_for is null, and options.concurrency is %zu",
                options->concurrency);
  if (options->keep_known != 0 && options->keep_known != 1)
    return fail(error, OCTET_UNKNOWN_ENUM, "options.keep_known is %d, neither 0 nor 1",
                options->keep_known);
  if (options->reserved)
    return fail(error, OCTET_UNSUPPORTED,
                "options.reserved is not 0; this version has no use for it");
  if (options->seconds == 0) options->seconds = kSeconds;
  if (!options->concurrency) options->concurrency = 1;
  if (!options->clock) options->clock = monotonic_seconds;
  return OCTET_OK;
}

octet_status find_best(const TuneProblem& problem, const octet_tune_options& options,
                       octet_tune_result* result, TuningEntry* found, octet_error* error) {
  return Search(problem, options, error).run(result, found);
}

}  // namespace octet
