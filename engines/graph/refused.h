// SPDX-License-Identifier: Apache-2.0
// Carries a status and a sentence from the code that refuses a graph to the library's border.
#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <type_traits>

#include "octet/octet.h"

namespace octet::graph {

class Refused : public std::exception {
 public:
  Refused(octet_status status, std::string why) : status_(status), why_(std::move(why)) {}
  octet_status status() const { return status_; }
  const std::string& why() const { return why_; }
  const char* what() const noexcept override { return why_.c_str(); }

 private:
  octet_status status_;
  std::string why_;
};

// Throws std::bad_alloc without memory, where libc++'s streams throw another exception.
template <typename... Parts>
std::string join(const Parts&... parts) {
  std::string text;
  const auto append = [&](const auto& part) {
    using Part = std::decay_t<decltype(part)>;
    if constexpr (std::is_floating_point_v<Part>) {
      char digits[32];
      snprintf(digits, sizeof digits, "%g", (double)part);
      text += digits;
    } else if constexpr (std::is_enum_v<Part>) {
      text += std::to_string((int)part);
    } else if constexpr (std::is_integral_v<Part> && !std::is_same_v<Part, char>) {
      text += std::to_string(part);
    } else {
      text += part;
    }
  };
  (append(parts), ...);
  return text;
}

// Throws OCTET_UNSUPPORTED with a sentence of these parts.
template <typename... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw Refused(OCTET_UNSUPPORTED, join(parts...));
}

// Throws if the library refused.
inline void check(octet_status status, const octet_error& error) {
  if (status != OCTET_OK) throw Refused(status, error.message);
}

inline octet_status tell(octet_status status, const char* why, octet_error* error) {
  if (error) {
    error->status = status;
    snprintf(error->message, sizeof error->message, "%s", why);
  }
  return status;
}

// Runs what may throw at the library's border: a status and a sentence, no exception.
template <typename Function>
octet_status guarded(octet_error* error, const Function& function) noexcept {
  try {
    function();
    return OCTET_OK;
  } catch (const Refused& refused) {
    return tell(refused.status(), refused.what(), error);
  } catch (const std::bad_alloc&) {
    return tell(OCTET_OUT_OF_MEMORY, "there is not enough memory for the graph", error);
  } catch (const std::exception& exception) {
    return tell(OCTET_UNSUPPORTED, exception.what(), error);
  } catch (...) {
    return tell(OCTET_UNSUPPORTED, "the engine threw what is no std::exception", error);
  }
}

}  // namespace octet::graph
