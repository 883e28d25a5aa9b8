// SPDX-License-Identifier: Apache-2.0
// Checks that everything that a caller can get wrong has its own status and a message that names
// the argument. Each test starts from a product that is right in every respect and breaks one
// thing.
#include <cmath>
#include <functional>
#include <limits>

#include "dispatch/os/os.h"
#include "operators/common/arena.h"
#include "support/draw.h"
#include "support/gemm_case.h"
#include "support/refused.h"

namespace octet_test {
namespace {

class EveryStatus : public testing::Environment {
  void TearDown() override {
    if (testing::GTEST_FLAG(filter) != "*") return;
    for (int status = OCTET_NULL_POINTER; status <= OCTET_BAD_SPARSITY; ++status)
      EXPECT_TRUE(reached().count((octet_status)status))
          << octet_status_name((octet_status)status) << " is reached by no test";
  }
};
const testing::Environment* const every_status = testing::AddGlobalTestEnvironment(new EveryStatus);

constexpr size_t kM = 5, kN = 6, kK = 7, kBatch = 2;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                kInf = std::numeric_limits<float>::infinity();

struct Product {
  std::vector<uint8_t> weights = std::vector<uint8_t>(kBatch * kN * kK, 1);
  std::vector<float> scales = std::vector<float>(kN, 0.5f);
  std::vector<int32_t> multipliers = std::vector<int32_t>(kN, 1 << 30),
                       shifts = std::vector<int32_t>(kN, 0), bias = std::vector<int32_t>(kN, 0);
  std::vector<uint8_t> lut = std::vector<uint8_t>(256, 0);
  Guarded blob, lhs{kBatch * kM * kK * 4, Side::kBack, 64},
      dst{kBatch * kM * kN * 4, Side::kBack, 64}, residual{kBatch * kM * kN, Side::kBack},
      workspace;
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;

  explicit Product(octet_type dst_type = OCTET_U8, size_t batch = kBatch) {
    rhs.type = OCTET_S8, rhs.n = kN, rhs.k = kK, rhs.batch = batch, rhs.data = weights.data();
    size_t bytes = 0;
    EXPECT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
    blob = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), bytes, nullptr), OCTET_OK);
    desc.m_max = kM, desc.n = kN, desc.k = kK, desc.batch_max = batch;
    desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = dst_type;
    desc.packed = blob.data(), desc.packed_bytes = bytes;
    if (dst_type != OCTET_S32) desc.epilogue.scales = scales.data(), desc.epilogue.scale_count = kN;
    args.m = kM, args.batch = batch, args.lhs = lhs.data(), args.dst = dst.data();
  }
  void to_tflite() {
    desc.epilogue.requant = OCTET_REQUANT_TFLITE;
    desc.epilogue.scales = nullptr, desc.epilogue.scale_count = 0;
    desc.epilogue.multipliers = multipliers.data(), desc.epilogue.shifts = shifts.data(),
    desc.epilogue.multiplier_count = kN;
  }
  void to_runtime_rhs() { desc.packed = nullptr, desc.packed_bytes = 0, args.rhs = weights.data(); }
  void to_float_lhs() {
    desc.lhs_type = desc.dst_type = OCTET_F32;
    desc.lhs_quant = OCTET_LHS_SYMMETRIC;
  }
};

using Edit = std::function<void(Product&)>;

void create_refuses(octet_status status, const char* argument, const Edit& edit) {
  Product p;
  edit(p);
  expect_refused(status, argument, [&](octet_error* error) {
    octet_gemm* gemm = (octet_gemm*)1;
    const octet_status got = octet_gemm_create(&p.desc, &gemm, error);
    EXPECT_EQ(gemm, nullptr);
    return got;
  });
}

TEST(BadInput, NothingIsWrongWithTheProduct) {
  for (const octet_type dst : {OCTET_S32, OCTET_U8, OCTET_F32}) {
    Product p(dst);
    octet_error error = {};
    octet_gemm* gemm = nullptr;
    ASSERT_EQ(octet_gemm_create(&p.desc, &gemm, &error), OCTET_OK) << error.message;
    size_t bytes = 0;
    ASSERT_EQ(octet_gemm_workspace(gemm, kM, 1, &bytes, &error), OCTET_OK) << error.message;
    p.workspace = Guarded(bytes + 1, Side::kFront, 64);
    p.args.workspace = p.workspace.data(), p.args.workspace_bytes = bytes;
    EXPECT_EQ(octet_gemm_run(gemm, &p.args, &error), OCTET_OK) << error.message;
    octet_gemm_destroy(gemm);
  }
  octet_gemm_destroy(nullptr);
  EXPECT_EQ(octet_gemm_kernel(nullptr, 1), nullptr);
}

// ---- create

TEST(BadCreate, Pointers) {
  Product p;
  octet_gemm* gemm = nullptr;
  expect_refused(OCTET_NULL_POINTER, "desc",
                 [&](octet_error* e) { return octet_gemm_create(nullptr, &gemm, e); });
  expect_refused(OCTET_NULL_POINTER, "gemm",
                 [&](octet_error* e) { return octet_gemm_create(&p.desc, nullptr, e); });
  create_refuses(OCTET_NULL_POINTER, "desc.epilogue.scales",
                 [](Product& q) { q.desc.epilogue.scales = nullptr; });
  create_refuses(OCTET_NULL_POINTER, "desc.epilogue.multipliers",
                 [](Product& q) { q.to_tflite(), q.desc.epilogue.multipliers = nullptr; });
  create_refuses(OCTET_NULL_POINTER, "desc.epilogue.shifts",
                 [](Product& q) { q.to_tflite(), q.desc.epilogue.shifts = nullptr; });
  create_refuses(OCTET_NULL_POINTER, "desc.packed", [](Product& q) { q.desc.packed = nullptr; });
  create_refuses(OCTET_NULL_POINTER, "desc.allocator", [](Product& q) {
    q.desc.allocator.allocate = [](void*, size_t, size_t) -> void* { return nullptr; };
  });
  create_refuses(OCTET_NULL_POINTER, "desc.allocator",
                 [](Product& q) { q.desc.allocator.release = [](void*, void*) {}; });
  create_refuses(OCTET_MISALIGNED, "desc.packed",
                 [](Product& q) { q.desc.packed = q.blob.data() + 1; });
}

TEST(BadCreate, StructSize) {
  for (const size_t size :
       {size_t{0}, sizeof(octet_gemm_desc) - 1, sizeof(octet_gemm_desc) + 1, SIZE_MAX})
    create_refuses(OCTET_BAD_STRUCT_SIZE, "desc.struct_size",
                   [&](Product& p) { p.desc.struct_size = size; });
}

TEST(BadCreate, Enumerations) {
  for (const int value : {-1, 0, 3, 5, 99})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.lhs_type",
                   [&](Product& p) { set_raw(&p.desc.lhs_type, value); });
  for (const int value : {-1, 0, 3, 4, 99})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.rhs_type",
                   [&](Product& p) { set_raw(&p.desc.rhs_type, value); });
  for (const int value : {-1, 0, 5, 99})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.dst_type",
                   [&](Product& p) { set_raw(&p.desc.dst_type, value); });
  for (const int value : {-1, 8, 99})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.lhs_quant",
                   [&](Product& p) { set_raw(&p.desc.lhs_quant, value); });
  for (const int value : {-1, 3})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.epilogue.requant",
                   [&](Product& p) { set_raw(&p.desc.epilogue.requant, value); });
  for (const int value : {-1, 5}) {
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.epilogue.activation",
                   [&](Product& p) { set_raw(&p.desc.epilogue.activation, value); });
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.epilogue.product_activation",
                   [&](Product& p) { set_raw(&p.desc.epilogue.product_activation, value); });
  }
  for (const int value : {-1, 2})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.rhs_order",
                   [&](Product& p) { set_raw(&p.desc.rhs_order, value); });
  for (const int value : {-1, 3, 4})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.epilogue.residual.type",
                   [&](Product& p) { set_raw(&p.desc.epilogue.residual.type, value); });
  for (const int value : {-1, 31, 257})
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.max_isa",
                   [&](Product& p) { set_raw(&p.desc.max_isa, value); });
}

