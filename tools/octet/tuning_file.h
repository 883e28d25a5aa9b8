// SPDX-License-Identifier: Apache-2.0
// Holds the choices that octet tune finds, and the file that keeps them.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "bench/machine/api.h"
#include "octet/tune.h"

namespace tool {

class TuningFile {
 public:
  // Empty: OCTET_TUNING's file, or none. with_lines: load the file's lines
  explicit TuningFile(const std::string& cache, bool with_lines = false) {
    const char* const variable = std::getenv("OCTET_TUNING");
    path_ = !cache.empty() ? cache : variable ? variable : "";
    octet_error error = {};
    octet_tuning* tuning = nullptr;
    check(octet_tuning_create(&tuning, &error), error);
    tuning_.reset(tuning);
    if (path_.empty()) return;
    octet_tuning_report report = OCTET_TUNING_REPORT_INIT;
    // Saving merges with the file's valid lines, so they need not be loaded
    std::unique_ptr<octet_tuning, Destroy> there;
    check(octet_tuning_create(&tuning, &error), error);
    there.reset(tuning);
    check(octet_tuning_load(with_lines ? get() : there.get(), path_.c_str(), &report, &error),
          error);
    fmt::print("{}: {} lines of this machine, {} of others, {} of other versions, {} damaged{}\n",
               path_, report.usable, report.other_machine, report.other_version, report.damaged,
               report.damaged ? fmt::format(" (the first: line {})", report.first_damaged) : "");
    save();  // finds early that the file cannot be written
  }
  octet_tuning* get() const { return tuning_.get(); }
  const std::string& path() const { return path_; }
  void save() const {
    if (path_.empty()) return;
    octet_error error = {};
    check(octet_tuning_save(tuning_.get(), path_.c_str(), &error), error);
  }

 private:
  struct Destroy {
    void operator()(octet_tuning* tuning) const { octet_tuning_destroy(tuning); }
  };
  std::string path_;
  std::unique_ptr<octet_tuning, Destroy> tuning_;
};

}  // namespace tool
