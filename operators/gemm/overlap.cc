// SPDX-License-Identifier: Apache-2.0
// Checks that the operands of a run share no bytes that they may not share.
#include "operators/gemm/call.h"

namespace octet {
namespace {

// A matrix and the key that it is sorted by.
struct Place {
  size_t key, index;
};

constexpr size_t kScratch = 3;       // places per matrix: the outputs in order, an input, and room
constexpr size_t kStackPlaces = 64;  // a larger batch sorts in the workspace

// Sorts by key, byte by byte from the lowest on. Both arrays have `count` places; returns the one
// that holds the result.
Place* sort(Place* places, Place* other, size_t count) {
  size_t bits = 0;
  for (size_t i = 0; i < count; ++i) bits |= places[i].key;
  for (unsigned shift = 0; shift < 8 * sizeof(size_t) && bits >> shift; shift += 8) {
    uint32_t begin[257] = {};
    for (size_t i = 0; i < count; ++i) ++begin[(places[i].key >> shift & 255) + 1];
    for (size_t digit = 0; digit < 256; ++digit) begin[digit + 1] += begin[digit];
    for (size_t i = 0; i < count; ++i) other[begin[places[i].key >> shift & 255]++] = places[i];
    Place* const sorted = other;
    other = places;
    places = sorted;
  }
  return places;
}

// The first place whose key is not below this key.
size_t lower_bound(const Place* places, size_t count, size_t key) {
  size_t first = 0;
  while (count) {
    const size_t half = count / 2;
    const bool below = places[first + half].key < key;
    first += below ? half + 1 : 0;
    count = below ? count - half - 1 : half;
  }
  return first;
}

// An operand's matrices in the order of their addresses, which is also that of their ends: all have
// one size.
class InOrder {
 public:
  // Sorts into `places` if the matrices are in no order; `other` is as large and free afterwards.
  InOrder(const Operand& operand, Place* places, Place* other) : operand_(operand) {
    bool ascending = true;
    for (size_t i = 1; operand.array && i < operand.count; ++i)
      ascending &= operand.at(i - 1) <= operand.at(i);
    if (ascending) return;
    for (size_t i = 0; i < operand.count; ++i) places[i] = {(size_t)operand.at(i), i};
    places_ = sort(places, other, operand.count);
    if (places_ == places) return;
    for (size_t i = 0; i < operand.count; ++i) places[i] = other[i];
    places_ = places;
  }
  size_t count() const { return operand_.count; }
  Extent extent(size_t i) const { return operand_.extent(places_ ? places_[i].index : i); }

