// SPDX-License-Identifier: Apache-2.0
// Makes descriptors of a vector file's tensors, and runs them.
#include "support/vector_test.h"

#include <octet/helpers.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "support/guarded.h"
#include "support/nibbles.h"
#include "support/tiers.h"
#include "support/vectors.h"

namespace octet_test {

octet_conv2d_shape shape_of(const Case& c) {
  const int32_t* const conv = c.find("conv")->data<int32_t>();
  octet_conv2d_shape s = OCTET_CONV2D_SHAPE_INIT;
  size_t* const fields[] = {&s.batch_max,    &s.in_h_max,   &s.in_w_max,   &s.in_channels,
                            &s.out_channels, &s.groups,     &s.kernel_h,   &s.kernel_w,
                            &s.stride_h,     &s.stride_w,   &s.dilation_h, &s.dilation_w,
                            &s.pad_top,      &s.pad_bottom, &s.pad_left,   &s.pad_right};
  size_t next = 0;
  for (size_t* field : fields) *field = (size_t)conv[next++];
  s.transposed = conv[next++];
  s.output_padding_h = (size_t)conv[next++];
  s.output_padding_w = (size_t)conv[next++];
  return s;
}

namespace {

octet_type type_of(const Tensor& tensor) { return (octet_type)tensor.type; }

// Sets the fields that the descriptors of products and convolutions share.
template <typename Desc>
void describe(const Case& c, Desc* d) {
  d->lhs_type = type_of(*c.find("lhs"));
  d->dst_type = type_of(*c.find("dst"));
  if (const Tensor* t = c.find("bias")) {
    if (t->type == Tensor::kS64)
      d->epilogue.bias_s64 = t->data<int64_t>();
    else
      d->epilogue.bias = t->data<int32_t>();
  }
  if (const Tensor* t = c.find("bias_f32")) d->epilogue.bias_f32 = t->data<float>();
  if (const Tensor* t = c.find("scales")) {
    d->epilogue.scales = t->data<float>();
    d->epilogue.scale_count = t->size();
  }
  if (const Tensor* t = c.find("multipliers")) {
    d->epilogue.requant = OCTET_REQUANT_TFLITE;
    d->epilogue.multipliers = t->data<int32_t>();
    d->epilogue.shifts = c.find("shifts")->data<int32_t>();
    d->epilogue.multiplier_count = t->size();
  }
  const Tensor* const factors = c.find("factors");
  if (factors && !d->epilogue.multipliers) {
    d->epilogue.requant = OCTET_REQUANT_DOUBLE;
    d->epilogue.factors = factors->data<double>();
    d->epilogue.factor_count = factors->size();
  }
  if (const Tensor* t = c.find("dst_zero_point")) d->epilogue.dst_zero_point = *t->data<int32_t>();
  if (const Tensor* t = c.find("dst_scale")) d->epilogue.dst_scale = *t->data<float>();
  if (const Tensor* t = c.find("clamp")) {
    d->epilogue.clamp_min = t->data<float>()[0];
    d->epilogue.clamp_max = t->data<float>()[1];
  }
  if (const Tensor* t = c.find("product_clamp")) {
    d->epilogue.product_clamp_min = t->data<float>()[0];
    d->epilogue.product_clamp_max = t->data<float>()[1];
  }
  if (const Tensor* t = c.find("product_real_scale")) d->epilogue.product_scale = *t->data<float>();
  if (const Tensor* t = c.find("lut")) d->epilogue.lut = t->data<uint8_t>();
  if (const Tensor* t = c.find("residual")) {
    const int32_t* zero_points = c.find("residual_zero_points")->data<int32_t>();
    d->epilogue.residual.type = type_of(*t);
    d->epilogue.residual.zero_point = zero_points[0];
    if (const Tensor* scale = c.find("residual_scale")) {
      d->epilogue.residual.scale = *scale->data<float>();
    } else {
      const int32_t* s = c.find("residual_scales")->data<int32_t>();
      d->epilogue.residual = {type_of(*t), zero_points[0], 0,    zero_points[1], s[0],
                              s[1],        s[2],           s[3], s[4],           s[5]};
    }
  }
}

struct Activations {
  octet_activation of_product, of_dst;
  void to(octet_epilogue* e) const { e->product_activation = of_product, e->activation = of_dst; }
};

std::vector<octet_activation> listed(const Case& c, const char* name) {
  const Tensor* const t = c.find(name);
  if (!t) return {OCTET_ACTIVATION_NONE};
  std::vector<octet_activation> all;
  for (size_t i = 0; i < t->size(); ++i) all.push_back((octet_activation)(t->data<int32_t>()[i]));
  return all;
}

// Activations that are listed beside each other give the same output.
std::vector<Activations> activations_of(const Case& c) {
  std::vector<Activations> all;
  for (const octet_activation of_product : listed(c, "product_activations"))
    for (const octet_activation of_dst : listed(c, "activations"))
      all.push_back({of_product, of_dst});
  return all;
}

// A case of a vector file as the API's structs, which point into the case.
struct Problem {
  explicit Problem(const Case& c) {
    const Tensor *lhs = c.find("lhs"), *dst = c.find("dst"), *rhs_nk = c.find("rhs_nk"),
                 *batch = c.find("batch");
    const Tensor* stored = rhs_nk ? rhs_nk : c.find("rhs_kn");
    rhs.type = type_of(*stored);
    rhs.order = rhs_nk ? OCTET_NK : OCTET_KN;
    rhs.n = dst->columns;
    rhs.k = lhs->columns;
    rhs.batch = batch ? (size_t)(*batch->data<int32_t>()) : 1;
    rhs.data = stored->data<void>();
    if (c.find("rhs_bits")) {
      rhs.type = rhs.type == OCTET_S8 ? OCTET_S4 : OCTET_U4;
      nibbles = std::make_shared<const std::vector<uint8_t>>(nibbles_of(stored->bytes));
      rhs.data = nibbles->data();
    }
    if (const Tensor* t = c.find("block_scales")) {
      rhs.scale_block = rhs.k / t->columns;
      rhs.scale_type = type_of(*t);
      rhs.scales = t->data<void>();
    }
    if (const Tensor* t = c.find("block_minimums")) rhs.minimums = t->data<void>();
    if (const Tensor* t = c.find("rhs_zero_points")) {
      rhs.zero_points = t->data<int32_t>();
      rhs.zero_point_count = t->size();
    }

    args.m = desc.m_max = lhs->rows / rhs.batch;
    args.batch = desc.batch_max = rhs.batch;
    args.lhs = lhs->data<void>();
    desc.n = rhs.n;
    desc.k = rhs.k;
    desc.rhs_type = rhs.type;
    describe(c, &desc);

    const Tensor *quant = c.find("lhs_quant"), *zero_points = c.find("lhs_zero_points");
    desc.lhs_quant = quant                        ? (octet_lhs_quant)(*quant->data<int32_t>())
                     : desc.lhs_type == OCTET_F32 ? OCTET_LHS_ASYMMETRIC
                     : zero_points && zero_points->size() > 1 ? OCTET_LHS_PER_ROW
                                                              : OCTET_LHS_STATIC;
    if (zero_points) {
      if (desc.lhs_quant == OCTET_LHS_STATIC)
        desc.lhs_zero_point = *zero_points->data<int32_t>();
      else
        args.lhs_zero_points = zero_points->data<int32_t>();
    }
    if (const Tensor* t = c.find("lhs_scales")) args.lhs_scales = t->data<float>();

    if (const Tensor* t = c.find("residual")) args.residual = t->data<void>();
  }

