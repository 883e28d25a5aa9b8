// SPDX-License-Identifier: Apache-2.0
// Checks sums, differences and products against definitions of each arithmetic, for all pairs of
// bytes, on every tier; look-ups; strides, tasks and bad arguments of all functions.
#include "functions/binary_definitions.h"
#include "functions/function_case.h"
#include "kernels/generic/functions/elementwise.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

typedef double (*Definition)(const octet_add_desc&, int32_t a, int32_t b, int sign);

struct Operation {
  const char* name;
  octet_status (*create)(const octet_add_desc*, octet_function**, octet_error*);
  Definition definitions[4];  // by octet_arithmetic
  int sign;
};
constexpr Operation kOperations[] = {
    {"a + b", octet_add_create, {add_standard, add_tflite, add_xnnpack, add_onnxruntime}, 1},
    {"a - b", octet_sub_create, {add_standard, add_tflite, add_xnnpack, nullptr}, -1},
    {"a * b",
     octet_mul_create,
     {multiply_standard, multiply_tflite, multiply_xnnpack, multiply_onnxruntime},
     1}};

Bytes expected(const Operation& operation, const octet_add_desc& d, const Bytes& a,
               const Bytes& b) {
  Bytes made;
  const Definition definition = operation.definitions[d.arithmetic];
  for (size_t i = 0; i < a.size() / bytes_of(d.a.type); ++i)
    push_value(clamp_output(d, definition(d, value_at(a, d.a.type, i), value_at(b, d.b.type, i),
                                          operation.sign)),
               d.output.type, &made);
  return made;
}

octet_add_desc desc_of(int arithmetic, octet_type type, const float (&scales)[3],
                       const int32_t (&zero_points)[3]) {
  octet_add_desc d = OCTET_ADD_DESC_INIT;
  d.arithmetic = (octet_arithmetic)arithmetic;
  const auto quantized = [&](int i) -> octet_quantized {
    return {type, scales[i], type == OCTET_S16 ? 0 : zero_points[i] - (type == OCTET_S8 ? 128 : 0)};
  };
  d.a = quantized(0), d.b = quantized(1), d.output = quantized(2);
  return d;
}

TEST(Binary, AllPairsOnEveryTier) {
  // a changes with the line, b with the channel.
  Tensor a = {1, 256, 1, 256}, b = a;
  for (size_t i = 0; i < a.bytes.size(); ++i) a.bytes[i] = (uint8_t)(i / 256), b.bytes[i] = i;
  const float scales[][3] = {{0.5f, 0.25f, 0.75f},
                             {0.023528f, 0.047059f, 0.0510204f},
                             {1, 1, 1},
                             {1, 1, 2},
                             {0.1f, 0.1f, 0.05f},
                             {3e-4f, 0.9f, 0.37f},
                             {0.0072f, 1e-8f, 0.0036f},
                             {1.99f, 0.7f, 0.0101f}};
  const int32_t zero_points[][3] = {{128, 128, 128}, {0, 255, 3}, {255, 0, 254}, {77, 140, 101}};
  for (const Operation& operation : kOperations)
    for (int arithmetic = 0; arithmetic < 4; ++arithmetic)
      for (size_t i = 0; i < 2 * std::size(scales); ++i) {
        const auto& scale = scales[i / 2];
        const bool tiny = scale[1] < 1e-6f && operation.create == octet_mul_create;
        if (!operation.definitions[arithmetic] || tiny) continue;
        octet_add_desc d =
            desc_of(arithmetic, i % 2 ? OCTET_U8 : OCTET_S8, scale, zero_points[(i / 2 + i) % 4]);
        if (i % 3 == 0) d.least = d.output.zero_point / 2, d.most = d.least + 63;
        const Bytes wanted = expected(operation, d, a.bytes, b.bytes);
        for (const octet_isa isa : tiers_to_test()) {
          d.max_isa = isa;
          ASSERT_EQ(run(make(operation.create, d), {a, b}, a), wanted)
              << operation.name << " " << arithmetic << " " << d.a.type << " " << scale[0] << " "
              << scale[1] << " " << scale[2];
        }
      }
}