TEST(BadCreate, Sizes) {
  create_refuses(OCTET_BAD_SIZE, "desc.m_max", [](Product& p) { p.desc.m_max = 0; });
  create_refuses(OCTET_BAD_SIZE, "desc.n", [](Product& p) { p.desc.n = 0; });
  create_refuses(OCTET_BAD_SIZE, "desc.k", [](Product& p) { p.desc.k = 0; });
  for (const size_t huge : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4 + 1, SIZE_MAX / 8 + 1}) {
    create_refuses(OCTET_BAD_SIZE, "desc.m_max", [&](Product& p) { p.desc.m_max = huge; });
    create_refuses(OCTET_BAD_SIZE, "desc.n", [&](Product& p) { p.desc.n = huge; });
    create_refuses(OCTET_BAD_SIZE, "desc.k", [&](Product& p) { p.desc.k = huge; });
  }
  create_refuses(OCTET_BAD_SIZE, "desc.m_max",
                 [](Product& p) { p.to_runtime_rhs(), p.desc.m_max = p.desc.n = size_t{1} << 31; });
  if (sizeof(size_t) == 8) {  // the last that is no more than 2^31
    Product tall;
    tall.desc.m_max = size_t{1} << 31;
    octet_gemm* gemm = nullptr;
    EXPECT_EQ(octet_gemm_create(&tall.desc, &gemm, nullptr), OCTET_OK);
    octet_gemm_destroy(gemm);
  }
  create_refuses(OCTET_BAD_SIZE, "desc.m_max",
                 [](Product& p) { p.desc.m_max = (size_t{1} << 31) + 1; });
  // Sizes that wrap there only: run-time weights, packed; arrays over columns
  if (sizeof(size_t) == 4) {
    create_refuses(OCTET_BAD_SIZE, "desc.k", [](Product& p) {
      p.to_runtime_rhs(), p.desc.m_max = 1, p.desc.n = p.desc.k = 70000;
    });
    create_refuses(OCTET_BAD_SIZE, "desc.n", [](Product& p) {
      p.to_runtime_rhs(), p.desc.m_max = p.desc.k = 1, p.desc.n = 1 << 26;
    });
  }
  for (const size_t count : {size_t{0}, kN - 1, kN + 1, SIZE_MAX}) {
    create_refuses(OCTET_BAD_SIZE, "desc.epilogue.scale_count",
                   [&](Product& p) { p.desc.epilogue.scale_count = count; });
    create_refuses(OCTET_BAD_SIZE, "desc.epilogue.multiplier_count",
                   [&](Product& p) { p.to_tflite(), p.desc.epilogue.multiplier_count = count; });
  }
}

// One blob may hold millions of small matrices.
TEST(BadCreate, CopiesBeyondMemory) {
  octet::Arena arena = {nullptr, 0};
  for (size_t i = 0; i < 5; ++i) arena.take<int32_t>(SIZE_MAX / 16);
  EXPECT_GT(arena.used, size_t{PTRDIFF_MAX});
  arena = {nullptr, 0};
  arena.take<int32_t>(SIZE_MAX / 4 + 2);
  EXPECT_GT(arena.used, size_t{PTRDIFF_MAX});
  arena.take<int32_t>(1);
  EXPECT_GT(arena.used, size_t{PTRDIFF_MAX});
  expect_refused(OCTET_BAD_SIZE, "desc", octet::refuse_size);
}

TEST(BadCreate, Blob) {
  create_refuses(OCTET_BAD_BLOB, "desc.packed",
                 [](Product& p) { p.desc.packed_bytes = p.desc.packed_bytes - 1; });
  create_refuses(OCTET_BAD_BLOB, "desc.packed", [](Product& p) { p.desc.packed_bytes = 0; });
  create_refuses(OCTET_BAD_BLOB, "desc.packed", [](Product& p) { p.desc.n = kN + 1; });
  create_refuses(OCTET_BAD_BLOB, "desc.packed", [](Product& p) { p.desc.k = kK - 1; });
  create_refuses(OCTET_BAD_BLOB, "type s8; the descriptor wants",
                 [](Product& p) { p.desc.rhs_type = OCTET_U8; });
  create_refuses(OCTET_BAD_BLOB, "desc.packed", [](Product& p) { p.desc.batch_max = kBatch + 1; });
  for (const octet_isa foreign : foreign_tiers()) {
    const octet::WeightFormat& format = format_for(foreign, OCTET_S8);
    const std::string layout = std::string("form ") + format.name + ", of tier " +
                               octet::isa_name(octet::smallest_tier(format));
    create_refuses(OCTET_WRONG_TIER, layout.c_str(), [&](Product& p) {
      size_t bytes = 0;
      EXPECT_EQ(octet_pack_size(&p.rhs, foreign, &bytes, nullptr), OCTET_OK);
      p.blob = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
      EXPECT_EQ(octet_pack(&p.rhs, foreign, p.blob.data(), bytes, nullptr), OCTET_OK);
      p.desc.packed = p.blob.data(), p.desc.packed_bytes = bytes;
    });
  }
}

TEST(BadCreate, ZeroPoints) {
  for (const int32_t value : {-1, 256, INT32_MAX, INT32_MIN}) {
    create_refuses(OCTET_BAD_ZERO_POINT, "desc.lhs_zero_point",
                   [&](Product& p) { p.desc.lhs_zero_point = value; });
    create_refuses(OCTET_BAD_ZERO_POINT, "desc.epilogue.dst_zero_point",
                   [&](Product& p) { p.desc.epilogue.dst_zero_point = value; });
  }
  for (const int32_t value : {-129, 128}) {
    create_refuses(OCTET_BAD_ZERO_POINT, "desc.lhs_zero_point",
                   [&](Product& p) { p.desc.lhs_type = OCTET_S8, p.desc.lhs_zero_point = value; });
    create_refuses(OCTET_BAD_ZERO_POINT, "desc.epilogue.dst_zero_point", [&](Product& p) {
      p.desc.dst_type = OCTET_S8, p.desc.epilogue.dst_zero_point = value;
    });
    create_refuses(OCTET_BAD_ZERO_POINT, "desc.epilogue.residual.zero_point", [&](Product& p) {
      p.desc.epilogue.residual = {OCTET_S8, value, 1, 0, 0, 0, 0, 0, 0, 0};
    });
  }
  create_refuses(
      OCTET_BAD_ZERO_POINT, "desc.epilogue.residual.intermediate_zero_point", [](Product& p) {
        p.to_tflite(),
            p.desc.epilogue.residual = {OCTET_S8, 0, 0, -1, 1 << 30, 0, 1 << 30, 0, 1 << 30, 0};
      });
}

constexpr octet_residual kResidual = {OCTET_S8, 0, 0, 0, 1 << 30, 0, 1 << 30, 0, 1 << 30, 0};

TEST(BadCreate, Scales) {
  for (const float value : {kNan, kInf, -kInf, 0.0f, -0.0f, -1.0f, 0x1.000002p48f}) {
    create_refuses(OCTET_BAD_SCALE, "desc.epilogue.scales[3]",
                   [&](Product& p) { p.scales[3] = value; });
    create_refuses(OCTET_BAD_SCALE, "desc.epilogue.residual.scale", [&](Product& p) {
      p.desc.epilogue.residual.type = OCTET_U8, p.desc.epilogue.residual.scale = value;
    });
    create_refuses(OCTET_BAD_SCALE, "desc.epilogue.dst_scale", [&](Product& p) {
      p.desc.epilogue.activation = OCTET_ACTIVATION_RELU6, p.desc.epilogue.dst_scale = value;
    });
    create_refuses(OCTET_BAD_SCALE, "desc.epilogue.dst_scale", [&](Product& p) {
      p.desc.epilogue.activation = OCTET_ACTIVATION_RELU_N1_TO_1;
      p.desc.epilogue.dst_scale = value;
    });
    for (const octet_activation activation :
         {OCTET_ACTIVATION_RELU6, OCTET_ACTIVATION_RELU_N1_TO_1}) {
      create_refuses(OCTET_BAD_SCALE, "desc.epilogue.dst_scale", [&](Product& p) {
        p.desc.epilogue.residual.type = OCTET_U8, p.desc.epilogue.residual.scale = 1;
        p.desc.epilogue.product_activation = activation, p.desc.epilogue.dst_scale = value;
      });
      create_refuses(OCTET_BAD_SCALE, "desc.epilogue.product_scale", [&](Product& p) {
        p.to_tflite(), p.desc.epilogue.residual = kResidual;
        p.desc.epilogue.product_activation = activation, p.desc.epilogue.product_scale = value;
      });
    }
  }
  for (const int32_t value : {1, -1, (1 << 30) - 1, INT32_MIN})
    create_refuses(OCTET_BAD_SCALE, "desc.epilogue.multipliers[5]",
                   [&](Product& p) { p.to_tflite(), p.multipliers[5] = value; });
  for (const int32_t value : {-32, 31, INT32_MIN, INT32_MAX})
    create_refuses(OCTET_BAD_SCALE, "desc.epilogue.shifts[0]",
                   [&](Product& p) { p.to_tflite(), p.shifts[0] = value; });
  // kK products of 255 * 1 are 1785 < 2^11: 20 bits to the left are left, 21 are not. A bias
  // reaches the limit itself, with outputs at both ends: else create would replace it.
  create_refuses(OCTET_BAD_SCALE, "desc.epilogue.shifts",
                 [](Product& p) { p.to_tflite(), p.shifts[2] = 21; });
  for (const bool up : {false, true})
    for (const int32_t beyond : {0, 1}) {
      const auto edit = [&](Product& p) {
        const int32_t most = (INT32_MAX >> 21) + beyond, least = (INT32_MIN >> 21) - beyond;
        p.to_tflite(), p.shifts[2] = 21, p.bias[2] = up ? most - 1785 : least,
                       p.desc.epilogue.bias = p.bias.data();
      };
      if (beyond) {
        create_refuses(OCTET_BAD_SCALE, "column 2 shifts left", edit);
      } else {
        Product p;
        edit(p);
        octet_gemm* gemm = nullptr;
        octet_error error = {};
        EXPECT_EQ(octet_gemm_create(&p.desc, &gemm, &error), OCTET_OK) << error.message;
        octet_gemm_destroy(gemm);
      }
    }
  struct Part {
    const char* name;
    int32_t octet_residual::*multiplier;
    int32_t octet_residual::*shift;
  };
  for (const Part& part :
       {Part{"desc.epilogue.residual.product", &octet_residual::product_multiplier,
             &octet_residual::product_shift},
        Part{"desc.epilogue.residual.residual", &octet_residual::residual_multiplier,
             &octet_residual::residual_shift},
        Part{"desc.epilogue.residual.dst", &octet_residual::dst_multiplier,
             &octet_residual::dst_shift}})
    for (const int32_t shift : {1, -32, 0})
      create_refuses(OCTET_BAD_SCALE, part.name, [&](Product& p) {
        p.to_tflite();
        p.desc.epilogue.residual = kResidual;
        p.desc.epilogue.residual.*part.shift = shift;
        if (shift == 0) p.desc.epilogue.residual.*part.multiplier = 77;
      });
}

