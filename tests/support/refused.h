// What every refusal owes the caller: its own status, a sentence that names the argument, and the
// same status without an error to fill.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>
#include <string>

#include "octet/octet.h"

namespace octet_test {

inline std::set<octet_status>& reached() {
  static std::set<octet_status> statuses;
  return statuses;
}

// `call` fails with `status` and says `argument`; without an error to fill it fails alike.
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

}  // namespace octet_test
