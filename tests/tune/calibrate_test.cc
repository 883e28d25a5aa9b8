// SPDX-License-Identifier: Apache-2.0
// Checks a machine's own costs: fitted to measurements, kept in a tuning, and used by plans.
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analysis/tune/fit_costs.h"
#include "dispatch/tables/tiers.h"
#include "dispatch/tuning/costs.h"
#include "dispatch/tuning/tuning.h"
#include "octet/tune.h"
#include "operators/conv/algorithms/table.h"
#include "operators/conv/machine.h"
#include "operators/conv/plan.h"
#include "support/refused.h"
#include "support/system.h"
#include "support/temporary_file.h"
#include "support/tiers.h"
#include "tune/predicted.h"

namespace octet_test {
namespace {

using octet::CostsOrigin;
using octet::TierCosts;
using octet::TierId;
using octet_test::predicted;

const octet::Tier& tier_here() {
  return octet::tier_of(octet::best_of(octet::conv_machine().cpu.tiers));
}

std::string text_of(const TierCosts& costs, CostsOrigin origin) {
  char text[octet::kCostsBytes];
  octet::to_text(costs, origin, text);
  return text;
}

struct DestroyTuning {
  void operator()(octet_tuning* tuning) const { octet_tuning_destroy(tuning); }
};
using TuningPointer = std::unique_ptr<octet_tuning, DestroyTuning>;
TuningPointer new_tuning() {
  octet_tuning* tuning = nullptr;
  EXPECT_EQ(octet_tuning_create(&tuning, nullptr), OCTET_OK);
  return TuningPointer(tuning);
}

// The chosen candidate of a 3x3 with a tuning.
struct Explained {
  octet_conv_algorithm algorithm;
  std::string origin;
  double microseconds;
};
Explained explain(const octet_tuning* tuning, octet_isa isa = OCTET_ISA_AUTO) {
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  octet_conv2d_shape& s = filter.shape;
  s.in_h_max = s.in_w_max = 28;
  s.in_channels = s.out_channels = 64;
  s.kernel_h = s.kernel_w = 3;
  s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
  filter.type = OCTET_S8;
  octet_machine machine = OCTET_MACHINE_INIT;
  machine.tuning = tuning;
  if (tuning) filter.machine = &machine;
  octet_conv2d_candidate c = OCTET_CONV2D_CANDIDATE_INIT;
  octet_error error = {};
  for (size_t i = 0; octet_conv2d_explain(&filter, isa, i, &c, &error) == OCTET_OK; ++i)
    if (c.chosen) return {c.algorithm, c.origin ? c.origin : "", c.microseconds};
  ADD_FAILURE() << error.message;
  return {};
}

// ---- as text

TEST(Costs, OfEachTierAreReadAsTheyAreWritten) {
  for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i)
    for (const CostsOrigin origin : {CostsOrigin::kCalibrated, CostsOrigin::kAssumed}) {
      const std::string text = text_of(tier->costs, origin);
      EXPECT_LT(text.size() + 1, octet::kCostsBytes);
      TierCosts read = tier->costs;
      for (size_t k = 0; const octet::CostName* name = octet::cost_name(k); ++k)
        if (read.*name->cost > 0) read.*name->cost *= 3;
      CostsOrigin its = CostsOrigin::kBuiltIn;
      octet_error error = {};
      ASSERT_EQ(octet::read_costs(text.c_str(), &read, &its, &error), OCTET_OK) << error.message;
      EXPECT_EQ(its, origin);
      for (size_t k = 0; const octet::CostName* name = octet::cost_name(k); ++k)
        EXPECT_NEAR(read.*name->cost, tier->costs.*name->cost, 0.0005) << name->name;
    }
}

TEST(Costs, LeaveRoomForTheLargest) {
  TierCosts costs = tier_here().costs;
  for (size_t k = 0; const octet::CostName* name = octet::cost_name(k); ++k)
    costs.*name->cost = 1e6;
  const std::string text = text_of(costs, CostsOrigin::kCalibrated);
  EXPECT_NE(text.find(" memory_bytes=1000000.000"), std::string::npos) << text;
}

TEST(Costs, ThatAreNoneAreNamed) {
  const TierCosts tier = tier_here().costs;
  const struct {
    const char *text, *message;
    octet_status status;
  } kCases[] = {{"", "not ''", OCTET_UNKNOWN_ENUM},
                {"measured macs=3", "'calibrated' or 'assumed'", OCTET_UNKNOWN_ENUM},
                {"calibratedmacs=3", "'calibrated' or 'assumed'", OCTET_UNKNOWN_ENUM},
                {"assumed mac=3", "'mac' is not the name", OCTET_UNKNOWN_ENUM},
                {"assumed mr=3", "'mr' is not the name", OCTET_UNKNOWN_ENUM},
                {"assumed macs", "macs is ''", OCTET_BAD_SIZE},
                {"assumed macs=", "macs is '='", OCTET_BAD_SIZE},
                {"assumed macs=0", "0.001 to 1000000", OCTET_BAD_SIZE},
                {"assumed macs=-3", "0.001 to 1000000", OCTET_BAD_SIZE},
                {"assumed macs=1e3", "0.001 to 1000000", OCTET_BAD_SIZE},
                {"assumed macs=nan", "0.001 to 1000000", OCTET_BAD_SIZE},
                {"assumed macs=3.4.5", "0.001 to 1000000", OCTET_BAD_SIZE},
                {"assumed macs=1000001", "0.001 to 1000000", OCTET_BAD_SIZE},
                {"assumed macs=0000000000003", "0.001 to 1000000", OCTET_BAD_SIZE},
                {"assumed tile=3 macs=x", "macs is '=x'", OCTET_BAD_SIZE}};
  for (const auto& c : kCases) {
    TierCosts costs = tier;
    CostsOrigin origin = CostsOrigin::kBuiltIn;
    expect_refused(c.status, c.message,
                   [&](octet_error* e) { return octet::read_costs(c.text, &costs, &origin, e); });
    EXPECT_EQ(costs.tile, tier.tile);
    EXPECT_EQ(origin, CostsOrigin::kBuiltIn);
  }
  TierCosts none = tier;
  none.gather = 0;
  expect_refused(OCTET_UNSUPPORTED, "no use for gather",
                 [&](octet_error* e) { return octet::read_cost_values("gather=3", &none, e); });
}

// ---- fitted

std::vector<octet::CostSample> samples_of(const octet::CostModel& model, const TierCosts& costs) {
  std::vector<octet::CostSample> samples;
  for (const size_t size : {1, 7, 14, 28, 56})
    for (const size_t channels : {8, 32, 128, 512})
      for (const size_t kernel : {1, 3})
        for (const size_t groups : {size_t{1}, channels / 8, channels}) {
          const size_t pad = kernel / 2;
          octet::ConvShape s = {1, size, size, channels, channels, groups, kernel, kernel, 1, 1,
                                1, 1,    pad,  pad,      pad,      pad,    false,  0,      0};
          for (uint8_t i = 1; i < octet::kAlgorithms; ++i) {
            const octet::ConvAlgorithm* const implementation = octet::algorithm_of(i);
            if (!implementation || implementation->approximate || implementation->refuse(s, {0, 0}))
              continue;
            samples.push_back({implementation, s, 0});
            samples.back().microseconds = model.predict(costs, samples.back());
          }
        }
  return samples;
}

// The fit recovers costs that are off by up to a factor of three from a machine's times.
TEST(Fit, FindsWhatAMachineCosts) {
  std::mt19937 random(3);
  for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i) {
    const octet::CostModel model = {tier->tier_id, {~0u, {32 << 10, 1 << 20, size_t{16} << 20}}};
    TierCosts truth = tier->costs;
    for (size_t k = 0; const octet::CostName* name = octet::cost_name(k); ++k) {
      const double factor = 1 + 2 * (double)(random() % 1000) / 1000;
      truth.*name->cost *= random() % 2 ? factor : 1 / factor;
    }
    const std::vector<octet::CostSample> samples = samples_of(model, truth);
    TierCosts costs = tier->costs;
    const double before = octet::misfit(model, samples.data(), samples.size(), costs);
    octet::fit_costs(model, samples.data(), samples.size(), &costs);
    const double after = octet::misfit(model, samples.data(), samples.size(), costs);
    EXPECT_LT(after, 0.01) << tier->name << ", before " << before;
    EXPECT_LT(after, before / 4) << tier->name;
  }
}

