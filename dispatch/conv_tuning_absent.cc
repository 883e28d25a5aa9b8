// As tuning_absent.cc, of convolutions.
#include "dispatch/conv_tuning.h"
#include "dispatch/tuning_absent.h"

namespace octet {

octet_status look_up_costs(const Environment& environment, FilterDraft*, octet_error* error) {
  return no_tuning(environment, error);
}

octet_status look_up_algorithm(const Environment& environment, FilterDraft*, octet_error* error) {
  return no_tuning(environment, error);
}

octet_status look_up_conv(const octet_conv2d_desc&, const Environment& environment,
                          const CpuFeatures&, const ConvChoiceProblem&, Choice*, ConvKernel*, bool*,
                          octet_error* error) {
  return no_tuning(environment, error);
}

}  // namespace octet

octet_status octet_tune_conv2d(const octet_filter_desc*, const octet_conv2d_desc*,
                               const octet_tune_options*, octet_tuning*, octet_tune_result*,
                               octet_error* error) {
  return octet::refuse_tuning(error);
}

octet_status octet_calibrate(octet_isa, const octet_tune_options*, octet_tuning*,
                             octet_calibration*, octet_error* error) {
  return octet::refuse_tuning(error);
}
