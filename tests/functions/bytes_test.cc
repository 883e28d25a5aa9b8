// SPDX-License-Identifier: Apache-2.0
// Compares functions of one byte and of two with the results of engines for all bytes, and
// functions of s16 values for all values or many pairs (byte_vectors.txt); checks the limits of
// tables, and concatenations.
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "functions/binary_definitions.h"
#include "functions/from_hex.h"
#include "functions/function_case.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

// A line's numbers, one after the other.
struct Numbers {
  std::istringstream words;
  int64_t next() {
    int64_t number = 0;
    words >> number;
    return number;
  }
  float real() {
    const uint32_t bits = (uint32_t)next();
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  octet_quantized quantized(octet_type type) {
    const float scale = real();
    return {type, scale, (int32_t)next()};
  }
  std::string rest() {
    std::string word;
    words >> word;
    return word;
  }
};

octet_type type_of(int64_t is_unsigned) { return is_unsigned ? OCTET_U8 : OCTET_S8; }

Tensor all_bytes() {
  Tensor all = {1, 1, 1, 256};
  for (size_t i = 0; i < 256; ++i) all.bytes[i] = (uint8_t)i;
  return all;
}

void check_unary(Numbers& numbers) {
  octet_unary_desc d = OCTET_UNARY_DESC_INIT;
  d.function = (octet_unary)numbers.next();
  d.arithmetic = (octet_arithmetic)numbers.next();
  const octet_type in = type_of(numbers.next()), out = type_of(numbers.next());
  d.input = numbers.quantized(in), d.output = numbers.quantized(out);
  d.alpha = numbers.real();
  const Bytes wanted = from_hex(numbers.rest());
  Bytes table(256);
  octet_error error = {};
  ASSERT_EQ(octet_unary_table(&d, table.data(), &error), OCTET_OK) << error.message;
  EXPECT_EQ(table, wanted);
  const Tensor all = all_bytes();
  for (const octet_isa isa : tiers_to_test()) {
    d.max_isa = isa;
    EXPECT_EQ(run(make(octet_unary_create, d), {all}, all), wanted);
  }
}

uint64_t checksum(const Bytes& bytes) {
  uint64_t value = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) value = (value ^ byte) * 0x100000001b3;
  return value;
}

void check_pair(Numbers& numbers) {
  constexpr decltype(&octet_add_create) kCreators[] = {octet_add_create, octet_sub_create,
                                                       octet_mul_create};
  const auto create = kCreators[numbers.next()];
  octet_add_desc d = OCTET_ADD_DESC_INIT;
  d.arithmetic = (octet_arithmetic)numbers.next();
  const octet_type type = type_of(numbers.next());
  d.a = numbers.quantized(type), d.b = numbers.quantized(type);
  d.output = numbers.quantized(type);
  d.least = (int32_t)numbers.next(), d.most = (int32_t)numbers.next();
  const uint64_t wanted = std::stoull(numbers.rest());
  Tensor a = {1, 256, 1, 256}, b = a;
  for (size_t i = 0; i < a.bytes.size(); ++i)
    a.bytes[i] = (uint8_t)(i / 256), b.bytes[i] = (uint8_t)i;
  for (const octet_isa isa : tiers_to_test()) {
    d.max_isa = isa;
    EXPECT_EQ(checksum(run(make(create, d), {a, b}, a)), wanted) << octet_isa_name(isa);
  }
}

// All words, the input of lines of words.
Tensor all_s16() {
  Tensor all = {1, 1, 1, 65536, 2};
  for (size_t i = 0; i < all.bytes.size(); ++i) all.bytes[i] = (uint8_t)(i / 2 >> i % 2 * 8);
  return all;
}

