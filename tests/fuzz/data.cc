// SPDX-License-Identifier: Apache-2.0
// Draws values of each type.
#include "fuzz/data.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace octet_fuzz {

int32_t draw_zero_point(Choices* c, octet_type type) {
  const int32_t lo = least(type), hi = most(type);
  return c->one_in(3) ? c->between(lo, hi) : c->any({centre(type), lo, hi, 0, hi - 1});
}

std::vector<int32_t> draw_zero_points(Choices* c, octet_type type, size_t n) {
  const size_t kind = c->below(4);
  if (kind == 0) return {};
  if (kind == 1) return {draw_zero_point(c, type)};
  // All values are equal, or all but one, or all are different.
  std::vector<int32_t> values(n, draw_zero_point(c, type));
  if (kind == 2) values[c->below(n)] = draw_zero_point(c, type);
  Random random = c->random();
  if (kind == 3)
    for (int32_t& value : values)
      value = least(type) + (int32_t)random.below((uint32_t)(most(type) - least(type) + 1));
  return values;
}

void fill(Choices* c, octet_type type, int32_t zero_point, uint8_t* data, size_t count) {
  enum Kind {
    kAny,
    kEnds,
    kNever,
    kOnce,
    kSeldomOther,
    kNear,
    kLeast,
    kMost,
    kSeldomLarge,
    kKinds
  };
  const size_t kind = c->below(kKinds);
  const uint8_t lo = (uint8_t)least(type), hi = (uint8_t)most(type);
  const uint8_t special = c->one_in(3) ? lo : (uint8_t)zero_point;
  Random random = c->random();
  for (size_t i = 0; i < count;) {
    uint64_t bits = random();
    for (const size_t end = std::min(count, i + sizeof bits); i < end; ++i, bits >>= 8) {
      const uint8_t any = (uint8_t)bits;
      switch (kind) {
        case kEnds:
          data[i] = any & 1 ? lo : hi;
          break;
        case kNever:
        case kOnce:
          data[i] = any == special ? (uint8_t)(any + 1) : any;
          break;
        case kSeldomOther:
          data[i] = any % 16 ? special : (uint8_t)(any / 16 - 8);
          break;
        case kNear:
          data[i] = (uint8_t)(special + any % 8 - 4);
          break;
        case kLeast:
          data[i] = lo;
          break;
        case kMost:
          data[i] = hi;
          break;
        case kSeldomLarge:  // as ReLU leaves values
          data[i] = (uint8_t)(lo + (any % 32 ? any & 0x7f : any));
          break;
        default:
          data[i] = any;
      }
    }
  }
  if (is_4bit(type))  // the lowest bits are the value
    for (size_t i = 0; i < count; ++i)
      data[i] = (uint8_t)(type == OCTET_S4 ? ((data[i] & 15) ^ 8) - 8 : data[i] & 15);
  if (kind == kOnce && count) data[c->below(count)] = special;
}

void fill_bell(Choices* c, octet_type type, uint8_t* data, size_t count) {
  const int32_t reach = c->any({24, 2, 8, 16, 40});  // of each of eight numbers
  Random random = c->random();
  for (size_t i = 0; i < count; ++i) {
    int32_t sum = 0;
    uint64_t bits = random();
    for (int part = 0; part < 8; ++part, bits >>= 8)
      sum += ((int32_t)(bits & 255) * (2 * reach + 1) >> 8) - reach;
    data[i] = (uint8_t)std::clamp(centre(type) + sum, least(type), most(type));
  }
}

Block nibbles_of(Choices* c, const Block& bytes) {
  Block nibbles(c, (bytes.bytes() + 1) / 2, 1);
  for (size_t i = 0; i < bytes.bytes(); ++i) {
    uint8_t& two = nibbles.data()[i / 2];
    const int nibble = bytes.data()[i] & 15;
    two = (uint8_t)(i % 2 ? (two & 15) | nibble << 4 : nibble);
  }
  return nibbles;
}

void fill_f32(Choices* c, float* data, size_t count) {
  constexpr float kOdd[] = {0.0f,     -0.0f,  1e-45f, 1e-38f,  3.4e38f,
                            -3.4e38f, 1e-30f, 0.5f,   -128.0f, 255.0f};
  const float infinity = std::numeric_limits<float>::infinity();
  const float base = c->any({1.0f, 0.01f, 127.0f, 1e30f, 1e-31f, 0.0f, 3e38f}),
              offset = c->any({0.0f, 1.0f, -1.0f, 3.0f});
  const bool ties = c->one_in(4);  // halves of the scale: max|x| / 127 is 2
  Random random = c->random();
  for (size_t i = 0; i < count; ++i) {
    const int32_t step = (int32_t)random.below(509) - 254;
    data[i] = ties ? (float)step : base * ((float)step / 254.0f + offset);
  }
  if (ties && count) data[0] = 254;
  if (c->one_in(4)) data[c->below(count)] = kOdd[c->below(sizeof kOdd / sizeof *kOdd)];
  if (c->one_in(8)) data[c->below(count)] = c->any({std::nanf(""), infinity, -infinity});
}

void fill_s16(Choices* c, int16_t* data, size_t count) {
  enum Kind { kAny, kEnds, kBytesEnds, kNear, kLeast, kMost, kKinds };
  const size_t kind = c->below(kKinds);
  Random random = c->random();
  for (size_t i = 0; i < count; ++i) {
    constexpr uint8_t kBytes[] = {0, 0x7f, 0x80, 0xff};
    const uint64_t bits = random() >> 16;
    const int word = kind == kEnds        ? (bits & 1 ? 32767 : -32768)
                     : kind == kBytesEnds ? kBytes[bits & 3] << 8 | kBytes[bits >> 2 & 3]
                     : kind == kNear      ? (int)(bits & 7) - 4
                     : kind == kLeast     ? -32768
                     : kind == kMost      ? 32767
                                          : (int)(bits & 0xffff);
    data[i] = (int16_t)word;
  }
}

std::vector<octet_machine> draw_machine(Choices* c) {
  if (!c->one_in(3)) return {};
  octet_machine machine = OCTET_MACHINE_INIT;
  machine.l2_bytes = c->any<size_t>({4096, 1 << 15, 1 << 19, (1 << 20) + 1, size_t{1} << 31});
  machine.l3_bytes = c->any<size_t>({0, 0, 4096, 1 << 22, size_t{1} << 31});
  machine.in_order = c->one_in(2);
  machine.design = (octet_cpu_design)c->below(OCTET_DESIGN_NEOVERSE_V2 + 1);
  return {machine};
}

float draw_scale(Choices* c) {
  if (!c->one_in(4))
    return c->any({0.02f, 1.0f, 0.5f, 1e-6f, 7.3f, 1e9f, 0x1p48f, 1e-45f, 1e-40f, 0x1p-15f});
  const uint32_t bits = (uint32_t)(1 + c->bits(4) % 0x57800000u);  // up to 2^48
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return scale;
}

}  // namespace octet_fuzz
