// SPDX-License-Identifier: Apache-2.0
// Fills the fields that descriptors and runs of products and of convolutions have in common.
#pragma once

#include <vector>

#include "bench/machine/thread_pool.h"
#include "bench/problems/forced.h"
#include "bench/problems/operands.h"

namespace tool {

// desc: of the weights. Arrays stay with the data.
template <typename Desc>
void set_zero_points(const std::vector<int32_t>& zero_points, octet_type type, const Forced& forced,
                     Desc* desc) {
  desc->zero_points = forced.symmetric      ? centre(type)
                      : zero_points.empty() ? nullptr
                                            : zero_points.data();
  desc->zero_point_count = forced.symmetric ? 1 : zero_points.size();
  desc->sparsity = forced.sparsity;
}

inline octet_type rhs_type_of(octet_type rhs, const Forced& forced) {
  return !forced.int8 || !is_4bit(rhs) ? rhs : rhs == OCTET_S4 ? OCTET_S8 : OCTET_U8;
}

// Of an input or output
inline octet_type tensor_type_of(octet_type type, const Forced& forced) {
  return forced.int8 && type == OCTET_S16 ? OCTET_S8 : type;
}

// Types, zero points and epilogue. Arrays stay with the data.
template <typename Data, typename Desc>
void set_operands(const Data& data, const Forced& forced, Desc* desc) {
  desc->lhs_type = tensor_type_of(data.types.lhs, forced);
  desc->rhs_type = rhs_type_of(data.types.rhs, forced);
  desc->dst_type = tensor_type_of(data.types.dst, forced);
  desc->lhs_zero_point = data.lhs_zero_point;
  desc->epilogue.bias = data.bias.empty() ? nullptr : data.bias.data();
  set_scales(data.scales, forced.float_mode ? nullptr : &data.tflite, &desc->epilogue);
  desc->epilogue.dst_zero_point = data.dst_zero_point;
  if (!forced.plain) data.after.set(&desc->epilogue);
  data.activation.set(&desc->epilogue);
  desc->max_isa = forced.isa;
  desc->kernel = forced.kernel;
}

// The arguments of a run.
template <typename Data, typename Args>
void set_args(const Data& data, const Forced& forced, const Buffer& dst, const Buffer& workspace,
              ThreadPool* pool, Args* args) {
  args->lhs = data.lhs.as();
  args->dst = dst.as();
  if (data.after.residual.type && !forced.plain) args->residual = data.after.bytes.as();
  args->workspace = workspace.as();
  args->workspace_bytes = workspace.size();
  ThreadPool::attach(pool, args);
}

}  // namespace tool
