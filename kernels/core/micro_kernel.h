// SPDX-License-Identifier: Apache-2.0
// Describes a micro-kernel as one constant value, which selection, tests, benches and forcing read,
// and the tile that a call of it multiplies.
#pragma once

#include "kernels/core/feature.h"
#include "kernels/core/lhs_rows.h"
#include "kernels/core/packed_layout.h"
#include "kernels/core/requantize.h"
#include "kernels/core/tier_id.h"

namespace octet {

struct Epilogue;

// dst[i,j] = init[i,j] + sum over k of lhs[i,k] * rhs[k,j], stored as s32, or requantized.
// Kernels know no zero points: init holds their terms. A kernel without a gather is direct: it
// reads the lhs rows where they lie.
struct Tile {
  const void* lhs;    // the first row (direct), or the panel that `gather` made
  size_t lhs_stride;  // direct: bytes between rows
  // Direct: kernel positions of a convolution; each is `depth` deep and begins a new group of the
  // rhs
  size_t taps = 1;
  // Direct: bytes from a row in one tap to the same row in the next; taps - 1 values
  const ptrdiff_t* tap_steps = nullptr;
  // Replaces lhs, lhs_stride and tap_steps: pointers to the rows of tap 0, then of tap 1, ...; null
  // for kernels with copy_rows
  const uint8_t* const* lhs_rows = nullptr;
  uint32_t lhs_flip;          // direct: 0 or 0x80808080, xor-ed to the bytes
  bool lhs_arranged = false;  // the rows are what arrange_rows wrote
  const uint8_t* rhs;         // first group of the first column
  bool rhs_decoded = false;   // rhs is what the kernel's decoder wrote
  size_t rhs_stride;          // bytes between groups of the first panel
  size_t rhs_panel_stride;    // bytes between panels, for kernels whose nr spans several
  size_t depth;       // of a tap, K of a matrix; rhs is zero beyond it and lhs rows end there
  size_t rows, cols;  // 1..rows_of(cols), 1..nr
  // Readable up to cols rounded up to the layout's step; may alias dst at the same stride
  const int32_t* init;
  size_t init_stride;  // elements; 0 = one row for all
  // With kRowInit: one value per row, added to the init of all its columns; or null
  const int32_t* row_init = nullptr;
  // With kRowFactors, instead: the init of row i and column j is less by row_factors[i] *
  // column_factors[j], readable as init is; or both null
  const int32_t *row_factors = nullptr, *column_factors = nullptr;
  void* dst;
  size_t dst_stride;  // bytes
  // Null: store s32. Readable up to cols rounded up to the layout's step. In TFLite mode it is the
  // first row of TfliteColumns (see Requantization)
  const float* scale;
  const Requantization* requantization;  // with scale
  // With kStoresFloats: one per row, which multiplies the columns' scales; null = 1
  const float* row_scale = nullptr;
  // With scale and kAddsResidual, or null: the epilogue, of float mode, whose residual lies so many
  // bytes from dst, row for row
  const Epilogue* adds = nullptr;
  ptrdiff_t residual = 0;
  uint8_t* room = nullptr;  // room_bytes of workspace
  // Not null: the sums of the products, by SumsAhead, from which multiply adds init and stores
  const int32_t* sums = nullptr;
};

// Whether a tile's outputs are 8-bit, in float mode.
inline bool makes_bytes_in_float_mode(const Tile& t) {
  return t.scale && !t.requantization->to_floats && !t.requantization->tflite_apart;
}

// Whether a tile's outputs are 8-bit, in TFLite mode, by floats.
inline bool makes_tflite_by_floats(const Tile& t) {
  return t.scale && t.requantization->tflite_apart &&
         t.requantization->tflite_form != TfliteForm::kAll;
}

// Goes on to row `rows` of a tile whose rows lie at one stride.
inline void pass_rows(Tile* t, size_t rows) {
  t->lhs = (const uint8_t*)t->lhs + rows * t->lhs_stride;
  t->dst = (uint8_t*)t->dst + rows * t->dst_stride;
  t->init += rows * t->init_stride;
  if (t->row_init) t->row_init += rows;
  if (t->row_factors) t->row_factors += rows;
  if (t->row_scale) t->row_scale += rows;
}

using MultiplyFn = void (*)(const Tile&);

// Rows of one tap of a convolution, which meet the tap's weights for the columns of some panels.
struct TapRows {
  const uint8_t* const* rows;  // `count` addresses of depth bytes
  const uint16_t* places;      // for each of them, the row of `sums` that gets its products
  size_t count, depth;         // the depth is a multiple of lhs_kr
  uint32_t lhs_flip;           // as in Tile
  const uint8_t* rhs;          // the tap's first group in the first of tap_panels panels
  size_t panel_stride;         // bytes from there to the next panel's
  size_t columns;              // wanted: later panels are not read, sums of later ones undefined
  int32_t* sums;               // rows of all columns of the panels
};
using AddTapFn = void (*)(const TapRows&);

constexpr size_t kRoomHead = 448;  // see MicroKernel::micro_panel

// Decodes the weights of a micro-panel from the format's bytes to the kernel's operands, such as
// int8 or int16, so that multiply need not do so again for every tile.
struct Decoder {
  // Reads `groups` groups of one panel, rhs_stride bytes apart, and writes one after the other;
  // null: multiply reads the format's bytes
  void (*decode)(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) = nullptr;
  // Bytes that it writes of a group: kr depth steps of nr columns, or of a panel's width where nr
  // spans several panels; a multiple of the vectors' bytes
  uint16_t group_bytes = 0;
  // Tile::rhs_stride of decoded weights, where multiply asks for it
  uint16_t operand_stride = 0;
  // Bytes of workspace, aligned to kAlignment, with which multiply decodes weights itself
  uint32_t room = 0;
  // From so many tiles on, decoding once is faster than decoding for each
  uint16_t tiles = 4;
};

// The products of several tiles before any of them is stored, where a kernel multiplies in a state
// that it must leave to store (a streaming mode). The tiles have a gather's panels.
struct SumsAhead {
  static constexpr size_t kTiles = 16;  // of several micro-panels, where a block has fewer
  uint32_t note_bytes = 0;              // of a tile, at most
  // Writes down the operands of a tile, whose init and output need not be set; sums: room for mr x
  // nr, aligned to kAlignment. Returns the end, where the next tile's notes begin
  void* (*note)(const Tile& tile, int32_t* sums, void* notes) = nullptr;
  // Multiplies all noted tiles, at least one
  void (*sum)(const void* notes, const void* end) = nullptr;
};

enum KernelFlags : uint16_t {
  // The kernel takes an lhs of the other sign, too, and flips its top bits while it loads.
  kAnyLhs = 1,
  // The kernel can requantize to 8 bits in registers. For an int16 kernel, its tier's output
  // transforms can.
  kRequantizes = 2,
  // The kernel is exact only if no weight is -128.
  kNoInt8Min = 4,
  // The kernel is never selected; tests force it.
  kTestsOnly = 8,
  // With kRequantizes: the kernel requantizes only where max|acc| * scale < 2^15 - 1. Outputs of 8
  // bits meet this nearly always.
  kRequantizes16 = 16,
  // The gather puts the even steps of each group of lhs_kr steps before the odd ones.
  kGathersEvenStepsFirst = 32,
  // With kRequantizes: the kernel requantizes in TFLite mode, too.
  kRequantizesTflite = 64,
  // With kRequantizesTflite: the kernel does so only where every column is shifted to the right
  // (TfliteColumns::divides).
  kTfliteRightShiftOnly = 128,
  // The kernel adds Tile::row_init, one value per row, to its init: where all weights have the same
  // zero point, the zero point's term is one value per row. Without this flag, or with zero points
  // that differ, the init has a row for each row of the tile.
  kRowInit = 256,
  // The kernel is selected only where all cores are known to execute in order.
  kInOrder = 512,
  // The gather packs 8 bytes x, then 8 bytes 255 - x, and so on; lhs_element_bytes is 2.
  kGathersComplements = 1024,
  // A failed self-test disables this kernel only, not its tier, which has another kernel.
  kOptional = 2048,
  // The kernel can convert to f32 in registers (Requantization::to_floats).
  kStoresFloats = 4096,
  // The kernel subtracts Tile::row_factors times column_factors, for zero points of weights or of
  // rows. No kernel has both this flag and kRowInit.
  kRowFactors = 8192,
  // With kRequantizes: tiles of 17 to 32 and of 49 to 64 columns can get a residual in registers.
  kAddsResidual = 16384,
};

constexpr bool adds_residual_to(size_t cols) { return (cols - 1) % 32 >= 16; }  // kAddsResidual

struct MicroKernel {
  const char* name;  // {isa}_{types}_{mr}x{nr}x{kr}
  TierId tier_id;
  ElementType lhs_element_type;  // the rhs has rhs_layout.element_type
  uint8_t mr;
  // nr divides rhs_layout.width or is a multiple of it. Where a tile spans several panels, the last
  // may be narrower only if there is one tap
  uint16_t nr;
  uint16_t m_max = 0;  // the kernel is selected for runs of at most this many rows; 0 = any
  uint16_t n_max = 0;  // ... for products of at most this many columns; 0 = any
  uint16_t n_min = 0;  // ... of at least this many columns
  uint16_t k_min = 0;  // ... of at least this depth, of a convolution that of all taps
  uint16_t flags = 0;  // KernelFlags
  RhsLayout rhs_layout;
  // Null: the kernel is direct. Else gather makes a panel of one tile's rows (lhs_panel_bytes)
  GatherFn gather = nullptr;
  // Makes such a panel of s16 values (Rows::depth counts them); null: the panel's elements are not
  // int16
  GatherFn gather_s16 = nullptr;
  // The panel's rows and depth are rounded up to lhs_lanes_step and lhs_kr. lhs_element_bytes: 1
  // for int8, 2 for int16, 4 for int16 of which each pair is stored twice in a row
  uint8_t lhs_lanes_step = 1, lhs_kr, lhs_element_bytes = 1;
  // Null, or sums the values of each lane of a panel, whose depth is a multiple of lhs_kr
  void (*sum_panel)(const void* panel, size_t lanes, size_t depth, int32_t* sums) = nullptr;
  // Direct: not null where the kernel takes rows at one stride only. A convolution's rows that are
  // pointed at are then copied once per block, all taps of a row side by side: as rows of a matrix
  CopyRowsFn copy_rows = nullptr;
  // Direct: null, or copies rows of the other sign, flipped, in whole vectors of 16 bytes at least.
  // That is faster than to flip them for each tile where several taps read them, and where a
  // product or a 1x1 kernel has flip_columns and more (0: never)
  CopyRowsFn flip_rows = nullptr;
  uint8_t flip_columns = 0;
  // Direct, with multiply_micro_panel: null, or copies the rows of a block, flipped where they are
  // of the other sign, in an order that only multiply_micro_panel knows, for every depth and all
  // columns: row i begins i strides behind the first row. Faster where a product has many columns
  CopyRowsFn arrange_rows = nullptr;
  // With copy_rows: the depth of a step. Taps that are no multiple of it may take fewer steps
  // together
  uint8_t step_depth = 1;
  MultiplyFn multiply;
  // Null, or a multiply for any number of rows at one stride and one row of init for all rows, of
  // tiles as micro_panel says, where the cost of a call per tile matters
  MultiplyFn multiply_micro_panel = nullptr;
  struct {
    uint16_t least, most;                  // depths of a tap
    uint16_t least_columns, most_columns;  // of a tile
    // Several taps, too; then only bytes, in float mode or in TFLite mode by floats, and, of up to
    // nr columns, s32 and, with kStoresFloats, f32; whole groups of lhs_kr and many rows:
    // is_plain() in kernels/macro/tile_output.h
    bool taps;
    uint16_t words_columns = 0;  // if not nr, whole panels of nr: a tile of s32 or f32, of one tap
    // With taps, bytes of Tile::room for each group of a panel's width, of up to `most` steps of
    // all taps, behind kRoomHead bytes, which begin with a null pointer where weights or rows may
    // be others than those of the call before; 0: none
    uint16_t room = 0;
    bool deeper = false;  // with room: taps of more than `most` steps, too, part by part
    uint8_t tiles = 3;    // of many rows, at least: calls for fewer take no longer, one by one
  } micro_panel = {};
  // For int16: null, or the products of any number of rows by nr columns. Eight values along depth
  // of all rows lie side by side, lhs_stride bytes from the next eight; sums start at 0, and rows
  // of dst lie side by side. Each tap is a product of its own; tap_steps has the bytes between
  // taps of lhs, rhs and dst
  MultiplyFn multiply_eights = nullptr;
  // Direct: null, or adds the products of any number of rows by tap_panels panels, one tap after
  // the other. Sums wait in memory meanwhile, so pixels multiply only their own taps, and rows meet
  // weights that stay in L1
  AddTapFn add_tap = nullptr;
  uint8_t tap_panels = 1;
  // Direct, rows at one stride: tiles of at most tall_nr columns may have tall_mr rows
  uint8_t tall_mr = 0, tall_nr = 0;
  // Deep tiles of at most so many columns are multiplied in a way of their own, which the self-test
  // looks at; 0: none
  uint8_t few_nr = 0;
  Decoder decoder = {};
  SumsAhead ahead = {};
  // CPU features beyond those that its tier needs: a CPU of the tier without them never runs it.
  Features needs = 0;
  // Called before and after the products of a task, on the task's thread, where the kernel needs a
  // state of the CPU that costs more than a tile (a tile configuration, a streaming mode). Both or
  // neither. Such a kernel is not for the fast path of small products.
  void (*enter)() = nullptr;
  void (*leave)() = nullptr;