TEST(Fit, LeavesWhatIsRight) {
  const octet::CostModel model = {tier_here().tier_id,
                                  {~0u, {32 << 10, 1 << 20, size_t{16} << 20}}};
  const std::vector<octet::CostSample> samples = samples_of(model, tier_here().costs);
  TierCosts costs = tier_here().costs;
  octet::fit_costs(model, samples.data(), samples.size(), &costs);
  for (size_t k = 0; const octet::CostName* name = octet::cost_name(k); ++k)
    EXPECT_EQ(costs.*name->cost, tier_here().costs.*name->cost) << name->name;
  octet::fit_costs(model, nullptr, 0, &costs);
  EXPECT_EQ(costs.macs, tier_here().costs.macs);
}

// ---- measured, and kept

// A clock that advances with each call.
double ticks(void* now) { return *(double*)now += 0.0007; }

TEST(Calibrate, PlansReckonWithWhatIsKept) {
  double now = 0;
  octet_tune_options options = OCTET_TUNE_OPTIONS_INIT;
  options.clock = ticks, options.clock_context = &now;
  options.seconds = 0.001;
  size_t told = 0;
  options.watcher = [](void* told, const char*, double relative) {
    EXPECT_GT(relative, 0);
    ++*(size_t*)told;
  };
  options.watcher_context = &told;
  const TuningPointer tuning = new_tuning();
  octet_calibration result = OCTET_CALIBRATION_INIT;
  octet_error error = {};
  ASSERT_EQ(octet_calibrate(OCTET_ISA_AUTO, &options, tuning.get(), &result, &error), OCTET_OK)
      << error.message;
  EXPECT_EQ(result.probes, told);
  EXPECT_GT(result.probes, 40u);
  EXPECT_GT(result.seconds, 0);
  EXPECT_LE(result.error_after, result.error_before);
  TierCosts costs = tier_here().costs;
  CostsOrigin origin = CostsOrigin::kBuiltIn;
  ASSERT_EQ(octet::read_costs(result.costs, &costs, &origin, nullptr), OCTET_OK) << result.costs;
  const Explained built_in = explain(nullptr), calibrated = explain(tuning.get());
  EXPECT_EQ(built_in.origin, predicted(tier_here()));
  EXPECT_EQ(calibrated.origin, "predicted, calibrated");
  EXPECT_NE(calibrated.microseconds, built_in.microseconds);
  // The costs go through a file, and are found by OCTET_TUNING
  const TemporaryFile file("");
  ASSERT_EQ(octet_tuning_save(tuning.get(), file.path(), &error), OCTET_OK) << error.message;
  octet_tuning_report report = OCTET_TUNING_REPORT_INIT;
  ASSERT_EQ(octet_tuning_load(new_tuning().get(), file.path(), &report, &error), OCTET_OK);
  EXPECT_EQ(report.usable, 1u);
  EXPECT_EQ(report.other_version + report.other_machine + report.damaged, 0u);
  setenv("OCTET_TUNING", file.path(), 1);
  EXPECT_EQ(explain(nullptr).microseconds, calibrated.microseconds);
  unsetenv("OCTET_TUNING");
}

