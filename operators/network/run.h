// SPDX-License-Identifier: Apache-2.0
// A run of a network with checked arguments.
#pragma once

#include "operators/network/network.h"

namespace octet {

// Performs the ops: through their objects, or in a model of memory traffic
// (analysis/traffic/network.cc).
struct Performer {
  octet_status (*conv2d)(const Performer& self, const NetworkOp& op, const octet_conv2d_args& args,
                         octet_error* error);
  octet_status (*gemm)(const Performer& self, const NetworkOp& op, const octet_gemm_args& args,
                       octet_error* error);
  // Used in chains; arguments as for run_lines
  void (*lines)(const Performer& self, const NetworkOp& op, const LineTensor& lhs,
                const LineTensor* residual, const LineTensor& dst, LineRange out,
                uint8_t* workspace);
  void (*function)(const Performer& self, const NetworkOp& op, const octet_network_call& call);
};
extern const Performer the_objects;

struct NetworkRun {
  const octet_network& network;
  const octet_network_args& args;
  size_t concurrency;
  const Performer& by;

  // The first byte of a tensor in an image.
  uint8_t* data(size_t tensor, size_t image) const {
    const NetworkTensor& t = network.tensors[tensor];
    const void* const base = t.caller == kNoUse ? args.workspace : args.tensors[t.caller];
    return (uint8_t*)base + t.first + image * t.step_image;
  }
};

// Runs all parts in order.
octet_status run_parts(const NetworkRun& run, octet_error* error);
octet_status check_args(const octet_network& network, const octet_network_args& args,
                        octet_error* error);
// `first`: the first of the images that the part runs at once. run_op runs an op by itself, in the
// caller's threads.
octet_status run_op(const NetworkRun& run, const NetworkPart& part, const NetworkOp& op,
                    size_t first, octet_error* error);
// A product whose loops need no checks, from lhs to dst.
void run_direct(const NetworkRun& run, const NetworkPart& part, const NetworkOp& op, void* lhs,
                void* dst);
// Checks the arguments and runs all ops; at the addresses of the run before, nothing is checked or
// looked up again. Returns false, and does nothing, if the network cannot be bound, or if another
// run uses its addresses.
bool run_bound(const NetworkRun& run, octet_status* status, octet_error* error);
// Runs a part in bands.
void run_chain(const NetworkRun& run, const NetworkPart& part, size_t first);

}  // namespace octet
