// In place of the other files of this folder in a library without the model of traffic.
#include "dispatch/error.h"
#include "octet/traffic.h"

namespace {

octet_status refuse(octet_error* error) {
  return octet::fail(
      error, OCTET_UNSUPPORTED,
      "this library was built without its model of traffic (OCTET_WITH_TRAFFIC=OFF)");
}

}  // namespace

octet_status octet_traffic_create(const octet_traffic_options*, octet_traffic** traffic,
                                  octet_error* error) {
  if (traffic) *traffic = nullptr;
  return refuse(error);
}
void octet_traffic_destroy(octet_traffic*) {}
octet_status octet_traffic_begin(octet_traffic*, size_t, octet_error* error) {
  return refuse(error);
}
octet_status octet_traffic_conv2d(octet_traffic*, const octet_conv2d*, const octet_conv2d_args*,
                                  octet_error* error) {
  return refuse(error);
}
octet_status octet_traffic_gemm(octet_traffic*, const octet_gemm*, const octet_gemm_args*,
                                octet_error* error) {
  return refuse(error);
}
octet_status octet_traffic_network(octet_traffic*, const octet_network*, const octet_network_args*,
                                   octet_error* error) {
  return refuse(error);
}
octet_status octet_traffic_touch(octet_traffic*, const void*, size_t, octet_operand, int,
                                 octet_error* error) {
  return refuse(error);
}
octet_status octet_traffic_flush(octet_traffic*, octet_error* error) { return refuse(error); }
octet_status octet_traffic_get(const octet_traffic*, size_t, octet_layer_traffic*,
                               octet_error* error) {
  return refuse(error);
}
