// SPDX-License-Identifier: Apache-2.0
// Creates the library's objects, and throws the sentence of a refusal.
#include "bench/problems/objects.h"

namespace tool {
namespace {

template <typename Weights, typename Desc, typename Size, typename Pack>
Buffer pack(const Weights& weights, octet_isa isa, Desc* to, Size size, Pack pack_into) {
  octet_error error = {};
  size_t bytes = 0;
  check(size(&weights, isa, &bytes, &error), error);
  Buffer blob(bytes);
  check(pack_into(&weights, isa, blob.as(), bytes, &error), error);
  to->packed = blob.as(), to->packed_bytes = blob_bytes(blob.as(), bytes);
  return blob;
}

template <typename Handle, typename Desc, typename Create>
Handle create(const Desc& desc, Create create_it) {
  octet_error error = {};
  typename Handle::pointer object = nullptr;
  check(create_it(&desc, &object, &error), error);
  return Handle(object);
}

}  // namespace

Buffer pack(const octet_filter_desc& filter, octet_isa isa, octet_conv2d_desc* to) {
  return pack(filter, isa, to, octet_conv2d_pack_size, octet_conv2d_pack);
}
Buffer pack(const octet_rhs_desc& rhs, octet_isa isa, octet_gemm_desc* to) {
  return pack(rhs, isa, to, octet_pack_size, octet_pack);
}

Conv create(const octet_conv2d_desc& desc) { return create<Conv>(desc, octet_conv2d_create); }
Gemm create(const octet_gemm_desc& desc) { return create<Gemm>(desc, octet_gemm_create); }
Network create(const octet_network_desc& desc) {
  return create<Network>(desc, octet_network_create);
}

size_t workspace_of(const octet_network& network) {
  octet_error error = {};
  size_t bytes = 0;
  check(octet_network_workspace(&network, &bytes, &error), error);
  return bytes;
}

std::vector<octet_network_explanation> parts_of(const octet_network& network) {
  std::vector<octet_network_explanation> parts;
  octet_network_explanation e = OCTET_NETWORK_EXPLANATION_INIT;
  while (octet_network_explain(&network, parts.size(), &e, nullptr) == OCTET_OK) parts.push_back(e);
  return parts;
}

}  // namespace tool
