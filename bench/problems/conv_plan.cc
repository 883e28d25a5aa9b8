// SPDX-License-Identifier: Apache-2.0
// Packs, creates and runs a convolution.
#include "bench/problems/conv_plan.h"

#include "bench/problems/describe.h"

namespace tool {
namespace {

Buffer packed(const ConvData& data, const Forced& forced) {
  Buffer blob;
  pack_filter(data, forced, &blob);
  return blob;
}

}  // namespace

octet_filter_desc describe_filter(const ConvData& data, const Forced& forced) {
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  filter.shape = data.shape.geometry;
  filter.type = data.types.rhs;
  filter.order = OCTET_OHWI;
  filter.data = data.filter.as();
  set_zero_points(data.filter_zero_points, data.types.rhs, forced, &filter);
  filter.algorithm = forced.algorithm;
  filter.dst_type = data.types.dst;
  if (data.types.dst == OCTET_S8 || data.types.dst == OCTET_U8) {
    const Requant requant = data.tflite.requant();
    filter.requant = requant == Requant::kTflite   ? OCTET_REQUANT_TFLITE
                     : requant == Requant::kDouble ? OCTET_REQUANT_DOUBLE
                                                   : OCTET_REQUANT_FLOAT;
    filter.has_residual = data.after.residual.type != 0;
    filter.has_lut = !data.after.table.empty();
  }
  if (forced.algorithm == OCTET_CONV_WINOGRAD_2X2_INT8)
    filter.accuracy = OCTET_ACCURACY_APPROXIMATE;
  return filter;
}

void pack_filter(const ConvData& data, const Forced& forced, Buffer* blob) {
  const octet_filter_desc filter = describe_filter(data, forced);
  const PackingFor packing(forced);
  octet_error error = {};
  if (blob->size() == 0) {
    size_t bytes = 0;
    check(octet_conv2d_pack_size(&filter, packing.isa(), &bytes, &error), error);
    *blob = Buffer(bytes);
  }
  check(octet_conv2d_pack(&filter, packing.isa(), blob->as(), blob->size(), &error), error);
}

octet_conv2d_desc describe_conv(const ConvData& data, const Forced& forced) {
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  desc.shape = data.shape.geometry;
  set_operands(data, forced, &desc);
  return desc;
}

Conv create_conv(const ConvData& data, const Forced& forced, const Buffer& packed) {
  octet_conv2d_desc desc = describe_conv(data, forced);
  desc.packed = packed.as();
  desc.packed_bytes = packed.size();
  octet_error error = {};
  octet_conv2d* conv = nullptr;
  check(octet_conv2d_create(&desc, &conv, &error), error);
  return Conv(conv);
}

ConvPlan::ConvPlan(const ConvData& data, const Forced& forced, ThreadPool* pool)
    : packed_(packed(data, forced)),
      dst_(data.dst_elements() * type_bytes(data.types.dst)),
      conv_(create_conv(data, forced, packed_)) {
  const size_t concurrency = pool ? pool->threads() : 1;
  octet_error error = {};
  size_t bytes = 0;
  check(octet_conv2d_workspace(conv_.get(), 0, 0, 0, concurrency, &bytes, &error), error);
  workspace_ = Buffer(bytes);
  args_.out_h = data.shape.out_h;
  args_.out_w = data.shape.out_w;
  set_args(data, forced, dst_, workspace_, pool, &args_);
}

void ConvPlan::run(size_t calls) {
  octet_error error = {};
  for (size_t i = 0; i < calls; ++i)
    if (const octet_status status = octet_conv2d_run(conv_.get(), &args_, &error))
      check(status, error);
}

}  // namespace tool