TEST(BadCreate, Clamps) {
  const float bad[][2] = {{5, 4},    {kNan, 4}, {4, kNan},     {-1, 4}, {4, 256},
                          {0.5f, 4}, {0, 4.5f}, {-kInf, kInf}, {0, 0}};
  for (const auto& clamp : bad)
    create_refuses(OCTET_BAD_CLAMP, "desc.epilogue.clamp_min", [&](Product& p) {
      p.desc.epilogue.activation = OCTET_ACTIVATION_CLAMP, p.desc.epilogue.clamp_min = clamp[0],
      p.desc.epilogue.clamp_max = clamp[1];
    });
  // The intermediate tensor is u8 as well
  const auto clamp_product = [](Product& p, const float* clamp) {
    p.desc.epilogue.product_activation = OCTET_ACTIVATION_CLAMP;
    p.desc.epilogue.product_clamp_min = clamp[0], p.desc.epilogue.product_clamp_max = clamp[1];
  };
  for (const auto& clamp : bad)
    create_refuses(OCTET_BAD_CLAMP, "desc.epilogue.product_clamp_min", [&](Product& p) {
      p.to_tflite(), p.desc.epilogue.residual = kResidual, clamp_product(p, clamp);
    });
  const float bad_f32[][2] = {{5, 4}, {kNan, 4}, {4, kNan}, {0, 0}};
  for (const auto& clamp : bad_f32)
    create_refuses(OCTET_BAD_CLAMP, "desc.epilogue.product_clamp_min", [&](Product& p) {
      p.desc.epilogue.residual.type = OCTET_U8, p.desc.epilogue.residual.scale = 1;
      clamp_product(p, clamp);
    });
  for (const auto& clamp : bad_f32)
    create_refuses(OCTET_BAD_CLAMP, "desc.epilogue.clamp_min", [&](Product& p) {
      p.desc.dst_type = OCTET_F32, p.desc.epilogue.activation = OCTET_ACTIVATION_CLAMP,
      p.desc.epilogue.clamp_min = clamp[0], p.desc.epilogue.clamp_max = clamp[1];
    });
}

TEST(BadCreate, Combinations) {
  const auto refuses = [](const char* argument, const Edit& edit) {
    create_refuses(OCTET_UNSUPPORTED, argument, edit);
  };
  refuses("desc.lhs_type", [](Product& p) { p.desc.lhs_type = OCTET_F32; });
  refuses("desc.lhs_type",
          [](Product& p) { p.desc.dst_type = OCTET_F32, p.desc.lhs_quant = OCTET_LHS_ASYMMETRIC; });
  refuses("desc.dst_type", [](Product& p) { p.to_float_lhs(), p.desc.dst_type = OCTET_U8; });
  refuses("desc.lhs_zero_point",
          [](Product& p) { p.desc.lhs_quant = OCTET_LHS_PER_ROW, p.desc.lhs_zero_point = 1; });
  refuses("desc.epilogue.bias_f32", [](Product& p) { p.desc.epilogue.bias_f32 = p.scales.data(); });
  refuses("desc.epilogue.residual", [](Product& p) {
    p.desc.dst_type = OCTET_F32, p.desc.epilogue.residual = {OCTET_U8, 0, 1, 0, 0, 0, 0, 0, 0, 0};
  });
  refuses("desc.epilogue.lut",
          [](Product& p) { p.desc.dst_type = OCTET_F32, p.desc.epilogue.lut = p.lut.data(); });
  refuses("desc.epilogue.dst_zero_point",
          [](Product& p) { p.desc.dst_type = OCTET_F32, p.desc.epilogue.dst_zero_point = 1; });
  refuses("TFLITE", [](Product& p) {
    p.desc.dst_type = OCTET_F32, p.desc.epilogue.requant = OCTET_REQUANT_TFLITE;
  });
  refuses("desc.epilogue.scales", [](Product& p) { p.desc.dst_type = OCTET_S32; });
  refuses("desc.epilogue.product_activation",
          [](Product& p) { p.desc.epilogue.product_activation = OCTET_ACTIVATION_RELU; });
  refuses("desc.epilogue.activation", [](Product& p) {
    p.desc.dst_type = OCTET_S32, p.desc.epilogue.scales = nullptr, p.desc.epilogue.scale_count = 0,
    p.desc.epilogue.activation = OCTET_ACTIVATION_RELU;
  });
  refuses("TFLITE", [](Product& p) { p.to_tflite(), p.desc.lhs_quant = OCTET_LHS_PER_TENSOR; });
  refuses("desc.epilogue.scales", [](Product& p) {
    p.to_tflite(), p.desc.epilogue.scales = p.scales.data(), p.desc.epilogue.scale_count = 0;
  });
}

TEST(BadCreate, ResidualsWithoutAType) {
  for (const NamedResidual& r : residuals_of_one_field()) {
    const std::string argument = "desc.epilogue.residual." + r.field + " is set";
    create_refuses(OCTET_UNSUPPORTED, argument.c_str(),
                   [&](Product& p) { p.desc.epilogue.residual = r.residual; });
    create_refuses(OCTET_UNSUPPORTED, argument.c_str(),
                   [&](Product& p) { p.to_tflite(), p.desc.epilogue.residual = r.residual; });
  }
}

TEST(BadCreate, Kernels) {
  create_refuses(OCTET_UNKNOWN_KERNEL, "desc.kernel",
                 [](Product& p) { p.desc.kernel = "avx512vnni_u8s8_7x64x4"; });
  create_refuses(OCTET_UNKNOWN_KERNEL, "desc.kernel", [](Product& p) { p.desc.kernel = ""; });
  // Another layout
  create_refuses(OCTET_KERNEL_UNUSABLE, "desc.kernel names 'scalar_u8s8_3x5x2'",
                 [](Product& p) { p.desc.kernel = "scalar_u8s8_3x5x2"; });
  {
    Product p;
    octet_gemm* gemm = nullptr;
    const ScopedEnvironment forced("OCTET_KERNEL", "scalar_u8s8_3x5x2");
    expect_refused(OCTET_KERNEL_UNUSABLE, "OCTET_KERNEL names 'scalar_u8s8_3x5x2'",
                   [&](octet_error* e) { return octet_gemm_create(&p.desc, &gemm, e); });
  }
  for (const MicroKernel* kernel : table()) {
    const bool u8_lhs =
        kernel->is(octet::kAnyLhs) || kernel->lhs_element_type == octet::ElementType::kU8;
    // A forced kernel binds only products of its own types and dense or sparse weights
    if (usable(*kernel) || !u8_lhs || kernel->rhs_layout.element_type == octet::ElementType::kU8 ||
        kernel->rhs_layout.sparse() || kernel->rhs_layout.is_4bit())
      continue;
    create_refuses(OCTET_KERNEL_UNUSABLE, "CPU", [&](Product& p) { p.desc.kernel = kernel->name; });
  }
  for (const MicroKernel* kernel : table())
    if (usable(*kernel) && kernel->tier_id != octet::TierId::kScalar &&
        !kernel->rhs_layout.sparse() && serves(*kernel, {OCTET_U8, OCTET_S8}))
      create_refuses(OCTET_KERNEL_UNUSABLE, "the tier limit", [&](Product& p) {
        p.desc.max_isa = OCTET_ISA_SCALAR, p.desc.kernel = kernel->name;
      });
}

