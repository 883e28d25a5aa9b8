// In place of the other conv file of this folder in a library without convolutions.
#include "dispatch/error.h"
#include "octet/traffic.h"

octet_status octet_traffic_conv2d(octet_traffic*, const octet_conv2d*, const octet_conv2d_args*,
                                  octet_error* error) {
  return octet::fail(error, OCTET_UNSUPPORTED,
                     "this library was built without convolutions (OCTET_WITH_CONVOLUTION=OFF)");
}
