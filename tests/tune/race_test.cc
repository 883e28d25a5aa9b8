// SPDX-License-Identifier: Apache-2.0
// Checks which candidate wins a measurement, by a clock that only the candidates move.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "analysis/tune/race.h"

namespace octet_test {
namespace {

using octet::Race;

// Candidates whose calls take chosen times, which may depend on the number of the call.
struct Course {
  std::vector<std::function<double(size_t)>> seconds;  // by the number of the call
  std::vector<size_t> called = {};
  double now = 100;

  static double read(void* self) { return ((Course*)self)->now; }
  static void run(void* self, size_t i, size_t calls) {
    Course& c = *(Course*)self;
    for (; calls > 0; --calls) c.now += c.seconds[i](c.called[i]++);
  }
  std::unique_ptr<Race> race(size_t rounds = 15, double deadline = 1e9) {
    called.assign(seconds.size(), 0);
    auto race = std::make_unique<Race>();
    octet::run_race({seconds.size(), this, run}, {read, this}, rounds, deadline, race.get());
    return race;
  }
};

std::function<double(size_t)> steady(double seconds) {
  return [=](size_t) { return seconds; };
}
// The seconds, and up to `share` of them more, varying.
std::function<double(size_t)> noisy(double seconds, double share) {
  return [=](size_t call) { return seconds * (1 + share * (double)(call * 7919 % 101) / 101); };
}

TEST(Race, TheFastestWins) {
  Course course = {{steady(0.004), steady(0.005), steady(0.003), steady(0.0031)}};
  const auto race = course.race();
  EXPECT_EQ(race->best, 2u);
  EXPECT_TRUE(race->standings[2].wins);
  EXPECT_NEAR(race->standings[2].seconds, 0.003, 1e-9);
  EXPECT_NEAR(race->standings[2].relative, 0.75, 1e-9);
  EXPECT_NEAR(race->standings[1].relative, 1.25, 1e-9);
  EXPECT_FALSE(race->standings[1].wins);
  EXPECT_FALSE(race->standings[0].wins) << "the reference is what is beaten";
}

TEST(Race, LosersLeaveEarly) {
  Course course = {{steady(0.004), steady(0.2), steady(0.006), steady(0.00401)}};
  const auto race = course.race();
  EXPECT_EQ(race->rounds[0], 15u);
  EXPECT_EQ(race->rounds[1], 0u) << "hopeless";
  EXPECT_EQ(course.called[1], 2u) << "once for the caches, once by the clock";
  EXPECT_EQ(race->rounds[2], 1u);
  EXPECT_EQ(race->rounds[3], 15u);
  EXPECT_EQ(race->best, 0u);
}

TEST(Race, EndsWhenOnlyTheReferenceIsLeft) {
  Course course = {{steady(0.004), steady(0.006)}};
  EXPECT_EQ(course.race()->rounds[0], 1u);
  Course alone = {{steady(0.004)}};
  const auto race = alone.race();
  EXPECT_EQ(race->rounds[0], 15u) << "its time is wanted all the same";
  EXPECT_EQ(race->best, 0u);
  EXPECT_EQ(race->standings[0].relative, 1);
}

TEST(Race, WhatIsWithinTheNoiseDoesNotWin) {
  Course even = {{noisy(0.004, 0.2), noisy(0.004, 0.2)}};
  EXPECT_FALSE(even.race()->standings[1].wins);
  Course hardly = {{steady(0.004), steady(0.00397)}};
  EXPECT_FALSE(hardly.race()->standings[1].wins) << "less than a percent";
  Course just = {{steady(0.004), steady(0.00395)}};
  EXPECT_TRUE(just.race()->standings[1].wins);
  Course by_luck = {{steady(0.004), [](size_t call) { return call % 3 ? 0.0041 : 0.0035; }}};
  EXPECT_FALSE(by_luck.race()->standings[1].wins) << "faster now and then";
  Course through_noise = {{noisy(0.004, 0.1), noisy(0.003, 0.1)}};
  EXPECT_TRUE(through_noise.race()->standings[1].wins);
}

// A machine that slows down for a while slows both.
TEST(Race, WhatSlowsAllChangesNothing) {
  Course course;
  // Twice as slow in every other second.
  for (const double seconds : {0.004, 0.0038})
    course.seconds.push_back(
        [&course, seconds](size_t) { return seconds * ((size_t)course.now % 2 ? 2 : 1); });
  const auto race = course.race();
  EXPECT_TRUE(race->standings[1].wins);
  EXPECT_NEAR(race->standings[1].relative, 0.95, 1e-9);
}

TEST(Race, ShortCallsAreRepeatedAndLongOnesAreNot) {
  Course course = {{steady(1e-6), steady(1)}};
  const auto race = course.race(3);
  EXPECT_NEAR((double)race->calls[0], 3000, 30);
  EXPECT_EQ(race->calls[1], 1u);
}

TEST(Race, StopsAtTheDeadline) {
  Course course = {{steady(1), steady(1)}};
  const auto race = course.race(15, 100 + 9);
  EXPECT_GE(race->rounds[0], 1u);
  EXPECT_LE(race->rounds[0], 4u);
  EXPECT_EQ(race->rounds[1], race->rounds[0]);
  Course late = {{steady(1), steady(1)}};
  EXPECT_EQ(late.race(15, 0)->rounds[1], 1u) << "everybody has a turn";
}

TEST(Race, TheFirstToRunIsAnotherOneInEachRound) {
  Course course;
  std::vector<size_t> order;
  for (size_t i = 0; i < 3; ++i)
    course.seconds.push_back([&order, i](size_t) {
      order.push_back(i);
      return 1.0;
    });
  course.race(3);
  const std::vector<size_t> rounds(order.end() - 9, order.end());
  EXPECT_EQ(rounds, (std::vector<size_t>{1, 2, 0, 2, 0, 1, 0, 1, 2}));
}

// A clock too coarse to show a difference.
TEST(Race, SurvivesCallsThatTakeNoTime) {
  size_t calls = 0;
  Course course;
  for (size_t i = 0; i < 2; ++i)
    course.seconds.push_back([&](size_t) { return ++calls % 1000 == 0 ? 0.001 : 0.0; });
  const auto race = course.race(3);
  EXPECT_GT(race->standings[0].seconds, 0);
}

}  // namespace
}  // namespace octet_test
