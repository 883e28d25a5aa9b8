// SPDX-License-Identifier: Apache-2.0
// Reads and checks the environment variables.
#include "dispatch/cpu/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/api/algorithm_names.h"
#include "dispatch/api/error.h"
#include "dispatch/tables/kernel_names.h"
#include "dispatch/tables/tiers.h"

namespace octet {
namespace {

const char* variable(const char* name) {
  const char* value = getenv(name);
  return value && *value ? value : nullptr;
}

// A comma-separated list in a fixed buffer; the first item that does not fit ends it with "...".
struct List {
  char text[176] = "";
  size_t length = 0;
  bool ended = false;
  void add(const char* item) {
    if (ended) return;
    ended = length + strlen(item) + sizeof ", ..." > sizeof text;
    const char* const separator = ended ? "..." : length ? ", " : "";
    length +=
        (size_t)snprintf(text + length, sizeof text - length, "%s%s", separator, ended ? "" : item);
  }
};

octet_status read_max_tier(Environment* environment, octet_error* error) {
  environment->allowed = ~0u;
  const char* value = variable("OCTET_MAX_ISA");
  if (!value) return OCTET_OK;
  const TierMask here = tiers_of_this_architecture();
  const Tier* const limit = find_tier(value);
  if (limit && has(here, *limit)) {
    environment->allowed = tiers_within(limit->tier_id);
    return OCTET_OK;
  }
  List valid;
  for (size_t i = 0; const Tier* tier = nth_tier(i); ++i)
    if (has(here, *tier)) valid.add(tier->name);
  return fail(error, OCTET_BAD_ENVIRONMENT, "OCTET_MAX_ISA is '%.32s'; valid here: %s", value,
              valid.text);
}

octet_status read_kernel(Environment* environment, octet_error* error) {
  environment->kernel = variable("OCTET_KERNEL");
  if (!environment->kernel || kernel_exists(environment->kernel)) return OCTET_OK;
  List valid;
  for (size_t i = 0; const KernelName* kernel = kernel_name(i); ++i) valid.add(kernel->name);
  return fail(error, OCTET_BAD_ENVIRONMENT, "OCTET_KERNEL is '%.32s'; valid here: %s",
              environment->kernel, valid.text);
}

octet_status read_algorithm(Environment* environment, octet_error* error) {
  environment->algorithm = OCTET_CONV_AUTO;
  const char* value = variable("OCTET_CONV");
  if (!value) return OCTET_OK;
  List valid;
  for (int i = OCTET_CONV_AUTO; i < kAlgorithms; ++i) {
    if (strcmp(value, algorithm_name((octet_conv_algorithm)i)) == 0) {
      environment->algorithm = (octet_conv_algorithm)i;
      return OCTET_OK;
    }
    valid.add(algorithm_name((octet_conv_algorithm)i));
  }
  return fail(error, OCTET_BAD_ENVIRONMENT, "OCTET_CONV is '%.32s'; valid: %s", value, valid.text);
}

octet_status read_verbose(Environment* environment, octet_error* error) {
  environment->verbose = 0;
  const char* value = variable("OCTET_VERBOSE");
  if (!value) return OCTET_OK;
  if (value[0] < '0' || value[0] > '2' || value[1])
    return fail(error, OCTET_BAD_ENVIRONMENT, "OCTET_VERBOSE is '%.32s'; valid: 0, 1, 2", value);
  environment->verbose = value[0] - '0';
  return OCTET_OK;
}

}  // namespace

TierMask allowed_tiers() {
  Environment environment;
  return read_max_tier(&environment, nullptr) == OCTET_OK ? environment.allowed : 0;
}

octet_status read_environment(Environment* environment, octet_error* error) {
  environment->tuning = variable("OCTET_TUNING");
  octet_status status = read_max_tier(environment, error);
  if (status == OCTET_OK) status = read_kernel(environment, error);
  if (status == OCTET_OK) status = read_algorithm(environment, error);
  if (status == OCTET_OK) status = read_verbose(environment, error);
  return status;
}

}  // namespace octet
