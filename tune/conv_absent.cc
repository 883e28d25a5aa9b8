// In place of the other conv files of this folder in a library without convolutions.
#include "dispatch/error.h"
#include "octet/tune.h"

namespace {

octet_status absent(octet_error* error) {
  return octet::fail(error, OCTET_UNSUPPORTED,
                     "this library was built without convolutions (OCTET_WITH_CONVOLUTION=OFF)");
}

}  // namespace

octet_status octet_tune_conv2d(const octet_filter_desc*, const octet_conv2d_desc*,
                               const octet_tune_options*, octet_tuning*, octet_tune_result*,
                               octet_error* error) {
  return absent(error);
}
octet_status octet_calibrate(octet_isa, const octet_tune_options*, octet_tuning*,
                             octet_calibration*, octet_error* error) {
  return absent(error);
}
