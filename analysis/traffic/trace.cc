// SPDX-License-Identifier: Apache-2.0
// Kernels and tier operations that trace their memory accesses and compute nothing.
#include "analysis/traffic/trace.h"

namespace octet {
namespace {

thread_local MemoryTrace* current_trace = nullptr;

// Bytes along depth between two accesses to the other operand: a cache line.
constexpr size_t kPiece = kLineBytes;

// Reads groups [first, end) of a tap's weights. A group has the same depth steps of all columns of
// a panel.
void read_groups(MemoryTrace& trace, const Tile& t, const uint8_t* rhs, size_t first, size_t end) {
  const MicroKernel& kernel = trace.kernel();
  const RhsLayout& layout = kernel.rhs_layout;
  if (t.rhs_decoded) {
    const size_t bytes = kernel.decoder.group_bytes;
    for (size_t column = 0; column < t.cols; column += layout.width, rhs += t.rhs_panel_stride)
      trace.read(rhs + first * bytes, (end - first) * bytes);
    return;
  }
  for (size_t column = 0; column < t.cols; column += layout.width, rhs += t.rhs_panel_stride) {
    const size_t bytes =
        layout.lanes(smaller(layout.width, t.cols - column)) * layout.group_bytes();
    for (size_t group = first; group < end; ++group) trace.read(rhs + group * t.rhs_stride, bytes);
  }
}

// Reads both operands in turn, piece by piece of the depth, tap by tap.
void read_operands(MemoryTrace& trace, const Tile& t) {
  const MicroKernel& kernel = trace.kernel();
  const RhsLayout& layout = kernel.rhs_layout;
  // Tables are read as if they were more groups
  const size_t groups = t.rhs_decoded ? layout.steps(t.depth) / layout.kr
                                      : layout.lane_bytes(t.depth) / layout.group_bytes(),
               group = t.rhs_decoded ? kernel.decoder.group_bytes : t.rhs_stride;
  const size_t lanes = round_up_pow2(t.rows, kernel.lhs_lanes_step),
               depth = t.depth * kernel.lhs_element_bytes,
               panel = round_up_pow2(t.depth, kernel.lhs_kr) * kernel.lhs_element_bytes * lanes,
               pieces = larger(divide_up(depth, kPiece), 1);
  // The pointers were written for this block just before
  if (t.lhs_rows) trace.write(t.lhs_rows, t.taps * t.rows * sizeof *t.lhs_rows);
  const uint8_t* lhs = (const uint8_t*)t.lhs;
  const uint8_t* rhs = t.rhs;
  for (size_t tap = 0; tap < t.taps; ++tap) {
    if (tap && !t.lhs_rows) lhs += t.tap_steps[tap - 1];
    for (size_t i = 0; i < pieces; ++i) {
      const size_t at = i * kPiece, bytes = smaller(depth - at, kPiece);
      if (kernel.gather)
        trace.read(lhs + panel * i / pieces, panel * (i + 1) / pieces - panel * i / pieces);
      for (size_t row = 0; !kernel.gather && row < t.rows; ++row)
        trace.read((t.lhs_rows ? t.lhs_rows[tap * t.rows + row] : lhs + row * t.lhs_stride) + at,
                   bytes);
      read_groups(trace, t, rhs, groups * i / pieces, groups * (i + 1) / pieces);
    }
    rhs += groups * group;
  }
}

void multiply(const Tile& t) {
  MemoryTrace& trace = MemoryTrace::current();
  const size_t row = t.cols * sizeof(int32_t);
  for (size_t i = 0; i < (t.init_stride ? t.rows : 1); ++i)
    trace.read(t.init + i * t.init_stride, row);
  if (t.row_init) trace.read(t.row_init, t.rows * sizeof *t.row_init);
  if (t.row_factors) {
    trace.read(t.row_factors, t.rows * sizeof *t.row_factors);
    trace.read(t.column_factors, t.cols * sizeof *t.column_factors);
  }
  read_operands(trace, t);
  if (t.scale) trace.read(t.scale, t.cols * sizeof *t.scale);
  const bool floats = t.scale && t.requantization->to_floats;
  if (floats && t.requantization->bias_apart)
    trace.read(t.scale + t.requantization->bias_apart, t.cols * sizeof *t.scale);
  for (size_t i = 0; i < t.rows; ++i) {
    uint8_t* const to = (uint8_t*)t.dst + i * t.dst_stride;
    if (t.scale && t.adds) trace.read(to + t.residual, t.cols);
    trace.write(to, t.scale && !floats ? t.cols : row);
  }
}

void add_tap(const TapRows& t) {
  MemoryTrace& trace = MemoryTrace::current();
  const RhsLayout& layout = trace.kernel().rhs_layout;
  const size_t columns = trace.kernel().tap_panels * layout.width;
  for (size_t n = 0; n < t.columns; n += layout.width)
    trace.read(t.rhs + n / layout.width * t.panel_stride,
               layout.width * layout.lane_bytes(t.depth));
  for (size_t i = 0; i < t.count; ++i) {
    trace.read(t.rows[i], t.depth);
    trace.write(t.sums + t.places[i] * columns, t.columns * sizeof *t.sums);
  }
}

// Columns are read again for each tile of rows.
void multiply_eights(const Tile& t) {
  MemoryTrace& trace = MemoryTrace::current();
  const size_t mr = trace.kernel().mr, eight = 8 * sizeof(int16_t);
  const uint8_t *lhs = (const uint8_t*)t.lhs, *rhs = t.rhs, *dst = (const uint8_t*)t.dst;
  for (size_t tap = 0; tap < t.taps; ++tap) {
    for (size_t row = 0; row < t.rows; row += mr) {
      const size_t rows = smaller(mr, t.rows - row);
      for (size_t k = 0; k < t.depth; k += 8) {
        trace.read(lhs + k / 8 * t.lhs_stride + row * eight, rows * eight);
        trace.read(rhs + k * t.cols * sizeof(int16_t),
                   smaller(8, t.depth - k) * t.cols * sizeof(int16_t));
      }
      trace.write(dst + row * t.dst_stride, rows * t.dst_stride);
    }
    lhs += t.tap_steps[0], rhs += t.tap_steps[1], dst += t.tap_steps[2];
  }
}

void gather(const Rows& rows, size_t lanes, void* panel) {
  MemoryTrace& trace = MemoryTrace::current();
  const MicroKernel& kernel = trace.kernel();
  // Pointers were written just before, as those of a tile
  if (rows.pointers) trace.write(rows.pointers, rows.rows * sizeof *rows.pointers);
  for (size_t i = 0; i < rows.rows; ++i)
    trace.read(rows.row(i), rows.depth * (kernel.lhs_element_type == ElementType::kS16 ? 2 : 1));
  trace.write(panel, lanes * round_up_pow2(rows.depth, kernel.lhs_kr) * kernel.lhs_element_bytes);
}

void copy_rows(const Rows& rows, size_t stride, uint8_t* to) {
  MemoryTrace& trace = MemoryTrace::current();
  if (rows.pointers) trace.write(rows.pointers, rows.rows * sizeof *rows.pointers);
  for (size_t i = 0; i < rows.rows; ++i) {
    trace.read(rows.row(i), rows.depth);
    trace.write(to + i * stride, round_up_pow2(rows.depth, trace.kernel().lhs_kr));
  }
}

void decode(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) {
  MemoryTrace& trace = MemoryTrace::current();
  const MicroKernel& kernel = trace.kernel();
  // A micro-panel may be a part of its panel
  for (size_t group = 0; group < groups; ++group)
    trace.read(rhs + group * rhs_stride,
               smaller(kernel.nr, kernel.rhs_layout.width) * kernel.rhs_layout.group_bytes());
  trace.write(to, groups * kernel.decoder.group_bytes);
}

// ---- operations of a tier besides multiplying ---------------------------------------------------

void init(const Init& i) {
  MemoryTrace& trace = MemoryTrace::current();
  const size_t bytes = i.cols * sizeof(int32_t);
  trace.read(i.base, bytes);
  if (i.weight_sums) trace.read(i.weight_sums, bytes);
  if (i.rhs_zero_points) trace.read(i.rhs_zero_points, bytes);
  if (i.row_sums) trace.read(i.row_sums, i.rows * sizeof(int32_t));
  for (size_t row = 0; row < i.rows; ++row) trace.write(i.out + row * i.out_stride, bytes);
}

void epilogue(const Epilogue& f, const EpilogueTile& t) {
  MemoryTrace& trace = MemoryTrace::current();
  const size_t bytes = t.cols * sizeof(int32_t),
               dst = f.mode == EpilogueMode::kS32 || f.mode == EpilogueMode::kF32 ? bytes : t.cols;
  if (f.scale) trace.read(f.scale + t.column, bytes);
  if (f.bias_f32) trace.read(f.bias_f32 + t.column, bytes);
  for (size_t row = 0; row < t.rows; ++row) {
    trace.read(t.acc + row * t.acc_stride, bytes);
    if (t.to.residual) trace.read(t.to.residual + row * t.to.residual_stride, t.cols);
    trace.write(t.to.dst + row * t.to.stride, dst);
  }
}

void sum_rows(const Rows& rows, bool, int32_t* sums) {
  MemoryTrace& trace = MemoryTrace::current();
  for (size_t i = 0; i < rows.rows; ++i) {
    trace.read(rows.row(i), rows.depth);
    sums[i] = 0;  // plain code multiplies them
  }
  trace.write(sums, rows.rows * sizeof *sums);
}

void quantize_rows(const FloatRows& rows, bool, uint8_t* out, size_t stride, float* scales,
                   int32_t* zero_points) {
  MemoryTrace& trace = MemoryTrace::current();
  for (size_t i = 0; i < rows.rows; ++i) {
    trace.read(rows.data + i * rows.stride, rows.depth * sizeof *rows.data);
    trace.write(out + i * stride, rows.depth);
    scales[i] = 1;
    if (zero_points) zero_points[i] = 0;
  }
}

RowQuant measure_rows(const FloatRows& rows, bool) {
  for (size_t i = 0; i < rows.rows; ++i)
    MemoryTrace::current().read(rows.data + i * rows.stride, rows.depth * sizeof *rows.data);
  return {1, 0};
}

void quantize_floats(const Quantization&, const float* x, size_t count, uint8_t* out) {
  MemoryTrace& trace = MemoryTrace::current();
  trace.read(x, count * sizeof *x);
  trace.write(out, count);
}

void copy_windows(const Windows& w) {
  MemoryTrace& trace = MemoryTrace::current();
  for (size_t i = 0; i < w.count; ++i) {
    for (size_t line = 0; line < w.lines; ++line)
      trace.read(w.from + i * w.step + line * w.line, w.bytes);
    trace.write(w.to + i * w.stride, w.lines * w.bytes);
  }
}

}  // namespace

MemoryTrace::MemoryTrace(octet_traffic* traffic, const MicroKernel* kernel)
    : traffic_(traffic), kernel_(kernel), before_(current_trace) {
  current_trace = this;
}
MemoryTrace::~MemoryTrace() { current_trace = before_; }
MemoryTrace& MemoryTrace::current() { return *current_trace; }

void MemoryTrace::add(const void* first, size_t bytes, octet_operand operand) {
  OCTET_ASSERT(count_ < kRanges);
  ranges_[count_++] = {(uintptr_t)first, first ? bytes : 0, operand};
}

void MemoryTrace::touch(const void* at, size_t bytes, bool write) {
  for (size_t i = 0; i < count_; ++i) {
    const Range& range = ranges_[last_];
    if (range.has(at)) return traffic_->touch(at, bytes, range.operand, write);
    last_ = last_ + 1 < count_ ? last_ + 1 : 0;
  }
}

void trace_touch(const void* at, size_t bytes, bool write) {
  MemoryTrace::current().touch(at, bytes, write);
}

void trace_look_up(const uint8_t* lut, uint8_t* dst, size_t stride, size_t rows, size_t cols) {
  MemoryTrace& trace = MemoryTrace::current();
  trace.read(lut, 256);
  for (; rows; --rows, dst += stride) {
    trace.read(dst, cols);
    trace.write(dst, cols);
  }
}

MicroKernel traced(const MicroKernel& kernel) {
  MicroKernel traced = kernel;
  traced.multiply = multiply;
  traced.multiply_micro_panel = nullptr;
  if (kernel.add_tap) traced.add_tap = add_tap;
  if (kernel.multiply_eights) traced.multiply_eights = multiply_eights;
  traced.ahead = {};
  // The traced multiply reads rows where they lie
  traced.flip_rows = traced.arrange_rows = nullptr;
  traced.flip_columns = 0;
  if (kernel.gather) traced.gather = gather;
  traced.sum_panel = nullptr;
  if (kernel.copy_rows) traced.copy_rows = copy_rows;
  if (kernel.decoder.decode) traced.decoder.decode = decode;
  return traced;
}

TierOps traced(const TierOps& ops) {
  TierOps traced = ops;
  traced.init = init;
  traced.epilogue = epilogue;
  traced.sum_rows = sum_rows;
  traced.quantize_rows = quantize_rows;
  traced.measure_rows = measure_rows;
  traced.quantize_floats = quantize_floats;
  traced.copy_windows = copy_windows;
  return traced;
}

}  // namespace octet