TEST(BadCreate, Memory) {
  create_refuses(OCTET_OUT_OF_MEMORY, "desc.allocator", [](Product& p) {
    p.desc.allocator.allocate = [](void*, size_t, size_t) -> void* { return nullptr; };
    p.desc.allocator.release = [](void*, void*) { ADD_FAILURE() << "nothing to release"; };
  });
  create_refuses(OCTET_MISALIGNED, "desc.allocator", [](Product& p) {
    p.desc.allocator.allocate = [](void*, size_t bytes, size_t) -> void* {
      return (char*)octet::os::allocate(bytes + 64, 64) + 8;
    };
    p.desc.allocator.release = [](void*, void* memory) { octet::os::release((char*)memory - 8); };
  });
}

// ---- sparse weights

TEST(BadSparsity, IsRefused) {
  Product p;
  size_t bytes = 0;
  const auto refuse = [&](octet_status status, const char* says, const octet_rhs_desc& rhs) {
    expect_refused(status, says, [&](octet_error* e) {
      return octet_pack(&rhs, OCTET_ISA_AUTO, p.blob.data(), p.blob.bytes(), e);
    });
  };
  for (const int value : {-1, 3, INT32_MAX}) {
    octet_rhs_desc rhs = p.rhs;
    set_raw(&rhs.sparsity, value);
    refuse(OCTET_UNKNOWN_ENUM, "rhs.sparsity", rhs);
  }
  octet_rhs_desc rhs = p.rhs;
  rhs.reserved = 1;
  refuse(OCTET_UNSUPPORTED, "rhs.reserved", rhs);
  // In matrix 1, column 2, the last group has three weights
  std::vector<uint8_t> weights(2 * kN * kK);
  const auto at = [&](size_t matrix, size_t n, size_t k) -> uint8_t& {
    return weights[(matrix * kN + n) * kK + k];
  };
  at(0, 1, 0) = at(0, 1, 3) = at(0, 1, 4) = at(0, 1, 5) = 1;
  at(1, 2, 4) = 3, at(1, 2, 5) = 0x80, at(1, 2, 6) = 7;
  rhs = p.rhs;
  rhs.type = OCTET_S8, rhs.order = OCTET_NK, rhs.n = kN, rhs.k = kK, rhs.batch = 2;
  rhs.stride = rhs.batch_stride = 0, rhs.data = weights.data();
  rhs.zero_points = nullptr, rhs.zero_point_count = 0;
  rhs.sparsity = OCTET_SPARSE_2_4;
  ASSERT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  expect_refused(OCTET_BAD_SPARSITY,
                 "column 2 of matrix 1 has more than two weights other than 0 "
                 "from k = 4 on: 3, -128, 7",
                 [&](octet_error* e) {
                   return octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), blob.bytes(), e);
                 });
  at(1, 2, 5) = 0;
  EXPECT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), blob.bytes(), nullptr), OCTET_OK);
}

// ---- the accumulator's bounds

octet_gemm_desc runtime_product(size_t k, octet_lhs_quant quant, octet_type lhs, octet_type rhs) {
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  static const float kScale = 1;
  d.m_max = 1, d.n = 3, d.k = k, d.lhs_quant = quant, d.lhs_type = lhs, d.rhs_type = rhs,
  d.dst_type = OCTET_S32;
  if (lhs == OCTET_F32)
    d.dst_type = OCTET_F32, d.epilogue.scales = &kScale, d.epilogue.scale_count = 1;
  return d;
}

TEST(AccumulatorBound, RuntimeWeightsByDepth) {
  const struct {
    octet_lhs_quant quant;
    octet_type lhs, rhs;
    size_t last;
  } kBounds[] = {{OCTET_LHS_STATIC, OCTET_U8, OCTET_S8, 65793},
                 {OCTET_LHS_STATIC, OCTET_S8, OCTET_U8, 65793},
                 {OCTET_LHS_STATIC, OCTET_U8, OCTET_U8, 33025},
                 {OCTET_LHS_STATIC, OCTET_S8, OCTET_S8, 131071},
                 {OCTET_LHS_PER_TENSOR, OCTET_S8, OCTET_S8, 65793},
                 {OCTET_LHS_PER_ROW, OCTET_U8, OCTET_U8, 33025},
                 {OCTET_LHS_SYMMETRIC, OCTET_F32, OCTET_S8, 132104},
                 {OCTET_LHS_SYMMETRIC, OCTET_F32, OCTET_U8, 66311},
                 {OCTET_LHS_ASYMMETRIC, OCTET_F32, OCTET_S8, 65793},
                 {OCTET_LHS_ASYMMETRIC, OCTET_F32, OCTET_U8, 33025}};
  for (const auto& bound : kBounds)
    for (const size_t beyond : {0, 1}) {
      const octet_gemm_desc d =
          runtime_product(bound.last + beyond, bound.quant, bound.lhs, bound.rhs);
      octet_gemm* gemm = nullptr;
      if (beyond) {
        expect_refused(OCTET_ACCUMULATOR_OVERFLOW,
                       "k = ", [&](octet_error* e) { return octet_gemm_create(&d, &gemm, e); });
      } else {
        octet_error error = {};
        EXPECT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
        octet_gemm_destroy(gemm);
      }
    }
}

TEST(AccumulatorBound, RuntimeZeroPointsByDepth) {
  const struct {
    octet_lhs_quant quant;
    size_t last;
  } kBounds[] = {
      {OCTET_LHS_STATIC, 33025}, {OCTET_LHS_SYMMETRIC, 66311}, {OCTET_LHS_ASYMMETRIC, 33025}};
  for (const auto& bound : kBounds)
    for (const size_t k : {bound.last, bound.last + 1}) {
      const bool floats = bound.quant != OCTET_LHS_STATIC;
      const octet_gemm_desc d =
          runtime_product(k, bound.quant, floats ? OCTET_F32 : OCTET_U8, OCTET_S8);
      octet_error error = {};
      octet_gemm* gemm = nullptr;
      if (bound.quant == OCTET_LHS_ASYMMETRIC && k > 65793) continue;
      ASSERT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
      size_t bytes = 0;
      ASSERT_EQ(octet_gemm_workspace(gemm, 1, 1, &bytes, &error), OCTET_OK);
      const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
      const std::vector<uint8_t> lhs(k, 255), rhs(3 * k, 0x80);
      const std::vector<float> lhs_f32(k, 1);
      int32_t dst[3] = {};
      const int32_t zero_point = 127;
      octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
      args.m = 1, args.lhs = floats ? (const void*)lhs_f32.data() : lhs.data(),
      args.rhs = rhs.data(), args.dst = dst;
      args.workspace = workspace.data(), args.workspace_bytes = bytes;
      args.rhs_zero_points = &zero_point, args.rhs_zero_point_count = 1;
      if (k == bound.last) {
        EXPECT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
        if (!floats) {
          EXPECT_EQ(dst[0], -255 * 255 * 33025);
        }
      } else {
        expect_refused(OCTET_ACCUMULATOR_OVERFLOW, "args.rhs_zero_points",
                       [&](octet_error* e) { return octet_gemm_run(gemm, &args, e); });
      }
      octet_gemm_destroy(gemm);
    }
}

