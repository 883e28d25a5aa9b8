#include "dispatch/self_test.h"

#include <string.h>

#include "kernels/gemm/packed_rhs.h"

namespace octet {
namespace {

constexpr size_t kRows = 14, kColumns = 64, kDepth = 37;  // at least one tile of every kernel, and a depth with a tail for each kr
constexpr size_t kPanelBytes = 8192;

uint8_t lhs_byte(size_t i, size_t k) { return (i + k) % 3 == 0 ? 255 : (i * 7 + k) % 5 == 0 ? 128 : (uint8_t)(i * 31 + k * 17); }
uint8_t rhs_byte(size_t k, size_t j, bool no_least) {
  const uint8_t extreme = no_least ? 0x81 : 0x80;
  const uint8_t byte = (j + k) % 3 == 0 ? extreme : (j * 5 + k) % 4 == 0 ? 127 : (uint8_t)(j * 13 + k * 29);
  return byte == 0x80 ? extreme : byte;
}

int32_t value(uint8_t byte, Domain domain) { return domain == Domain::kU8 ? byte : (int8_t)byte; }

// A tile of the whole depth, whose lhs rows follow each other.
Tile make_tile(const void* lhs, const void* packed, size_t element, size_t rows, size_t columns, int32_t* out) {
  alignas(64) static const int32_t zeros[kColumns] = {};
  Tile tile = {};
  tile.lhs = lhs;
  tile.lhs_stride = kDepth * element;
  tile.rhs = (const uint8_t*)packed;
  tile.depth = kDepth;
  tile.rows = rows;
  tile.cols = columns;
  tile.init = zeros;
  tile.dst = out;
  tile.dst_stride = columns * sizeof(int32_t);
  return tile;
}

bool passes(const MicroKernel& kernel) {
  alignas(64) uint8_t lhs[kRows * kDepth], rhs[kDepth * kColumns], panel[kPanelBytes], packed[kPanelBytes];
  alignas(64) int32_t out[kRows * kColumns];
  const size_t rows = smaller(kernel.mr, kRows), columns = smaller(kernel.nr, kColumns);
  const RhsLayout& layout = kernel.rhs_layout;
  if (layout.bytes(columns, kDepth) > kPanelBytes) return false;
  for (size_t i = 0; i < rows; ++i)
    for (size_t k = 0; k < kDepth; ++k) lhs[i * kDepth + k] = lhs_byte(i, k);
  for (size_t k = 0; k < kDepth; ++k)
    for (size_t j = 0; j < columns; ++j) rhs[k * columns + j] = rhs_byte(k, j, kernel.is(kNoLeast));

  const bool rhs_u8 = layout.domain == Domain::kU8;
  pack_columns(layout, {rhs, columns, kDepth, columns, 1, rhs_u8, nullptr, 0}, 0, columns, packed);
  if (kernel.gather) kernel.gather({lhs, kDepth, rows, kDepth, 0}, round_up(rows, kernel.lhs_lanes_step), panel);
  Tile tile = make_tile(kernel.gather ? panel : lhs, packed, 1, rows, columns, out);
  tile.rhs_stride = layout.panel_width(0, columns) * layout.kr;
  tile.rhs_panel_stride = layout.width * layout.depth(kDepth);
  kernel.multiply(tile);

  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) {
      int32_t acc = 0;
      for (size_t k = 0; k < kDepth; ++k) acc += value(lhs[i * kDepth + k], kernel.lhs_domain) * value(rhs[k * columns + j], layout.domain);
      if (out[i * columns + j] != acc) return false;
    }
  return true;
}

// The same for kernels of words, whose sums wrap.
int16_t word(size_t i, size_t j) { return (i + j) % 3 == 0 ? INT16_MIN : (i * 5 + j) % 4 == 0 ? INT16_MAX : (int16_t)(i * 4099 + j * 257); }

bool passes_words(const MicroKernel& kernel) {
  alignas(64) int16_t lhs[kRows * kDepth + 16], packed[kPanelBytes / 2] = {};
  alignas(64) int32_t out[kRows * kColumns];
  const size_t rows = smaller(kernel.mr, kRows), columns = smaller(kernel.nr, kColumns);
  const RhsLayout& layout = kernel.rhs_layout;
  if (round_up(columns, layout.width) * layout.depth(kDepth) > kPanelBytes / 2) return false;
  for (size_t i = 0; i < kRows * kDepth + 16; ++i) lhs[i] = word(i / kDepth, i % kDepth);
  for (size_t j = 0; j < columns; ++j)
    for (size_t k = 0; k < kDepth; ++k)
      packed[layout.panel_offset(j, kDepth) + (k / layout.kr * layout.width + j % layout.width) * layout.kr + k % layout.kr] = word(k, 2 * j);
  Tile tile = make_tile(lhs, packed, sizeof(int16_t), rows, columns, out);
  tile.rhs_stride = layout.width * layout.kr * sizeof(int16_t);
  tile.rhs_panel_stride = layout.width * layout.depth(kDepth) * sizeof(int16_t);
  kernel.multiply(tile);

  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) {
      uint32_t acc = 0;
      for (size_t k = 0; k < kDepth; ++k) acc += (uint32_t)(lhs[i * kDepth + k] * word(k, 2 * j));
      if ((uint32_t)out[i * columns + j] != acc) return false;
    }
  return true;
}

