// SPDX-License-Identifier: Apache-2.0
// octet_traffic_network: walks a network part by part and band by band, and traces its memory
// accesses.
#include "analysis/traffic/lines.h"
#include "analysis/traffic/memory.h"
#include "dispatch/api/struct_size.h"
#include "octet/traffic.h"
#include "operators/common/check.h"
#include "operators/network/run.h"
#include "operators/network/schedule.h"

namespace octet {
namespace {

struct Walker : Performer {
  const octet_network& network;
  octet_traffic* const traffic;
  const size_t first;  // layer index of op 0

  octet_traffic* begin(const NetworkOp& op) const {
    traffic->begin(first + (size_t)(&op - network.ops));
    return traffic;
  }
  static const Walker& of(const Performer& self) { return (const Walker&)self; }
};

octet_status walk_conv2d(const Performer& self, const NetworkOp& op, const octet_conv2d_args& args,
                         octet_error* error) {
  return octet_traffic_conv2d(Walker::of(self).begin(op), op.conv, &args, error);
}

octet_status walk_gemm(const Performer& self, const NetworkOp& op, const octet_gemm_args& args,
                       octet_error* error) {
  return octet_traffic_gemm(Walker::of(self).begin(op), op.gemm, &args, error);
}

void walk_op_lines(const Performer& self, const NetworkOp& op, const LineTensor& lhs,
                   const LineTensor* residual, const LineTensor& dst, LineRange out,
                   uint8_t* workspace) {
  walk_lines(Walker::of(self).begin(op), *op.conv, lhs, residual, dst, out, op.most, workspace);
}

void touch_lines(octet_traffic* traffic, const octet_network_image& image, size_t element,
                 LineRange lines, octet_operand operand, bool write) {
  const size_t pixel = image.channels * element;
  for (size_t y = lines.first; y < lines.end; ++y) {
    const uint8_t* const line = (const uint8_t*)octet_network_line(&image, y);
    if (image.pixel == pixel) {
      traffic->touch(line, image.w * pixel, operand, write);
      continue;
    }
    for (size_t x = 0; x < image.w; ++x)
      traffic->touch(line + x * image.pixel, pixel, operand, write);
  }
}

// The caller's function is not called: the model assumes that it reads its input lines, then writes
// its output lines.
void walk_function(const Performer& self, const NetworkOp& op, const octet_network_call& call) {
  const Walker& walker = Walker::of(self);
  octet_traffic* const traffic = walker.begin(op);
  const auto element = [&](size_t tensor) {
    return element_bytes(walker.network.tensors[tensor].type);
  };
  for (size_t k = 0; k < op.input_count; ++k)
    touch_lines(traffic, call.inputs[k], element(op.inputs[k]),
                lines_read(walker.network, op, k, {call.first, call.end}), OCTET_OPERAND_INPUT,
                false);
  touch_lines(traffic, call.output, element(op.output), {call.first, call.end},
              OCTET_OPERAND_OUTPUT, true);
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_traffic_network(octet_traffic* traffic, const octet_network* network,
                                   const octet_network_args* args, octet_error* error) {
  if (!traffic || !network)
    return fail(error, OCTET_NULL_POINTER, "%s is null", traffic ? "network" : "traffic");
  CallerStruct<octet_network_args> given;
  OCTET_TRY(given.read(args, "args", error));
  OCTET_TRY(check_args(*network, *given, error));
  const size_t first = traffic->current();
  if (network->op_count > traffic->layers() - first)
    return fail(error, OCTET_BAD_SIZE,
                "the network has %zu ops; from layer %zu on there are %zu layers",
                network->op_count, first, traffic->layers() - first);
  const Walker walker = {
      {walk_conv2d, walk_gemm, walk_op_lines, walk_function}, *network, traffic, first};
  return run_parts({*network, *given, 1, walker}, error);
}