void check_s16(Numbers& numbers) {
  octet_unary_desc d = OCTET_UNARY_DESC_INIT;
  d.arithmetic = OCTET_ARITHMETIC_TFLITE;
  d.function = (octet_unary)numbers.next();
  const octet_type out = numbers.next() ? OCTET_S8 : OCTET_S16;
  d.input = numbers.quantized(OCTET_S16), d.output = numbers.quantized(out);
  d.alpha = numbers.real();
  d.least = (int32_t)numbers.next(), d.most = (int32_t)numbers.next();
  const uint64_t wanted = std::stoull(numbers.rest());
  const Tensor all = all_s16();
  for (const octet_isa isa : tiers_to_test()) {
    d.max_isa = isa;
    EXPECT_EQ(checksum(run(make(octet_unary_create, d), {all}, {1, 1, 1, 65536, bytes_of(out)})),
              wanted)
        << octet_isa_name(isa);
  }
}

// b is the word number 40503 * i + 77 of each word number i of a.
void check_pair_of_s16(Numbers& numbers) {
  constexpr decltype(&octet_add_create) kCreators[] = {octet_add_create, octet_sub_create,
                                                       octet_mul_create};
  const auto create = kCreators[numbers.next()];
  octet_add_desc d = OCTET_ADD_DESC_INIT;
  d.arithmetic = OCTET_ARITHMETIC_TFLITE;
  d.a = numbers.quantized(OCTET_S16), d.b = numbers.quantized(OCTET_S16);
  d.output = numbers.quantized(OCTET_S16);
  d.least = (int32_t)numbers.next(), d.most = (int32_t)numbers.next();
  const uint64_t wanted = std::stoull(numbers.rest());
  const Tensor a = all_s16();
  Tensor b = a;
  for (size_t i = 0; i < 65536; ++i) {
    const auto word = (uint16_t)(40503 * i + 77);
    b.bytes[2 * i] = (uint8_t)word, b.bytes[2 * i + 1] = (uint8_t)(word >> 8);
  }
  for (const octet_isa isa : tiers_to_test()) {
    d.max_isa = isa;
    EXPECT_EQ(checksum(run(make(create, d), {a, b}, a)), wanted) << octet_isa_name(isa);
  }
}

void check_concat(Numbers& numbers) {
  octet_concat_desc d = OCTET_CONCAT_DESC_INIT;
  d.input_count = 2, d.axis = OCTET_AXIS_CHANNELS;
  d.arithmetic = (octet_arithmetic)numbers.next();
  const octet_type type = type_of(numbers.next());
  for (octet_quantized* const tensor : {&d.inputs[0], &d.inputs[1], &d.output})
    *tensor = numbers.quantized(type);
  const Bytes wanted = from_hex(numbers.rest());
  const Tensor all = all_bytes();
  for (const octet_isa isa : tiers_to_test()) {
    d.max_isa = isa;
    EXPECT_EQ(run(make(octet_concat_create, d), {all, all}, {1, 1, 1, 512}), wanted);
  }
}