// For packed weights the column's own range plus its bias decides, also where the sums alone exceed
// int32.
TEST(AccumulatorBound, PackedWeightsByTheirRange) {
  for (const auto& [depth, sign] :
       {std::pair<size_t, int>{65793, 1}, {65793, -1}, {66400, 1}, {66400, -1}}) {
    std::vector<int8_t> weights(2 * depth, 0);
    // Column 1 of 2
    for (size_t k = 0; k < depth; ++k) weights[2 * k + 1] = (int8_t)(sign > 0 ? 127 : -128);
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = OCTET_S8, rhs.n = 2, rhs.k = depth, rhs.data = weights.data();
    size_t bytes = 0;
    ASSERT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
    const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    ASSERT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), bytes, nullptr), OCTET_OK);
    const int64_t reach = (int64_t)depth * 255 * (sign > 0 ? 127 : -128);
    const int64_t last = sign > 0 ? INT32_MAX - reach : INT32_MIN - reach;
    for (const int64_t beyond : {0, 1}) {
      const int32_t bias[2] = {sign > 0 ? INT32_MAX : INT32_MIN, (int32_t)(last + sign * beyond)};
      octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
      d.m_max = 1, d.n = 2, d.k = depth, d.lhs_type = OCTET_U8, d.rhs_type = OCTET_S8,
      d.dst_type = OCTET_S32;
      d.packed = blob.data(), d.packed_bytes = bytes, d.epilogue.bias = bias;
      octet_gemm* gemm = nullptr;
      if (beyond) {
        expect_refused(OCTET_ACCUMULATOR_OVERFLOW, "column 1 may reach",
                       [&](octet_error* e) { return octet_gemm_create(&d, &gemm, e); });
        continue;
      }
      octet_error error = {};
      ASSERT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
      size_t workspace_bytes = 0;
      ASSERT_EQ(octet_gemm_workspace(gemm, 1, 1, &workspace_bytes, &error), OCTET_OK);
      const Guarded workspace(workspace_bytes + 1, Side::kFront, OCTET_ALIGNMENT);
      const std::vector<uint8_t> lhs(depth, 255);
      int32_t dst[2] = {};
      octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
      args.m = 1, args.lhs = lhs.data(), args.dst = dst, args.workspace = workspace.data(),
      args.workspace_bytes = workspace_bytes;
      ASSERT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
      EXPECT_EQ(dst[0], bias[0]);
      EXPECT_EQ(dst[1], sign > 0 ? INT32_MAX : INT32_MIN);
      octet_gemm_destroy(gemm);
    }
  }
}

// Rows quantized to -127..127 reach as far down as up.
TEST(AccumulatorBound, PackedWeightsAndSymmetricRows) {
  constexpr int32_t kDepth = 1000, kReach = 127 * 127 * kDepth;
  std::vector<int8_t> weights(kDepth, 127);
  std::fill_n(weights.begin(), kDepth / 2, -127);
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8, rhs.n = 1, rhs.k = kDepth, rhs.data = weights.data();
  size_t bytes = 0;
  ASSERT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  ASSERT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), bytes, nullptr), OCTET_OK);
  octet_gemm_desc d = runtime_product(kDepth, OCTET_LHS_SYMMETRIC, OCTET_F32, OCTET_S8);
  d.n = 1, d.packed = blob.data(), d.packed_bytes = bytes;
  const int32_t last[] = {INT32_MIN + kReach, INT32_MAX - kReach};
  for (const int32_t bias : {last[0], last[1], last[0] - 1, last[1] + 1}) {
    d.epilogue.bias = &bias;
    octet_gemm* gemm = nullptr;
    if (bias >= last[0] && bias <= last[1]) {
      octet_error error = {};
      EXPECT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
      octet_gemm_destroy(gemm);
    } else {
      expect_refused(OCTET_ACCUMULATOR_OVERFLOW, "desc.epilogue.bias",
                     [&](octet_error* e) { return octet_gemm_create(&d, &gemm, e); });
    }
  }
}

// ---- workspace and run

struct Created : Product {
  octet_gemm* gemm = nullptr;
  size_t bytes = 0;
  explicit Created(const Edit& edit = {}, octet_type dst_type = OCTET_U8, size_t batch = kBatch)
      : Product(dst_type, batch) {
    if (edit) edit(*this);
    octet_error error = {};
    EXPECT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
    EXPECT_EQ(octet_gemm_workspace(gemm, kM, 1, &bytes, &error), OCTET_OK) << error.message;
    workspace = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
    args.workspace = bytes ? workspace.data() : nullptr;
    args.workspace_bytes = bytes;
  }
  ~Created() { octet_gemm_destroy(gemm); }

  // The run accepts the arguments and refuses the edited ones, without a write to dst.
  void refuses(octet_status status, const char* argument, const Edit& edit) {
    octet_error error = {};
    EXPECT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
    const octet_gemm_args before = args;
    edit(*this);
    std::memset(dst.data(), Guarded::kUntouched, dst.bytes());
    expect_refused(status, argument,
                   [&](octet_error* e) { return octet_gemm_run(gemm, &args, e); });
    EXPECT_EQ(std::vector<uint8_t>(dst.data(), dst.data() + dst.bytes()),
              std::vector<uint8_t>(dst.bytes(), Guarded::kUntouched))
        << argument;
    args = before;
  }
};

TEST(BadWorkspaceQuery, Everything) {
  Created c([](Product& p) { p.to_runtime_rhs(); });
  size_t bytes = 0;
  expect_refused(OCTET_NULL_POINTER, "gemm",
                 [&](octet_error* e) { return octet_gemm_workspace(nullptr, 1, 1, &bytes, e); });
  expect_refused(OCTET_NULL_POINTER, "bytes",
                 [&](octet_error* e) { return octet_gemm_workspace(c.gemm, 1, 1, nullptr, e); });
  expect_refused(OCTET_BAD_SIZE, "m is 0",
                 [&](octet_error* e) { return octet_gemm_workspace(c.gemm, 0, 1, &bytes, e); });
  expect_refused(OCTET_SIZE_ABOVE_MAXIMUM, "m = 6", [&](octet_error* e) {
    return octet_gemm_workspace(c.gemm, kM + 1, 1, &bytes, e);
  });
  Created rows([](Product& p) { p.desc.lhs_quant = OCTET_LHS_PER_ROW; });
  expect_refused(OCTET_BAD_SIZE, "concurrency", [&](octet_error* e) {
    return octet_gemm_workspace(rows.gemm, 1, SIZE_MAX, &bytes, e);
  });
}

TEST(BadRun, Pointers) {
  Created c;
  expect_refused(OCTET_NULL_POINTER, "gemm",
                 [&](octet_error* e) { return octet_gemm_run(nullptr, &c.args, e); });
  expect_refused(OCTET_NULL_POINTER, "args",
                 [&](octet_error* e) { return octet_gemm_run(c.gemm, nullptr, e); });
  c.refuses(OCTET_NULL_POINTER, "args.lhs", [](Product& p) { p.args.lhs = nullptr; });
  c.refuses(OCTET_NULL_POINTER, "args.dst", [](Product& p) { p.args.dst = nullptr; });
  const void* const lhs[kBatch] = {c.lhs.data(), nullptr};
  void* const dst[kBatch] = {nullptr, c.dst.data()};
  c.refuses(OCTET_NULL_POINTER, "args.lhs", [&](Product& p) { p.args.lhs_array = lhs; });
  c.refuses(OCTET_NULL_POINTER, "matrix 1",
            [&](Product& p) { p.args.lhs = nullptr, p.args.lhs_array = lhs; });
  c.refuses(OCTET_NULL_POINTER, "matrix 0",
            [&](Product& p) { p.args.dst = nullptr, p.args.dst_array = dst; });
  for (const size_t size : {size_t{0}, sizeof(octet_gemm_args) - 1, SIZE_MAX})
    c.refuses(OCTET_BAD_STRUCT_SIZE, "args.struct_size",
              [&](Product& p) { p.args.struct_size = size; });
  c.refuses(OCTET_UNSUPPORTED, "args.residual",
            [](Product& p) { p.args.residual = p.residual.data(); });
  c.refuses(OCTET_UNSUPPORTED, "args.rhs", [](Product& p) { p.args.rhs = p.weights.data(); });
  const int32_t zero_points[kBatch] = {};
  const float scales[kBatch] = {1, 1};
  c.refuses(OCTET_UNSUPPORTED, "args.lhs_zero_points",
            [&](Product& p) { p.args.lhs_zero_points = zero_points; });
  c.refuses(OCTET_UNSUPPORTED, "args.lhs_scales", [&](Product& p) { p.args.lhs_scales = scales; });
}

