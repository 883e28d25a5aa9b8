// SPDX-License-Identifier: Apache-2.0
// Prints and writes the results of a bench: a table, totals, JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/run/measure.h"

namespace tool {

using nlohmann::ordered_json;

template <typename Number>
ordered_json or_null(const std::optional<Number>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

struct Table {
  bool convolutions;  // else products
  bool peer;
  bool sparse = false;  // the peer has dense weights: its blob is compared, too
};
void print_header(const Table& table);
void print_row(const Table& table, const BenchResult& result, size_t index, size_t total);

struct Totals {
  size_t cases = 0, wrong = 0, peer_cases = 0, peer_wrong = 0;
  double microseconds = 0, ops = 0;  // weighted by count
  double compared_us = 0, peer_us = 0, log_ratios = 0;

  void add(const BenchResult& result);
  double gops() const { return microseconds > 0 ? ops / microseconds / 1e3 : 0; }
  double ratio() const { return peer_us / compared_us; }
  double mean_ratio() const;
};
void print_totals(const std::string& title, const Totals& totals);

ordered_json to_json(const BenchResult& result);
ordered_json to_json(const Totals& totals);
ordered_json machine_json(const BenchOptions& options);

// Prints and stores the totals of the parts and of all. AnyTotals has a print_totals and a to_json.
template <typename AnyTotals>
void summarize(const AnyTotals& all, const std::vector<std::pair<std::string, AnyTotals>>& parts,
               ordered_json* json) {
  (*json)["summary"] = to_json(all);
  for (const auto& [title, part] : parts) {
    print_totals(title, part);
    (*json)["summary"]["parts"][title] = to_json(part);
  }
  if (parts.size() > 1) print_totals("all", all);
}

// "AMD EPYC; 1 thread, median of 9 repetitions, thread cpu time; peer: oneDNN 2.6.3"
void print_machine(const BenchOptions& options);

// The file of --json. It is opened before the measurements, so that a bad path costs no time.
class JsonFile {
 public:
  explicit JsonFile(const std::string& path);  // empty: none
  void write(const ordered_json& json);

 private:
  std::string path_;
  std::shared_ptr<std::ostream> stream_;
};

}  // namespace tool
