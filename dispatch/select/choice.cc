// SPDX-License-Identifier: Apache-2.0
// Choice as one line of text: to_text and from_text.
#include "dispatch/select/choice.h"

#include <stdio.h>
#include <string.h>

#include "dispatch/api/algorithm_names.h"
#include "dispatch/tables/formats.h"

namespace octet {
namespace {

constexpr const char* kProduct = "product";
constexpr const char* kNone = "-";

const char* algorithm_text(int algorithm) {
  return algorithm == OCTET_CONV_AUTO ? kProduct : algorithm_name((octet_conv_algorithm)algorithm);
}

// Reads words from left to right. The first mistake is the one that is reported.
class Reader {
 public:
  Reader(const char* text, octet_error* error) : text_(text), at_(text), error_(error) {}

  octet_status refuse(octet_status status, const char* expected) const {
    return fail(error_, status, "the choice's text, at character %zu ('%.40s'): %s is expected",
                (size_t)(at_ - text_), at_, expected);
  }
  octet_status literal(const char* expected) {
    const size_t length = strlen(expected);
    if (strncmp(at_, expected, length) != 0) return refuse(OCTET_UNSUPPORTED, expected);
    at_ += length;
    return OCTET_OK;
  }
  // A decimal number as to_text writes it: no sign, no leading zeros.
  octet_status number(size_t least, size_t most, size_t* value) {
    const char* end = at_;
    size_t read = 0;
    bool fits = true;
    for (; *end >= '0' && *end <= '9'; ++end)
      fits = fits && !__builtin_mul_overflow(read, (size_t)10, &read) &&
             !__builtin_add_overflow(read, (size_t)(*end - '0'), &read);
    if (end == at_ || (*at_ == '0' && end > at_ + 1) || !fits || read < least || read > most)
      return refuse(OCTET_BAD_SIZE, "a number within its bounds");
    at_ = end;
    *value = read;
    return OCTET_OK;
  }
  // Takes a word if it stands here, up to a space or the end.
  bool word(const char* expected) {
    const size_t length = strlen(expected);
    if (strncmp(at_, expected, length) != 0 || (at_[length] && at_[length] != ' ')) return false;
    at_ += length;
    return true;
  }
  octet_status kernel(const KernelName** kernel) {
    for (size_t i = 0; (*kernel = kernel_name(i)); ++i)
      if (word((*kernel)->name)) return OCTET_OK;
    return refuse(OCTET_UNKNOWN_KERNEL, "a kernel of this library");
  }
  bool at_end() const { return !*at_; }

 private:
  const char *const text_, *at_;
  octet_error* const error_;
};

}  // namespace

void to_text(const Choice& c, char (&text)[kChoiceBytes]) {
  const auto name = [](const auto* row) { return row ? row->name : kNone; };
  snprintf(text, sizeof text,
           "%s weights=%s kernel=%s few=%s block=%zu pass=%zu cache=%zu cut=%zux%zu",
           algorithm_text(c.algorithm), name(find_format_of(c.layout)), name(c.kernel),
           name(c.small_kernel), c.block, c.pass, c.cache_bytes, c.tasks.rows, c.tasks.columns);
}

octet_status from_text(const char* text, Choice* choice, octet_error* error) {
  if (!text) return fail(error, OCTET_NULL_POINTER, "the choice's text is null");
  Reader r(text, error);
  Choice c = {};
  int algorithm = 0;
  while (algorithm < kAlgorithms && !r.word(algorithm_text(algorithm))) ++algorithm;
  if (algorithm == kAlgorithms)
    return r.refuse(OCTET_UNKNOWN_ENUM, "'product' or the name of an algorithm");
  c.algorithm = (octet_conv_algorithm)algorithm;
  OCTET_TRY(r.literal(" weights="));
  const WeightFormat* format = nullptr;
  for (size_t i = 0; (format = nth_format(i)) && !r.word(format->name);) ++i;
  if (!format) return r.refuse(OCTET_UNKNOWN_ENUM, "the name of a form");
  c.layout = format->layout;
  OCTET_TRY(r.literal(" kernel="));
  OCTET_TRY(r.kernel(&c.kernel));
  OCTET_TRY(r.literal(" few="));
  if (!r.word(kNone)) OCTET_TRY(r.kernel(&c.small_kernel));
  OCTET_TRY(r.literal(" block="));
  OCTET_TRY(r.number(1, SIZE_MAX, &c.block));
  OCTET_TRY(r.literal(" pass="));
  OCTET_TRY(r.number(0, SIZE_MAX, &c.pass));
  OCTET_TRY(r.literal(" cache="));
  OCTET_TRY(r.number(0, SIZE_MAX, &c.cache_bytes));
  OCTET_TRY(r.literal(" cut="));
  OCTET_TRY(r.number(0, SIZE_MAX, &c.tasks.rows));
  OCTET_TRY(r.literal("x"));
  OCTET_TRY(r.number(0, SIZE_MAX, &c.tasks.columns));
  if (!r.at_end()) return r.refuse(OCTET_UNSUPPORTED, "the end");
  *choice = c;
  return OCTET_OK;
}

}  // namespace octet
