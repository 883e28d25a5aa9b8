// SPDX-License-Identifier: Apache-2.0
// Declares the shared functions of the fuzz targets' bodies: failures, counts, and checks of each
// call.
#pragma once

#include <cstdint>
#include <vector>

#include "fuzz/choices.h"
#include "octet/octet.h"

namespace octet_fuzz {

// The body of a target: one execution.
void fuzz_one(Choices* c);
// Runs the body on an input and counts it. Inputs that ask for too much memory end early.
void run_once(const uint8_t* data, size_t size);

struct Tally {
  uint64_t executions, too_large, runs, outputs, refusals;
};
extern Tally tally;

// The file for reports of failures: stderr, even while a body redirects it.
extern const int report_file;

// Prints the error and aborts; the driver adds the command that repeats it.
[[noreturn]] __attribute__((format(printf, 1, 2))) void fail(const char* format, ...);

// The current call, and the error in its arguments, if any: for reports of crashes.
struct Doing {
  const char *call, *wrong;
};
extern Doing doing;

// Calls with an error to fill, and checks octet.h's promises on status and error.
void begin_call(const Doing& now, octet_error* error);
void end_call(octet_status status, const octet_error& error);
template <typename Call>
octet_status checked(const Doing& now, octet_error* error, const Call& call) {
  begin_call(now, error);
  const octet_status status = call(error);
  end_call(status, *error);
  return status;
}
template <typename Call>
octet_status checked(const char* what, octet_error* error, const Call& call) {
  return checked(Doing{what, nullptr}, error, call);
}
template <typename Call>
octet_status checked(const char* what, const Call& call) {
  octet_error error;
  return checked(what, &error, call);
}
template <typename Call>
void must_accept(const char* what, const Call& call) {
  octet_error error;
  if (checked(what, &error, call) != OCTET_OK)
    fail("%s refused what is valid: %s", what, error.message);
}
template <typename Call>
void must_refuse(const char* what, const char* why, const Call& call) {
  octet_error error;
  if (checked(Doing{what, why}, &error, call) == OCTET_OK) fail("%s accepted %s", what, why);
  ++tally.refusals;
}

// The tiers that this machine runs, SCALAR first, and the names of all kernels, usable or not.
const std::vector<octet_isa>& tiers();
const std::vector<const char*>& kernel_names();

// A way to compute a problem: the tier that weights are packed for, create's limit, a forced
// kernel. may_refuse: the kernel may be of another kind, or the layout another tier's.
struct Way {
  octet_isa pack = OCTET_ISA_AUTO, run = OCTET_ISA_AUTO;
  const char* kernel = nullptr;
  bool may_refuse = false;
};
// The best tier (as OCTET_MAX_ISA allows), SCALAR and now and then a third way.
std::vector<Way> ways(Choices* c);

// Sets OCTET_KERNEL for a scope if a way forces a kernel, so that pack takes its layout.
class ForcedKernel {
 public:
  explicit ForcedKernel(const Way& way);
  ~ForcedKernel();
  ForcedKernel(const ForcedKernel&) = delete;
  ForcedKernel& operator=(const ForcedKernel&) = delete;
};

// An octet_parallel_for that runs the tasks on the calling thread in an order drawn from *context,
// a Parallel.
struct Parallel {
  Random random;
  size_t most;  // tasks
};
void parallel_for(void* context, size_t count, void (*fn)(void* arg, size_t index), void* arg);

}  // namespace octet_fuzz