 private:
  const Operand& operand_;
  const Place* places_ = nullptr;  // null: they are in order as they are
};

bool any_meet(const InOrder& a, const InOrder& b) {
  for (size_t i = 0, j = 0; i < a.count() && j < b.count();) {
    const Extent x = a.extent(i), y = b.extent(j);
    if (meet(x, y)) return true;
    ++(x.end <= y.begin ? i : j);
  }
  return false;
}

// From the first byte of an operand's matrices to the last, whatever lies between them.
Extent whole_extent(const Operand& o) {
  if (o.absent()) return {0, 0};
  Extent whole = o.extent(0);
  for (size_t i = 1; i < o.count; ++i) {
    const Extent one = o.extent(i);
    whole.begin = one.begin < whole.begin ? one.begin : whole.begin;
    whole.end = one.end > whole.end ? one.end : whole.end;
  }
  return whole;
}

bool meets(const Operand& o, const Extent& whole, const Extent& e) {
  if (!meet(whole, e)) return false;
  for (size_t i = 0; i < o.count; ++i)
    if (meet(o.extent(i), e)) return true;
  return false;
}

octet_status check_pointers(const Operand& o, octet_error* error) {
  const size_t alignment = element_bytes(o.type);
  for (size_t i = 0; i < (o.array ? o.count : o.data ? 1 : 0); ++i) {
    if (!o.at(i))
      return fail(error, OCTET_NULL_POINTER, "args.%s_array[%zu], matrix %zu, is null", o.name, i,
                  i);
    if ((uintptr_t)o.at(i) & (alignment - 1))
      return fail(error, OCTET_MISALIGNED, "args.%s of matrix %zu is not a multiple of %zu", o.name,
                  i, alignment);
  }
  return OCTET_OK;
}

// ---- outputs that overlap each other ------------------------------------------------------------

// The matrices of dst_array, whose rows may interleave but not share a byte.
//
// With q = offset / stride and r = offset % stride, a matrix covers the rectangle of rows [q, q +
// m) and columns [r, r + row) of a plane `stride` wide, where a column beyond the right side is the
// first one of the next row. Rows are grouped into bands of m. Two matrices that begin in one band
// have a row in common, so they must be `row` columns apart; and then only a few of the two bands
// beside it can reach a matrix.
class Outputs {
 public:
  Outputs(const GemmRun& run, const Operand& dst, size_t row, Place* scratch)
      : m_(run.schedule.sizes.m),
        dst_(dst),
        row_(row),
        stride_(run.dst_stride),
        base_(whole_extent(dst).begin) {
    for (size_t i = 0; i < dst.count; ++i) {
      const size_t offset = (size_t)dst.at(i) - base_;
      scratch[i] = {offset / stride_ / m_ * stride_ + offset % stride_, i};
    }
    places_ = sort(scratch, scratch + dst.count, dst.count);
  }

  bool overlap(size_t* a, size_t* b) const {
    for (size_t i = 1; i < dst_.count; ++i) {
      const size_t first = places_[i - 1].key, second = places_[i].key;
      if (first / stride_ == second / stride_ && second - first < row_)
        return found(i - 1, i, a, b);
    }
    for (size_t i = 0; i < dst_.count; ++i) {
      const size_t band = places_[i].key / stride_, column = places_[i].key % stride_;
      for (size_t other = band ? band - 1 : 0; other <= band + 1; ++other) {
        const size_t right = smaller(column + row_, stride_), wrapped = column + row_ - right;
        if (overlap_within(i, other * stride_ + column, other * stride_ + right, a, b) ||
            overlap_within(i, other * stride_, other * stride_ + wrapped, a, b))
          return true;
      }
    }
    return false;
  }

 private:
  bool overlap_within(size_t i, size_t key, size_t end, size_t* a, size_t* b) const {
    for (size_t j = lower_bound(places_, dst_.count, key); j < dst_.count && places_[j].key < end;
         ++j)
      if (i != j && share_a_byte(places_[i].index, places_[j].index)) return found(i, j, a, b);
    return false;
  }
  bool share_a_byte(size_t i, size_t j) const {
    const uint8_t *a = dst_.at(i), *b = dst_.at(j);
    const size_t distance = a < b ? (size_t)(b - a) : (size_t)(a - b);
    const size_t rows = distance / stride_, rest = distance % stride_;
    return (rows < m_ && rest < row_) || (rows + 1 < m_ && stride_ - rest < row_);
  }
  bool found(size_t i, size_t j, size_t* a, size_t* b) const {
    *a = smaller(places_[i].index, places_[j].index);
    *b = larger(places_[i].index, places_[j].index);
    return true;
  }