TEST(Calibrate, TakesWhatIsLeftOut) {
#ifdef OCTET_EMULATED
  GTEST_SKIP()
      << "a second whole calibration is most of a minute under qemu, and the same natively";
#endif
  double now = 0;
  octet_tune_options options = OCTET_TUNE_OPTIONS_INIT;
  options.clock = ticks, options.clock_context = &now, options.seconds = 0.001;
  EXPECT_EQ(octet_calibrate(OCTET_ISA_AUTO, &options, nullptr, nullptr, nullptr), OCTET_OK);
}

// Probes take turns until the time is over, each at least a few.
TEST(Calibrate, UsesTheTimeThatItHas) {
#ifdef OCTET_EMULATED
  GTEST_SKIP() << "two whole calibrations are minutes under qemu, and the same natively";
#endif
  double took[2] = {};
  for (const bool more : {false, true}) {
    double now = 0;
    octet_tune_options options = OCTET_TUNE_OPTIONS_INIT;
    options.clock = [](void* at) { return *(double*)at += 0.01; };
    options.clock_context = &now, options.seconds = more ? 1.3 * took[0] : 1e-3;
    octet_calibration result = OCTET_CALIBRATION_INIT;
    octet_error error = {};
    ASSERT_EQ(octet_calibrate(OCTET_ISA_AUTO, &options, nullptr, &result, &error), OCTET_OK)
        << error.message;
    took[more] = result.seconds;
  }
  EXPECT_GT(took[1], 1.2 * took[0]);
}

