// SPDX-License-Identifier: Apache-2.0
// Draws the places of a batch's matrices.
#include "fuzz/matrices.h"

#include <utility>

namespace octet_fuzz {
namespace {

// Layouts. Shared: an input's matrices may overlap, an output's are apart by any step. Scattered:
// anywhere in one block.
constexpr size_t kDense = 0, kGaps = 1, kInterleaved = 2, kShared = 3, kOwnBlocks = 4,
                 kScattered = 5;
constexpr size_t kStrided = 0, kArray = 1, kArrayAnyOrder = 2;

}  // namespace

Matrices::Matrices(Choices* c, Role role, octet_type of, size_t row_count, size_t col_count,
                   size_t batch, size_t room_bytes)
    : type(of), rows(row_count), cols(col_count) {
  const bool output = role == Role::kOutput, arrays = role != Role::kPackInput;
  size_t layout = c->below(arrays ? 6 : 4);
  if (layout == kOwnBlocks && batch > 8) layout = kScattered;
  const size_t access = !arrays ? kStrided : layout >= kOwnBlocks ? kArray : c->below(3);
  const size_t element = element_bytes(type),
               gap = layout == kDense ? 0 : c->below(c->one_in(8) ? 100 : 9);

  row_step_ = cols + gap;
  size_t batch_step = rows * row_step_;
  if (layout == kGaps) batch_step += c->any<size_t>({0, 1, 5, 64});
  if (layout == kInterleaved) batch_step = cols + gap % 3, row_step_ = batch * batch_step + gap;
  if (layout == kShared) batch_step = output ? span() / element + gap : 1 + c->below(2 * cols);
  if (layout == kGaps && access == kStrided && room_bytes) {
    room = room_bytes;
    batch_step = (span() + room + 3) / 4 * 4 / element;
  }
  if (layout != kDense) stride = row_step_;
  if (layout != kDense && access == kStrided) batch_stride = batch_step;
  // The stride of a single row and the step of a single matrix have no effect.
  if (rows == 1 && layout == kGaps && c->one_in(4))
    stride = SIZE_MAX / 8 / (batch + 1), batch_stride = batch_step;
  if (batch == 1 && layout == kGaps && c->one_in(4)) batch_stride = (size_t)c->odd();

  if (layout == kScattered) {
    scatter(c, batch);
  } else if (layout == kOwnBlocks) {
    for (size_t b = 0; b < batch; ++b) blocks.emplace_back(c, span(), element);
    for (const Block& block : blocks) at.push_back(block.data());
  } else {
    blocks.emplace_back(
        c, (batch - 1) * batch_step * element + span() + (room + element - 1) / element * element,
        element);
    for (size_t b = 0; b < batch; ++b) at.push_back(blocks[0].data() + b * batch_step * element);
  }
  point(c, access, !output);
}

Matrices Matrices::between(Choices* c, const Matrices& input, octet_type type, size_t rows,
                           size_t cols) {
  Matrices m;
  m.type = type;
  m.rows = rows;
  m.cols = m.row_step_ = cols;
  const size_t element = element_bytes(type), batch = input.at.size();
  for (uint8_t* begin : input.at) {
    uint8_t* const end = begin + input.span();
    m.at.push_back(end + (element - (uintptr_t)end % element) % element);
  }
  if (batch > 1) m.batch_stride = (size_t)(input.at[1] - input.at[0]) / element;
  m.point(c, c->below(3), false);
  return m;
}

void Matrices::scatter(Choices* c, size_t batch) {
  const size_t element = element_bytes(type);
  row_step_ = stride = cols + c->below(4 * cols);
  const size_t elements = span() / element, last = 1 + c->below(2 * batch * elements);
  blocks.emplace_back(c, (last + elements) * element, element);
  std::vector<bool> taken(last + elements);
  Random random = c->random();
  for (size_t b = 0; b < batch; ++b) {
    const size_t offset = random.below(last);
    at.push_back(blocks[0].data() + offset * element);
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < cols; ++j) {
        const size_t place = offset + i * row_step_ + j;
        overlap = overlap || taken[place];
        taken[place] = true;
      }
  }
}

void Matrices::point(Choices* c, size_t access, bool may_repeat) {
  const size_t batch = at.size();
  if (access == kStrided) {
    data = at[0];
    return;
  }
  if (access == kArrayAnyOrder)
    for (size_t b = batch; b > 1; --b) std::swap(at[b - 1], at[c->below(b)]);
  if (may_repeat && c->one_in(4)) at[c->below(batch)] = at[0];  // as grouped-query heads do
  pointers_ = Block(c, at);
  array = pointers_.data<void*>();
}

void Matrices::foresee(Foreseen* foreseen) const {
  for (const Block& block : blocks) foreseen->add(block);
  foreseen->add(pointers_);
}

}  // namespace octet_fuzz
