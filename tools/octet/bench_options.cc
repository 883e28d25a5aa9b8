// SPDX-License-Identifier: Apache-2.0
// Parses types, fillings and peers.
#include "tools/octet/bench_options.h"

#include <fmt/format.h>

#include "bench/machine/machine.h"

namespace tool {

octet_sparsity parse_sparsity(const std::string& text) {
  if (text.empty()) return OCTET_SPARSE_NONE;
  if (text == "2:4") return OCTET_SPARSE_2_4;
  if (text == "auto") return OCTET_SPARSE_AUTO;
  throw Error("'" + text + "' is no sparsity: 2:4 or auto");
}

void check_scale_block(size_t scale_block, const OperandTypes& types) {
  if (scale_block && types.dst != OCTET_F32)
    throw Error("--scale-block is for f32 outputs, such as s8s4f32 or s8s8f32");
}

// Whether a peer is this library in another mode.
bool is_octet(const std::string& peer) {
  return peer == "float" || peer == "symmetric" || peer == "plain" || peer == "int8";
}

// Refuses options that a model decides itself.
void refuse_beside_a_model(const BenchArguments& a) {
  const bool octet = is_octet(a.peer);
  const char* const option = !a.types.empty()          ? "--types"
                             : a.requant != "float"    ? "--requant"
                             : a.lhs_zero_point        ? "--lhs-zero-point"
                             : a.rhs_zero_point        ? "--rhs-zero-point"
                             : a.residual              ? "--residual"
                             : a.table                 ? "--table"
                             : !a.sparse.empty()       ? "--sparse"
                             : !a.run_time.empty()     ? "--run-time"
                             : a.scale_block           ? "--scale-block"
                             : a.peer.empty() || octet ? nullptr
                                                       : "--peer";
  if (option)
    throw Error(fmt::format("--operands model leaves {} to the model{}", option,
                            a.peer.empty() || octet ? "" : "; peers are float, symmetric, plain"));
}

void refuse_modes(const Operands& operands, const OperandTypes& types) {
  const bool bytes = types.dst == OCTET_U8 || types.dst == OCTET_S8;
  if (!bytes && (operands.requant != Requant::kFloat || operands.residual || operands.table))
    throw Error(fmt::format(
        "--requant tflite and double, --residual and --table are for outputs of 8 bits, "
        "not for {}",
        types.name()));
}

BenchOptions to_options(const BenchArguments& a) {
  BenchOptions options;
  if (parse_likeness(a.operands) == Likeness::kModel) refuse_beside_a_model(a);
  if (a.residual && parse_requant(a.requant) == Requant::kDouble)
    throw Error("--requant double has no --residual");
  if (!a.isa.empty()) options.forced.isa = usable_tier(a.isa);
  if (!a.kernel.empty()) options.forced.kernel = usable_kernel(a.kernel).name;
  if (!a.algorithm.empty()) options.forced.algorithm = algorithm(a.algorithm);
  options.operands = {
      parse_likeness(a.operands), parse_requant(a.requant), a.rhs_zero_point, a.residual, a.table,
      !a.sparse.empty(),          parse_order(a.run_time),  a.scale_block};
  options.operands.lhs_zero_point = a.lhs_zero_point;
  if (options.operands.run_time && !a.sparse.empty())
    throw Error("--run-time weights are not packed, so --sparse is not for them");
  if (options.operands.run_time && !a.peer.empty() && a.peer != "onednn" && !is_octet(a.peer))
    throw Error("--run-time is for peers onednn, float, symmetric, plain: others pack the weights");
  for (const std::string& name : a.types)
    if (is_4bit(parse_types(name).rhs) && !a.peer.empty() && !is_octet(a.peer))
      throw Error("weights of 4 bits are for peers float, symmetric, plain, int8");
    else if (parse_types(name).lhs == OCTET_S16 && !a.peer.empty() && !is_octet(a.peer))
      throw Error("an lhs of s16 is for peers float, symmetric, plain, int8");
  for (const std::string& name : a.types) check_scale_block(a.scale_block, parse_types(name));
  if (a.scale_block && a.types.empty()) throw Error("--scale-block needs --types, such as s8s4f32");
  options.forced.sparsity = parse_sparsity(a.sparse);
  options.threads = a.threads;
  options.repetitions = a.repetitions;
  return options;
}

void pin_if_single(const BenchOptions& options) {
  if (options.threads == 1) pin_to_current_cpu();
}

}  // namespace tool