  const size_t m_;
  const Operand& dst_;
  const size_t row_, stride_;  // bytes
  const uintptr_t base_;
  const Place* places_;
};

}  // namespace

size_t overlap_scratch_bytes(size_t batch) {
  return batch > kStackPlaces ? round_up(kScratch * batch * sizeof(Place), kAlignment) : 0;
}

octet_status check_overlap(const octet_gemm& gemm, const Call& call, octet_error* error) {
  const octet_gemm_args& a = call.args;
  const GemmRun& run = call.run;
  const GemmSizes& z = call.sizes();
  const Operand* const operands[] = {&call.dst, &call.lhs, &call.rhs, &call.residual};
  constexpr size_t kOperands = sizeof operands / sizeof operands[0];
  Extent whole[kOperands];
  for (size_t i = 0; i < kOperands; ++i) {
    OCTET_TRY(check_pointers(*operands[i], error));
    whole[i] = whole_extent(*operands[i]);
  }

  // Neither the workspace nor the output may meet an operand that is one piece.
  const size_t quants = z.batch * run.lhs_quant_count * sizeof(int32_t);
  const size_t pointers = z.batch * sizeof(void*);
  const struct {
    const char* name;
    Extent extent;
  } pieces[] = {
      {"the packed weights", extent_of(gemm.packed, gemm.packed_bytes)},
      {"args.lhs_zero_points", extent_of(a.lhs_zero_points, quants)},
      {"args.lhs_scales", extent_of(a.lhs_scales, quants)},
      {"args.rhs_zero_points",
       extent_of(a.rhs_zero_points, run.rhs_zero_point_count * sizeof(int32_t))},
      {"args.lhs_array", extent_of(a.lhs_array, pointers)},
      {"args.rhs_array", extent_of(a.rhs_array, pointers)},
      {"args.dst_array", extent_of(a.dst_array, pointers)},
      {"args.residual_array", extent_of(a.residual_array, pointers)},
  };
  const Extent workspace = extent_of(a.workspace, a.workspace_bytes);
  for (const auto& piece : pieces) {
    if (meets(call.dst, whole[0], piece.extent))
      return fail(error, OCTET_OVERLAP, "args.dst overlaps %s", piece.name);
    if (meet(workspace, piece.extent))
      return fail(error, OCTET_OVERLAP, "args.workspace overlaps %s", piece.name);
  }
  for (size_t i = 0; i < kOperands; ++i)
    if (meets(*operands[i], whole[i], workspace))
      return fail(error, OCTET_OVERLAP, "args.workspace overlaps args.%s", operands[i]->name);

  // The output may be exactly the residual.
  bool in_place = run.residual_stride == run.dst_stride;
  for (size_t i = 0; !call.residual.absent() && in_place && i < z.batch; ++i)
    in_place = call.residual.at(i) == call.dst.at(i);
  // The operands whose whole extents meet the output's
  bool crossed[kOperands] = {};
  bool any_crossed = call.dst.array != nullptr;
  for (size_t i = 1; i < kOperands; ++i) {
    const bool may = operands[i]->absent() || (operands[i] == &call.residual && in_place);
    crossed[i] = !may && meet(whole[0], whole[i]);
    any_crossed |= crossed[i];
  }
  if (!any_crossed) return OCTET_OK;

  Place on_stack[kScratch * kStackPlaces];
  Place* const dst_places = overlap_scratch_bytes(z.batch) ? (Place*)a.workspace : on_stack;
  Place *const places = dst_places + z.batch, *const other = places + z.batch;
  const InOrder outputs(call.dst, dst_places, other);
  for (size_t i = 1; i < kOperands; ++i)
    if (crossed[i] && any_meet(outputs, InOrder(*operands[i], places, other)))
      return fail(error, OCTET_OVERLAP, "args.dst overlaps args.%s%s", operands[i]->name,
                  operands[i] == &call.residual ? ", without being exactly it" : "");

  bool apart = true;  // the outputs, whole; else their rows interleave, or they overlap
  for (size_t i = 1; call.dst.array && i < z.batch; ++i)
    apart &= outputs.extent(i - 1).end <= outputs.extent(i).begin;
  size_t first, second;
  if (apart || !Outputs(run, call.dst, z.n * gemm.plan.dst_bytes, places).overlap(&first, &second))
    return OCTET_OK;
  return fail(error, OCTET_OVERLAP, "args.dst_array: the output matrices %zu and %zu overlap",
              first, second);
}

}  // namespace octet
