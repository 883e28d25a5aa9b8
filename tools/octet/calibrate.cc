// SPDX-License-Identifier: Apache-2.0
// Runs octet tune --calibrate and --profile: costs of this machine, measured or assumed, for plans
// of shapes that were never measured.
#include <fmt/format.h>

#include <cmath>

#include "bench/run/report.h"
#include "tools/octet/bench_options.h"
#include "tools/octet/tuning_file.h"

namespace tool {
namespace {

struct Probes {
  ordered_json json = ordered_json::array();
  static void tell(void* self, const char* what, double relative) {
    fmt::print("{:<76}{:>10.2f}\n", what, relative);
    ((Probes*)self)->json.push_back({{"probe", what}, {"predicted_to_measured", relative}});
  }
};

// The factor f for a mean of f + 1/f - 2.
double factor_of(double error) { return 1 + error / 2 + std::sqrt(error + error * error / 4); }

octet_calibration measure(const TuneArguments& a, const BenchOptions& options,
                          const TuningFile& tuning, Probes* probes) {
  const Clock clock(true);
  octet_tune_options how = OCTET_TUNE_OPTIONS_INIT;
  how.clock = [](void* c) { return ((const Clock*)c)->now(); };
  how.clock_context = (Clock*)(&clock);
  how.seconds = a.seconds > 0 ? a.seconds : 4;
  how.watcher = Probes::tell, how.watcher_context = probes;
  octet_calibration result = OCTET_CALIBRATION_INIT;
  octet_error error = {};
  fmt::print("{:<76}{:>10}\n", "probe", "predicted");
  check(octet_calibrate(options.forced.isa, &how, tuning.get(), &result, &error), error);
  fmt::print("{} probes in {:.1f} s; predictions were off by a factor of {:.2f}, now {:.2f}\n{}\n",
             result.probes, result.seconds, factor_of(result.error_before),
             factor_of(result.error_after), result.costs);
  return result;
}

}  // namespace

int calibrate(const TuneArguments& a) {
  if (!a.bench.cases.empty())
    throw Error("--calibrate and --profile take no cases: tune them afterwards");
  if (a.calibrate && !a.profile.empty())
    throw Error("--calibrate measures what --profile assumes: either, not both");
  const BenchOptions options = to_options(a.bench);
  if (options.threads > 1) throw Error("--calibrate measures one core: --threads 1");
  pin_if_single(options);
  JsonFile file(a.bench.json);
  ordered_json json = {{"machine", machine_json(options)}};
  const TuningFile tuning(a.cache);
  octet_error error = {};
  if (!a.profile.empty()) {
    check(octet_tuning_assume(tuning.get(), a.profile.c_str(), &error), error);
    fmt::print("{}: its costs are assumed\n", a.profile);
    json["profile"] = a.profile;
  } else {
    Probes probes;
    const octet_calibration found = measure(a, options, tuning, &probes);
    json["costs"] = found.costs;
    json["seconds"] = found.seconds;
    json["factor_before"] = factor_of(found.error_before);
    json["factor_after"] = factor_of(found.error_after);
    json["probes"] = probes.json;
  }
  tuning.save();
  if (tuning.path().empty()) fmt::print("kept nowhere: --cache FILE says where\n");
  file.write(json);
  return kSuccess;
}

}  // namespace tool
