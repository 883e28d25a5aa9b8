// Compares functions of one byte and of two with the results of engines for all bytes
// (byte_vectors.txt); checks the limits of tables.
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

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

void check_unary(Numbers& numbers) {
  octet_unary_desc d = OCTET_UNARY_DESC_INIT;
  d.function = (octet_unary)numbers.next();
  d.arithmetic = (octet_arithmetic)numbers.next();
  const octet_type in = type_of(numbers.next()), out = type_of(numbers.next());
  d.input = numbers.quantized(in), d.output = numbers.quantized(out);
  d.alpha = numbers.real();
  const std::string hex = numbers.rest();
  ASSERT_EQ(hex.size(), 512u);
  Bytes wanted;
  for (size_t i = 0; i < hex.size(); i += 2)
    wanted.push_back((uint8_t)std::stoi(hex.substr(i, 2), nullptr, 16));
  Bytes table(256);
  octet_error error = {};
  ASSERT_EQ(octet_unary_table(&d, table.data(), &error), OCTET_OK) << error.message;
  EXPECT_EQ(table, wanted);
  Tensor all = {1, 4, 16, 4};
  for (size_t i = 0; i < 256; ++i) all.bytes[i] = (uint8_t)i;
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
  Tensor a = {1, 256, 256, 1}, b = a;
  for (size_t i = 0; i < a.bytes.size(); ++i)
    a.bytes[i] = (uint8_t)(i / 256), b.bytes[i] = (uint8_t)i;
  for (const octet_isa isa : tiers_to_test()) {
    d.max_isa = isa;
    EXPECT_EQ(checksum(run(make(create, d), {a, b}, a)), wanted) << octet_isa_name(isa);
  }
}

TEST(Bytes, GiveThoseOfEngines) {
  std::ifstream file(OCTET_FUNCTIONS_DIR "/byte_vectors.txt");
  std::string text;
  size_t lines = 0;
  while (std::getline(file, text)) {
    ++lines;
    SCOPED_TRACE("line " + std::to_string(lines) + ": " + text.substr(0, 120));
    Numbers numbers = {std::istringstream(text)};
    const std::string name = numbers.rest();
    ASSERT_TRUE(name == "unary" || name == "pair");
    name == "unary" ? check_unary(numbers) : check_pair(numbers);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(lines, 250u);
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
