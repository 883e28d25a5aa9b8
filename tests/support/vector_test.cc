#include "support/vector_test.h"

#include <algorithm>

#include "support/guarded.h"
#include "support/vectors.h"

namespace octet_test {
namespace {

octet_type type_of(const Tensor& tensor) { return static_cast<octet_type>(tensor.type); }

// A case of a vector file in the words of the API. Points into the case.
struct Problem {
  explicit Problem(const Case& c) {
    const Tensor *lhs = c.find("lhs"), *dst = c.find("dst"), *rhs_nk = c.find("rhs_nk"), *batch = c.find("batch");
    const Tensor* stored = rhs_nk ? rhs_nk : c.find("rhs_kn");
    rhs.type = type_of(*stored);
    rhs.order = rhs_nk ? OCTET_NK : OCTET_KN;
    rhs.n = dst->columns;
    rhs.k = lhs->columns;
    rhs.batch = batch ? static_cast<size_t>(*batch->data<int32_t>()) : 1;
    rhs.data = stored->data<void>();
    if (const Tensor* t = c.find("rhs_zero_points")) {
      rhs.zero_points = t->data<int32_t>();
      rhs.zero_point_count = t->size();
    }

    args.m = desc.m_max = lhs->rows / rhs.batch;
    args.batch = desc.batch_max = rhs.batch;
    args.lhs = lhs->data<void>();
    desc.n = rhs.n;
    desc.k = rhs.k;
    desc.lhs_type = type_of(*lhs);
    desc.rhs_type = rhs.type;
    desc.dst_type = type_of(*dst);

    const Tensor *quant = c.find("lhs_quant"), *zero_points = c.find("lhs_zero_points");
    desc.lhs_quant = quant                                    ? static_cast<octet_lhs_quant>(*quant->data<int32_t>())
                     : desc.lhs_type == OCTET_F32             ? OCTET_LHS_ASYMMETRIC
                     : zero_points && zero_points->size() > 1 ? OCTET_LHS_PER_ROW
                                                              : OCTET_LHS_STATIC;
    if (zero_points) {
      if (desc.lhs_quant == OCTET_LHS_STATIC)
        desc.lhs_zero_point = *zero_points->data<int32_t>();
      else
        args.lhs_zero_points = zero_points->data<int32_t>();
    }
    if (const Tensor* t = c.find("lhs_scales")) args.lhs_scales = t->data<float>();

    if (const Tensor* t = c.find("bias")) desc.bias = t->data<int32_t>();
    if (const Tensor* t = c.find("bias_f32")) desc.bias_f32 = t->data<float>();
    if (const Tensor* t = c.find("scales")) {
      desc.scales = t->data<float>();
      desc.scale_count = t->size();
    }
    if (const Tensor* t = c.find("multipliers")) {
      desc.requant = OCTET_REQUANT_TFLITE;
      desc.multipliers = t->data<int32_t>();
      desc.shifts = c.find("shifts")->data<int32_t>();
      desc.multiplier_count = t->size();
    }
    if (const Tensor* t = c.find("dst_zero_point")) desc.dst_zero_point = *t->data<int32_t>();
    if (const Tensor* t = c.find("dst_scale")) desc.dst_scale = *t->data<float>();
    if (const Tensor* t = c.find("clamp")) {
      desc.clamp_min = t->data<float>()[0];
      desc.clamp_max = t->data<float>()[1];
    }
    if (const Tensor* t = c.find("lut")) desc.lut = t->data<uint8_t>();
    if (const Tensor* t = c.find("residual")) {
      const int32_t* residual_zero_points = c.find("residual_zero_points")->data<int32_t>();
      desc.residual.type = type_of(*t);
      desc.residual.zero_point = residual_zero_points[0];
      if (const Tensor* scale = c.find("residual_scale")) {
        desc.residual.scale = *scale->data<float>();
      } else {
        const int32_t* s = c.find("residual_scales")->data<int32_t>();
        desc.residual = {type_of(*t), residual_zero_points[0], 0, residual_zero_points[1], s[0], s[1], s[2], s[3], s[4], s[5]};
      }
      args.residual = t->data<void>();
    }
  }

  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
};

void run(Problem problem, const Tensor& expected, bool packed) {
  octet_error error;
  Guarded blob;
  if (packed) {
    size_t bytes;
    ASSERT_EQ(octet_pack_size(&problem.rhs, problem.desc.max_isa, &bytes, &error), OCTET_OK) << error.message;
    blob = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
    ASSERT_EQ(octet_pack(&problem.rhs, problem.desc.max_isa, blob.data(), bytes, &error), OCTET_OK) << error.message;
    problem.desc.packed = blob.data();
    problem.desc.packed_bytes = bytes;
  } else {
    problem.desc.rhs_order = problem.rhs.order;
    problem.args.rhs = problem.rhs.data;
    problem.args.rhs_zero_points = problem.rhs.zero_points;
    problem.args.rhs_zero_point_count = problem.rhs.zero_point_count;
  }

  octet_gemm* created;
  ASSERT_EQ(octet_gemm_create(&problem.desc, &created, &error), OCTET_OK) << error.message;
  const std::unique_ptr<octet_gemm, void (*)(octet_gemm*)> gemm(created, &octet_gemm_destroy);
  size_t bytes;
  ASSERT_EQ(octet_gemm_workspace(created, problem.args.m, 1, &bytes, &error), OCTET_OK) << error.message;
  const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
  const Guarded dst(expected.bytes.size(), Side::kBack, expected.bytes.size() / expected.size());
  problem.args.workspace = workspace.data();
  problem.args.workspace_bytes = bytes;
  problem.args.dst = dst.data();
  ASSERT_EQ(octet_gemm_run(created, &problem.args, &error), OCTET_OK) << error.message;

  const auto wrong = std::mismatch(expected.bytes.begin(), expected.bytes.end(), dst.data()).first;
  const size_t element = static_cast<size_t>(wrong - expected.bytes.begin()) * expected.size() / dst.bytes();
  EXPECT_TRUE(wrong == expected.bytes.end()) << octet_gemm_kernel(created, problem.args.m) << (packed ? "" : ", run-time weights")
                                             << ": first difference in row " << element / expected.columns << ", column "
                                             << element % expected.columns;
}

}  // namespace

void VectorTest::SetUp() {
  octet_cpu_info info = {};
  info.struct_size = sizeof info;
  octet_error error;
  ASSERT_EQ(octet_get_cpu_info(&info, &error), OCTET_OK) << error.message;
  const uint32_t usable = info.detected_isas & ~info.demoted_isas;
  if (!(usable >> GetParam() & 1)) GTEST_SKIP() << "this machine cannot run " << octet_isa_name(GetParam());
}

void VectorTest::check(const std::string& path) {
  for (const Case& c : VectorFile::read(path)) {
    SCOPED_TRACE(c.name);
    Problem problem(c);
    problem.desc.max_isa = GetParam();
    // Every activation listed gives the same output.
    const Tensor* activations = c.find("activations");
    for (size_t i = 0; i < (activations ? activations->size() : 1); ++i) {
      if (activations) problem.desc.activation = static_cast<octet_activation>(activations->data<int32_t>()[i]);
      run(problem, *c.find("dst"), true);
      run(problem, *c.find("dst"), false);
    }
  }
}

}  // namespace octet_test