TEST(BadRun, Sizes) {
  for (const size_t batch : {size_t{1}, kBatch}) {
    Created c({}, OCTET_U8, batch);
    c.refuses(OCTET_BAD_SIZE, "args.m", [](Product& p) { p.args.m = 0; });
    c.refuses(OCTET_SIZE_ABOVE_MAXIMUM, "args.m", [](Product& p) { p.args.m = kM + 1; });
    c.refuses(OCTET_SIZE_ABOVE_MAXIMUM, "args.m", [](Product& p) { p.args.m = SIZE_MAX; });
    c.refuses(OCTET_SIZE_ABOVE_MAXIMUM, "args.batch",
              [](Product& p) { p.args.batch = kBatch + 1; });
    c.refuses(OCTET_BAD_SIZE, "args.n", [](Product& p) { p.args.n = kN - 1; });
    c.refuses(OCTET_BAD_SIZE, "args.k", [](Product& p) { p.args.k = kK + 1; });
    c.refuses(OCTET_BAD_STRIDE, "args.lhs_stride", [](Product& p) { p.args.lhs_stride = kK - 1; });
    c.refuses(OCTET_BAD_STRIDE, "args.dst_stride", [](Product& p) { p.args.dst_stride = kN - 1; });
    for (const size_t huge : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / (kM - 1) + 1}) {
      c.refuses(OCTET_BAD_SIZE, "args.lhs", [&](Product& p) { p.args.lhs_stride = huge; });
      c.refuses(OCTET_BAD_SIZE, "args.dst", [&](Product& p) { p.args.dst_stride = huge; });
    }
    for (const size_t huge : {SIZE_MAX, SIZE_MAX / 2}) {
      if (batch == 1) continue;
      c.refuses(OCTET_BAD_SIZE, "args.lhs: 2 matrices of 5 rows with stride 7",
                [&](Product& p) { p.args.lhs_batch_stride = huge; });
      c.refuses(OCTET_BAD_SIZE, "args.dst: 2 matrices of 5 rows with stride 6",
                [&](Product& p) { p.args.dst_batch_stride = huge; });
    }
  }
}

TEST(BadRun, RuntimeWeights) {
  Created c([](Product& p) { p.to_runtime_rhs(); });
  const int32_t zero_points[kN] = {0, 0, 0, 0, 0, 128};
  c.refuses(OCTET_NULL_POINTER, "args.rhs", [](Product& p) { p.args.rhs = nullptr; });
  c.refuses(OCTET_BAD_STRIDE, "args.rhs_stride", [](Product& p) { p.args.rhs_stride = kN - 1; });
  c.refuses(OCTET_BAD_SIZE, "args.rhs", [](Product& p) { p.args.rhs_stride = SIZE_MAX / 3; });
  c.refuses(OCTET_SIZE_ABOVE_MAXIMUM, "args.n", [](Product& p) { p.args.n = kN + 1; });
  c.refuses(OCTET_SIZE_ABOVE_MAXIMUM, "args.k", [](Product& p) { p.args.k = kK + 1; });
  c.refuses(OCTET_BAD_ZERO_POINT, "args.rhs_zero_points[5]", [&](Product& p) {
    p.args.rhs_zero_points = zero_points, p.args.rhs_zero_point_count = kN;
  });
  c.refuses(OCTET_BAD_SIZE, "args.rhs_zero_points", [&](Product& p) {
    p.args.rhs_zero_points = zero_points, p.args.rhs_zero_point_count = 2;
  });
  c.refuses(OCTET_BAD_SIZE, "args.rhs_zero_points",
            [&](Product& p) { p.args.rhs_zero_points = zero_points; });
  c.refuses(OCTET_NULL_POINTER, "args.rhs_zero_points",
            [](Product& p) { p.args.rhs_zero_point_count = 1; });
  c.refuses(OCTET_OVERLAP, "args.rhs", [](Product& p) { p.args.rhs = p.dst.data() + 3; });
  std::vector<int32_t> both(kBatch * kM * kN, 0);  // room for dst, and zeros for zero points
  c.refuses(OCTET_OVERLAP, "args.rhs_zero_points", [&](Product& p) {
    p.args.rhs_zero_points = both.data(), p.args.rhs_zero_point_count = kN,
    p.args.dst = (uint8_t*)(both.data() + kN) - 1;
  });
  c.refuses(OCTET_OVERLAP, "args.rhs", [](Product& p) { p.args.rhs = p.workspace.data() + 1; });
  c.refuses(OCTET_OVERLAP, "args.workspace overlaps args.rhs_zero_points", [](Product& p) {
    std::memset(p.workspace.data(), 0, p.workspace.bytes());
    p.args.rhs_zero_points = p.workspace.data<int32_t>(), p.args.rhs_zero_point_count = kN;
  });
}

TEST(BadRun, Workspace) {
  const Created best([](Product& p) { p.to_runtime_rhs(); });
  const char* const forced = octet_gemm_kernel(best.gemm, kM);  // packs for few rows, too
  for (const size_t batch : {size_t{1}, kBatch}) {
    Created c([&](Product& p) { p.to_runtime_rhs(), p.desc.kernel = forced; }, OCTET_U8, batch);
    ASSERT_GT(c.bytes, 0u);
    for (const size_t bytes : {c.bytes - 1, size_t{0}})
      c.refuses(OCTET_WORKSPACE_TOO_SMALL, "args.workspace_bytes",
                [&](Product& p) { p.args.workspace_bytes = bytes; });
    c.refuses(OCTET_NULL_POINTER, "args.workspace", [](Product& p) { p.args.workspace = nullptr; });
    const Guarded shifted(c.bytes + 64, Side::kFront, 64);
    for (const size_t offset : {1, 4, 32})
      c.refuses(OCTET_MISALIGNED, "args.workspace",
                [&](Product& p) { p.args.workspace = shifted.data() + offset; });
    c.refuses(OCTET_OVERLAP, "workspace", [](Product& p) { p.args.lhs = p.workspace.data(); });
    c.refuses(OCTET_OVERLAP, "workspace", [](Product& p) { p.args.dst = p.workspace.data() + 1; });
  }
}

