// SPDX-License-Identifier: Apache-2.0
// Counts, compares and fails for all bodies.
#include "fuzz/fuzz.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "dispatch/tables/tiers.h"
#include "fuzz/memory.h"
#include "support/upper_halves.h"

namespace octet_fuzz {

Tally tally = {};
const int report_file = dup(STDERR_FILENO);

void run_once(const uint8_t* data, size_t size) {
  ++tally.executions;
  Choices choices(data, size);
  try {
    fuzz_one(&choices);
  } catch (const TooLarge&) {
    ++tally.too_large;
  }
}

void fail(const char* format, ...) {
  va_list args;
  va_start(args, format);
  dprintf(report_file, "\nFOUND: ");
  vdprintf(report_file, format, args);
  dprintf(report_file, "\n");
  va_end(args);
  std::abort();
}

namespace {
constexpr uint8_t kUntouched = 0x5A;
}

Doing doing = {"", nullptr};

void begin_call(const Doing& now, octet_error* error) {
  doing = now;
  std::memset(error, kUntouched, sizeof *error);
}

void end_call(octet_status status, const octet_error& error) {
  const char* const what = doing.call;
  if (octet_test::upper_halves_in_use()) fail("%s left the upper halves in use", what);
  if (status == OCTET_OK) {
    const auto* const bytes = (const uint8_t*)(&error);
    for (size_t i = 0; i < sizeof error; ++i)
      if (bytes[i] != kUntouched) fail("%s succeeded and wrote to its error", what);
    return;
  }
  const size_t length = strnlen(error.message, sizeof error.message);
  if (status < OCTET_OK || status > OCTET_BAD_NETWORK) fail("%s: status %d", what, status);
  if (error.status != status) fail("%s: status %d, error.status %d", what, status, error.status);
  if (length == 0 || length == sizeof error.message)
    fail("%s: %s, with a message of %zu bytes", what, octet_status_name(status), length);
}

const std::vector<octet_isa>& tiers() {
  static const std::vector<octet_isa> list = [] {
    octet_cpu_info info = OCTET_CPU_INFO_INIT;
    must_accept("octet_get_cpu_info",
                [&](octet_error* error) { return octet_get_cpu_info(&info, error); });
    std::vector<octet_isa> found;
    for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i)
      if (has(info.detected_isas & ~info.demoted_isas, *tier))
        found.push_back((octet_isa)tier->tier_id);
    return found;
  }();
  return list;
}

const std::vector<const char*>& kernel_names() {
  static const std::vector<const char*> list = [] {
    std::vector<const char*> found;
    octet_kernel_info info = OCTET_KERNEL_INFO_INIT;
    for (size_t i = 0; octet_get_kernel_info(i, &info, nullptr) == OCTET_OK; ++i)
      found.push_back(info.name);
    return found;
  }();
  return list;
}

std::vector<Way> ways(Choices* c) {
  std::vector<Way> list = {Way{}, Way{OCTET_ISA_SCALAR, OCTET_ISA_SCALAR}};
  const size_t third = c->below(8);
  const auto tier = [&] { return tiers()[c->below(tiers().size())]; };
  if (third == 5) {
    const octet_isa isa = tier();
    list.push_back({isa, isa});
  } else if (third == 6) {
    const octet_isa pack = tier();
    list.push_back({pack, tier(), nullptr, true});
  } else if (third == 7) {
    list.push_back(
        {OCTET_ISA_AUTO, OCTET_ISA_AUTO, kernel_names()[c->below(kernel_names().size())], true});
  }
  return list;
}

ForcedKernel::ForcedKernel(const Way& way) {
  if (way.kernel) setenv("OCTET_KERNEL", way.kernel, 1);
}

ForcedKernel::~ForcedKernel() { unsetenv("OCTET_KERNEL"); }

void parallel_for(void* context, size_t count, void (*fn)(void* arg, size_t index), void* arg) {
  Parallel& parallel = *(Parallel*)context;
  if (count < 2 || count > parallel.most)
    fail("parallel_for is to run %zu tasks; declared were %zu", count, parallel.most);
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i) order[i] = i;
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[parallel.random.below(i)]);
  for (const size_t i : order) fn(arg, i);
}

}  // namespace octet_fuzz