// Scales as networks have them, and both ends of the scales that are taken.
TEST(Binary, S16OnEveryTier) {
  Tensor a = {1, 3, 1, 4001, 2}, b = a;
  a.bytes = some_s16(a.bytes.size() / 2, 1), b.bytes = some_s16(b.bytes.size() / 2, 2);
  const float scales[][3] = {{0x1p-12f, 0x1p-13f, 0x1p-12f},
                             {3e-4f, 2.1e-4f, 4.4e-4f},
                             {1e-5f, 0.9f, 0.37f},
                             {0.7f, 0.7f, 4.4e-5f},
                             {1, 1e-12f, 1.5f},
                             {1, 1, 0x1.8p15f},
                             {0x1p-140f, 0x1p-139f, 0x1p-139f},
                             {2, 1, 0x1.000002p1f}};
  for (const Operation& operation : kOperations)
    for (size_t i = 0; i < std::size(scales); ++i) {
      const bool product = operation.create == octet_mul_create;
      octet_add_desc d = desc_of(OCTET_ARITHMETIC_TFLITE, OCTET_S16, scales[i], {0, 0, 0});
      const float factor = d.a.scale * d.b.scale / d.output.scale;
      if (product && d.output.scale < 0x1p-100f) continue;
      if (product && !(factor >= 0x1p-126f && factor < 0.9f)) d.b.scale = d.output.scale / 4000;
      if (i % 3 == 1) d.least = 0, d.most = 20000;
      const Bytes wanted = expected(operation, d, a.bytes, b.bytes);
      for (const octet_isa isa : tiers_to_test()) {
        d.max_isa = isa;
        ASSERT_EQ(run(make(operation.create, d), {a, b}, a), wanted)
            << operation.name << " " << i << " " << isa;
      }
    }
}

// Sums in every arithmetic take the body of sums in fixed point, which is the fastest.
TEST(Binary, OneBodyForSumsOfAllArithmetics) {
  const float scales[][3] = {
      {0.05f, 0.04f, 0.07f}, {0.0234783f, 0.0471192f, 0.0510931f}, {1, 1, 1}};
  for (const auto& scale : scales) {
    octet::PairsBody body = nullptr;
    for (const int arithmetic : {OCTET_ARITHMETIC_XNNPACK, OCTET_ARITHMETIC_STANDARD,
                                 OCTET_ARITHMETIC_TFLITE, OCTET_ARITHMETIC_ONNXRUNTIME}) {
      const Function f =
          make(octet_add_create, desc_of(arithmetic, OCTET_S8, scale, {120, 131, 128}));
      octet_network_function function = {};
      ASSERT_EQ(octet_function_for_network(f.get(), &function, nullptr), OCTET_OK);
      const octet::PairsBody taken = ((const octet::BinaryPlan*)function.context)->body;
      if (arithmetic == OCTET_ARITHMETIC_XNNPACK) body = taken;
      EXPECT_EQ(taken, body) << arithmetic << " " << scale[0];
    }
  }
}

TEST(Binary, TypesThatDiffer) {
  Tensor a = {1, 256, 1, 256}, b = a;
  for (size_t i = 0; i < a.bytes.size(); ++i) a.bytes[i] = (uint8_t)(i / 256), b.bytes[i] = i;
  for (const Operation& operation : kOperations)
    for (int types = 0; types < 8; ++types) {
      octet_add_desc d =
          desc_of(OCTET_ARITHMETIC_STANDARD, OCTET_U8, {0.31f, 0.17f, 0.4f}, {90, 120, 77});
      octet_quantized* const tensors[] = {&d.a, &d.b, &d.output};
      for (int i = 0; i < 3; ++i)
        if (types >> i & 1) tensors[i]->type = OCTET_S8, tensors[i]->zero_point -= 128;
      const Bytes wanted = expected(operation, d, a.bytes, b.bytes);
      for (const octet_isa isa : tiers_to_test()) {
        d.max_isa = isa;
        ASSERT_EQ(run(make(operation.create, d), {a, b}, a), wanted)
            << operation.name << " " << types;
      }
    }
}

