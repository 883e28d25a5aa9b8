// SPDX-License-Identifier: Apache-2.0
// Packs, creates and runs a product.
#include "bench/problems/gemm_plan.h"

#include "bench/problems/describe.h"

namespace tool {

Buffer pack_weights(const GemmData& data, const Forced& forced) {
  if (data.run_time) return Buffer(0);
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = rhs_type_of(data.types.rhs, forced);
  rhs.order = OCTET_KN;
  rhs.n = data.shape.n;
  rhs.k = data.shape.k;
  const Buffer nibbles = is_4bit(rhs.type) ? nibbles_of(data.rhs) : Buffer();
  rhs.data = is_4bit(rhs.type) ? nibbles.as() : data.rhs.as();
  set_zero_points(data.rhs_zero_points, data.types.rhs, forced, &rhs);
  rhs.m_max = data.shape.m;
  std::vector<uint16_t> ones;
  if (data.scale_block && !forced.int8) {
    ones.assign(data.shape.n * (data.shape.k / data.scale_block), 0x3c00);
    rhs.scale_block = data.scale_block, rhs.scale_type = OCTET_F16, rhs.scales = ones.data();
  }
  const PackingFor packing(forced);
  octet_error error = {};
  size_t bytes = 0;
  check(octet_pack_size(&rhs, packing.isa(), &bytes, &error), error);
  Buffer blob(bytes);
  check(octet_pack(&rhs, packing.isa(), blob.as(), bytes, &error), error);
  return blob;
}

octet_gemm_desc describe_gemm(const GemmData& data, const Forced& forced, const Buffer& packed) {
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = data.shape.m;
  desc.n = data.shape.n;
  desc.k = data.shape.k;
  set_operands(data, forced, &desc);
  if (data.run_time) {
    desc.rhs_order = *data.run_time;
    return desc;
  }
  desc.packed = packed.as();
  desc.packed_bytes = packed.size();
  return desc;
}

octet_gemm_explanation explain(const GemmData& data, const Forced& forced, size_t threads) {
  const Buffer packed = pack_weights(data, forced);
  const octet_gemm_desc desc = describe_gemm(data, forced, packed);
  octet_gemm_explanation explanation = OCTET_GEMM_EXPLANATION_INIT;
  octet_error error = {};
  check(octet_gemm_explain(&desc, threads, &explanation, &error), error);
  return explanation;
}

GemmPlan::GemmPlan(const GemmData& data, const Forced& forced, ThreadPool* pool)
    : packed_(pack_weights(data, forced)),
      dst_(data.shape.m * data.shape.n * type_bytes(data.types.dst)) {
  const octet_gemm_desc desc = describe_gemm(data, forced, packed_);
  octet_error error = {};
  octet_gemm* gemm = nullptr;
  check(octet_gemm_create(&desc, &gemm, &error), error);
  gemm_.reset(gemm);
  const size_t concurrency = pool ? pool->threads() : 1;
  size_t bytes = 0;
  check(octet_gemm_workspace(gemm, data.shape.m, concurrency, &bytes, &error), error);
  workspace_ = Buffer(bytes);
  args_.m = data.shape.m;
  set_args(data, forced, dst_, workspace_, pool, &args_);
  if (!data.run_time) return;
  args_.rhs = data.weights().as();
  args_.rhs_zero_points = data.rhs_zero_points.empty() ? nullptr : data.rhs_zero_points.data();
  args_.rhs_zero_point_count = data.rhs_zero_points.size();
}

void GemmPlan::run(size_t calls) {
  octet_error error = {};
  for (size_t i = 0; i < calls; ++i)
    if (const octet_status status = octet_gemm_run(gemm_.get(), &args_, &error))
      check(status, error);
}

}  // namespace tool
