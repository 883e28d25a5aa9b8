#pragma once

#include "dispatch/environment.h"
#include "dispatch/gemm.h"
#include "kernels/gemm/blob.h"

namespace octet {

// What octet_gemm_create works out from a descriptor before it allocates anything. Each step below fills its part or returns what is wrong.
struct Draft {
  const octet_gemm_desc& desc;
  octet_error* const error;
  bool has_blob = false;
  BlobHeader blob = {};
  size_t matrices = 1;               // packed
  bool lhs_u8 = false;               // after quantization
  int32_t lhs_lo = 0, lhs_hi = 0;    // range of lhs - zero point
  int64_t max_bias = 0;              // largest |bias|
  double max_scaled = 0;             // largest |acc| * scale
  Environment environment = {};
  const MicroKernel* kernel = nullptr;
  const MicroKernel* small_kernel = nullptr;
  Finish finish = {};

  Draft(const octet_gemm_desc& d, octet_error* e) : desc(d), error(e) {}
};

constexpr bool quantizes(const octet_gemm_desc& d) { return d.lhs_quant == OCTET_LHS_SYMMETRIC || d.lhs_quant == OCTET_LHS_ASYMMETRIC; }
constexpr bool runtime_scales(const octet_gemm_desc& d) { return d.lhs_quant != OCTET_LHS_STATIC; }

octet_status check_desc(Draft* draft);      // gemm_check.cc: enumerations, combinations, sizes, scales, the accumulators' range
octet_status plan_finish(Draft* draft);     // gemm_finish.cc: residual and clamp
octet_status choose_kernels(Draft* draft);  // gemm_choose.cc
octet_status build_gemm(const Draft& draft, octet_gemm** gemm);  // gemm_build.cc: the one allocation

}  // namespace octet