TEST(Bytes, GiveThoseOfEngines) {
  std::ifstream file(OCTET_SOURCE_DIR "/tests/functions/byte_vectors.txt");
  std::string text;
  size_t lines = 0;
  while (std::getline(file, text)) {
    ++lines;
    SCOPED_TRACE("line " + std::to_string(lines) + ": " + text.substr(0, 120));
    Numbers numbers = {std::istringstream(text)};
    const std::string name = numbers.rest();
    if (name == "unary")
      check_unary(numbers);
    else if (name == "pair")
      check_pair(numbers);
    else if (name == "concat")
      check_concat(numbers);
    else if (name == "word")
      check_s16(numbers);
    else if (name == "words")
      check_pair_of_s16(numbers);
    else
      FAIL() << name;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(lines, 330u);
}

void expect_refused(const octet_unary_desc& d, octet_status status, const char* words) {
  Bytes table(256, 7);
  octet_function* f = (octet_function*)&table;
  octet_error error = {};
  EXPECT_EQ(octet_unary_table(&d, table.data(), &error), status) << error.message;
  EXPECT_NE(strstr(error.message, words), nullptr) << error.message;
  EXPECT_EQ(table, Bytes(256, 7));
  EXPECT_EQ(octet_unary_create(&d, &f, nullptr), status);
  EXPECT_EQ(f, nullptr);
}

TEST(Unary, RefusesBadDescriptors) {
  octet_unary_desc good = OCTET_UNARY_DESC_INIT;
  good.input = good.output = {OCTET_S8, 0.1f, 3};
  octet_unary_desc d = good;
  d.input.scale = 0, expect_refused(d, OCTET_BAD_SCALE, "desc.input");
  d = good, d.output.zero_point = 128, expect_refused(d, OCTET_BAD_ZERO_POINT, "desc.output");
  d = good, d.function = (octet_unary)5, expect_refused(d, OCTET_UNKNOWN_ENUM, "desc.function");
  d = good, d.arithmetic = (octet_arithmetic)4;
  expect_refused(d, OCTET_UNKNOWN_ENUM, "desc.arithmetic");
  d = good, d.alpha = 1, expect_refused(d, OCTET_BAD_SCALE, "desc.alpha");
  d = good, d.function = OCTET_UNARY_LEAKY_RELU;
  for (const float alpha : {-1.0f, NAN, INFINITY})
    d.alpha = alpha, expect_refused(d, OCTET_BAD_SCALE, "desc.alpha");
  d = good, d.arithmetic = OCTET_ARITHMETIC_XNNPACK, d.input.scale = 13;
  expect_refused(d, OCTET_BAD_SCALE, "0.00390625 to 128");
  d.input = {OCTET_U8, 0.1f, 3}, expect_refused(d, OCTET_UNSUPPORTED, "one type");
  d = good, d.arithmetic = OCTET_ARITHMETIC_TFLITE, d.output.scale = 1e-9f;
  expect_refused(d, OCTET_BAD_SCALE, "input.scale");
  d.function = OCTET_UNARY_HARD_SWISH, expect_refused(d, OCTET_BAD_SCALE, "HARD_SWISH");
  d = good, d.reserved = 1, expect_refused(d, OCTET_UNSUPPORTED, "desc.reserved");
  d = good, d.least = 5, d.most = 4, expect_refused(d, OCTET_BAD_CLAMP, "desc.least");
}

TEST(Unary, BoundsEndTables) {
  octet_unary_desc d = OCTET_UNARY_DESC_INIT;
  d.input = {OCTET_U8, 1, 0}, d.output = {OCTET_S8, 1, -128};
  d.least = -100, d.most = 100;
  uint8_t table[256];
  ASSERT_EQ(octet_unary_table(&d, table, nullptr), OCTET_OK);
  for (int i = 0; i < 256; ++i) EXPECT_EQ((int8_t)table[i], std::clamp(i - 128, -100, 100));
  d.struct_size = offsetof(octet_unary_desc, least);  // of a caller that knows no bounds
  ASSERT_EQ(octet_unary_table(&d, table, nullptr), OCTET_OK);
  for (int i = 0; i < 256; ++i) EXPECT_EQ((int8_t)table[i], i - 128);
}

void expect_s16_refused(const octet_unary_desc& d, octet_status status, const char* words) {
  octet_function* f = (octet_function*)&d;
  octet_error error = {};
  EXPECT_EQ(octet_unary_create(&d, &f, &error), status) << error.message;
  EXPECT_NE(strstr(error.message, words), nullptr) << error.message;
  EXPECT_EQ(f, nullptr);
}

TEST(Unary, RefusesBadS16) {
  octet_unary_desc good = OCTET_UNARY_DESC_INIT;
  good.arithmetic = OCTET_ARITHMETIC_TFLITE;
  good.input = {OCTET_S16, 0x1p-12f, 0}, good.output = {OCTET_S16, 0x1p-15f, 0};
  octet_unary_desc d = good;
  for (const float scale : {0.0f, -1.0f, NAN, INFINITY, 0x1p49f})
    d.input.scale = scale, expect_s16_refused(d, OCTET_BAD_SCALE, "desc.input");
  d = good, d.output.zero_point = 1;
  expect_s16_refused(d, OCTET_BAD_ZERO_POINT, "of OCTET_S16 it must be 0");
  d = good, d.arithmetic = OCTET_ARITHMETIC_STANDARD;
  expect_s16_refused(d, OCTET_UNSUPPORTED, "OCTET_ARITHMETIC_TFLITE only");
  d = good, d.output.type = OCTET_U8, expect_s16_refused(d, OCTET_UNSUPPORTED, "OCTET_U8");
  d = good, d.output.scale = 0x1p-27f, expect_s16_refused(d, OCTET_BAD_SCALE, "less than 2^15");
  d = good, d.output.scale = 0x1p-149f, d.input.scale = 0x1p48f;
  expect_s16_refused(d, OCTET_BAD_SCALE, "less than 2^15");
  d = good, d.least = -32769, expect_s16_refused(d, OCTET_BAD_CLAMP, "-32768..32767");
  d = good, d.function = OCTET_UNARY_HARD_SWISH;
  expect_s16_refused(d, OCTET_UNSUPPORTED, "OCTET_UNARY_HARD_SWISH");
  for (const octet_unary function : {OCTET_UNARY_LOGISTIC, OCTET_UNARY_TANH}) {
    d = good, d.function = function, d.output.type = OCTET_S8;
    expect_s16_refused(d, OCTET_UNSUPPORTED, "takes one type");
    d = good, d.function = function, d.output.scale = 0x1p-14f;
    expect_s16_refused(d, OCTET_BAD_SCALE, "2^-15");
    for (const float scale : {0x1p-45f, 4.5f})
      d = good, d.function = function, d.input.scale = scale,
      expect_s16_refused(d, OCTET_BAD_SCALE, "2^-44 to 4");
  }
  uint8_t table[256];
  octet_error error = {};
  EXPECT_EQ(octet_unary_table(&good, table, &error), OCTET_UNSUPPORTED);
  EXPECT_NE(strstr(error.message, "there is no table"), nullptr) << error.message;
}

// No engine has this way: x - zero_point by one multiplier and two roundings.
TEST(Unary, BytesToS16) {
  for (const float scale : {0.03f, 0.5f, 127.0f, 16383.0f}) {
    octet_unary_desc d = OCTET_UNARY_DESC_INIT;
    d.arithmetic = OCTET_ARITHMETIC_TFLITE;
    d.input = {OCTET_S8, scale, -7}, d.output = {OCTET_S16, 1, 0};
    d.least = -30000, d.most = 32767;
    int32_t multiplier;
    int shift;
    quantize_multiplier((double)scale, &multiplier, &shift);
    const Tensor in = all_bytes();
    Bytes wanted;
    for (int i = 0; i < 256; ++i) {
      const int64_t value = scale_twice((int8_t)i + 7, multiplier, shift);
      push_value((int32_t)std::clamp<int64_t>(value, d.least, d.most), OCTET_S16, &wanted);
    }
    for (const octet_isa isa : tiers_to_test()) {
      d.max_isa = isa;
      for (const HowToRun& how : {HowToRun{}, HowToRun{{3, 7, 1}, {2, 4, 6}, Side::kFront, 2}})
        EXPECT_EQ(run(make(octet_unary_create, d), {in}, {1, 1, 1, 256, 2}, how), wanted) << scale;
    }
  }
}

// Runs of a few channels with gaps, cut into tasks, give the words that one run gives.
TEST(Unary, StridesOfS16) {
  for (const octet_unary function :
       {OCTET_UNARY_REQUANTIZE, OCTET_UNARY_LOGISTIC, OCTET_UNARY_TANH, OCTET_UNARY_LEAKY_RELU})
    for (const octet_type out : {OCTET_S16, OCTET_S8})
      for (const size_t channels : {1, 5, 67}) {
        if (out == OCTET_S8 && function != OCTET_UNARY_REQUANTIZE) continue;
        octet_unary_desc d = OCTET_UNARY_DESC_INIT;
        d.arithmetic = OCTET_ARITHMETIC_TFLITE, d.function = function;
        d.input = {OCTET_S16, 3e-4f, 0};
        d.output = {out, out == OCTET_S8 ? 0.08f : 0x1p-15f, out == OCTET_S8 ? 3 : 0};
        if (function == OCTET_UNARY_LEAKY_RELU) d.alpha = 0.3f;
        const size_t e = bytes_of(out), count = 2 * 3 * 4 * channels;
        Tensor in = {2, 3, 4, channels, 2}, row = {1, 1, 1, count, 2};
        in.bytes = row.bytes = some_s16(count, 3);
        const Function f = make(octet_unary_create, d);
        const Bytes wanted = run(f, {row}, {1, 1, 1, count, e});
        for (const HowToRun& how : {HowToRun{{}, {}, Side::kFront, 5},
                                    HowToRun{{2, 6, 4}, {e, 2 * e, 9 * e}, Side::kBack, 3}})
          EXPECT_EQ(run(f, {in}, {2, 3, 4, channels, e}, how), wanted) << function << channels;
      }
}

// ---- concatenations

size_t& along(octet_axis axis, Tensor& t) {
  return axis == OCTET_AXIS_H ? t.h : axis == OCTET_AXIS_W ? t.w : t.channels;
}

Tensor counted(const Tensor& sizes, int first) {
  Tensor t = {sizes.batch, sizes.h, sizes.w, sizes.channels, sizes.element};
  for (size_t i = 0; i < t.bytes.size(); ++i) t.bytes[i] = (uint8_t)(first + 7 * (int)i);
  return t;
}

// Element by element; those of 8 bits of odd inputs are doubled, as their scales want it.
Tensor concatenated(octet_axis axis, const std::vector<Tensor>& inputs, Tensor out) {
  const size_t e = out.element;
  size_t before = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Tensor& in = inputs[k];
    size_t from = 0;
    for (size_t n = 0; n < in.batch; ++n)
      for (size_t y = 0; y < in.h; ++y)
        for (size_t x = 0; x < in.w; ++x)
          for (size_t c = 0; c < in.channels * e; ++c, ++from) {
            const size_t oy = y + (axis == OCTET_AXIS_H ? before : 0),
                         ox = x + (axis == OCTET_AXIS_W ? before : 0),
                         oc = c + (axis == OCTET_AXIS_CHANNELS ? before * e : 0);
            const int value = in.bytes[from] * (k % 2 && e == 1 ? 2 : 1);
            out.bytes[((n * out.h + oy) * out.w + ox) * out.channels * e + oc] =
                (uint8_t)std::min(value, 255);
          }
    before += axis == OCTET_AXIS_H ? in.h : axis == OCTET_AXIS_W ? in.w : in.channels;
  }
  return out;
}

