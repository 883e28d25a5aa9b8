// SPDX-License-Identifier: Apache-2.0
// Checks that a refusal has its own status and a sentence that names the argument, and the same
// status without an error to fill.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "octet/octet.h"

namespace octet_test {

inline std::set<octet_status>& reached() {
  static std::set<octet_status> statuses;
  return statuses;
}

// `call` fails with `status` and names `argument`; without an error to fill it fails with the same
// status.
inline void expect_refused(octet_status status, const char* argument,
                           const std::function<octet_status(octet_error*)>& call) {
  octet_error error = {OCTET_OK, ""};
  const octet_status got = call(&error);
  EXPECT_EQ(octet_status_name(got), std::string(octet_status_name(status))) << error.message;
  EXPECT_EQ(error.status, status);
  EXPECT_NE(std::string(error.message).find(argument), std::string::npos)
      << "'" << error.message << "' does not name " << argument;
  EXPECT_EQ(call(nullptr), status);
  reached().insert(got);
}

// Values outside an enumeration, as a C caller can pass them.
template <typename Enum>
void set_raw(Enum* field, int value) {
  static_assert(sizeof(Enum) == sizeof value, "enumerations are ints in the C ABI");
  std::memcpy(field, &value, sizeof value);
}

// Residuals without a type, one for each other field; only that field is not 0.
struct NamedResidual {
  std::string field;
  octet_residual residual;
};

inline std::vector<NamedResidual> residuals_of_one_field() {
  return {{"zero_point", {octet_type(), -1, 0, 0, 0, 0, 0, 0, 0, 0}},
          {"scale", {octet_type(), 0, 0.5f, 0, 0, 0, 0, 0, 0, 0}},
          {"intermediate_zero_point", {octet_type(), 0, 0, 1, 0, 0, 0, 0, 0, 0}},
          {"product_multiplier", {octet_type(), 0, 0, 0, 1 << 30, 0, 0, 0, 0, 0}},
          {"product_shift", {octet_type(), 0, 0, 0, 0, -1, 0, 0, 0, 0}},
          {"residual_multiplier", {octet_type(), 0, 0, 0, 0, 0, 1 << 30, 0, 0, 0}},
          {"residual_shift", {octet_type(), 0, 0, 0, 0, 0, 0, -1, 0, 0}},
          {"dst_multiplier", {octet_type(), 0, 0, 0, 0, 0, 0, 0, 1 << 30, 0}},
          {"dst_shift", {octet_type(), 0, 0, 0, 0, 0, 0, 0, 0, -1}}};
}

}  // namespace octet_test