TEST(Calibrate, BadArgumentsAreNamed) {
  octet_tune_options options = OCTET_TUNE_OPTIONS_INIT;
  expect_refused(OCTET_UNKNOWN_ENUM, "isa is 77", [&](octet_error* e) {
    return octet_calibrate((octet_isa)77, &options, nullptr, nullptr, e);
  });
  options.seconds = -1;
  expect_refused(OCTET_BAD_SIZE, "options.seconds", [&](octet_error* e) {
    return octet_calibrate(OCTET_ISA_AUTO, &options, nullptr, nullptr, e);
  });
  options.seconds = 0, options.concurrency = 2;
  options.parallel_for = [](void*, size_t, void (*)(void*, size_t), void*) {};
  expect_refused(OCTET_UNSUPPORTED, "options.concurrency is 2", [&](octet_error* e) {
    return octet_calibrate(OCTET_ISA_AUTO, &options, nullptr, nullptr, e);
  });
}

// ---- lines that are there

std::string line_of(const octet::TuningKey& key, const std::string& costs) {
  char text[octet::kTuningLineBytes];
  const size_t length = octet::write_costs_line(key, costs.c_str(), text);
  return {text, length};
}
octet::TuningKey key_here() {
  octet::TuningKey key(tier_here().tier_id);
  key.add(" costs");
  return key;
}
Explained explain_with(const std::string& lines, octet_tuning_report* report = nullptr) {
  const TemporaryFile file(lines);
  const TuningPointer tuning = new_tuning();
  octet_error error = {};
  EXPECT_EQ(octet_tuning_load(tuning.get(), file.path(), report, &error), OCTET_OK)
      << error.message;
  return explain(tuning.get());
}

TEST(CostLines, OfAnotherMachineOrVersionOrTierAreNotUsed) {
  const std::string costs = text_of(tier_here().costs, CostsOrigin::kCalibrated);
  const std::string key = key_here().text();
  EXPECT_EQ(explain_with(line_of(key_here(), costs)).origin, "predicted, calibrated");
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string other = key;
    other.replace(other.find(from), from.size(), to);
    return octet::TuningKey(other.c_str());
  };
  octet_tuning_report report = OCTET_TUNING_REPORT_INIT;
  const std::string machine =
      key.substr(key.find(' ') + 1, key.find(' ', key.find(' ') + 1) - key.find(' ') - 1);
  EXPECT_EQ(explain_with(line_of(replaced(machine, "Nobody-1"), costs), &report).origin,
            predicted(tier_here()));
  EXPECT_EQ(report.other_machine, 1u);
  EXPECT_EQ(explain_with(line_of(replaced("octet-", "octet-9"), costs), &report).origin,
            predicted(tier_here()));
  EXPECT_EQ(report.other_version, 1u);
  EXPECT_EQ(
      explain_with(line_of(replaced(std::string(" ") + tier_here().name, " OTHER"), costs)).origin,
      predicted(tier_here()));
  // A line with unknown costs counts as another version's
  EXPECT_EQ(explain_with(line_of(key_here(), costs + " surprise=3"), &report).origin,
            predicted(tier_here()));
  EXPECT_EQ(report.other_version, 1u);
  EXPECT_EQ(report.usable, 0u);
}

