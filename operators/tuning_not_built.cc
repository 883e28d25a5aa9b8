// SPDX-License-Identifier: Apache-2.0
// Replaces the code that reads or writes measured choices, in a library without them: an
// environment or a program that asks for them is refused.
#include "dispatch/cpu/environment.h"
#include "operators/conv/tuning.h"
#include "operators/gemm/tuning.h"

namespace octet {
namespace {

octet_status refuse(octet_error* error, octet_status status = OCTET_UNSUPPORTED) {
  return fail(error, status,
              "this library was built without measured choices (OCTET_WITH_TUNING=OFF)");
}

octet_status none(const Environment& environment, octet_error* error) {
  return environment.tuning ? refuse(error, OCTET_BAD_ENVIRONMENT) : OCTET_OK;
}

}  // namespace

octet_status look_up_gemm(const octet_gemm_desc&, const Environment& environment,
                          const CpuFeatures&, const Problem&, const WeightFacts&, Choice*, bool*,
                          octet_error* error) {
  return none(environment, error);
}
octet_status look_up_costs(const Environment& environment, FilterBuilder*, octet_error* error) {
  return none(environment, error);
}
octet_status look_up_algorithm(const Environment& environment, FilterBuilder*, octet_error* error) {
  return none(environment, error);
}
octet_status look_up_conv(const octet_conv2d_desc&, const Environment& environment,
                          const CpuFeatures&, const ConvChoiceProblem&, Choice*, ConvKernel*, bool*,
                          octet_error* error) {
  return none(environment, error);
}

}  // namespace octet

octet_status octet_tuning_create(octet_tuning** tuning, octet_error* error) {
  if (tuning) *tuning = nullptr;
  return octet::refuse(error);
}
void octet_tuning_destroy(octet_tuning*) {}
OCTET_LACKS(octet_tuning_load, octet::refuse, octet_tuning*, const char*, octet_tuning_report*)
OCTET_LACKS(octet_tuning_save, octet::refuse, const octet_tuning*, const char*)
OCTET_LACKS(octet_tuning_assume, octet::refuse, octet_tuning*, const char*)