// The depthwise kernels: 3 columns of outputs of a 3x3, tap by tap and, where the kernel can, by a walk of two lines.
constexpr size_t kPixel = 64, kInColumns = 5, kOutColumns = 3, kLines = 4;

bool passes_depthwise(const DepthwiseKernel& kernel, DepthwiseForm form) {
  alignas(64) static const int32_t zeros[kPixel] = {};
  alignas(64) uint8_t lhs[kLines * kInColumns * kPixel], panel[3 * kDepthwiseGroup], prepared[depthwise_prepared_bytes(kPixel, 2 * 3)];
  alignas(64) int32_t out[2 * kOutColumns * kPixel];
  for (size_t i = 0; i < sizeof lhs; ++i) lhs[i] = lhs_byte(i / kPixel, i);
  // Slot 4 kx + ky; the fourth of each column has no weight.
  const auto weight = [](size_t slot, size_t c) { return slot % 4 == 3 ? (uint8_t)0 : rhs_byte(slot, c, false); };
  for (size_t slot = 0; slot < 12; ++slot)
    for (size_t c = 0; c < kPixel; ++c) panel[slot / 4 * kDepthwiseGroup + depthwise_position(c) + slot % 4] = weight(slot, c);
  kernel.prepare({form, 3, panel, 1, 3, 1, zeros, nullptr}, prepared);

  const uint8_t* pixels[12];
  size_t steps[12];
  for (size_t i = 0; i < 12; ++i) {
    const size_t line = form == DepthwiseForm::kTaps ? i % 4 : smaller(i, kLines - 1), column = form == DepthwiseForm::kTaps ? i / 4 : 0;
    pixels[i] = lhs + (line * kInColumns + column) * kPixel;
    steps[i] = kPixel;
  }
  DepthwiseTile tile = {};
  tile.form = form;
  tile.rows = form == DepthwiseForm::kTaps ? 1 : kernel.walk_rows;
  tile.columns = kOutColumns;
  tile.channels = kernel.channels;
  tile.pixels = pixels;
  tile.steps = steps;
  tile.groups = tile.set_groups = 3;
  tile.sets = 1;
  tile.in_w = kInColumns;
  tile.zero = lhs;
  tile.prepared = prepared;
  tile.dst = (uint8_t*)out;
  tile.dst_pixel = kPixel * sizeof(int32_t);
  tile.dst_line = kOutColumns * tile.dst_pixel;
  kernel.multiply(tile);

  for (size_t y = 0; y < tile.rows; ++y)
    for (size_t x = 0; x < kOutColumns; ++x)
      for (size_t c = 0; c < kernel.channels; ++c) {
        int32_t acc = 0;
        for (size_t slot = 0; slot < 12; ++slot)
          if (slot % 4 < 3) acc += value(lhs[((y + slot % 4) * kInColumns + x + slot / 4) * kPixel + c], kernel.lhs_domain) * (int8_t)weight(slot, c);
        if (out[(y * kOutColumns + x) * kPixel + c] != acc) return false;
      }
  return true;
}

}  // namespace

IsaMask failing_isas(const DepthwiseList& kernels, const CpuFeatures& cpu) {
  IsaMask failing = 0;
  for (const DepthwiseKernel* kernel : kernels) {
    if (!supports(cpu, *kernel)) continue;
    const bool walks = !kernel->walk_rows || passes_depthwise(*kernel, DepthwiseForm::kWalk);
    if (!walks || !passes_depthwise(*kernel, DepthwiseForm::kTaps)) failing |= mask_of(kernel->isa);
  }
  return failing;
}

IsaMask failing_isas(const KernelList& kernels, const CpuFeatures& cpu) {
  IsaMask failing = 0;
  for (const MicroKernel* kernel : kernels)
    if (supports(cpu, *kernel) && !(kernel->rhs_layout.domain == Domain::kS16 ? passes_words(*kernel) : passes(*kernel))) failing |= mask_of(kernel->isa);
  return failing;
}

}  // namespace octet
