// SPDX-License-Identifier: Apache-2.0
// Draws the descriptors and operands of a product.
#include "fuzz/product.h"

#include "support/reference.h"
#include "support/sparse.h"

namespace octet_fuzz {

using octet_test::QuantizedRow;

Product::Product(Choices* c) : c_(c) {
  draw_sizes();
  draw_lhs();
  draw_weights();
  draw_quantization();
  epilogue = Epilogue(c, desc, ranges(), desc.n);
  draw_dst();
  draw_residual();
  draw_parallel();
  compute();
}

void Product::draw_sizes() {
  size_t m = c_->size(70), n = c_->size(140), k = c_->size(c_->one_in(16) ? 600 : 140);
  // A batch above 64 is sorted in the workspace.
  batch_ = c_->any<size_t>({1, 1, 1, 2, 2, 3, 5, c_->any<size_t>({9, 70, 70, 200})});
  pairable_ = c_->one_in(8);
  if (pairable_) k = 32 + c_->below(204), n = 1 + c_->below(86), m = 1 + c_->below(40), batch_ = 1;
  const size_t kMostProducts = pairable_ ? 200000 : 50000;
  for (size_t* const sizes[] = {&m, &n, &k, &batch_}; m * n * k * batch_ > kMostProducts;) {
    size_t* largest = sizes[0];
    for (size_t* const s : sizes) largest = *s > *largest ? s : largest;
    *largest = (*largest + 1) / 2;
  }
  s16_ = c_->one_in(6);
  if (s16_ && c_->one_in(64)) {  // the deepest sums, of weights of one sign or of two
    m = n = batch_ = 1;
    k = c_->one_in(2) ? 65792 + c_->below(3) : 131072 + c_->below(1100);
  }
  n_ = n;
  k_ = k;
  runtime_rhs = !s16_ && c_->one_in(3);
  const bool more = c_->one_in(4);
  const bool fewer_columns = runtime_rhs && c_->one_in(4);
  desc.m_max = m + (more ? c_->below(80) : 0);
  desc.batch_max = batch_ + (more ? c_->below(3) : 0);
  desc.n = n + (fewer_columns ? c_->below(70) : 0);
  desc.k = k + (fewer_columns ? c_->below(70) : 0);
  args.m = m;
  args.batch = batch_;
  if (fewer_columns || c_->one_in(4)) args.n = n, args.k = k;
  if (batch_ == 1 && c_->one_in(2)) args.batch = 0;
  if (desc.batch_max == 1 && c_->one_in(2)) desc.batch_max = 0;
  machine = Block(c_, draw_machine(c_));
  desc.machine = machine.data<octet_machine>();
}

void Product::draw_lhs() {
  if (!s16_)
    desc.lhs_quant =
        c_->any({OCTET_LHS_STATIC, OCTET_LHS_STATIC, OCTET_LHS_STATIC, OCTET_LHS_PER_TENSOR,
                 OCTET_LHS_PER_ROW, OCTET_LHS_SYMMETRIC, OCTET_LHS_ASYMMETRIC});
  const bool f32 = desc.lhs_quant == OCTET_LHS_SYMMETRIC || desc.lhs_quant == OCTET_LHS_ASYMMETRIC;
  desc.lhs_type = f32 ? OCTET_F32 : s16_ ? OCTET_S16 : type_8bit(c_);
  desc.dst_type = f32    ? OCTET_F32
                  : s16_ ? c_->any({OCTET_S16, OCTET_S16, OCTET_F32})
                         : c_->any({OCTET_S8, OCTET_U8, OCTET_S32, OCTET_F32});
  if (desc.lhs_quant == OCTET_LHS_STATIC && !s16_)
    desc.lhs_zero_point = draw_zero_point(c_, desc.lhs_type);
  const size_t room = c_->one_in(4) ? args.m * n_ * element_bytes(desc.dst_type) + 3 : 0;
  lhs = Matrices(c_, Matrices::Role::kInput, desc.lhs_type, args.m, k_, batch_, room);
  for (const Block& block : lhs.blocks)
    f32    ? fill_f32(c_, block.data<float>(), block.bytes() / sizeof(float))
    : s16_ ? fill_s16(c_, block.data<int16_t>(), block.bytes() / sizeof(int16_t))
           : fill(c_, desc.lhs_type, desc.lhs_zero_point, block.data(), block.bytes());
  args.lhs = lhs.data;
  args.lhs_array = lhs.array;
  args.lhs_stride = lhs.stride;
  args.lhs_batch_stride = lhs.batch_stride;
}

void Product::draw_weights() {
  const bool s16_weights = s16_ && !c_->one_in(16);
  desc.rhs_type = runtime_rhs ? type_8bit(c_) : s16_weights ? OCTET_S8 : type_of_weights(c_);
  desc.rhs_order = c_->any({OCTET_KN, OCTET_NK});
  const bool kn = desc.rhs_order == OCTET_KN;
  const size_t batch_max = desc.batch_max ? desc.batch_max : 1;
  matrices_ = runtime_rhs ? batch_ : c_->one_in(2) ? 1 : batch_max + c_->below(2);
  const Matrices::Role role = runtime_rhs ? Matrices::Role::kInput : Matrices::Role::kPackInput;
  weights = Matrices(c_, role, desc.rhs_type, kn ? k_ : n_, kn ? n_ : k_, matrices_);
  if (s16_weights)
    zero_points_.assign(c_->any<size_t>({0, 1, n_}), 0);
  else
    zero_points_ = draw_zero_points(c_, desc.rhs_type, n_);
  for (const int32_t zero_point : zero_points_) has_zero_points_ |= zero_point != 0;
  rhs_zero_points = Block(c_, zero_points_);
  const bool bell = pairable_ && is_8bit(desc.rhs_type) && !c_->one_in(4);
  for (const Block& block : weights.blocks) {
    if (bell)
      fill_bell(c_, desc.rhs_type, block.data(), block.bytes());
    else
      fill(c_, desc.rhs_type, zero_points_.empty() ? 0 : zero_points_[0], block.data(),
           block.bytes());
  }
  if (runtime_rhs) {
    args.rhs = weights.data;
    args.rhs_array = weights.array;
    args.rhs_stride = weights.stride;
    args.rhs_batch_stride = weights.batch_stride;
    args.rhs_zero_points = rhs_zero_points.data<int32_t>();
    args.rhs_zero_point_count = zero_points_.size();
    return;
  }
  rhs.type = desc.rhs_type;
  rhs.order = desc.rhs_order;
  rhs.n = n_;
  rhs.k = k_;
  rhs.batch = matrices_ == 1 && c_->one_in(2) ? 0 : matrices_;
  rhs.data = weights.data;
  rhs.stride = weights.stride;
  rhs.batch_stride = weights.batch_stride;
  rhs.zero_points = rhs_zero_points.data<int32_t>();
  rhs.zero_point_count = zero_points_.size();
  if (is_4bit(rhs.type)) return;
  rhs.sparsity = c_->any({OCTET_SPARSE_NONE, OCTET_SPARSE_2_4, OCTET_SPARSE_AUTO});
  // A hint, so it may be wrong
  if (rhs.sparsity) rhs.m_max = c_->any<size_t>({0, desc.m_max, 1 + c_->below(5)});
  if (rhs.sparsity == OCTET_SPARSE_2_4 || (rhs.sparsity && c_->one_in(2))) make_sparse();
  // Matrices may overlap
  if (matrices_ > 1 && rhs.sparsity == OCTET_SPARSE_2_4) rhs.sparsity = OCTET_SPARSE_AUTO;
}

// Some of the weights become their zero points. If a remaining one is too far from its zero point,
// all are packed dense.
void Product::make_sparse() {
  const bool kn = desc.rhs_order == OCTET_KN;
  const size_t turn = c_->below(256);
  for (size_t b = 0; b < matrices_; ++b)
    for (size_t n = 0; n < n_; ++n)
      for (size_t k = 0; k < k_; ++k) {
        using octet_test::kSparsePlaces;
        const unsigned places = kSparsePlaces[(turn + n + k / 4) % std::size(kSparsePlaces)];
        if (places >> k % 4 & 1) continue;
        *weights.element(b, kn ? k : n, kn ? n : k) =
            (uint8_t)(zero_points_.empty() ? 0 : zero_points_[zero_points_.size() == 1 ? 0 : n]);
      }
}

void Product::draw_quantization() {
  const bool per_row = desc.lhs_quant == OCTET_LHS_PER_ROW;
  if (!per_row && desc.lhs_quant != OCTET_LHS_PER_TENSOR) return;
  const size_t count = batch_ * (per_row ? args.m : 1);
  if (!c_->one_in(4)) {
    std::vector<int32_t> values(count, draw_zero_point(c_, desc.lhs_type));
    Random random = c_->random();
    if (c_->one_in(2))
      for (int32_t& value : values) value = least(desc.lhs_type) + (int32_t)random.below(256);
    lhs_zero_points = Block(c_, values);
    args.lhs_zero_points = lhs_zero_points.data<int32_t>();
  }
  if (desc.dst_type != OCTET_S32 && !c_->one_in(4)) {
    std::vector<float> values(count, c_->any({1.0f, 0.25f, draw_scale(c_)}));
    values[c_->below(count)] = draw_scale(c_);
    lhs_scales = Block(c_, values);
    args.lhs_scales = lhs_scales.data<float>();
  }
}

void Product::draw_dst() {
  dst = lhs.room ? Matrices::between(c_, lhs, desc.dst_type, args.m, n_)
                 : Matrices(c_, Matrices::Role::kOutput, desc.dst_type, args.m, n_, batch_);
  args.dst = dst.data;
  args.dst_array = dst.array;
  args.dst_stride = dst.stride;
  args.dst_batch_stride = dst.batch_stride;
}

void Product::draw_residual() {
  const octet_type type = epilogue.desc().epilogue.residual.type;
  if (!type) return;
  in_place = c_->one_in(2);
  if (!in_place) residual = Matrices(c_, Matrices::Role::kInput, type, args.m, n_, batch_);
  const Matrices& from = in_place ? dst : residual;
  for (uint8_t* at : from.at)
    fill(c_, type, epilogue.desc().epilogue.residual.zero_point, at, from.span());
  args.residual = from.data;
  args.residual_array = from.array;
  args.residual_stride = from.stride;
  args.residual_batch_stride = from.batch_stride;
}

void Product::draw_parallel() {
  parallel_.random = c_->random();
  parallel_.most = c_->one_in(3) ? 1 + c_->below(9) : 1;
  if (parallel_.most == 1 && !c_->one_in(4)) return;
  args.concurrency = parallel_.most;
  args.parallel_context = &parallel_;
  args.parallel_for = parallel_for;
}

const char* Product::refused() const {
  if (s16_ && desc.rhs_type != OCTET_S8) return "weights that are not s8 by s16 values";
  if (s16_ && has_zero_points_ && !rhs.sparsity) return "weights with zero points by s16 values";
  return epilogue.refused();
}

std::vector<int32_t> Product::weights_of(size_t matrix) const {
  std::vector<int32_t> out(k_ * n_);
  const bool kn = desc.rhs_order == OCTET_KN;
  for (size_t k = 0; k < k_; ++k)
    for (size_t n = 0; n < n_; ++n) {
      const int32_t zero_point =
          zero_points_.empty() ? 0 : zero_points_[zero_points_.size() == 1 ? 0 : n];
      out[k * n_ + n] =
          value_of(desc.rhs_type, *weights.element(matrix, kn ? k : n, kn ? n : k)) - zero_point;
    }
  return out;
}

std::vector<Range> Product::ranges() const {
  const int64_t reach = desc.lhs_quant == OCTET_LHS_SYMMETRIC ? 127 : 255;
  const bool fixed = desc.lhs_quant == OCTET_LHS_STATIC;
  const int64_t lo = fixed ? least(desc.lhs_type) - desc.lhs_zero_point : -reach;
  const int64_t hi = s16_ ? kS16Reach : fixed ? most(desc.lhs_type) - desc.lhs_zero_point : reach;
  if (runtime_rhs) {
    const int64_t depth = (int64_t)desc.k, down = least(desc.rhs_type), up = most(desc.rhs_type);
    return std::vector<Range>(
        desc.n, {depth * std::min({lo * up, hi * down}), depth * std::max({hi * up, lo * down})});
  }
  std::vector<Range> out(matrices_ * n_);
  for (size_t b = 0; b < matrices_; ++b) {
    const std::vector<int32_t> values = weights_of(b);
    for (size_t n = 0; n < n_; ++n)
      for (size_t k = 0; k < k_; ++k) out[b * n_ + n].add(values[k * n_ + n], lo, hi);
  }
  return out;
}

void Product::compute() {
  run_must_refuse = dst.overlap;
  if (runtime_rhs && !zero_points_.empty()) {
    const int64_t reach = epilogue.largest_bias() + 255 * 255 * (int64_t)k_;
    run_may_refuse = reach > INT32_MAX >> epilogue.longest_shift();
  }
  for (const Matrices* m : {&lhs, &dst, &residual}) m->foresee(&before);
  if (runtime_rhs) weights.foresee(&before);
  for (const Block* block : {&lhs_zero_points, &lhs_scales, &rhs_zero_points}) before.add(*block);
  after = before;
  if (refused() || dst.overlap) return;
  std::vector<int32_t> values;
  for (size_t b = 0; b < batch_; ++b) {
    if (b == 0 || matrices_ > 1) values = weights_of(b);
    for (size_t i = 0; i < args.m; ++i) compute_row(b, i, values);
  }
}

void Product::compute_row(size_t b, size_t i, const std::vector<int32_t>& values) {
  const size_t quant = desc.lhs_quant == OCTET_LHS_PER_ROW ? b * args.m + i : b;
  int32_t zero_point = args.lhs_zero_points ? args.lhs_zero_points[quant] : desc.lhs_zero_point;
  const float* scale = args.lhs_scales ? args.lhs_scales + quant : nullptr;
  std::vector<int32_t> row(k_);
  QuantizedRow quantized;
  if (desc.lhs_type == OCTET_F32) {
    const float* const from = (const float*)lhs.element(b, i, 0);
    quantized = desc.lhs_quant == OCTET_LHS_SYMMETRIC ? octet_test::quantize_symmetric(from, k_)
                                                      : octet_test::quantize_asymmetric(from, k_);
    row = quantized.values;
    zero_point = quantized.zero_point;
    scale = &quantized.scale;
  } else {
    for (size_t k = 0; k < k_; ++k) row[k] = value_at(desc.lhs_type, lhs.element(b, i, k));
  }
  for (int32_t& value : row) value -= zero_point;
  std::vector<int64_t> acc(n_);
  for (size_t n = 0; n < n_; ++n) acc[n] = epilogue.bias(n);
  octet_test::multiply_row(n_, k_, row.data(), values.data(), acc.data());
  const Matrices& residuals = in_place ? dst : residual;
  const octet_type type = epilogue.desc().epilogue.residual.type;
  uint8_t* out = after.at(dst.element(b, i, 0));
  for (size_t n = 0; n < n_; ++n, out += element_bytes(desc.dst_type)) {
    if (epilogue.may_overflow()) acc[n] = epilogue.held(n, acc[n]);
    if (!epilogue.holds(n, acc[n])) {
      if (!run_may_refuse) fail("an accumulator leaves int32 in a product that is taken for valid");
      run_must_refuse = true;
    }
    const int32_t added = type ? value_of(type, *residuals.element(b, i, n)) : 0;
    const uint32_t bits = octet_test::expected_output(epilogue.desc(), n, scale, acc[n], added);
    std::memcpy(out, &bits, element_bytes(desc.dst_type));
  }
}

void Product::report(const char* what, const char* kernel, const uint8_t* byte) const {
  const size_t element = element_bytes(desc.dst_type);
  for (size_t b = 0; b < batch_; ++b)
    for (size_t i = 0; i < args.m; ++i) {
      const uint8_t* const row = dst.element(b, i, 0);
      if (byte < row || byte >= row + n_ * element) continue;
      const size_t n = (size_t)(byte - row) / element;
      uint32_t got = 0, want = 0;
      std::memcpy(&got, row + n * element, element);
      std::memcpy(&want, after.at(row + n * element), element);
      fail("%s, %zux%zux%zu, %s: matrix %zu row %zu column %zu: want bits %x, got %x; %s", kernel,
           args.m, n_, k_, what, b, i, n, want, got, text_of(epilogue.desc(), n).c_str());
    }
  fail("%s, %zux%zux%zu, %s: wrote to an input, or between the rows of dst", kernel, args.m, n_, k_,
       what);
}

}  // namespace octet_fuzz