TEST(BadRun, WorkspaceOverResidualOrBlob) {
  Created c([](Product& p) {
    p.desc.lhs_quant = OCTET_LHS_PER_ROW;
    p.desc.epilogue.residual = {OCTET_U8, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    p.args.residual = p.residual.data();
  });
  ASSERT_GT(c.bytes, 0u);
  c.refuses(OCTET_OVERLAP, "args.residual",
            [](Product& p) { p.args.residual = p.workspace.data(); });
  c.refuses(OCTET_OVERLAP, "the packed weights", [](Product& p) {
    p.args.workspace = p.blob.data(), p.args.workspace_bytes = p.blob.bytes();
  });
}

// The operands that a run reads while it writes to the workspace.
TEST(BadRun, WorkspaceOverQuantizationOrPointers) {
  Created c([](Product& p) { p.desc.lhs_quant = OCTET_LHS_PER_ROW; });
  ASSERT_GE(c.bytes, kBatch * kM * sizeof(float));
  c.refuses(OCTET_OVERLAP, "args.workspace overlaps args.lhs_zero_points", [](Product& p) {
    std::memset(p.workspace.data(), 0, p.workspace.bytes());
    p.args.lhs_zero_points = p.workspace.data<int32_t>();
  });
  c.refuses(OCTET_OVERLAP, "args.workspace overlaps args.lhs_scales", [&](Product& p) {
    for (size_t i = 0; i < c.bytes / sizeof(float); ++i) p.workspace.data<float>()[i] = 1;
    p.args.lhs_scales = p.workspace.data<float>();
  });
  c.refuses(OCTET_OVERLAP, "args.workspace overlaps args.lhs_array", [](Product& p) {
    const void** const array = p.workspace.data<const void*>();
    for (size_t i = 0; i < kBatch; ++i) array[i] = p.lhs.data();
    p.args.lhs = nullptr, p.args.lhs_array = array;
  });
}

TEST(BadRun, OutputOverPointers) {
  Created c;
  c.refuses(OCTET_OVERLAP, "args.dst overlaps args.lhs_array", [](Product& p) {
    const void** const array = p.dst.data<const void*>();
    for (size_t i = 0; i < kBatch; ++i) array[i] = p.lhs.data();
    p.args.lhs = nullptr, p.args.lhs_array = array;
  });
}

TEST(BadRun, Overlaps) {
  Created c;
  c.refuses(OCTET_OVERLAP, "args.lhs", [](Product& p) { p.args.lhs = p.dst.data(); });
  c.refuses(OCTET_OVERLAP, "args.lhs",
            [](Product& p) { p.args.lhs = p.dst.data() + kBatch * kM * kN - 1; });
  c.refuses(OCTET_OVERLAP, "the packed weights",
            [](Product& p) { p.args.dst = p.blob.data() + p.blob.bytes() - 1; });
  c.refuses(OCTET_OVERLAP, "args.dst_batch_stride",
            [](Product& p) { p.args.dst_batch_stride = kM * kN - 1; });
  c.refuses(OCTET_OVERLAP, "args.dst_batch_stride",
            [](Product& p) { p.args.dst_stride = 2 * kN - 1, p.args.dst_batch_stride = kN; });
  Created plain({}, OCTET_U8, 1);
  plain.refuses(OCTET_OVERLAP, "args.lhs",
                [](Product& p) { p.args.lhs = p.dst.data() + kM * kN - 1; });
  plain.refuses(OCTET_OVERLAP, "the packed weights",
                [](Product& p) { p.args.dst = p.blob.data() + p.blob.bytes() - 1; });
  // The workspace counts as declared: the cache line of the last byte, and more.
  const auto take = [](Product& p, uint8_t* last) {
    p.args.workspace = last - (uintptr_t)last % OCTET_ALIGNMENT;
    p.args.workspace_bytes += OCTET_ALIGNMENT;
  };
  plain.refuses(OCTET_OVERLAP, "args.dst",
                [&](Product& p) { take(p, p.dst.data() + kM * kN - 1); });
  plain.refuses(OCTET_OVERLAP, "args.lhs",
                [&](Product& p) { take(p, p.lhs.data() + kM * kK - 1); });
  plain.refuses(OCTET_OVERLAP, "the packed weights", [](Product& p) {
    p.args.workspace = p.blob.data(), p.args.workspace_bytes = p.blob.bytes();
  });
}

TEST(BadRun, OverlapsBetweenMatricesOfPointerArrays) {
  Created c;
  // Matrix 1 reads bytes that matrix 0 writes
  const void* const lhs[kBatch] = {c.lhs.data(), c.dst.data() + 1};
  void* const dst[kBatch] = {c.dst.data(), c.dst.data() + 100};
  void* const shared_dst[kBatch] = {c.dst.data(), c.dst.data() + kM * kN - 1};
  c.refuses(OCTET_OVERLAP, "args.lhs", [&](Product& p) {
    p.args.lhs = p.args.dst = nullptr, p.args.lhs_array = lhs, p.args.dst_array = dst;
  });
  c.refuses(OCTET_OVERLAP, "args.dst_array: the output matrices 0 and 1",
            [&](Product& p) { p.args.dst = nullptr, p.args.dst_array = shared_dst; });
  // Heads side by side in one tensor do not overlap, until a head is wider than its place.
  void* const heads[kBatch] = {c.dst.data() + kN, c.dst.data()};
  c.refuses(OCTET_OVERLAP, "args.dst_array: the output matrices 0 and 1", [&](Product& p) {
    p.args.dst = nullptr, p.args.dst_array = heads, p.args.dst_stride = 2 * kN - 1;
  });
  c.args.dst = nullptr, c.args.dst_array = heads, c.args.dst_stride = 2 * kN;
  EXPECT_EQ(octet_gemm_run(c.gemm, &c.args, nullptr), OCTET_OK);
}

TEST(BadRun, Residual) {
  Created c([](Product& p) {
    p.desc.epilogue.residual = {OCTET_U8, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    p.args.residual = p.residual.data();
  });
  c.refuses(OCTET_NULL_POINTER, "args.residual", [](Product& p) { p.args.residual = nullptr; });
  c.refuses(OCTET_BAD_STRIDE, "args.residual_stride",
            [](Product& p) { p.args.residual_stride = kN - 1; });
  c.refuses(OCTET_OVERLAP, "args.residual", [](Product& p) { p.args.residual = p.dst.data() + 1; });
  c.refuses(OCTET_OVERLAP, "args.residual",
            [](Product& p) { p.args.residual = p.dst.data(), p.args.residual_stride = kN + 1; });
  c.args.residual = c.dst.data();
  EXPECT_EQ(octet_gemm_run(c.gemm, &c.args, nullptr), OCTET_OK) << "exactly dst is allowed";
  const void* const in_place[kBatch] = {c.dst.data(), c.dst.data() + kM * kN};
  c.args.residual = nullptr, c.args.residual_array = in_place;
  EXPECT_EQ(octet_gemm_run(c.gemm, &c.args, nullptr), OCTET_OK) << "also through pointers";
  const void* const shifted[kBatch] = {c.dst.data(), c.dst.data() + kM * kN - 1};
  c.refuses(OCTET_OVERLAP, "args.residual", [&](Product& p) { p.args.residual_array = shifted; });
}

TEST(BadRun, Alignment) {
  for (const size_t batch : {size_t{1}, kBatch}) {
    Created c({}, OCTET_S32, batch);
    c.refuses(OCTET_MISALIGNED, "args.dst", [](Product& p) { p.args.dst = p.dst.data() + 2; });
    Created f([](Product& p) { p.to_float_lhs(); }, OCTET_F32, batch);
    f.refuses(OCTET_MISALIGNED, "args.lhs", [](Product& p) { p.args.lhs = p.lhs.data() + 1; });
  }
}

TEST(BadRun, DynamicQuantization) {
  Created c([](Product& p) { p.desc.lhs_quant = OCTET_LHS_PER_ROW; });
  std::vector<int32_t> zero_points(kBatch * kM, 0);
  std::vector<float> scales(kBatch * kM, 1);
  std::vector<int32_t> both(kBatch * kM * kN, 0);  // room for dst, and zeros for zero points
  c.refuses(OCTET_OVERLAP, "args.lhs_zero_points",
            [&](Product& p) { p.args.lhs_zero_points = both.data(), p.args.dst = both.data(); });
  std::vector<float> both_scales(kBatch * kM * kN, 1);
  c.refuses(OCTET_OVERLAP, "args.lhs_scales", [&](Product& p) {
    p.args.lhs_scales = both_scales.data(), p.args.dst = both_scales.data();
  });
  // The last byte of the last value, and the first byte behind it: per row of each matrix, or one
  // for each matrix.
  Created per_tensor([](Product& p) { p.desc.lhs_quant = OCTET_LHS_PER_TENSOR; });
  for (Created* one : {&c, &per_tensor}) {
    uint8_t* const after_zero_points = (uint8_t*)(both.data() + (one == &c ? kBatch * kM : kBatch));
    uint8_t* const after_scales =
        (uint8_t*)(both_scales.data() + (one == &c ? kBatch * kM : kBatch));
    one->refuses(OCTET_OVERLAP, "args.lhs_zero_points", [&](Product& p) {
      p.args.lhs_zero_points = both.data(), p.args.dst = after_zero_points - 1;
    });
    one->refuses(OCTET_OVERLAP, "args.lhs_scales", [&](Product& p) {
      p.args.lhs_scales = both_scales.data(), p.args.dst = after_scales - 1;
    });
    const octet_gemm_args before = one->args;
    one->args.lhs_zero_points = both.data(), one->args.dst = after_zero_points;
    EXPECT_EQ(octet_gemm_run(one->gemm, &one->args, nullptr), OCTET_OK);
    one->args.lhs_scales = both_scales.data(), one->args.dst = after_scales;
    one->args.lhs_zero_points = nullptr;
    EXPECT_EQ(octet_gemm_run(one->gemm, &one->args, nullptr), OCTET_OK);
    one->args = before;
  }
  zero_points.back() = 256;
  c.refuses(OCTET_BAD_ZERO_POINT, "args.lhs_zero_points[9]",
            [&](Product& p) { p.args.lhs_zero_points = zero_points.data(); });
  for (const float bad : {kNan, kInf, 0.0f, -1.0f}) {
    scales.back() = bad;
    c.refuses(OCTET_BAD_SCALE, "args.lhs_scales[9]",
              [&](Product& p) { p.args.lhs_scales = scales.data(); });
  }
  Created s32([](Product& p) { p.desc.lhs_quant = OCTET_LHS_PER_TENSOR; }, OCTET_S32);
  s32.refuses(OCTET_UNSUPPORTED, "args.lhs_scales",
              [&](Product& p) { p.args.lhs_scales = scales.data(); });
}

// ---- pack, blobs, information

void pack_refuses(octet_status status, const char* argument, const Edit& edit,
                  octet_isa isa = OCTET_ISA_AUTO) {
  Product p;
  edit(p);
  expect_refused(status, argument, [&](octet_error* e) {
    return octet_pack(&p.rhs, isa, p.blob.data(), p.blob.bytes(), e);
  });
}

TEST(BadPack, Everything) {
  Product p;
  size_t bytes = 0;
  expect_refused(OCTET_NULL_POINTER, "rhs", [&](octet_error* e) {
    return octet_pack(nullptr, OCTET_ISA_AUTO, p.blob.data(), p.blob.bytes(), e);
  });
  expect_refused(OCTET_NULL_POINTER, "rhs", [&](octet_error* e) {
    return octet_pack_size(nullptr, OCTET_ISA_AUTO, &bytes, e);
  });
  expect_refused(OCTET_NULL_POINTER, "bytes", [&](octet_error* e) {
    return octet_pack_size(&p.rhs, OCTET_ISA_AUTO, nullptr, e);
  });
  expect_refused(OCTET_NULL_POINTER, "blob", [&](octet_error* e) {
    return octet_pack(&p.rhs, OCTET_ISA_AUTO, nullptr, p.blob.bytes(), e);
  });
  expect_refused(OCTET_MISALIGNED, "blob", [&](octet_error* e) {
    return octet_pack(&p.rhs, OCTET_ISA_AUTO, p.blob.data() + 4, p.blob.bytes(), e);
  });
  expect_refused(OCTET_BAD_SIZE, "blob_bytes", [&](octet_error* e) {
    return octet_pack(&p.rhs, OCTET_ISA_AUTO, p.blob.data(), p.blob.bytes() - 1, e);
  });
  pack_refuses(OCTET_NULL_POINTER, "rhs.data", [](Product& q) { q.rhs.data = nullptr; });
  pack_refuses(OCTET_OVERLAP, "rhs.data",
               [](Product& q) { q.rhs.data = q.blob.data() + q.blob.bytes() - 1; });
  pack_refuses(OCTET_OVERLAP, "rhs.zero_points", [](Product& q) {
    std::memset(q.blob.data(), 0, q.blob.bytes());
    q.rhs.zero_points = q.blob.data<int32_t>(), q.rhs.zero_point_count = kN;
  });
  pack_refuses(OCTET_BAD_STRUCT_SIZE, "rhs.struct_size", [](Product& q) { q.rhs.struct_size = 8; });
  pack_refuses(OCTET_UNKNOWN_ENUM, "rhs.type", [](Product& q) { q.rhs.type = OCTET_F32; });
  pack_refuses(OCTET_UNKNOWN_ENUM, "rhs.order", [](Product& q) { set_raw(&q.rhs.order, 2); });
  octet_isa isa;
  set_raw(&isa, 31);
  pack_refuses(
      OCTET_UNKNOWN_ENUM, "isa", [](Product&) {}, isa);
  pack_refuses(OCTET_BAD_SIZE, "rhs.n", [](Product& q) { q.rhs.n = 0; });
  pack_refuses(OCTET_BAD_SIZE, "rhs.k", [](Product& q) { q.rhs.k = 0; });
  for (const size_t huge : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4}) {
    pack_refuses(OCTET_BAD_SIZE, "rhs.n", [&](Product& q) { q.rhs.n = huge; });
    pack_refuses(OCTET_BAD_SIZE, "rhs.k", [&](Product& q) { q.rhs.k = huge; });
    pack_refuses(OCTET_BAD_SIZE, "rhs.stride", [&](Product& q) { q.rhs.stride = huge; });
    pack_refuses(OCTET_BAD_SIZE, "rhs.batch", [&](Product& q) { q.rhs.batch = huge; });
  }
  for (const size_t huge : {SIZE_MAX, SIZE_MAX / 2})
    pack_refuses(OCTET_BAD_SIZE, "rhs.batch_stride",
                 [&](Product& q) { q.rhs.batch_stride = huge; });
  pack_refuses(OCTET_BAD_STRIDE, "rhs.stride", [](Product& q) { q.rhs.stride = kN - 1; });
  pack_refuses(OCTET_BAD_STRIDE, "rhs.stride",
               [](Product& q) { q.rhs.order = OCTET_NK, q.rhs.stride = kK - 1; });
  static const int32_t zero_points[kN] = {0, 0, 0, 0, -129, 0};
  pack_refuses(OCTET_BAD_ZERO_POINT, "rhs.zero_points[4]",
               [](Product& q) { q.rhs.zero_points = zero_points, q.rhs.zero_point_count = kN; });
  pack_refuses(OCTET_BAD_SIZE, "rhs.zero_points",
               [](Product& q) { q.rhs.zero_points = zero_points, q.rhs.zero_point_count = 2; });
  pack_refuses(OCTET_NULL_POINTER, "rhs.zero_points",
               [](Product& q) { q.rhs.zero_point_count = 1; });
}

TEST(BadPack, OneStoredRowMayHaveAnyStride) {
  for (const octet_rhs_order order : {OCTET_KN, OCTET_NK}) {
    Product p;
    p.rhs.order = order, p.rhs.batch = 1, p.rhs.stride = SIZE_MAX / 2;
    (order == OCTET_KN ? p.rhs.k : p.rhs.n) = 1;
    octet_error error = {};
    EXPECT_EQ(octet_pack(&p.rhs, OCTET_ISA_AUTO, p.blob.data(), p.blob.bytes(), &error), OCTET_OK)
        << error.message;
  }
}

TEST(BadRun, OneRowMayHaveAnyStride) {
  Created c(
      [](Product& p) {
        p.to_runtime_rhs();
        p.desc.rhs_order = OCTET_NK;
      },
      OCTET_U8, 1);
  c.args.m = c.args.n = 1;
  c.args.lhs_stride = c.args.dst_stride = c.args.rhs_stride = SIZE_MAX / 2;
  octet_error error = {};
  EXPECT_EQ(octet_gemm_run(c.gemm, &c.args, &error), OCTET_OK) << error.message;
}

TEST(BadQueries, Everything) {
  Product p;
  octet_blob_info blob = {};
  octet_cpu_info cpu = {};
  octet_kernel_info kernel = {};
  const size_t kernels =
      octet::int8_kernels().count + octet::int16_kernels().count + octet::depthwise_kernels().count;
  expect_refused(OCTET_BAD_STRUCT_SIZE, "info", [&](octet_error* e) {
    return octet_blob_get_info(p.blob.data(), p.blob.bytes(), &blob, e);
  });
  expect_refused(OCTET_BAD_STRUCT_SIZE, "info",
                 [&](octet_error* e) { return octet_get_cpu_info(&cpu, e); });
  expect_refused(OCTET_BAD_STRUCT_SIZE, "info",
                 [&](octet_error* e) { return octet_get_kernel_info(0, &kernel, e); });
  expect_refused(OCTET_NULL_POINTER, "info", [&](octet_error* e) {
    return octet_blob_get_info(p.blob.data(), p.blob.bytes(), nullptr, e);
  });
  expect_refused(OCTET_NULL_POINTER, "info",
                 [&](octet_error* e) { return octet_get_cpu_info(nullptr, e); });
  expect_refused(OCTET_NULL_POINTER, "info",
                 [&](octet_error* e) { return octet_get_kernel_info(0, nullptr, e); });
  kernel.struct_size = sizeof kernel;
  expect_refused(OCTET_BAD_SIZE, "index",
                 [&](octet_error* e) { return octet_get_kernel_info(kernels, &kernel, e); });
  expect_refused(OCTET_BAD_SIZE, "index",
                 [&](octet_error* e) { return octet_get_kernel_info(SIZE_MAX, &kernel, e); });
  blob.struct_size = sizeof blob;
  expect_refused(OCTET_NULL_POINTER, "blob", [&](octet_error* e) {
    return octet_blob_get_info(nullptr, p.blob.bytes(), &blob, e);
  });
  expect_refused(OCTET_NULL_POINTER, "blob",
                 [&](octet_error* e) { return octet_blob_verify(nullptr, 0, e); });
  expect_refused(OCTET_MISALIGNED, "blob", [&](octet_error* e) {
    return octet_blob_verify(p.blob.data() + 1, p.blob.bytes() - 1, e);
  });
  expect_refused(OCTET_BAD_BLOB, "blob",
                 [&](octet_error* e) { return octet_blob_verify(p.blob.data(), 127, e); });
  const ScopedEnvironment wrong("OCTET_MAX_ISA", "MMX");
  expect_refused(OCTET_BAD_ENVIRONMENT, "OCTET_MAX_ISA", [&](octet_error* e) {
    return octet_gemm_create(&p.desc, std::vector<octet_gemm*>(1).data(), e);
  });
}

TEST(Names, AreNeverNull) {
  for (const int value : {-1, 0, 1, 22, 23, 256, 257, INT32_MAX, INT32_MIN}) {
    octet_status status;
    octet_isa isa;
    octet_type type;
    set_raw(&status, value);
    set_raw(&type, value);
    set_raw(&isa, value);
    const bool known = value >= 0 && value <= OCTET_BAD_NETWORK;
    EXPECT_EQ(std::string(octet_status_name(status)) != "unknown status", known) << value;
    EXPECT_EQ(std::string(octet_isa_name(isa)) != "unknown", value == 0 || value == 1) << value;
    EXPECT_EQ(std::string(octet_type_name(type)) != "unknown", value == 1) << value;
  }
  EXPECT_STREQ(octet_type_name(OCTET_S8), "s8");
  EXPECT_STREQ(octet_type_name(OCTET_U8), "u8");
  EXPECT_STREQ(octet_type_name(OCTET_S32), "s32");
  EXPECT_STREQ(octet_type_name(OCTET_F32), "f32");
  EXPECT_STREQ(octet_version(), "0.2.0");
}

}  // namespace
}  // namespace octet_test
