// What a micro-kernel is: one constant value that drives selection, tests, benches and forcing.
#pragma once

#include "kernels/core/feature.h"
#include "kernels/core/isa.h"
#include "kernels/core/lhs_rows.h"
#include "kernels/core/packed_layout.h"
#include "kernels/core/requantize.h"

namespace octet {

// dst[i,j] = init[i,j] + sum over k of lhs[i,k] * rhs[k,j], then either stored as s32 or narrowed
// to 8 bits. Kernels know no zero points: whatever they need is in init.
struct Tile {
  const void* lhs;    // first row (direct form), or the panel that `gather` made
  size_t lhs_stride;  // bytes between rows (direct form)
  // Direct form: kernel positions of a convolution; each is `depth` deep and begins a new group of
  // the rhs
  size_t taps = 1;
  // Direct form: bytes from a row in one tap to the same row in the next, taps - 1 of them
  const ptrdiff_t* tap_steps = nullptr;
  // Instead of lhs, lhs_stride and tap_steps: the rows of the first tap, of the second, ...
  const uint8_t* const* lhs_rows = nullptr;
  uint32_t lhs_flip;        // direct form: 0 or 0x80808080, xor-ed to the bytes
  const uint8_t* rhs;       // first group of the first column
  bool rhs_wide = false;    // rhs is what the kernel's `widen` made of it
  size_t rhs_stride;        // bytes between groups
  size_t rhs_panel_stride;  // bytes between panels, for kernels whose nr spans several
  size_t depth;             // of a tap, K of a matrix; rhs is zero beyond it, lhs rows end there
  size_t rows, cols;        // 1..rows_of(cols), 1..nr
  // Readable up to cols rounded up to the layout's step; may be dst, at the same stride
  const int32_t* init;
  size_t init_stride;  // elements; 0 = one row for all
  // With kRowInit: added to all of a row's init, one per row; or null
  const int32_t* row_init = nullptr;
  void* dst;
  size_t dst_stride;  // bytes
  // null: s32. Readable up to cols rounded up to the layout's step. TFLite mode: see Narrow
  const float* scale;
  const Requantization* requantization;  // with scale
};

using MultiplyFn = void (*)(const Tile&);

// Copies `groups` groups of a strip as the words that multiply would make of them anew for every
// tile.
using WidenFn = void (*)(const uint8_t* rhs, size_t groups, int16_t* words);
// Worth it from so many tiles on
constexpr size_t kWidenTiles = 4;

enum KernelFlags : uint16_t {
  kAnyLhs = 1,       // takes an lhs of the other sign too, flipped on the way
  kRequantizes = 2,  // multiply can finish to 8 bits; of a kernel of words, its tier's transforms
  kNoInt8Min = 4,    // exact only if no weight is -128
  kTestsOnly = 8,    // never selected, only forced
  // With kRequantizes: only where max|acc| * scale < 2^15 - 1, as outputs of 8 bits make it nearly
  // always
  kRequantizes16 = 16,
  // gather puts the even steps of a group of lhs_kr before the odd ones
  kGathersEvenStepsFirst = 32,
  kRequantizesTflite = 64,  // with kRequantizes: in TFLite mode, too
  // With kRequantizesTflite: only where the certificate says that every column is divided
  kTfliteRightShiftOnly = 128,
  kRowInit = 256,  // knows Tile::row_init
  kInOrder = 512,  // selected only where all cores are known to execute in order
  // gather puts the complements of every eight steps behind them, and lhs_element_bytes is 2
  kGathersComplements = 1024,
  // chosen only where it passes the self-test by itself: else its tier has a sibling, and stays
  kOptional = 2048,
};

struct MicroKernel {
  const char* name;  // {isa}_{types}_{mr}x{nr}x{kr}
  Isa isa;
  ElementType lhs_element_type;  // rhs_layout.domain is the other half of the types
  uint8_t mr;
  uint16_t nr;         // divides rhs_layout.width, or is a multiple of it where width == step
  uint16_t m_max = 0;  // selected for runs of at most this many rows; 0 = any
  uint16_t n_max = 0;  // selected for products of at most this many columns; 0 = any
  uint16_t flags = 0;  // KernelFlags
  RhsLayout rhs_layout;
  // Null: the kernel walks the lhs rows directly. Else gather makes a panel of lanes(rows) *
  // lhs_depth(k) * element bytes.
  GatherFn gather = nullptr;
  // Bytes: 1; words: 2; words of which each pair is there twice, one after the other: 4
  uint8_t lhs_lanes_step = 1, lhs_kr, lhs_element_bytes = 1;
  MultiplyFn multiply;
  // Null, or multiply for any number of rows at a stride, of so many bytes, in one tap, and for nr
  // columns whose init is one row for all: with little depth, what a call costs counts
  MultiplyFn multiply_micro_panel = nullptr;
  struct {
    uint16_t least, most;
  } micro_panel_depth = {};
  // Direct form at a stride: tiles of at most tall_nr columns may have tall_mr rows
  uint8_t tall_mr = 0, tall_nr = 0;
  WidenFn widen = nullptr;  // to nr * kr words per group
  // CPU features beyond those that its tier needs: a CPU of the tier without them never runs it.
  Features needs = 0;
  // Called before and after the products of a task, on the task's thread, where the kernel needs a
  // state of the CPU that costs more than a tile (a tile configuration, a streaming mode). Both or
  // neither. Such a kernel is not for the fast path of small products.
  void (*enter)() = nullptr;
  void (*leave)() = nullptr;

  constexpr bool is(KernelFlags flag) const { return flags & flag; }
  // Of one tile's lhs as `gather` makes it, tap after tap; a multiple of kAlignment.
  constexpr size_t lhs_panel_bytes(size_t depth, size_t taps = 1) const {
    return round_up(
        round_up_pow2(mr, lhs_lanes_step) * taps * round_up_pow2(depth, lhs_kr) * lhs_element_bytes,
        kAlignment);
  }
  constexpr size_t rows_of(size_t cols) const { return cols <= tall_nr ? tall_mr : mr; }
};

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
