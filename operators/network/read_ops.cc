// SPDX-License-Identifier: Apache-2.0
// Reads the ops of a network's description and checks their tensors.
#include <stdio.h>

#include "operators/common/check.h"
#include "operators/conv/call.h"
#include "operators/network/read.h"

namespace octet {
namespace {

// The beginning of a message about an op's tensor: "ops[3].inputs[0] = 7".
struct Role {
  size_t op;
  int input;  // -1: the output
  size_t tensor;
};

struct Name {
  char text[40] = "output";
  explicit Name(const Role& role) {
    if (role.input >= 0) snprintf(text, sizeof text, "inputs[%d]", role.input);
  }
};

octet_status wrong(const Role& role, octet_status status, octet_error* error, const char* why,
                   size_t is, size_t wanted) {
  return fail(error, status, "ops[%zu].%s = %zu: %s is %zu, but must be %zu", role.op,
              Name(role).text, role.tensor, why, is, wanted);
}

// Checks that a tensor is batch x h x w x channels of a type.
octet_status check_tensor(const Role& role, const NetworkTensor& t, size_t batch, size_t h,
                          size_t w, size_t channels, octet_type type, octet_error* error) {
  if (t.type != type)
    return fail(error, OCTET_UNSUPPORTED, "ops[%zu].%s = %zu is %s, but the op %s %s", role.op,
                Name(role).text, role.tensor, octet_type_name(t.type),
                role.input < 0 ? "makes" : "reads", octet_type_name(type));
  const struct {
    const char* name;
    size_t is, wanted;
  } sizes[] = {{"its batch", t.batch, batch},
               {"its h", t.h, h},
               {"its w", t.w, w},
               {"the number of its channels", t.channels, channels}};
  for (const auto& s : sizes)
    if (s.is != s.wanted) return wrong(role, OCTET_BAD_SIZE, error, s.name, s.is, s.wanted);
  return OCTET_OK;
}

octet_status check_inputs(const NetworkOp& op, size_t i, size_t wanted, octet_error* error) {
  if (op.input_count == wanted) return OCTET_OK;
  return fail(error, OCTET_BAD_SIZE, "ops[%zu].input_count = %zu, but this op reads %zu tensor%s",
              i, op.input_count, wanted, wanted == 1 ? "" : "s, the residual among them");
}

// Checks output and residual, which have the same sizes.
octet_status check_outputs(const NetworkOp& op, size_t i, const NetworkTensor* tensors,
                           size_t batch, size_t h, size_t w, size_t channels, octet_type type,
                           octet_type residual, octet_error* error) {
  OCTET_TRY(
      check_tensor({i, -1, op.output}, tensors[op.output], batch, h, w, channels, type, error));
  if (residual == 0) return OCTET_OK;
  return check_tensor({i, 1, op.inputs[1]}, tensors[op.inputs[1]], batch, h, w, channels, residual,
                      error);
}

octet_status read_conv(const octet_conv2d& conv, size_t i, const NetworkTensor* tensors,
                       NetworkOp* op, octet_error* error) {
  OCTET_TRY(check_inputs(*op, i, conv.residual_type ? 2 : 1, error));
  if (conv.lhs_layout != OCTET_NHWC || conv.dst_layout != OCTET_NHWC)
    return fail(error, OCTET_UNSUPPORTED, "ops[%zu].conv2d: a network's tensors are NHWC", i);
  if (conv.lhs_quant == OCTET_LHS_PER_TENSOR)
    return fail(error, OCTET_UNSUPPORTED,
                "ops[%zu].conv2d wants zero points with each run, which a network has not", i);
  for (size_t k = 0; k < op->input_count; ++k)
    if (tensors[op->inputs[k]].alias_root == tensors[op->output].alias_root && !has_lines(conv))
      return fail(error, OCTET_UNSUPPORTED,
                  "ops[%zu].conv2d reads and writes slices of one tensor, tensors[%zu], and "
                  "quantizes whole images or is approximate",
                  i, tensors[op->output].alias_root);
  const ConvShape& s = conv.plan.shape;
  const NetworkTensor& in = tensors[op->inputs[0]];
  const Role role = {i, 0, op->inputs[0]};
  OCTET_TRY(check_tensor(role, in, in.batch, in.h, in.w, s.in_channels, conv.lhs_type, error));
  const struct {
    const char* name;
    size_t is, most;
  } sizes[] = {{"its batch", in.batch, s.batch}, {"its h", in.h, s.in_h}, {"its w", in.w, s.in_w}};
  for (const auto& size : sizes)
    if (size.is > size.most)
      return fail(error, OCTET_SIZE_ABOVE_MAXIMUM,
                  "ops[%zu].inputs[0] = %zu: %s is %zu, above the convolution's %zu", i,
                  op->inputs[0], size.name, size.is, size.most);
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  args.batch = in.batch, args.in_h = in.h, args.in_w = in.w;
  ConvSizes z;
  OCTET_TRY(check_sizes(conv, args, "", &z, error));
  return check_outputs(*op, i, tensors, z.batch, z.out_h, z.out_w, s.out_channels, conv.dst_type,
                       conv.residual_type, error);
}

octet_status read_gemm(const octet_gemm& gemm, size_t i, const NetworkTensor* tensors,
                       NetworkOp* op, octet_error* error) {
  OCTET_TRY(check_inputs(*op, i, gemm.residual_type ? 2 : 1, error));
  if (!gemm.packed)
    return fail(error, OCTET_UNSUPPORTED, "ops[%zu].gemm wants weights with each run", i);
  const LhsQuant quant = gemm.plan.lhs_quant;
  if (quant == LhsQuant::kPerTensor || quant == LhsQuant::kPerRow || quant == LhsQuant::kPerBlock)
    return fail(error, OCTET_UNSUPPORTED, "ops[%zu].gemm wants zero points or scales with each run",
                i);
  for (size_t k = 0; k < op->input_count; ++k)
    if (tensors[op->inputs[k]].alias_root == tensors[op->output].alias_root)
      return fail(error, OCTET_UNSUPPORTED,
                  "ops[%zu].gemm reads and writes slices of one tensor, tensors[%zu]", i,
                  tensors[op->output].alias_root);
  const NetworkTensor& in = tensors[op->inputs[0]];
  const size_t image = in.h * in.w * in.channels;
  const Role role = {i, 0, op->inputs[0]};
  op->flat = gemm.plan.k != in.channels && gemm.plan.k == image && in.alias_root == op->inputs[0];
  OCTET_TRY(check_tensor(role, in, in.batch, in.h, in.w, op->flat ? in.channels : gemm.plan.k,
                         gemm.lhs_type, error));
  const size_t h = op->flat ? 1 : in.h, w = op->flat ? 1 : in.w, rows = in.batch * h * w;
  if (rows > gemm.m_max)
    return fail(error, OCTET_SIZE_ABOVE_MAXIMUM,
                "ops[%zu].inputs[0] = %zu has %zu rows, above the product's m_max = %zu", i,
                op->inputs[0], rows, gemm.m_max);
  return check_outputs(*op, i, tensors, in.batch, h, w, gemm.plan.n, gemm.dst_type,
                       gemm.residual_type, error);
}

octet_status read_function(const octet_network_function& f, size_t i, const NetworkTensor* tensors,
                           NetworkOp* op, octet_error* error) {
  if (!f.run) return fail(error, OCTET_NULL_POINTER, "ops[%zu].function->run is null", i);
  op->function = f;
  op->all_images = f.kernel_h == OCTET_NETWORK_ALL_IMAGES;
  if (op->all_images) op->function.kernel_h = 0;
  if (!f.stride_h) op->function.stride_h = 1;
  if (!f.repeat_h) op->function.repeat_h = 1;
  const struct {
    const char* name;
    size_t value;
  } sizes[] = {{"kernel_h", op->function.kernel_h},
               {"stride_h", f.stride_h},
               {"repeat_h", f.repeat_h},
               {"pad_top", f.pad_top}};
  constexpr size_t kMost = (size_t)1 << 15;
  for (const auto& s : sizes)
    if (s.value > kMost)
      return fail(error, OCTET_BAD_SIZE, "ops[%zu].function->%s = %zu; it ends at %zu", i, s.name,
                  s.value, kMost);
  for (size_t n = 0; n < op->input_count && !op->all_images; ++n)
    if (tensors[op->inputs[n]].batch != tensors[op->output].batch)
      return wrong({i, (int)n, op->inputs[n]}, OCTET_BAD_SIZE, error, "its batch",
                   tensors[op->inputs[n]].batch, tensors[op->output].batch);
  return OCTET_OK;
}

octet_status read_op(const octet_network_desc& desc, size_t i, const NetworkTensor* tensors,
                     NetworkOp* op, octet_error* error) {
  const octet_network_op& from = desc.ops[i];
  if (!!from.conv2d + !!from.gemm + !!from.function != 1)
    return fail(error, OCTET_BAD_NETWORK,
                "ops[%zu] must be one of conv2d, gemm and function, but has %d of them", i,
                !!from.conv2d + !!from.gemm + !!from.function);
  if (from.input_count > OCTET_NETWORK_INPUTS_MAX || from.input_count == 0)
    return fail(error, OCTET_BAD_SIZE, "ops[%zu].input_count = %zu; it must be 1 to %d", i,
                from.input_count, OCTET_NETWORK_INPUTS_MAX);
  *op = {};
  op->conv = from.conv2d;
  op->gemm = from.gemm;
  op->input_count = from.input_count;
  op->output = from.output;
  for (size_t n = 0; n < from.input_count; ++n) {
    op->inputs[n] = from.inputs[n];
    if (from.inputs[n] >= desc.tensor_count)
      return fail(error, OCTET_BAD_NETWORK, "ops[%zu].inputs[%zu] = %zu, but there are %zu tensors",
                  i, n, from.inputs[n], desc.tensor_count);
  }
  if (from.output >= desc.tensor_count)
    return fail(error, OCTET_BAD_NETWORK, "ops[%zu].output = %zu, but there are %zu tensors", i,
                from.output, desc.tensor_count);
  if (from.conv2d) return read_conv(*from.conv2d, i, tensors, op, error);
  if (from.gemm) return read_gemm(*from.gemm, i, tensors, op, error);
  return read_function(*from.function, i, tensors, op, error);
}

}  // namespace

octet_status read_ops(const octet_network_desc& desc, const NetworkTensor* tensors, NetworkOp* ops,
                      octet_error* error) {
  for (size_t i = 0; i < desc.op_count; ++i) OCTET_TRY(read_op(desc, i, tensors, &ops[i], error));
  return OCTET_OK;
}

}  // namespace octet
