// SPDX-License-Identifier: Apache-2.0
// Self-test of the depthwise and grouped kernels.
#include "dispatch/self_test/conv.h"

#include "dispatch/self_test/product.h"
#include "dispatch/self_test/requantize.h"
#include "dispatch/self_test/s16.h"
#include "dispatch/self_test/self_test.h"
#include "dispatch/tables/tier_ops.h"
#include "dispatch/tables/tiers.h"
#include "dispatch/tables/transforms.h"

namespace octet {
namespace {

// Depthwise kernels: 2 or 3 output columns of a 3x3 filter, tap by tap, and by each walk that the
// kernel knows.
constexpr size_t kPixel = kTileColumns, kInColumns = 7, kLines = 5, kSlots = 28, kMostOutputs = 9;
static_assert(sizeof Operands::rhs >= kLines * kInColumns * kPixel, "pixels");

uint8_t pixel_byte(const Operands& operands, size_t line, size_t column, size_t channel) {
  return operands.rhs[(line * kInColumns + column) * kPixel + channel];
}

// The filter of a loop.
struct TestFilter {
  size_t side, stride, groups;
  explicit TestFilter(DepthwiseLoop loop)
      : side(is_5x5(loop) ? 5 : 3), stride(stride_of(loop)), groups(side == 5 ? 7 : 3) {}
  // Slots that have no tap have weights of 0.
  size_t slot(size_t ky, size_t kx) const { return side == 5 ? 5 * ky + kx : 4 * kx + ky; }
  size_t columns() const { return smaller((kInColumns - side) / stride + 1, 3); }
};

// int16 weights have 9 bits; in walks those of a channel span 8 bits, as a zero point leaves them.
// Outside of taps at most one weight of a channel is -128: two of them are for NEON's int16 loops,
// and its walks would not run.
int32_t weight(const DepthwiseKernel& kernel, const Operands& operands, DepthwiseLoop loop,
               size_t slot, size_t channel) {
  int32_t byte = (int8_t)operands.rhs[(slot * 67 + channel) % sizeof operands.rhs];
  if (loop != DepthwiseLoop::kTaps && slot > 0 && byte == -128) byte = -127;
  if (kernel.layout.element_type == ElementType::kS8) return byte;
  return is_walk(loop) ? byte + 100 * (int32_t)(channel % 3) - 100 : 2 * byte;
}

bool takes_s16(const DepthwiseKernel& kernel) {
  return kernel.lhs_element_type == ElementType::kS16;
}

// is_sum(i, sum) tells whether value i of the outputs is right.
template <typename IsSum>
bool is_depthwise(const DepthwiseKernel& kernel, const Operands& operands,
                  const DepthwiseTile& tile, const IsSum& is_sum) {
  const TestFilter filter(tile.loop);
  size_t first = 0;
  for (size_t y = 0; y < tile.rows; ++y)
    for (size_t x = 0; x < tile.columns; ++x, first += kPixel)
      for (size_t c = 0; c < kernel.channels; ++c) {
        int32_t acc = 0;
        for (size_t kx = 0; kx < filter.side; ++kx)
          for (size_t ky = 0; ky < filter.side; ++ky) {
            const uint8_t byte = pixel_byte(operands, y + ky, filter.stride * x + kx, c);
            acc += (takes_s16(kernel) ? doubled(byte) : value(byte, kernel.lhs_element_type)) *
                   weight(kernel, operands, tile.loop, filter.slot(ky, kx), c);
          }
        if (!is_sum(first + c, acc)) return false;
      }
  return true;
}

// True if all outputs of a tile are these values.
bool are_all(const DepthwiseKernel& kernel, const DepthwiseTile& tile, const uint8_t* out,
             const void* values, size_t element) {
  for (size_t i = 0; i < tile.rows * tile.columns; ++i, out += kPixel * element)
    if (memcmp(out, values, kernel.channels * element) != 0) return false;
  return true;
}

void set_outputs(DepthwiseTile* tile, size_t pixel, const Requantization* requantization) {
  tile->dst_pixel = pixel;
  tile->dst_line = tile->columns * pixel;
  tile->requantization = requantization;
}

// True if a kernel makes these values of all outputs.
bool gives(const DepthwiseKernel& kernel, DepthwiseTile* tile, const Requantization& requantization,
           const void* values, size_t element = 1) {
  set_outputs(tile, kPixel * element, &requantization);
  kernel.multiply(*tile);
  return are_all(kernel, *tile, tile->dst, values, element);
}

// Tests the outputs of an s16 kernel in both modes: accumulators start at the cases, and the
// weights are zeros.
bool finishes_s16(const DepthwiseKernel& kernel, DepthwiseBlock block, DepthwiseTile tile,
                  void* prepared) {
  const FloatCases floats(Accumulators::kAll);
  const S16Cases s16(kLeastShiftInKernel);
  alignas(64) int32_t acc[kPixel], multiplier[kPixel];
  int16_t rounded[kPixel], tflite[kPixel];
  for (size_t c = 0; c < kPixel; ++c) {
    const size_t at = c % kS16TestColumns;
    rounded[c] = within_s16(floats.rounded[c]);
    acc[c] = (int32_t)s16.acc[at];
    multiplier[c] = s16.multiplier[at] << (32 - s16.right[at]);
    tflite[c] = s16.tflite[at];
  }
  Requantization requantization = {0, kS16Lo, kS16Hi, ElementType::kS16};
  block.init = floats.acc, block.scale = floats.scale;
  kernel.prepare(block, prepared);
  if (!gives(kernel, &tile, requantization, rounded, sizeof *rounded)) return false;
  requantization.tflite_apart = 1;
  block.init = acc, block.scale = (const float*)multiplier;
  kernel.prepare(block, prepared);
  return gives(kernel, &tile, requantization, tflite, sizeof *tflite);
}

// True if all outputs become the floats of the cases, and half of them where the lhs's scale says
// so and there is no bias. block: starts at the cases.
bool converts_to_floats(const DepthwiseKernel& kernel, DepthwiseBlock block, DepthwiseTile tile,
                        void* prepared, const FloatCases& cases) {
  Requantization floats = {};
  floats.to_floats = true;
  block.to_floats = true;
  block.bias_f32 = cases.bias;
  kernel.prepare(block, prepared);
  if (!gives(kernel, &tile, floats, cases.f32, sizeof(float))) return false;
  block.bias_f32 = nullptr;
  block.lhs_scale = 0.5f;
  kernel.prepare(block, prepared);
  float halves[kPixel];
  for (size_t c = 0; c < kPixel; ++c) halves[c] = (float)cases.acc[c] * (0.5f * cases.scale[c]);
  return gives(kernel, &tile, floats, halves, sizeof(float));
}

// Tests all outputs of a kernel: accumulators start at the cases, and the weights are zeros.
bool requantizes(const DepthwiseKernel& kernel, DepthwiseBlock block, DepthwiseTile tile,
                 void* prepared) {
  const FloatCases cases(kernel.flags & kRequantizes16 ? Accumulators::kInt16 : Accumulators::kAll);
  block.init = cases.acc, block.scale = cases.scale;
  kernel.prepare(block, prepared);
  if (!gives(kernel, &tile, kRequantizeU8, cases.u8) ||
      !gives(kernel, &tile, kRequantizeS8, cases.s8))
    return false;
  if (adds_residual(kernel, tile.loop) &&
      !adds_residuals(kernel, tile, tile.rows * tile.columns, kernel.channels, cases))
    return false;
  if (knows_floats(kernel, tile.loop) && !converts_to_floats(kernel, block, tile, prepared, cases))
    return false;
  block.tflite_apart = kTileColumns;
  // Begins block and accumulators at a column of the cases
  const auto prepare_from = [&](const TfliteCases& tflite, size_t column) {
    block.init = tflite.acc + column;
    block.scale = (const float*)(tflite.rows + column);
    kernel.prepare(block, prepared);
  };
  const auto requantizes_tflite = [&](const Requantization& requantization, size_t from) {
    const TfliteCases cases(requantization);
    prepare_from(cases, from);
    return gives(kernel, &tile, requantization, cases.bytes + from);
  };
  if (kernel.flags & kRequantizesTflite)
    return requantizes_tflite(kTfliteS8, kTfliteRightFrom) &&
           requantizes_tflite(kTflitePlainRelu, kTfliteRightFrom);
  if (!kernel.requantize) return true;
  if (kernel.tflite_floats && !requantizes_tflite(kTfliteFloatsUp, 0)) return false;
  set_outputs(&tile, kernel.channels * sizeof(int32_t), nullptr), tile.raw = true;
  const auto raw_tflite = [&](const Requantization& requantization) {
    const TfliteCases cases(requantization);
    prepare_from(cases, 0);
    kernel.multiply(tile);
    uint8_t out[kMostOutputs * kPixel];
    kernel.requantize({tile.prepared, (const int32_t*)tile.dst, kernel.channels,
                       tile.rows * tile.columns, kernel.channels, &requantization, out, kPixel,
                       tile.quads});
    return are_all(kernel, tile, out, cases.bytes, 1);
  };
  return raw_tflite(kTfliteS8) && are_right(ops_of(kernel.tier_id), raw_tflite);
}

// Tests products that leave as bytes: kernels may have loops for them alone.
bool multiplies_to_bytes(const DepthwiseKernel& kernel, const Operands& operands,
                         DepthwiseBlock block, DepthwiseTile tile, void* prepared) {
  constexpr int kShift = 11;
  alignas(64) float scale[kPixel];
  for (float& s : scale) s = 1.0f / (1 << kShift);
  block.scale = scale;
  kernel.prepare(block, prepared);
  set_outputs(&tile, kPixel, &kRequantizeS8);
  kernel.multiply(tile);
  return is_depthwise(kernel, operands, tile, [&](size_t i, int32_t sum) {
    const int32_t rounded = (sum + (1 << (kShift - 1)) - 1 + (sum >> kShift & 1)) >> kShift;
    return (int8_t)tile.dst[i] == (rounded < -128 ? -128 : rounded > 127 ? 127 : rounded);
  });
}

// A tile of int32 outputs.
DepthwiseTile make_tile(const DepthwiseKernel& kernel, DepthwiseLoop loop, size_t rows,
                        size_t columns, const uint8_t* const* pixels, const size_t* steps,
                        size_t groups, const uint8_t* prepared, int32_t* out) {
  DepthwiseTile tile = {};
  tile.loop = loop;
  tile.rows = rows;
  tile.columns = columns;
  tile.channels = kernel.channels;
  tile.pixels = pixels;
  tile.steps = steps;
  tile.groups = tile.set_groups = groups;
  tile.sets = 1;
  tile.prepared = prepared;
  tile.dst = (uint8_t*)out;
  set_outputs(&tile, kPixel * sizeof(int32_t), nullptr);
  return tile;
}

bool passes(const DepthwiseKernel& kernel, const Operands& operands, DepthwiseLoop loop,
            bool floats) {
  constexpr size_t kPanel = kSlots / 4 * kDepthwiseGroup;
  alignas(64) int16_t s16[kPanel] = {};
  alignas(64) uint8_t bytes[kPanel] = {}, prepared[depthwise_prepared_bytes(kPixel, kSlots / 4)];
  const uint8_t* const panel =
      kernel.layout.element_type == ElementType::kS16 ? (const uint8_t*)s16 : bytes;
  alignas(64) int32_t out[kMostOutputs * kPixel];
  constexpr size_t kLinesBytes = kLines * kInColumns * kPixel;
  int16_t lines_of_s16[kLinesBytes];
  for (size_t i = 0; i < kLinesBytes; ++i) lines_of_s16[i] = doubled(operands.rhs[i]);
  // Copied lines have no other channels than the kernel's.
  const bool copied = loop == DepthwiseLoop::kCopied5x5;
  alignas(16) uint8_t copies[kLinesBytes];
  for (size_t i = 0; copied && i < kLines * kInColumns; ++i)
    memcpy(copies + i * kernel.channels, operands.rhs + i * kPixel, kernel.channels);
  if (copied && kernel.widen_5x5)
    kernel.widen_5x5(operands.rhs, kPixel, kLines * kInColumns, kernel.channels, 0,
                     (uint16_t*)copies);
  const uint8_t* lines = takes_s16(kernel) ? (uint8_t*)lines_of_s16 : operands.rhs;
  if (copied) lines = copies;
  const size_t pixel =
      copied ? copied_bytes(kernel) : kPixel * element_size(kernel.lhs_element_type);
  const TestFilter filter(loop);
  const uint8_t* pixels[kSlots];
  size_t steps[kSlots];
  const bool taps = loop == DepthwiseLoop::kTaps;
  for (size_t i = 0; i < kSlots; ++i) {
    const size_t line = taps ? i % 4 : smaller(i, kLines - 1), column = taps ? i / 4 : 0;
    pixels[i] = lines + (line * kInColumns + column) * pixel;
    steps[i] = pixel;
  }
  DepthwiseTile tile = make_tile(kernel, loop, loop == DepthwiseLoop::kWalk ? kernel.walk_rows : 1,
                                 filter.columns(), pixels, steps, filter.groups, prepared, out);
  tile.in_w = kInColumns;
  tile.zero = pixels[0];

  for (size_t ky = 0; ky < filter.side; ++ky)
    for (size_t kx = 0; kx < filter.side; ++kx)
      for (size_t c = 0, slot = filter.slot(ky, kx); c < kPixel; ++c) {
        const size_t at = slot / 4 * kDepthwiseGroup + depthwise_position(c) + slot % 4;
        const int32_t w = weight(kernel, operands, loop, slot, c);
        s16[at] = (int16_t)w;
        bytes[at] = (uint8_t)w;
      }
  const DepthwiseBlock block = {loop, filter.groups, panel,   1, filter.groups,
                                1,    kNoInit,       nullptr, 0};
  kernel.prepare(block, prepared);
  kernel.multiply(tile);
  if (!is_depthwise(kernel, operands, tile, [&](size_t i, int32_t sum) { return out[i] == sum; }))
    return false;
  if (!floats || !(kernel.flags & kRequantizes)) return true;
  if (kernel.layout.element_type == ElementType::kS16 &&
      !multiplies_to_bytes(kernel, operands, block, tile, prepared))
    return false;
  memset(s16, 0, sizeof s16);
  memset(bytes, 0, sizeof bytes);
  return takes_s16(kernel) ? finishes_s16(kernel, block, tile, prepared)
                           : requantizes(kernel, block, tile, prepared);
}

// Grouped kernels: two taps, 9 columns, the taps' pixels side by side.
constexpr size_t kGroupTaps = 2, kGroupColumns = 9;
static_assert(sizeof Operands::rhs >= (kGroupTaps + kGroupColumns - 1) * kPixel, "pixels");
static_assert(kGroupColumns <= kMostOutputs, "outputs");

int8_t weight_in_group(const Operands& operands, size_t tap, size_t channel, size_t index) {
  return (int8_t)operands.rhs[(channel * 31 + index) * kGroupTaps + tap];
}

bool is_grouped(const DepthwiseKernel& kernel, const Operands& operands, const DepthwiseTile& tile,
                const int32_t* out) {
  const size_t group = 4 * tile.quads;
  for (size_t x = 0; x < kGroupColumns; ++x, out += kPixel)
    for (size_t c = 0; c < kernel.channels; ++c) {
      int32_t acc = 0;
      for (size_t tap = 0; tap < kGroupTaps; ++tap)
        for (size_t i = 0; i < group; ++i)
          acc += value(pixel_byte(operands, 0, x + tap, c / group * group + i),
                       kernel.lhs_element_type) *
                 weight_in_group(operands, tap, c % 16, i);
      if (out[c] != acc) return false;
    }
  return true;
}

bool passes(const DepthwiseKernel& kernel, const Operands& operands, size_t quads, bool floats) {
  constexpr size_t kPanel = kGroupTaps * kPixel * 16;
  alignas(64) uint8_t panel[kPanel], prepared[depthwise_prepared_bytes(kPixel, kGroupTaps * 4)];
  alignas(64) int32_t out[kGroupColumns * kPixel];
  constexpr size_t kLine = (kGroupTaps + kGroupColumns - 1) * kPixel;
  uint16_t s16[kLine];
  for (size_t i = 0; i < kLine; ++i) s16[i] = operands.rhs[i];
  const uint8_t* const line = kernel.widen ? (const uint8_t*)s16 : operands.rhs;
  const uint8_t* pixels[kGroupTaps];
  size_t steps[kGroupTaps];
  for (size_t tap = 0; tap < kGroupTaps; ++tap) {
    steps[tap] = kPixel * input_bytes(kernel);
    pixels[tap] = line + tap * steps[tap];
  }
  DepthwiseTile tile = make_tile(kernel, DepthwiseLoop::kTaps, 1, kGroupColumns, pixels, steps,
                                 kGroupTaps, prepared, out);
  tile.quads = quads;
  uint8_t* to = panel;
  for (size_t c = 0; c < kPixel; c += kGroupedBlock)
    for (size_t tap = 0; tap < kGroupTaps; ++tap, to += quads * 64)
      for (size_t i = 0; i < kGroupedBlock; ++i)
        for (size_t k = 0; k < 4 * quads; ++k)
          to[grouped_position(quads, i, k / 4) + k % 4] =
              (uint8_t)weight_in_group(operands, tap, i, k);
  const DepthwiseBlock block = {tile.loop, kGroupTaps, panel, 1,     kGroupTaps,     1,
                                kNoInit,   nullptr,    0,     quads, kernel.channels};
  kernel.prepare(block, prepared);
  kernel.multiply(tile);
  if (!is_grouped(kernel, operands, tile, out)) return false;
  if (!floats || !(kernel.flags & kRequantizes)) return true;
  memset(panel, 0, sizeof panel);
  return requantizes(kernel, block, tile, prepared);
}

// The tiers that have a kernel in the list that `cpu` supports and that does not pass.
template <typename List, typename F>
TierMask failing_of(const List& kernels, const CpuFeatures& cpu, const F& passes) {
  TierMask failing = 0;
  for (const auto* kernel : kernels)
    if (supports(cpu, *kernel) && !passes(*kernel)) failing |= mask_of(kernel->tier_id);
  return failing;
}

}  // namespace

bool passes(const DepthwiseKernel& kernel) {
  const Operands operands;
  const bool floats = rounds_to_nearest();
  if (find_format_of(kernel.layout)->kind == KernelKind::kGrouped)
    return passes(kernel, operands, 1, floats) && passes(kernel, operands, 2, floats) &&
           passes(kernel, operands, 4, floats) &&
           (!floats || !kernel.byte_windows || passes(*kernel.byte_windows));
  for (const DepthwiseLoop loop : kDepthwiseLoops)
    if (knows(kernel, loop) && !passes(kernel, operands, loop, floats)) return false;
  return !kernel.s16 || passes(*kernel.s16);
}

TierMask failing_int16_tiers(const KernelList& kernels, const CpuFeatures& cpu) {
  return failing_of(kernels, cpu, [](const MicroKernel& kernel) {
    return passes_int16(kernel) && passes(transforms_of(kernel.tier_id), kernel.flags);
  });
}

TierMask failing_s16_tiers(const KernelList& kernels, const CpuFeatures& cpu) {
  return failing_of(kernels, cpu, passes_s16);
}

TierMask failing_tiers(const DepthwiseList& kernels, const CpuFeatures& cpu) {
  return failing_of(kernels, cpu, [](const DepthwiseKernel& kernel) { return passes(kernel); });
}

}  // namespace octet
