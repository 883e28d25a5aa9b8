// In place of tune/ and of all other tuning files in a library without measured choices: whoever
// asks for them is told.
#include "dispatch/tuning_absent.h"
#include "dispatch/gemm_tuning.h"

namespace octet {

octet_status refuse_tuning(octet_error* error) {
  return fail(error, OCTET_UNSUPPORTED,
              "this library was built without measured choices (OCTET_WITH_TUNING=OFF)");
}

octet_status no_tuning(const Environment& environment, octet_error* error) {
  if (!environment.tuning) return OCTET_OK;
  refuse_tuning(error);
  if (error) error->status = OCTET_BAD_ENVIRONMENT;
  return OCTET_BAD_ENVIRONMENT;
}

octet_status look_up_gemm(const octet_gemm_desc&, const Environment& environment,
                          const CpuFeatures&, const Problem&, const WeightFacts&, Choice*, bool*,
                          octet_error* error) {
  return no_tuning(environment, error);
}

}  // namespace octet

using octet::refuse_tuning;

octet_status octet_tuning_create(octet_tuning** tuning, octet_error* error) {
  if (tuning) *tuning = nullptr;
  return refuse_tuning(error);
}
void octet_tuning_destroy(octet_tuning*) {}
octet_status octet_tuning_load(octet_tuning*, const char*, octet_tuning_report*,
                               octet_error* error) {
  return refuse_tuning(error);
}
octet_status octet_tuning_save(const octet_tuning*, const char*, octet_error* error) {
  return refuse_tuning(error);
}
octet_status octet_tuning_assume(octet_tuning*, const char*, octet_error* error) {
  return refuse_tuning(error);
}
octet_status octet_tune_gemm(const octet_gemm_desc*, const octet_tune_options*, octet_tuning*,
                             octet_tune_result*, octet_error* error) {
  return refuse_tuning(error);
}
