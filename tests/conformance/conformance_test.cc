// Octet against code that we did not write: ONNX's reference evaluator, ONNX Runtime and LiteRT's reference kernels. README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "octet/octet.h"
#include "vectors.h"

namespace {

std::vector<Case> read(const char* file) { return VectorFile::read(std::string(OCTET_CONFORMANCE_DIR "/vectors/") + file); }

struct AlignedBuffer {
  explicit AlignedBuffer(size_t size)
      : memory(std::aligned_alloc(OCTET_ALIGNMENT, (size / OCTET_ALIGNMENT + 1) * OCTET_ALIGNMENT), &std::free) {}
  std::unique_ptr<void, void (*)(void*)> memory;
};

octet_type type_of(const Tensor& tensor) { return static_cast<octet_type>(tensor.type); }

// A problem as the vector file gives it, in the words of the API.
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
    desc.lhs_quant = desc.lhs_type == OCTET_F32 ? OCTET_LHS_ASYMMETRIC : OCTET_LHS_STATIC;
    if (const Tensor* t = c.find("lhs_zero_points")) {
      if (t->size() > 1) {
        desc.lhs_quant = OCTET_LHS_PER_ROW;
        args.lhs_zero_points = t->data<int32_t>();
      } else {
        desc.lhs_zero_point = *t->data<int32_t>();
      }
    }

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
    if (const Tensor* t = c.find("residual")) {
      const int32_t* zero_points = c.find("residual_zero_points")->data<int32_t>();
      const int32_t* scales = c.find("residual_scales")->data<int32_t>();
      desc.residual = {type_of(*t), zero_points[0], 0, zero_points[1], scales[0], scales[1], scales[2], scales[3], scales[4], scales[5]};
      args.residual = t->data<void>();
    }
  }

  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
};

// Runs the problem with weights packed beforehand or given to run, and compares all bytes.
void run(Problem problem, const Tensor& expected, bool packed) {
  octet_error error;
  std::vector<uint8_t> dst(expected.bytes.size(), 0xa5);
  AlignedBuffer blob(0);
  if (packed) {
    size_t bytes;
    ASSERT_EQ(octet_pack_size(&problem.rhs, problem.desc.max_isa, &bytes, &error), OCTET_OK) << error.message;
    blob = AlignedBuffer(bytes);
    ASSERT_EQ(octet_pack(&problem.rhs, problem.desc.max_isa, blob.memory.get(), bytes, &error), OCTET_OK) << error.message;
    problem.desc.packed = blob.memory.get();
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
  const AlignedBuffer workspace(bytes);
  problem.args.workspace = workspace.memory.get();
  problem.args.workspace_bytes = bytes;
  problem.args.dst = dst.data();
  ASSERT_EQ(octet_gemm_run(created, &problem.args, &error), OCTET_OK) << error.message;

  const auto wrong = std::mismatch(dst.begin(), dst.end(), expected.bytes.begin()).first;
  const size_t element = static_cast<size_t>(wrong - dst.begin()) * expected.size() / dst.size();
  EXPECT_TRUE(wrong == dst.end()) << octet_gemm_kernel(created, problem.args.m) << (packed ? "" : ", run-time weights")
                                  << ": first difference in row " << element / expected.columns << ", column "
                                  << element % expected.columns;
}

class Conformance : public testing::TestWithParam<octet_isa> {
 protected:
  void SetUp() override {
    octet_cpu_info info = {};
    info.struct_size = sizeof info;
    octet_error error;
    ASSERT_EQ(octet_get_cpu_info(&info, &error), OCTET_OK) << error.message;
    const uint32_t usable = info.detected_isas & ~info.demoted_isas;
    if (!(usable >> GetParam() & 1)) GTEST_SKIP() << "this machine cannot run " << octet_isa_name(GetParam());
  }

  void check(const char* file) {
    for (const Case& c : read(file)) {
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
};

TEST_P(Conformance, MatMulInteger) { check("matmul_integer.bin"); }
TEST_P(Conformance, QLinearMatMul) { check("qlinear_matmul.bin"); }
TEST_P(Conformance, DynamicQuantize) { check("dynamic_quantize.bin"); }
TEST_P(Conformance, FullyConnected) { check("fully_connected.bin"); }
TEST_P(Conformance, Residual) { check("residual.bin"); }

INSTANTIATE_TEST_SUITE_P(Tiers, Conformance,
                         testing::Values(OCTET_ISA_SCALAR, OCTET_ISA_AVX2, OCTET_ISA_AVXVNNI, OCTET_ISA_AVX512VNNI, OCTET_ISA_NEON,
                                         OCTET_ISA_DOTPROD, OCTET_ISA_I8MM),
                         [](const auto& tier) { return std::string(octet_isa_name(tier.param)); });

TEST(QuantizeMultiplier, AsTflite) {
  for (const char* file : {"fully_connected.bin", "residual.bin"}) {
    for (const Case& c : read(file)) {
      const Tensor* factors = c.find("factors");
      for (size_t i = 0; i < factors->size(); ++i) {
        int32_t multiplier, shift;
        octet_error error;
        ASSERT_EQ(octet_quantize_multiplier(factors->data<double>()[i], &multiplier, &shift, &error), OCTET_OK) << error.message;
        EXPECT_EQ(multiplier, c.find("multipliers")->data<int32_t>()[i]) << c.name;
        EXPECT_EQ(shift, c.find("shifts")->data<int32_t>()[i]) << c.name;
      }
    }
  }
}

}  // namespace
