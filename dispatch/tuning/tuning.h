// SPDX-License-Identifier: Apache-2.0
// A tuning: measured choices as text, one line per problem and machine (docs/tuning.md).
//
//   KEY | CHOICE | plan_ns=N chosen_ns=N threads=N | CHECKSUM
//
// The key names version, machine and problem: "octet-0.2.0 MACHINE TIER PROBLEM". A lookup compares
// the beginning of keys. A line counts only if its checksum is right.
#pragma once

#include "dispatch/cpu/environment.h"
#include "dispatch/cpu/features.h"
#include "dispatch/select/choice.h"
#include "dispatch/tuning/costs.h"
#include "octet/tune.h"

// An octet_tuning holds intact lines, sorted by key, each with its line end.
struct octet_tuning {
  char* text;
  size_t bytes;
};

namespace octet {

constexpr size_t kTuningLineBytes = 1024, kTuningKeyBytes = 512;  // with the final zero

// A key, or the beginning of one: words separated by spaces.
class TuningKey {
 public:
  // "octet-0.2.0 MACHINE TIER"
  explicit TuningKey(TierId tier);
  explicit TuningKey(const char* whole) { add("%s", whole); }
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...);
  const char* text() const { return text_; }
  size_t length() const { return length_; }

 private:
  char text_[kTuningKeyBytes];
  size_t length_ = 0;
};

// A view of a part of a line.
struct TuningWords {
  const char* text;
  size_t length;
  bool begins_with(const TuningKey& key) const;
  bool ends_with(const char* words) const;
};

struct TuningFigures {
  uint64_t plan_ns, chosen_ns;
  size_t threads;
  uint64_t saved_ns() const { return chosen_ns < plan_ns ? plan_ns - chosen_ns : 0; }
};

// The choice and the times that a line holds.
struct TuningEntry {
  Choice choice;
  TuningFigures figures;
};

struct TuningLine {
  TuningWords all, key, choice, figures;
  // The parsed figures; zeros where they are not as this library writes them.
  TuningFigures read_figures() const;
};

// Reads line by line. Its results point into the text.
class TuningReader {
 public:
  TuningReader(const char* text, size_t bytes) : next_(text), end_(text + bytes) {}
  // Takes the next line that is not empty, unparsed; false at the end.
  bool next(TuningWords* line);
  // The next entry with a key that begins with this one and a choice that this library knows.
  bool find(const TuningKey& key, TuningLine* line, Choice* choice);
  // Reads the costs of the key over *costs; false if the key has none.
  bool find_costs(const TuningKey& key, TierCosts* costs, CostsOrigin* origin);
  size_t number() const { return number_; }  // number of the last line, from 1

 private:
  const char *next_, *const end_;
  size_t number_ = 0;
};

// False if the line is damaged.
bool read_tuning_line(const TuningWords& words, TuningLine* line);
// Writes a line with its end; returns the length.
size_t write_tuning_line(const TuningKey& key, const Choice& choice, const TuningFigures& figures,
                         char (&line)[kTuningLineBytes]);
// False if this library does not know the choice.
bool read_choice(const TuningLine& line, Choice* choice);

// Lines of costs: "octet-0.2.0 MACHINE TIER costs | calibrated NAME=VALUE ... | - | SUM"
TuningKey key_of_costs(TierId tier);
size_t write_costs_line(const TuningKey& key, const char* costs, char (&line)[kTuningLineBytes]);
bool read_costs(const TuningLine& line, TierCosts* costs, CostsOrigin* origin);
// True if the line's key names a tier of this library and the line has costs.
bool has_costs(const TuningLine& line);

// The tuning that pack and create use: that of the caller's machine, or, for this machine, the
// environment's file.
class TuningSource {
 public:
  TuningSource() = default;
  TuningSource(const TuningSource&) = delete;
  TuningSource& operator=(const TuningSource&) = delete;
  ~TuningSource();
  octet_status open(const octet_machine* machine, const Environment& environment,
                    octet_error* error);
  TuningReader read() const { return {text_, bytes_}; }
  bool empty() const { return !bytes_; }

 private:
  const char* text_ = nullptr;
  size_t bytes_ = 0;
  char* file_ = nullptr;
};

// Compares bytes; a prefix comes first.
int compare(const TuningWords& a, const TuningWords& b);

octet_tuning_report report_on(const char* text, size_t bytes);
// Prints "octet,tuning,PATH,usable,of other machines,of other versions,damaged,first damaged"
// (counts of lines), once per path and content.
void trace_tuning(const char* path, const char* text, size_t bytes);

inline const char* origin_of(bool measured, CostsOrigin costs = CostsOrigin::kBuiltIn) {
  if (measured) return "measured, on this machine";
  switch (costs) {
    case CostsOrigin::kCalibrated: return "predicted, calibrated";
    case CostsOrigin::kAssumed: return "predicted, assumed";
    case CostsOrigin::kNotMeasured: return "predicted, costs not measured";
    default: return "predicted";
  }
}

octet_status refuse_no_file(octet_status status, const char* name, const char* path,
                            octet_error* error);
// Reads all of a regular file; the caller frees it. A missing file is empty unless must_be_there.
octet_status read_tuning_file(const char* path, const char* name, bool must_be_there,
                              octet_status status, char** text, size_t* bytes, octet_error* error);

}  // namespace octet
