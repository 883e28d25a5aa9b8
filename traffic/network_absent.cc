// In place of network.cc in a library without networks.
#include "dispatch/error.h"
#include "octet/traffic.h"

octet_status octet_traffic_network(octet_traffic*, const octet_network*, const octet_network_args*,
                                   octet_error* error) {
  return octet::fail(error, OCTET_UNSUPPORTED,
                     "this library was built without networks (OCTET_WITH_NETWORK=OFF), or without "
                     "convolutions");
}
