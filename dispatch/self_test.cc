#include "dispatch/self_test.h"

#include <string.h>

#include "dispatch/self_test_cases.h"
#include "dispatch/self_test_exits.h"
#include "kernels/core/unroll.h"
#include "kernels/gemm/packed_rhs.h"

namespace octet {
namespace {

constexpr size_t kDepth = 37;  // a tail for each kr, and more than one group before it
constexpr size_t kPanelBytes = 4096;

// Bytes of all kinds, every fourth of them as far from zero as there is.
struct Operands {
  uint8_t lhs[kTileRows * kDepth], rhs[kDepth * kTileColumns];
};
constexpr uint8_t kExtreme[] = {0x80, 0xff, 0x80, 0x7f};
constexpr Operands make_operands() {
  Operands operands = {};
  uint32_t state = 1;
  const auto byte = [&state]() {
    state = state * 1664525 + 1013904223;
    return state >> 16 & 3 ? (uint8_t)(state >> 24) : kExtreme[state >> 18 & 3];
  };
  for (uint8_t& b : operands.lhs) b = byte();
  for (uint8_t& b : operands.rhs) b = byte();
  return operands;
}
constexpr Operands kOperands = make_operands();

int32_t value(uint8_t byte, Domain domain) { return domain == Domain::kU8 ? byte : (int8_t)byte; }
// 0x80 and 0x7f become the words farthest from zero.
int16_t word(uint8_t byte) { return (int16_t)(byte << 8 | (byte ^ 0x80)); }

// Whether out = lhs * rhs modulo 2^32, found without that product: both times a vector are the same
// (Freivalds 1977). The vector's numbers are odd, so a sum that is wrong cannot hide behind others
// that are right.
template <typename Lhs, typename Rhs>
bool is_product(const int32_t* out, size_t rows, size_t columns, const Lhs& lhs, const Rhs& rhs) {
  uint32_t odd[kTileColumns], rhs_odd[kDepth] = {};
  uint32_t state = 1;
  for (size_t j = 0; j < columns; ++j) {
    odd[j] = state | 1;
    state = state * 1664525 + 1013904223;
  }
  for (size_t k = 0; k < kDepth; ++k)
    for (size_t j = 0; j < columns; ++j) rhs_odd[k] += (uint32_t)rhs(k, j) * odd[j];
  for (size_t i = 0; i < rows; ++i) {
    uint32_t difference = 0;
    for (size_t k = 0; k < kDepth; ++k) difference += (uint32_t)lhs(i, k) * rhs_odd[k];
    for (size_t j = 0; j < columns; ++j) difference -= (uint32_t)out[i * columns + j] * odd[j];
    if (difference) return false;
  }
  return true;
}

alignas(64) constexpr int32_t kNoInit[kTileColumns] = {};

// A tile of the whole depth, whose lhs rows follow each other.
Tile make_tile(const void* lhs, const void* packed, size_t element, size_t rows, size_t columns,
               int32_t* out) {
  Tile tile = {};
  tile.lhs = lhs;
  tile.lhs_stride = kDepth * element;
  tile.rhs = (const uint8_t*)packed;
  tile.depth = kDepth;
  tile.rows = rows;
  tile.cols = columns;
  tile.init = kNoInit;
  tile.dst = out;
  tile.dst_stride = columns * sizeof(int32_t);
  return tile;
}

bool multiplies(const MicroKernel& kernel, size_t rows, size_t columns) {
  alignas(64) uint8_t rhs[kDepth * kTileColumns], panel[2048], packed[kPanelBytes];
  alignas(64) int32_t out[kTileRows * kTileColumns];
  const RhsLayout& layout = kernel.rhs_layout;
  if (layout.bytes(columns, kDepth) > kPanelBytes || kernel.lhs_panel_bytes(kDepth) > sizeof panel)
    return false;
  memcpy(rhs, kOperands.rhs, sizeof rhs);
  if (kernel.is(kNoLeast))
    for (uint8_t& byte : rhs) byte = byte == 0x80 ? 0x81 : byte;

  const bool rhs_u8 = layout.domain == Domain::kU8;
  pack_columns(layout, {rhs, columns, kDepth, kTileColumns, 1, rhs_u8, nullptr, 0}, 0, columns,
               packed);
  const uint8_t* const lhs = kOperands.lhs;
  if (kernel.gather)
    kernel.gather({lhs, kDepth, rows, kDepth, 0}, round_up(rows, kernel.lhs_lanes_step), panel);
  Tile tile = make_tile(kernel.gather ? panel : lhs, packed, 1, rows, columns, out);
  tile.rhs_stride = layout.panel_width(0, columns) * layout.kr;
  tile.rhs_panel_stride = layout.width * layout.depth(kDepth);
  kernel.multiply(tile);
  return is_product(
      out, rows, columns,
      [&](size_t i, size_t k) { return value(lhs[i * kDepth + k], kernel.lhs_domain); },
      [&](size_t k, size_t j) { return value(rhs[k * kTileColumns + j], layout.domain); });
}

// The same for kernels of words, whose sums wrap.
bool multiplies_words(const MicroKernel& kernel) {
  alignas(64) int16_t lhs[kTileRows * kDepth + 16], packed[kPanelBytes / 2];
  alignas(64) int32_t out[kTileRows * kTileColumns];
  const size_t rows = smaller(kernel.mr, kTileRows), columns = smaller(kernel.nr, kTileColumns);
  const RhsLayout& layout = kernel.rhs_layout;
  const size_t depth = layout.depth(kDepth), width = layout.width, kr = layout.kr;
  if (round_up(columns, width) * depth > kPanelBytes / 2) return false;
  for (size_t i = 0; i < kTileRows * kDepth + 16; ++i)
    lhs[i] = word(kOperands.lhs[i % (kTileRows * kDepth)]);
  int16_t* to = packed;
  for (size_t panel = 0; panel < columns; panel += width)
    for (size_t group = 0; group < depth; group += kr)
      for (size_t j = panel; j < panel + width; ++j)
        for (size_t k = group; k < group + kr; ++k)
          *to++ = k < kDepth && j < columns ? word(kOperands.rhs[k * kTileColumns + j]) : 0;
  Tile tile = make_tile(lhs, packed, sizeof(int16_t), rows, columns, out);
  tile.rhs_stride = width * kr * sizeof(int16_t);
  tile.rhs_panel_stride = width * depth * sizeof(int16_t);
  kernel.multiply(tile);
  return is_product(
      out, rows, columns, [&](size_t i, size_t k) { return lhs[i * kDepth + k]; },
      [&](size_t k, size_t j) { return word(kOperands.rhs[k * kTileColumns + j]); });
}

// The depthwise kernels: 3 columns of outputs of a 3x3, tap by tap and, where the kernel can, by a
// walk of two lines.
constexpr size_t kPixel = 64, kInColumns = 5, kOutColumns = 3, kLines = 4, kSlots = 12;
static_assert(sizeof kOperands.rhs >= kLines * kInColumns * kPixel + kSlots * kPixel,
              "pixels and weights");

uint8_t pixel_byte(size_t line, size_t column, size_t channel) {
  return kOperands.rhs[(line * kInColumns + column) * kPixel + channel];
}
// Slot 4 kx + ky; the fourth of each column has no weight.
uint8_t weight(size_t slot, size_t channel) {
  return slot % 4 == 3 ? (uint8_t)0
                       : kOperands.rhs[kLines * kInColumns * kPixel + slot * kPixel + channel];
}

bool is_depthwise(const DepthwiseKernel& kernel, const DepthwiseTile& tile, const int32_t* out) {
  for (size_t y = 0; y < tile.rows; ++y)
    for (size_t x = 0; x < kOutColumns; ++x, out += kPixel)
      for (size_t c = 0; c < kernel.channels; ++c) {
        int32_t acc = 0;
        for (size_t kx = 0; kx < 3; ++kx)
          for (size_t ky = 0; ky < 3; ++ky)
            acc += value(pixel_byte(y + ky, x + kx, c), kernel.lhs_domain) *
                   (int8_t)weight(4 * kx + ky, c);
        if (out[c] != acc) return false;
      }
  return true;
}

bool is_narrowed(const DepthwiseKernel& kernel, const DepthwiseTile& tile, const uint8_t* out,
                 const uint8_t* cases) {
  for (size_t i = 0; i < tile.rows * kOutColumns; ++i)
    if (memcmp(out + i * kPixel, cases, kernel.channels) != 0) return false;
  return true;
}

bool passes(const DepthwiseKernel& kernel, DepthwiseForm form, bool floats) {
  alignas(64) uint8_t panel[3 * kDepthwiseGroup], prepared[depthwise_prepared_bytes(kPixel, 2 * 3)];
  alignas(64) int32_t out[2 * kOutColumns * kPixel];
  const uint8_t* pixels[kSlots];
  size_t steps[kSlots];
  const bool taps = form == DepthwiseForm::kTaps;
  for (size_t i = 0; i < kSlots; ++i) {
    const size_t line = taps ? i % 4 : smaller(i, kLines - 1), column = taps ? i / 4 : 0;
    pixels[i] = kOperands.rhs + (line * kInColumns + column) * kPixel;
    steps[i] = kPixel;
  }
  DepthwiseTile tile = {};
  tile.form = form;
  tile.rows = taps ? 1 : kernel.walk_rows;
  tile.columns = kOutColumns;
  tile.channels = kernel.channels;
  tile.pixels = pixels;
  tile.steps = steps;
  tile.groups = tile.set_groups = 3;
  tile.sets = 1;
  tile.in_w = kInColumns;
  tile.zero = pixels[0];
  tile.prepared = prepared;
  tile.dst = (uint8_t*)out;
  tile.dst_pixel = kPixel * sizeof(int32_t);
  tile.dst_line = kOutColumns * tile.dst_pixel;

  for (size_t slot = 0; slot < kSlots; ++slot)
    for (size_t c = 0; c < kPixel; ++c)
      panel[slot / 4 * kDepthwiseGroup + depthwise_position(c) + slot % 4] = weight(slot, c);
  kernel.prepare({form, 3, panel, 1, 3, 1, kNoInit, nullptr}, prepared);
  kernel.multiply(tile);
  if (!is_depthwise(kernel, tile, out)) return false;
  if (!floats || !(kernel.flags & kNarrows)) return true;

  memset(panel, 0, sizeof panel);
  kernel.prepare({form, 3, panel, 1, 3, 1, kFloatCases.acc, kFloatCases.scale}, prepared);
  tile.dst_pixel = kPixel;
  tile.dst_line = kOutColumns * kPixel;
  tile.narrow = &kNarrowU8;
  kernel.multiply(tile);
  if (!is_narrowed(kernel, tile, (const uint8_t*)out, kFloatCases.u8)) return false;
  tile.narrow = &kNarrowS8;
  kernel.multiply(tile);
  return is_narrowed(kernel, tile, (const uint8_t*)out, kFloatCases.s8);
}

bool passes(const MicroKernel& kernel, bool floats) {
  if (kernel.rhs_layout.domain == Domain::kS16)
    return multiplies_words(kernel) &&
           (!floats || !kernel.is(kNarrows) || narrows(*kernel.winograd));
  const auto passes_tile = [&](size_t rows, size_t columns) {
    return multiplies(kernel, rows, columns) &&
           (!floats || !kernel.is(kNarrows) || narrows(kernel, rows, columns));
  };
  const size_t columns = smaller(kernel.nr, kTileColumns);
  return passes_tile(smaller(kernel.mr, kTileRows), columns) &&
         (!kernel.tall_nr || passes_tile(kernel.tall_mr, kernel.tall_nr));
}

bool passes(const DepthwiseKernel& kernel, bool floats) {
  return (!kernel.walk_rows || passes(kernel, DepthwiseForm::kWalk, floats)) &&
         passes(kernel, DepthwiseForm::kTaps, floats);
}

const WinogradOps* winograd_of(const MicroKernel& kernel) { return kernel.winograd; }
const WinogradOps* winograd_of(const DepthwiseKernel&) { return nullptr; }

// What kernels of a tier share.
template <typename Kernel>
bool shares(const Kernel& a, const Kernel& b) {
  return a.finish == b.finish && a.row_ops == b.row_ops && winograd_of(a) == winograd_of(b);
}
template <typename Kernel>
bool shared_passes(const Kernel& kernel) {
  const WinogradOps* const winograd = winograd_of(kernel);
  return finishes(kernel.finish) && quantizes(kernel.row_ops->quantize) &&
         (!winograd || rounds(*winograd));
}

template <typename Kernel>
IsaMask failing(const Table<Kernel>& kernels, const CpuFeatures& cpu) {
  const bool floats = rounds_to_nearest();
  const Kernel* last = nullptr;  // neighbours in the table often share
  bool shared = true;
  IsaMask failing = 0;
  for (const Kernel* kernel : kernels) {
    if (!supports(cpu, *kernel)) continue;
    if (floats && !(last && shares(*last, *kernel))) shared = shared_passes(*kernel);
    last = kernel;
    if (!shared || !passes(*kernel, floats)) failing |= mask_of(kernel->isa);
  }
  return failing;
}

}  // namespace

// By way of memory, so that no compiler does it before and no wide register holds more than a
// float.
bool rounds_to_nearest() {
  float step = 1.0f / (1 << 23);  // above 1
  OCTET_SPILL(step);
  float less = 1.0f + step / 2, more = 1.0f + step * 3 / 4;
  OCTET_SPILL(less);
  OCTET_SPILL(more);
  return less == 1.0f && more == 1.0f + step;
}

IsaMask failing_isas(const KernelList& kernels, const CpuFeatures& cpu) {
  return failing(kernels, cpu);
}
IsaMask failing_isas(const DepthwiseList& kernels, const CpuFeatures& cpu) {
  return failing(kernels, cpu);
}

}  // namespace octet