// Tensors with gaps, at both guards, cut into tasks, and pixels for all: the bytes of each element.
TEST(Binary, StridesAndPixelsForAll) {
  const size_t batch = 3, h = 4, w = 5;
  for (const octet_type type : {OCTET_S8, OCTET_S16})
    for (const Operation& operation : kOperations)
      for (const size_t channels : {1, 5, 32, 67})
        for (int broadcast = OCTET_BROADCAST_NONE; broadcast <= OCTET_BROADCAST_B; ++broadcast)
          for (const bool scalar : {false, true}) {
            const float output =
                type == OCTET_S16 && operation.create == octet_mul_create ? 900 : 0.7f;
            octet_add_desc d =
                desc_of(OCTET_ARITHMETIC_TFLITE, type, {0.4f, 0.3f, output}, {100, 140, 120});
            d.broadcast = (octet_broadcast)broadcast;
            const size_t e = bytes_of(type);
            const Tensor out = {batch, h, w, channels, e};
            std::vector<Tensor> inputs(2, out), all(2, out);
            for (size_t k = 0; k < 2; ++k) {
              const bool one = broadcast == (k ? OCTET_BROADCAST_B : OCTET_BROADCAST_A);
              if (one) inputs[k] = {batch, 1, 1, scalar ? 1 : channels, e};
              for (size_t i = 0; i < inputs[k].bytes.size(); ++i)
                inputs[k].bytes[i] = (uint8_t)(i * (k ? 37 : 101) + 11);
              for (size_t i = 0; i < out.bytes.size() / e; ++i) {
                const size_t image = i / (h * w * channels);
                const size_t pixel = scalar ? image : image * channels + i % channels;
                std::copy_n(&inputs[k].bytes[(one ? pixel : i) * e], e, &all[k].bytes[i * e]);
              }
            }
            const Bytes wanted = expected(operation, d, all[0].bytes, all[1].bytes);
            const Function f = make(operation.create, d);
            const HowToRun hows[] = {{},
                                     {{}, {}, Side::kFront, 5},
                                     {{3 * e, 7 * e, e}, {e, 2 * e, 9 * e}, Side::kBack, 3},
                                     {{0, e, 0}, {0, 0, 5 * e}, Side::kFront, 1}};
            for (const HowToRun& how : hows)
              ASSERT_EQ(run(f, inputs, out, how), wanted)
                  << operation.name << " " << channels << " " << broadcast;
          }
}

TEST(LookUp, EachByte) {
  octet_lut_desc d = OCTET_LUT_DESC_INIT;
  d.input = OCTET_S8, d.output = OCTET_U8;
  for (int i = 0; i < 256; ++i) d.table[i] = (uint8_t)(i * i + 3);
  for (const size_t channels : {1, 31, 64, 200}) {
    Tensor in = {1, 2, 5, channels};
    Bytes wanted;
    for (size_t i = 0; i < in.bytes.size(); ++i) {
      in.bytes[i] = (uint8_t)(i * 37);
      wanted.push_back(d.table[in.bytes[i]]);
    }
    for (const octet_isa isa : tiers_to_test()) {
      d.max_isa = isa;
      for (const HowToRun& how : {HowToRun{}, HowToRun{{3, 7, 1}, {1, 2, 9}, Side::kFront, 2}})
        EXPECT_EQ(run(make(octet_lut_create, d), {in}, in, how), wanted) << channels;
    }
  }
}

void expect_refused(octet_add_desc d, octet_status status, const char* words,
                    decltype(&octet_add_create) create = octet_add_create) {
  octet_function* f = (octet_function*)&d;
  octet_error error = {};
  EXPECT_EQ(create(&d, &f, &error), status) << error.message;
  EXPECT_EQ(f, nullptr);
  EXPECT_NE(strstr(error.message, words), nullptr) << error.message;
}

TEST(Binary, RefusesBadDescriptors) {
  const octet_add_desc good =
      desc_of(OCTET_ARITHMETIC_XNNPACK, OCTET_U8, {0.5f, 0.5f, 0.5f}, {1, 2, 3});
  octet_add_desc d = good;
  for (const float scale : {0.0f, -1.0f, NAN, INFINITY})
    d.b.scale = scale, expect_refused(d, OCTET_BAD_SCALE, "desc.b");
  d = good, d.a.zero_point = 256, expect_refused(d, OCTET_BAD_ZERO_POINT, "desc.a");
  d = good, d.output.type = OCTET_F32, expect_refused(d, OCTET_UNKNOWN_ENUM, "desc.output.type");
  d = good, d.b.type = OCTET_S8, expect_refused(d, OCTET_UNSUPPORTED, "types differ");
  d = good, d.least = 9, d.most = 8, expect_refused(d, OCTET_BAD_CLAMP, "desc.least");
  d = good, d.a.scale = 1000, expect_refused(d, OCTET_BAD_SCALE, "2^8");
  d = good, d.reserved = 1, expect_refused(d, OCTET_UNSUPPORTED, "desc.reserved");
}

