// Checks octet_add_create's functions against definitions of each arithmetic, for all pairs of
// bytes, on every tier.
#include "functions/binary_definitions.h"
#include "functions/function_case.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

typedef double (*Definition)(const octet_add_desc&, int32_t a, int32_t b, int sign);

Definition definition_of(octet_arithmetic arithmetic) {
  switch (arithmetic) {
    case OCTET_ARITHMETIC_TFLITE: return add_tflite;
    case OCTET_ARITHMETIC_XNNPACK: return add_xnnpack;
    case OCTET_ARITHMETIC_ONNXRUNTIME: return add_onnxruntime;
    default: return add_standard;
  }
}

constexpr octet_arithmetic kArithmetics[] = {OCTET_ARITHMETIC_STANDARD, OCTET_ARITHMETIC_TFLITE,
                                             OCTET_ARITHMETIC_XNNPACK,
                                             OCTET_ARITHMETIC_ONNXRUNTIME};

int32_t value_of(uint8_t byte, octet_type type) {
  return type == OCTET_S8 ? (int8_t)byte : (int32_t)byte;
}

// All pairs: a changes with the line, b with the channel.
struct AllPairs {
  Tensor a = {1, 256, 1, 256}, b = a, out = a;
  AllPairs() {
    for (size_t i = 0; i < a.bytes.size(); ++i) a.bytes[i] = (uint8_t)(i / 256), b.bytes[i] = i;
  }
};

Bytes expected(const octet_add_desc& d, const Bytes& a, const Bytes& b) {
  Bytes made(a.size());
  const Definition add = definition_of(d.arithmetic);
  for (size_t i = 0; i < a.size(); ++i)
    made[i] =
        (uint8_t)clamp_output(d, add(d, value_of(a[i], d.a.type), value_of(b[i], d.b.type), 1));
  return made;
}

octet_add_desc desc_of(octet_arithmetic arithmetic, octet_type type, const float (&scales)[3],
                       const int32_t (&zero_points)[3]) {
  octet_add_desc d = OCTET_ADD_DESC_INIT;
  d.arithmetic = arithmetic;
  const int32_t move = type == OCTET_S8 ? 128 : 0;
  d.a = {type, scales[0], zero_points[0] - move};
  d.b = {type, scales[1], zero_points[1] - move};
  d.output = {type, scales[2], zero_points[2] - move};
  return d;
}

TEST(Add, AllPairsOnEveryTier) {
  const AllPairs pairs;
  const float scales[][3] = {{0.5f, 0.25f, 0.75f},
                             {0.023528f, 0.047059f, 0.0510204f},
                             {1, 1, 1},
                             {1, 1, 2},
                             {0.1f, 0.1f, 0.05f},
                             {3e-5f, 0.9f, 0.37f},
                             {0.0072f, 1e-7f, 0.0036f},
                             {1.99f, 0.7f, 0.0101f}};
  const int32_t zero_points[][3] = {{128, 128, 128}, {0, 255, 3}, {255, 0, 254}, {77, 140, 101}};
  for (const octet_arithmetic arithmetic : kArithmetics)
    for (const octet_type type : {OCTET_S8, OCTET_U8})
      for (const auto& scale : scales)
        for (const auto& zero : zero_points) {
          if ((&scale - scales + &zero - zero_points) % 2 == (type == OCTET_U8)) continue;
          octet_add_desc d = desc_of(arithmetic, type, scale, zero);
          const Bytes wanted = expected(d, pairs.a.bytes, pairs.b.bytes);
          for (const octet_isa isa : tiers_to_test()) {
            d.max_isa = isa;
            const Function f = make(octet_add_create, d);
            ASSERT_EQ(run(f, {pairs.a, pairs.b}, pairs.out), wanted)
                << arithmetic << " " << type << " " << scale[0] << " " << scale[1] << " "
                << scale[2] << " zero points " << zero[0] << " " << zero[1] << " " << zero[2];
          }
        }
}

}  // namespace
}  // namespace octet_test
