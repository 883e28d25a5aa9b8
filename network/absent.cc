// In place of all other files of this folder in a library without networks: whoever asks for one is
// told.
#include "octet/network.h"

#include "dispatch/error.h"

namespace octet {
namespace {

octet_status absent(octet_error* error) {
  return fail(error, OCTET_UNSUPPORTED,
              "this library was built without networks (OCTET_WITH_NETWORK=OFF), or without "
              "convolutions");
}

}  // namespace
}  // namespace octet

using octet::absent;

octet_status octet_network_create(const octet_network_desc*, octet_network** network,
                                  octet_error* error) {
  if (network) *network = nullptr;
  return absent(error);
}
void octet_network_destroy(octet_network*) {}
octet_status octet_network_workspace(const octet_network*, size_t*, octet_error* error) {
  return absent(error);
}
octet_status octet_network_run(const octet_network*, const octet_network_args*,
                               octet_error* error) {
  return absent(error);
}
octet_status octet_network_explain(const octet_network*, size_t, octet_network_explanation*,
                                   octet_error* error) {
  return absent(error);
}