  constexpr bool is(KernelFlags flag) const { return flags & flag; }
  // Bytes of the panel that `gather` makes of one tile's lhs, tap after tap; a multiple of
  // kAlignment.
  constexpr size_t lhs_panel_bytes(size_t depth, size_t taps = 1) const {
    return round_up(
        round_up_pow2(mr, lhs_lanes_step) * taps * round_up_pow2(depth, lhs_kr) * lhs_element_bytes,
        kAlignment);
  }
  // Whether rows of so many bytes are worth a copy by arrange_rows for a task of so many columns.
  // Rows of the kernel's own sign are copied for the order alone, which takes more columns to pay;
  // of short rows, only whole groups pay.
  constexpr bool arranges(size_t columns, size_t depth, bool flips) const {
    return arrange_rows && columns >= (flips ? 40 : 96) && (depth >= 32 || depth == 24);
  }
  // Bytes from a copied row to the next: an odd number of lines, because rows a power of two apart
  // would share the sets of a cache.
  constexpr size_t copied_stride(size_t depth, size_t taps) const {
    const size_t lines = round_up(taps * round_up_pow2(depth, lhs_kr), kAlignment) / kAlignment;
    return (lines | 1) * kAlignment;
  }
  // Bytes of a micro-panel's decoded weights for a block of so many rows; 0: they are not decoded
  // once, because they would not stay in a cache or serve too few tiles.
  constexpr size_t decoded_bytes(size_t taps, size_t depth, size_t rows) const {
    constexpr size_t kMost = 256 * 1024;
    if (!decoder.decode) return 0;
    // Of a convolution, rows may make more tiles
    if (rhs_layout.is_4bit() && divide_up(rows, mr) < decoder.tiles) return 0;
    const size_t bytes = taps * divide_up(depth, rhs_layout.kr) * divide_up(nr, rhs_layout.width) *
                         decoder.group_bytes;
    return bytes <= kMost ? bytes : 0;
  }
  // Bytes of workspace in which multiply or multiply_micro_panel decodes weights itself.
  constexpr size_t room_bytes(size_t taps, size_t depth) const {
    const size_t groups =
        divide_up(smaller(taps * round_up_pow2(depth, lhs_kr), micro_panel.most), rhs_layout.kr);
    const size_t room = divide_up(nr, rhs_layout.width) * groups * micro_panel.room;
    return room ? kRoomHead + room : decoder.room;
  }
  // Whether a run needs workspace for it: panels of the lhs, or decoded weights.
  constexpr bool prepares() const { return gather || decoder.decode; }
  // Bytes of the sums of so many tiles that are multiplied ahead.
  constexpr size_t sums_bytes(size_t tiles) const {
    return ahead.note ? tiles * mr * nr * sizeof(int32_t) : 0;
  }
  // The columns of a tile of s32 or f32 where one call takes all rows, which are many.
  constexpr size_t words_nr() const {
    return micro_panel.words_columns ? micro_panel.words_columns : nr;
  }
  // The most rows that a tile of this many columns may have.
  constexpr size_t rows_of(size_t cols) const { return cols <= tall_nr ? tall_mr : mr; }
};

// Decodes a micro-panel of `lanes` columns, panel after panel.
inline void decode_panels(const MicroKernel& kernel, const uint8_t* rhs, size_t rhs_stride,
                          size_t panel_stride, size_t lanes, size_t groups, uint8_t* to) {
  for (size_t lane = 0; lane < lanes; lane += kernel.rhs_layout.width) {
    kernel.decoder.decode(rhs, rhs_stride, groups, to);
    rhs += panel_stride;
    to += groups * kernel.decoder.group_bytes;
  }
}

// The state that a kernel needs, for as long as this object lives; null: none.
class KernelState {
 public:
  explicit KernelState(const MicroKernel* kernel) : leave_(kernel ? kernel->leave : nullptr) {
    if (kernel && kernel->enter) kernel->enter();
  }
  KernelState(const KernelState&) = delete;
  KernelState& operator=(const KernelState&) = delete;
  ~KernelState() {
    if (leave_) leave_();
  }

 private:
  void (*const leave_)();
};

}  // namespace octet
