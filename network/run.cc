// octet_network_run: part by part.
#include "network/run.h"

#include "dispatch/struct_size.h"

namespace octet {

octet_status run_parts(const NetworkRun& run, octet_error* error) {
  const octet_network& n = run.network;
  for (size_t p = 0; p < n.part_count; ++p) {
    const NetworkPart& part = n.parts[p];
    if (part.band)
      run_chain(run, part);
    else
      for (size_t i = part.first; i < part.end; ++i) OCTET_TRY(run_op(run, part, n.ops[i], error));
  }
  return OCTET_OK;
}

}  // namespace octet

using namespace octet;

octet_status octet_network_run(const octet_network* network, const octet_network_args* args,
                               octet_error* error) {
  if (!network || !args)
    return fail(error, OCTET_NULL_POINTER, "%s is null", network ? "args" : "network");
  Given<octet_network_args> given;
  OCTET_TRY(given.read(args, "args", error));
  OCTET_TRY(check_args(*network, *given, error));
  const size_t concurrency = given->parallel_for && given->concurrency ? given->concurrency : 1;
  return run_parts({*network, *given, concurrency, the_objects}, error);
}