TEST(Concat, AlongEachAxis) {
  const HowToRun hows[] = {{}, {{}, {}, Side::kFront, 5}, {{4, 8, 4}, {4, 4, 12}, Side::kBack, 3}};
  for (const octet_axis axis : {OCTET_AXIS_H, OCTET_AXIS_W, OCTET_AXIS_CHANNELS})
    for (size_t count = 1; count <= OCTET_NETWORK_INPUTS_MAX; ++count)
      for (const octet_type type : {OCTET_U8, OCTET_S16, OCTET_F32}) {
        octet_concat_desc d = OCTET_CONCAT_DESC_INIT;
        const size_t element = bytes_of(type);
        d.input_count = count, d.axis = axis;
        d.output = {type, 0.5f, 0};
        Tensor out = {2, 3, 4, 5, element};
        along(axis, out) = 0;
        std::vector<Tensor> inputs;
        for (size_t k = 0; k < count; ++k) {
          Tensor in = {2, 3, 4, 5, element};
          along(axis, in) = k + 1, along(axis, out) += k + 1;
          inputs.push_back(counted(in, (int)k * 50));
          d.inputs[k] = {type, k % 2 && element == 1 ? 1.0f : 0.5f, 0};
        }
        out = counted(out, 0);
        const Bytes wanted = concatenated(axis, inputs, out).bytes;
        const Function f = make(octet_concat_create, d);
        for (const HowToRun& how : hows)
          ASSERT_EQ(run(f, inputs, out, how), wanted) << axis << " " << count;
      }
}

