// Packs, creates and runs a product.
#include "bench/problems/gemm_plan.h"

namespace tool {

Buffer pack_weights(const GemmData& data, const Forced& forced) {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = data.types.rhs;
  rhs.order = OCTET_KN;
  rhs.n = data.shape.n;
  rhs.k = data.shape.k;
  rhs.data = data.rhs.as();
  const std::vector<int32_t>& zero_points = data.rhs_zero_points;
  rhs.zero_points = forced.symmetric      ? centre(data.types.rhs)
                    : zero_points.empty() ? nullptr
                                          : &zero_points[0];
  rhs.zero_point_count = forced.symmetric ? 1 : zero_points.size();
  rhs.sparsity = forced.sparsity;
  rhs.m_max = data.shape.m;
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
  desc.lhs_type = data.types.lhs;
  desc.rhs_type = data.types.rhs;
  desc.dst_type = data.types.dst;
  desc.lhs_zero_point = data.lhs_zero_point;
  desc.packed = packed.as();
  desc.packed_bytes = packed.size();
  desc.epilogue.bias = data.bias.empty() ? nullptr : data.bias.data();
  set_scales(data.scales, forced.float_mode ? nullptr : &data.tflite, &desc.epilogue);
  desc.epilogue.dst_zero_point = data.dst_zero_point;
  if (!forced.plain) data.after.set(&desc.epilogue);
  data.activation.set(&desc.epilogue);
  desc.max_isa = forced.isa;
  desc.kernel = forced.kernel;
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
  args_.lhs = data.lhs.as();
  args_.dst = dst_.as();
  if (data.after.residual.type && !forced.plain) args_.residual = data.after.bytes.as();
  args_.workspace = workspace_.as();
  args_.workspace_bytes = bytes;
  ThreadPool::attach(pool, &args_);
}

void GemmPlan::run(size_t calls) {
  octet_error error = {};
  for (size_t i = 0; i < calls; ++i)
    if (const octet_status status = octet_gemm_run(gemm_.get(), &args_, &error))
      check(status, error);
}

}  // namespace tool
