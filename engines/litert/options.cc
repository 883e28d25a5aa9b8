// SPDX-License-Identifier: Apache-2.0
// Reads the delegate's options: a table of the values that each key takes.
#include "engines/litert/options.h"

#include <cstdlib>
#include <cstring>

namespace octet::litert {
namespace {

constexpr size_t kMostThreads = 4096;  // no run of Octet has more tasks

// Sets *out to the value of the row that `text` names. A row is {name, value}.
template <typename Value, size_t kRows>
bool choose(const char* text, const std::pair<const char*, Value> (&rows)[kRows], Value* out) {
  for (const auto& [name, value] : rows)
    if (std::strcmp(text, name) == 0) {
      *out = value;
      return true;
    }
  return false;
}

bool read_count(const char* text, size_t* count) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != 0 || value > kMostThreads) return false;
  *count = value;
  return true;
}

bool read_option(const std::string& key, const char* value, Options* o, const char** takes) {
  using graph::Arithmetic;
  static constexpr std::pair<const char*, Arithmetic> kArithmetics[] = {
      {"reference", Arithmetic::kTflite}, {"xnnpack", Arithmetic::kXnnpack}};
  static constexpr std::pair<const char*, octet_network_goal> kGoals[] = {
      {"time", OCTET_NETWORK_TIME},
      {"layers", OCTET_NETWORK_LAYERS},
      {"traffic", OCTET_NETWORK_TRAFFIC},
      {"memory", OCTET_NETWORK_MEMORY}};
  static constexpr std::pair<const char*, bool> kSwitch[] = {{"0", false}, {"1", true}};
  if (key == "as")
    return *takes = "reference or xnnpack", choose(value, kArithmetics, &o->arithmetic);
  if (key == "threads") return *takes = "0 to 4096", read_count(value, &o->threads);
  if (key == "goal")
    return *takes = "time, layers, traffic or memory", choose(value, kGoals, &o->goal);
  if (key == "report") return *takes = "0 or 1", choose(value, kSwitch, &o->report);
  return false;
}

}  // namespace

std::string read_options(const char* const* keys, const char* const* values, size_t count,
                         Options* options) {
  for (size_t i = 0; i < count; ++i) {
    if (!keys || !values || !keys[i] || !values[i]) return "an option is null";
    const char* takes = nullptr;
    if (read_option(keys[i], values[i], options, &takes)) continue;
    const std::string given = std::string("option ") + keys[i] + " = " + values[i];
    return takes ? given + ": it takes " + takes
                 : given + " is none; there are as, threads, goal and report";
  }
  return "";
}

}  // namespace octet::litert