  // Weights of 4 bits, in scale blocks, and those of an s16 lhs have to be packed.
  bool takes_run_time_weights() const {
    return !nibbles && !rhs.scale_block && desc.lhs_type != OCTET_S16;
  }

  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  std::shared_ptr<const std::vector<uint8_t>> nibbles;  // what rhs.data points to, of 4 bits
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
};

// Compares every byte, and names the first wrong one.
void expect_same(const Tensor& expected, const Guarded& dst, const std::string& how) {
  const auto wrong = std::mismatch(expected.bytes.begin(), expected.bytes.end(), dst.data()).first;
  const size_t element = (size_t)(wrong - expected.bytes.begin()) * expected.size() / dst.bytes();
  EXPECT_TRUE(wrong == expected.bytes.end())
      << how << ": first difference in row " << element / expected.columns << ", column "
      << element % expected.columns;
}

void run(Problem problem, const Tensor& expected, bool packed) {
  octet_error error;
  Guarded blob;
  if (packed) {
    size_t bytes;
    ASSERT_EQ(octet_pack_size(&problem.rhs, problem.desc.max_isa, &bytes, &error), OCTET_OK)
        << error.message;
    blob = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
    ASSERT_EQ(octet_pack(&problem.rhs, problem.desc.max_isa, blob.data(), bytes, &error), OCTET_OK)
        << error.message;
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
  ASSERT_EQ(octet_gemm_workspace(created, problem.args.m, 1, &bytes, &error), OCTET_OK)
      << error.message;
  const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
  const Guarded dst(expected.bytes.size(), Side::kBack, expected.bytes.size() / expected.size());
  problem.args.workspace = workspace.data();
  problem.args.workspace_bytes = bytes;
  problem.args.dst = dst.data();
  ASSERT_EQ(octet_gemm_run(created, &problem.args, &error), OCTET_OK) << error.message;

  expect_same(expected, dst,
              std::string(octet_gemm_kernel(created, problem.args.m)) +
                  (packed ? "" : ", run-time weights"));
}

// A convolution as the API's structs: a case with the tensor "conv".
struct ConvProblem {
  explicit ConvProblem(const Case& c) {
    const octet_conv2d_shape& s = filter.shape = shape_of(c);
    const char* const kOrders[] = {"filter_ohwi", "filter_oihw", "filter_hwio", "filter_iohw"};
    for (int order = 0; order < 4; ++order)
      if (const Tensor* t = c.find(kOrders[order])) {
        filter.order = (octet_filter_order)order;
        filter.type = type_of(*t);
        filter.data = t->data<void>();
      }
    if (const Tensor* t = c.find("rhs_zero_points")) {
      filter.zero_points = t->data<int32_t>();
      filter.zero_point_count = t->size();
    }
    desc.shape = s;
    desc.rhs_type = filter.type;
    desc.lhs_layout = desc.dst_layout = c.find("nchw") ? OCTET_NCHW : OCTET_NHWC;
    describe(c, &desc);
    if (const Tensor* t = c.find("lhs_zero_points")) {
      desc.lhs_zero_point = *t->data<int32_t>();
      if (t->size() > 1) {
        desc.lhs_quant = OCTET_LHS_PER_TENSOR;
        desc.lhs_zero_point = 0;
        args.lhs_zero_points = t->data<int32_t>();
      }
    }
    if (desc.lhs_type == OCTET_F32) {
      if (const Tensor* t = c.find("lhs_quantized_type")) {
        desc.lhs_quantized_type = (octet_type)(*t->data<int32_t>());
        desc.lhs_scale = *c.find("lhs_real_scale")->data<float>();
      } else {
        desc.lhs_quant = OCTET_LHS_ASYMMETRIC;
      }
    }
    args.lhs = c.find("lhs")->data<void>();
    if (const Tensor* t = c.find("residual")) args.residual = t->data<void>();
  }

  // SAME for an object of any input size: the largest pads are declared, the pads of this size come
  // with the run.
  void pad_by_run() {
    octet_conv2d_shape s = desc.shape;
    pads = {s.pad_top, s.pad_bottom, s.pad_left, s.pad_right};
    args.pads = &pads;
    s.in_h_max = s.in_w_max = 1;
    octet_error error;
    ASSERT_EQ(octet_conv2d_set_padding(OCTET_PADDING_SAME, &s, &error), OCTET_OK) << error.message;
    s.in_h_max = desc.shape.in_h_max, s.in_w_max = desc.shape.in_w_max;
    desc.shape = filter.shape = s;
  }

  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  octet_conv2d_pads pads = {};
};

void run(ConvProblem problem, const Tensor& expected, octet_conv_algorithm algorithm) {
  problem.filter.algorithm = algorithm;
  octet_error error;
  size_t bytes;
  ASSERT_EQ(octet_conv2d_pack_size(&problem.filter, problem.desc.max_isa, &bytes, &error), OCTET_OK)
      << error.message;
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  ASSERT_EQ(octet_conv2d_pack(&problem.filter, problem.desc.max_isa, blob.data(), bytes, &error),
            OCTET_OK)
      << error.message;
  problem.desc.packed = blob.data();
  problem.desc.packed_bytes = bytes;

  octet_conv2d* created;
  ASSERT_EQ(octet_conv2d_create(&problem.desc, &created, &error), OCTET_OK) << error.message;
  const std::unique_ptr<octet_conv2d, void (*)(octet_conv2d*)> conv(created, &octet_conv2d_destroy);
  EXPECT_EQ(octet_conv2d_algorithm(created), algorithm);
  ASSERT_EQ(octet_conv2d_workspace(created, 0, 0, 0, 1, &bytes, &error), OCTET_OK) << error.message;
  const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
  const Guarded dst(expected.bytes.size(), Side::kBack, expected.bytes.size() / expected.size());
  problem.args.workspace = workspace.data();
  problem.args.workspace_bytes = bytes;
  problem.args.dst = dst.data();
  ASSERT_EQ(octet_conv2d_run(created, &problem.args, &error), OCTET_OK) << error.message;
  expect_same(
      expected, dst,
      std::string(octet_conv_algorithm_name(algorithm)) + ' ' + octet_conv2d_kernel(created));
}

// Runs every possible algorithm.
void run_every_way(const ConvProblem& problem, const Tensor& expected) {
  octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
  size_t ways = 0;
  for (size_t i = 0; octet_conv2d_explain(&problem.filter, problem.desc.max_isa, i, &candidate,
                                          nullptr) == OCTET_OK;
       ++i) {
    if (!candidate.possible) continue;
    run(problem, expected, candidate.algorithm);
    ++ways;
  }
  EXPECT_GT(ways, 0u) << "no algorithm can compute this";
}

}  // namespace

void VectorTest::SetUp() {
  if (!is_to_test(GetParam()))
    GTEST_SKIP() << "this CPU does not run " << octet_isa_name(GetParam())
                 << ", or another run tests it";
}

void VectorTest::check(const std::string& path) {
  for (const Case& c : VectorFile::read(path)) {
    SCOPED_TRACE(c.name);
    for (const Activations& activations : activations_of(c)) {
      if (c.find("conv")) {
        ConvProblem problem(c);
        problem.desc.max_isa = GetParam();
        activations.to(&problem.desc.epilogue);
        run_every_way(problem, *c.find("dst"));
        const Tensor* const padding = c.find("padding");
        if (padding && *padding->data<int32_t>() == OCTET_PADDING_SAME &&
            !problem.desc.shape.transposed) {
          problem.pad_by_run();
          run_every_way(problem, *c.find("dst"));
        }
      } else {
        Problem problem(c);
        problem.desc.max_isa = GetParam();
        activations.to(&problem.desc.epilogue);
        run(problem, *c.find("dst"), true);
        if (problem.takes_run_time_weights()) run(problem, *c.find("dst"), false);
      }
    }
  }
}

}  // namespace octet_test