TEST(CostLines, ThatAreDamagedAreNotUsed) {
  const std::string line =
      line_of(key_here(), text_of(tier_here().costs, CostsOrigin::kCalibrated));
  for (size_t at = 0; at + 1 < line.size(); ++at) {
    std::string damaged = line;
    damaged[at] = (char)(damaged[at] ^ 1);
    octet_tuning_report report = OCTET_TUNING_REPORT_INIT;
    ASSERT_EQ(explain_with(damaged, &report).origin, predicted(tier_here())) << damaged;
    ASSERT_EQ(report.usable, 0u);
  }
}

// ---- profiles

TEST(Profile, IsAssumed) {
  // The tier of this CPU, one of another CPU, and one that no line names
  const octet_isa there = foreign_tiers()[0], unnamed = foreign_tiers()[1];
  const std::string here_name = tier_here().name, there_name = octet_isa_name(there);
  const TemporaryFile file("# an invented machine\n\n" + here_name +
                           " int16_macs=0.01\tmemory_bytes=1.5\r\n" + there_name + " macs=5.25\n");
  const TuningPointer tuning = new_tuning();
  octet_error error = {};
  ASSERT_EQ(octet_tuning_assume(tuning.get(), file.path(), &error), OCTET_OK) << error.message;
  const Explained e = explain(tuning.get());
  EXPECT_EQ(e.origin, "predicted, assumed");
  EXPECT_NE(e.algorithm, OCTET_CONV_WINOGRAD_4X4);
  EXPECT_NE(e.algorithm, OCTET_CONV_WINOGRAD_2X2);
  EXPECT_EQ(explain(tuning.get(), there).origin, "predicted, assumed");
  EXPECT_EQ(explain(tuning.get(), unnamed).origin, predicted(octet::tier_of((TierId)unnamed)));
}

TEST(Profile, BadOnesAreNamedByLine) {
  std::string name;  // for tiers without a gather
  for (const octet_isa isa : all_tiers())
    if (octet::tier_of((TierId)isa).costs.gather == 0) name = octet_isa_name(isa);
  ASSERT_NE(name, "");
  const struct {
    std::string text;
    const char* message;
    octet_status status;
  } kCases[] = {
      {name + " macs=3\nno_tier macs=3\n", "line 2: 'no_tier' is not a tier", OCTET_UNKNOWN_ENUM},
      {name + " macs=3 fast=1\n", "line 1: 'fast' is not the name of a cost", OCTET_UNKNOWN_ENUM},
      {name + " macs=fast\n", "line 1: macs is", OCTET_BAD_SIZE},
      {name + " macs=0\n", "line 1: macs is", OCTET_BAD_SIZE},
      {name + " gather=3\n", "line 1: the tier has no use for gather", OCTET_UNSUPPORTED},
      {name + "\n", "line 1: it names no cost", OCTET_BAD_FILE},
      {"# nothing\n", "names no tier", OCTET_BAD_FILE},
      {"", "names no tier", OCTET_BAD_FILE},
  };
  for (const auto& c : kCases) {
    const TemporaryFile file(c.text);
    const TuningPointer tuning = new_tuning();
    expect_refused(c.status, c.message, [&](octet_error* e) {
      return octet_tuning_assume(tuning.get(), file.path(), e);
    });
    EXPECT_EQ(tuning->bytes, 0u) << "nothing is kept of a profile that is wrong";
  }
  const TuningPointer tuning = new_tuning();
  expect_refused(OCTET_BAD_FILE, "cannot be read", [&](octet_error* e) {
    return octet_tuning_assume(tuning.get(), "/nowhere/at.all", e);
  });
  expect_refused(OCTET_NULL_POINTER, "tuning is null",
                 [&](octet_error* e) { return octet_tuning_assume(nullptr, "x", e); });
  expect_refused(OCTET_NULL_POINTER, "path is null",
                 [&](octet_error* e) { return octet_tuning_assume(tuning.get(), nullptr, e); });
}

}  // namespace
}  // namespace octet_test
