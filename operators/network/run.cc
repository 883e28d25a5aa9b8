// SPDX-License-Identifier: Apache-2.0
// octet_network_run: runs a network part by part.
#include "operators/network/run.h"

#include "dispatch/api/struct_size.h"

namespace octet {

namespace {

// image: the first of the images that it runs at once.
octet_status run_part(const NetworkRun& run, const NetworkPart& part, size_t image,
                      octet_error* error) {
  if (part.band) {
    run_chain(run, part, image);
    return OCTET_OK;
  }
  for (size_t i = part.first; i < part.end; ++i)
    OCTET_TRY(run_op(run, part, run.network.ops[i], image, error));
  return OCTET_OK;
}

}  // namespace

octet_status run_parts(const NetworkRun& run, octet_error* error) {
  const octet_network& n = run.network;
  for (size_t p = 0, end; p < n.part_count; p = end) {
    end = end_of_group(n, p);
    const size_t images = n.parts[p].by_image ? n.tensors[n.ops[n.parts[p].first].output].batch : 1;
    for (size_t image = 0; image < images; ++image)
      for (size_t i = p; i < end; ++i) OCTET_TRY(run_part(run, n.parts[i], image, error));
  }
  return OCTET_OK;
}

}  // namespace octet

using namespace octet;

octet_status octet_network_run(const octet_network* network, const octet_network_args* args,
                               octet_error* error) {
  if (!network || !args)
    return fail(error, OCTET_NULL_POINTER, "%s is null", network ? "args" : "network");
  CallerStruct<octet_network_args> given;
  OCTET_TRY(given.read(args, "args", error));
  const size_t concurrency = given->parallel_for && given->concurrency ? given->concurrency : 1;
  const NetworkRun run = {*network, *given, concurrency, the_objects};
  octet_status status;
  if (run_bound(run, &status, error)) return status;
  OCTET_TRY(check_args(*network, *given, error));
  return run_parts(run, error);
}