TEST(Concat, RefusesBadArguments) {
  octet_concat_desc good = OCTET_CONCAT_DESC_INIT;
  good.input_count = 2, good.axis = OCTET_AXIS_W;
  good.inputs[0] = good.inputs[1] = good.output = {OCTET_S8, 0.1f, 3};
  const auto expect = [](const octet_concat_desc& d, octet_status status, const char* words) {
    octet_function* f = nullptr;
    octet_error error = {};
    EXPECT_EQ(octet_concat_create(&d, &f, &error), status) << error.message;
    EXPECT_EQ(f, nullptr);
    EXPECT_NE(strstr(error.message, words), nullptr) << error.message;
  };
  octet_concat_desc d = good;
  for (const size_t count : {0, 5})
    d.input_count = count, expect(d, OCTET_BAD_SIZE, "desc.input_count");
  d = good, d.axis = (octet_axis)3, expect(d, OCTET_UNKNOWN_ENUM, "desc.axis");
  d = good, d.inputs[1].type = OCTET_U8, expect(d, OCTET_UNSUPPORTED, "desc.inputs[1].type");
  d = good, d.inputs[1].scale = 0, expect(d, OCTET_BAD_SCALE, "desc.inputs[1]");
  d = good, d.inputs[1].scale = 1, d.arithmetic = OCTET_ARITHMETIC_TFLITE;
  expect(d, OCTET_UNSUPPORTED, "desc.inputs[1]");
  d = good, d.inputs[0] = d.inputs[1] = d.output = {OCTET_S16, 0.1f, 0};
  d.inputs[1].scale = 0.2f, expect(d, OCTET_UNSUPPORTED, "s16 is not requantized");
  d.inputs[1] = {OCTET_S16, 0.1f, 1}, expect(d, OCTET_BAD_ZERO_POINT, "desc.inputs[1]");
  const Function f = make(octet_concat_create, good);
  int8_t bytes[24] = {}, out[24] = {};
  octet_function_args args = OCTET_FUNCTION_ARGS_INIT;
  args.inputs[0] = args.inputs[1] = {bytes, 2, 2, 3, 0, 0, 0};
  args.output = {out, 2, 4, 3, 0, 0, 0};
  EXPECT_EQ(octet_function_run(f.get(), &args, nullptr), OCTET_OK);
  args.inputs[1].w = 1;
  EXPECT_EQ(octet_function_run(f.get(), &args, nullptr), OCTET_BAD_SIZE);
  args.inputs[1].w = 2, args.inputs[1].channels = 2;
  EXPECT_EQ(octet_function_run(f.get(), &args, nullptr), OCTET_BAD_SIZE);
}

// Scales at the ends of their range: results saturate, and nothing leaves its type.
TEST(Unary, ExtremeScales) {
  for (const float in : {0x1p-140f, 1.0f, 0x1p48f})
    for (const float out : {0x1p-140f, 1.0f, 0x1p48f})
      for (int function = OCTET_UNARY_REQUANTIZE; function <= OCTET_UNARY_LEAKY_RELU; ++function) {
        octet_unary_desc d = OCTET_UNARY_DESC_INIT;
        d.input = {OCTET_S8, in, 0}, d.output = {OCTET_U8, out, 9};
        d.function = (octet_unary)function;
        uint8_t table[256];
        ASSERT_EQ(octet_unary_table(&d, table, nullptr), OCTET_OK);
        const int middle = function == OCTET_UNARY_LOGISTIC && out < 1 ? 255 : 9;
        EXPECT_EQ(table[0], middle) << function << " " << in << " " << out;
        for (int i = 1; i < 128; ++i) EXPECT_GE(table[i], table[i - 1]);
      }
}

}  // namespace
}  // namespace octet_test
