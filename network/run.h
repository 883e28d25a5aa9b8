// A run of a network, its arguments checked.
#pragma once

#include "network/network.h"

namespace octet {

// Who does what an op is: its objects, or a model that watches them (traffic/network.cc).
struct Performer {
  octet_status (*conv2d)(const Performer& self, const NetworkOp& op, const octet_conv2d_args& args,
                         octet_error* error);
  octet_status (*gemm)(const Performer& self, const NetworkOp& op, const octet_gemm_args& args,
                       octet_error* error);
  // In a chain: as run_lines
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

  // The first byte of a tensor.
  uint8_t* data(size_t tensor) const {
    const NetworkTensor& t = network.tensors[tensor];
    uint8_t* const home = t.kept ? (uint8_t*)args.tensors[t.home]
                                 : (uint8_t*)args.workspace + network.tensors[t.home].offset;
    return home + t.at;
  }
};

// Part by part, in their order.
octet_status run_parts(const NetworkRun& run, octet_error* error);
octet_status check_args(const octet_network& network, const octet_network_args& args,
                        octet_error* error);
// An op by itself, in the caller's threads.
octet_status run_op(const NetworkRun& run, const NetworkPart& part, const NetworkOp& op,
                    octet_error* error);
// Likewise, a part in bands.
void run_chain(const NetworkRun& run, const NetworkPart& part);

}  // namespace octet
