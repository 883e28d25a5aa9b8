// SPDX-License-Identifier: Apache-2.0
// Checks products by weights in scale blocks inside of graphs: their bytes beside those of
// octet_gemm, between other operators, on every tier.
#include <algorithm>
#include <cmath>

#include "graph/graph_case.h"
#include "support/guarded.h"
#include "support/refused.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

// x of 2x3x64 times weights of 40x64 in blocks of 32, bias, RELU.
struct OneProduct : GraphCase {
  int x, w, b, y;
  explicit OneProduct(octet_type type) {
    g.arithmetic = Arithmetic::kOnnxruntime;
    x = input({2, 3, 64}, OCTET_F32);
    w = block_weights(40, 64, 32, type), b = floats(40);
    y = tensor({2, 3, 40}, OCTET_F32);
    op(Kind::kProduct, {x, w, b}, y).clamp.activation = Activation::kRelu;
    g.outputs = {y};
  }
  int floats(size_t n) {
    const std::vector<float> values = drawn(n);
    Bytes bytes(n * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return constant({(int64_t)n}, OCTET_F32, std::move(bytes));
  }
  std::vector<float> drawn(size_t n) {
    std::vector<float> values(n);
    for (float& value : values) value = ((float)(random() % 2001) - 1000) / 512;
    return values;
  }
  int block_weights(int64_t n, int64_t k, size_t block, octet_type type) {
    const bool nibbles = type == OCTET_U4 || type == OCTET_S4;
    const size_t count = (size_t)(n * k);
    const int t = constant({n, k}, type, draw(nibbles ? count / 2 : count));
    Tensor& made = g.tensors[(size_t)t];
    made.scale_block = block, made.scales = drawn(count / block);
    if (type == OCTET_U4)
      for (size_t i = 0; i < count / block; ++i)
        made.zero_points.push_back((int32_t)(random() % 16));
    if (type == OCTET_U8) made.zero_points = {128};
    return t;
  }
  // The first product by the library's own functions.
  std::vector<float> expected(const std::vector<float>& in, octet_isa isa) const {
    const Tensor& t = g.tensors[(size_t)w];
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = t.type, rhs.order = OCTET_NK, rhs.n = 40, rhs.k = 64, rhs.data = t.data;
    rhs.scale_block = 32, rhs.scale_type = OCTET_F32, rhs.scales = t.scales.data();
    rhs.zero_points = t.zero_points.empty() ? nullptr : t.zero_points.data();
    rhs.zero_point_count = t.zero_points.size();
    size_t bytes = 0;
    EXPECT_EQ(octet_pack_size(&rhs, isa, &bytes, nullptr), OCTET_OK);
    const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_pack(&rhs, isa, blob.data(), bytes, nullptr), OCTET_OK);
    const float one = 1;
    octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
    desc.m_max = 6, desc.n = 40, desc.k = 64, desc.max_isa = isa;
    desc.lhs_type = desc.dst_type = OCTET_F32, desc.rhs_type = t.type;
    desc.lhs_quant = OCTET_LHS_SYMMETRIC_BLOCKS;
    desc.packed = blob.data(), desc.packed_bytes = bytes;
    desc.epilogue.scales = &one, desc.epilogue.scale_count = 1;
    desc.epilogue.bias_f32 = (const float*)g.tensors[(size_t)b].data;
    desc.epilogue.activation = OCTET_ACTIVATION_RELU;
    octet_gemm* gemm = nullptr;
    EXPECT_EQ(octet_gemm_create(&desc, &gemm, nullptr), OCTET_OK);
    octet_gemm_workspace(gemm, 6, 1, &bytes, nullptr);
    const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
    std::vector<float> out(6 * 40);
    octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
    args.m = 6, args.lhs = in.data(), args.dst = out.data();
    args.workspace = workspace.data(), args.workspace_bytes = workspace.bytes();
    EXPECT_EQ(octet_gemm_run(gemm, &args, nullptr), OCTET_OK);
    octet_gemm_destroy(gemm);
    return out;
  }
};

Bytes bytes_of(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(GraphScaleBlocks, HaveTheBytesOfTheirProduct) {
  for (const octet_type type : {OCTET_S4, OCTET_U4, OCTET_S8, OCTET_U8}) {
    OneProduct c(type);
    const std::vector<float> in = c.drawn(6 * 64);
    const Bytes expected = bytes_of(c.expected(in, kPortableTier));
    for (const octet_isa isa : tiers_to_test()) {
      ProgramOptions options;
      options.isa = isa;
      EXPECT_EQ(run(*created(c.g, options), c.g, {bytes_of(in)}), expected)
          << octet_isa_name(isa) << " " << octet_type_name(type);
    }
  }
}

// Between a Dequantize and a Quantize, with batches of one image.
TEST(GraphScaleBlocks, StandBetweenOtherOperators) {
  OneProduct c(OCTET_U4);
  const int q = c.tensor({2, 3, 64}, OCTET_S8, 0.05f, 3),
            out = c.tensor({2, 3, 40}, OCTET_S8, 2, 1);
  c.g.inputs = {q};
  c.op(Kind::kDequantize, {q}, c.x);
  c.op(Kind::kQuantize, {c.y}, out);
  c.g.outputs = {out};
  const Bytes in = c.draw(6 * 64);
  std::vector<float> floats;
  for (const uint8_t byte : in) floats.push_back((float)((int8_t)byte - 3) * 0.05f);
  Bytes expected;
  for (const float value : c.expected(floats, kPortableTier))
    expected.push_back((uint8_t)std::clamp((int32_t)std::nearbyint(value / 2) + 1, -128, 127));
  const std::unique_ptr<Program> program = created(c.g);
  EXPECT_EQ(run(*program, c.g, {in}), expected);
}

TEST(GraphScaleBlocks, RefuseWhatTheyAreNot) {
  const auto refuses = [](const char* why, auto change) {
    OneProduct c(OCTET_U4);
    change(&c);
    std::unique_ptr<Program> program;
    expect_refused(OCTET_UNSUPPORTED, why, [&](octet_error* error) {
      return Program::create(c.g, {}, nullptr, &program, error);
    });
  };
  const auto t = [](OneProduct* c, int index) -> Tensor& { return c->g.tensors[(size_t)index]; };
  refuses("do not divide", [&](OneProduct* c) { t(c, c->w).scale_block = 48; });
  refuses("scales", [&](OneProduct* c) { t(c, c->w).scales.pop_back(); });
  refuses("no computed tensor of f32", [&](OneProduct* c) {
    t(c, c->x).type = OCTET_S8, t(c, c->x).scales = {1}, t(c, c->x).zero_points = {0};
  });
  refuses("bias", [&](OneProduct* c) { t(c, c->b).type = OCTET_S32; });
  refuses("elements", [&](OneProduct* c) { t(c, c->y).shape = {2, 3, 41}; });
  refuses("N x K", [](OneProduct* c) { c->g.ops[0].weights_kn = true; });
  refuses("residual", [](OneProduct* c) { c->g.ops[0].inputs.push_back(c->x); });
  refuses("convolution", [](OneProduct* c) {
    c->g.ops[0].kind = Kind::kConvolution;
    c->g.ops[0].name = "a convolution";
  });
}

}  // namespace
}  // namespace octet_test