TEST(Binary, RefusesBadS16) {
  const octet_add_desc good =
      desc_of(OCTET_ARITHMETIC_TFLITE, OCTET_S16, {0.5f, 0.25f, 0.75f}, {0, 0, 0});
  for (const auto create : {octet_add_create, octet_sub_create, octet_mul_create}) {
    octet_add_desc d = good;
    for (const float scale : {0.0f, -1.0f, NAN, INFINITY, 0x1p49f})
      d.output.scale = scale, expect_refused(d, OCTET_BAD_SCALE, "desc.output", create);
    for (octet_quantized* const q : {&d.a, &d.b, &d.output}) {
      d = good, q->zero_point = 1;
      expect_refused(d, OCTET_BAD_ZERO_POINT, "of OCTET_S16 it must be 0", create);
      d = good, q->type = OCTET_S8, expect_refused(d, OCTET_UNSUPPORTED, "types differ", create);
      d.arithmetic = OCTET_ARITHMETIC_STANDARD;
      expect_refused(d, OCTET_UNSUPPORTED, "OCTET_ARITHMETIC_TFLITE only", create);
    }
    d = good, d.arithmetic = OCTET_ARITHMETIC_XNNPACK;
    expect_refused(d, OCTET_UNSUPPORTED, "OCTET_ARITHMETIC_TFLITE only", create);
    d = good, d.most = 32768, expect_refused(d, OCTET_BAD_CLAMP, "-32768..32767", create);
  }
  octet_add_desc d = good;
  d.a.scale = 0x1p14f * 0.75f;
  for (const auto create : {octet_add_create, octet_sub_create})
    expect_refused(d, OCTET_BAD_SCALE, "less than 2^14", create);
  d = good, d.a.scale = 3, expect_refused(d, OCTET_BAD_SCALE, "less than 2^0", octet_mul_create);
  const Function f = make(octet_add_create, good);
  alignas(2) uint8_t bytes[17] = {}, out[16] = {};
  octet_function_args args = OCTET_FUNCTION_ARGS_INIT;
  args.inputs[0] = args.inputs[1] = {bytes, 2, 2, 2, 0, 0, 0};
  args.output = {out, 2, 2, 2, 0, 0, 0};
  EXPECT_EQ(octet_function_run(f.get(), &args, nullptr), OCTET_OK);
  args.inputs[1].data = bytes + 1;
  EXPECT_EQ(octet_function_run(f.get(), &args, nullptr), OCTET_MISALIGNED);
  args.inputs[1].data = bytes, args.inputs[1].line = 9;
  EXPECT_EQ(octet_function_run(f.get(), &args, nullptr), OCTET_MISALIGNED);
  args.inputs[1].line = 0, args.output.data = bytes + 14;
  EXPECT_EQ(octet_function_run(f.get(), &args, nullptr), OCTET_OVERLAP);
}

TEST(Run, RefusesBadArguments) {
  const Function f = make(
      octet_add_create, desc_of(OCTET_ARITHMETIC_TFLITE, OCTET_U8, {0.5f, 0.5f, 0.5f}, {1, 2, 3}));
  uint8_t a[24] = {}, out[16] = {};  // an input with w = 3 does not reach into `out`
  octet_function_args good = OCTET_FUNCTION_ARGS_INIT;
  good.inputs[0] = good.inputs[1] = good.output = {a, 2, 2, 4, 0, 0, 0};
  good.output.data = out;
  const auto expect = [&](const octet_function_args& args, octet_status status) {
    EXPECT_EQ(octet_function_run(f.get(), &args, nullptr), status);
  };
  expect(good, OCTET_OK);
  octet_function_args args = good;
  args.inputs[1].data = nullptr, expect(args, OCTET_NULL_POINTER);
  args = good, args.inputs[1].w = 3, expect(args, OCTET_BAD_SIZE);
  args = good, args.output.h = 0, expect(args, OCTET_BAD_SIZE);
  args = good, args.output.pixel = 3, expect(args, OCTET_BAD_STRIDE);
  args = good, args.output.data = a + 15, expect(args, OCTET_OVERLAP);
  args = good, args.batch = SIZE_MAX / 4, expect(args, OCTET_BAD_SIZE);
}

}  // namespace
}  // namespace octet_test
