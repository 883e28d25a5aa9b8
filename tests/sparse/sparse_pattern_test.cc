// SPDX-License-Identifier: Apache-2.0
// Checks the refusal of weights that are not 2:4: it names the column, the place in it, and the
// values.
#include "support/conv_case.h"
#include "support/draw.h"
#include "support/refused.h"
#include "support/sparse.h"

namespace octet_test {
namespace {

// A column of 2:4 weights that are near enough to the zero point for sparse packing.
std::vector<int32_t> sparse_column(Draw* draw, size_t count, octet_type type, int32_t zero) {
  const int32_t least = type == OCTET_U8 ? 0 : -128;
  std::vector<int32_t> column(count);
  for (int32_t& w : column) w = least + (int32_t)draw->below(256);
  make_sparse(column.data(), count, 1, zero, draw->below(100));
  return column;
}

// Fills a group with three or four values other than the zero point. Returns them as the refusal
// lists them.
std::string crowd(Draw* draw, std::vector<int32_t>* column, size_t first, octet_type type,
                  int32_t zero) {
  const size_t size = std::min<size_t>(4, column->size() - first),
               spared = size == 4 ? draw->below(5) : 4;
  std::string said;
  for (size_t i = 0; i < size; ++i) {
    const int32_t least = type == OCTET_U8 ? 0 : -128;
    int32_t value = zero;
    while (i != spared && value == zero) value = least + (int32_t)draw->below(256);
    (*column)[first + i] = value;
    said += (i ? ", " : "") + std::to_string(value);
  }
  return said;
}

// The first step of a group with at least three steps.
size_t any_four(Draw* draw, size_t count) { return draw->below((count + 1) / 4) * 4; }

int32_t any_zero_point(Draw* draw, octet_type type) {
  return (int32_t)draw->below(256) - (type == OCTET_U8 ? 0 : 128);
}

TEST(SparsePattern, OfMatricesIsNamed) {
  Draw draw(3);
  for (int repeat = 0; repeat < 300; ++repeat) {
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = draw.any({OCTET_S8, OCTET_U8}), rhs.order = draw.any({OCTET_NK, OCTET_KN});
    rhs.n = 1 + draw.below(70), rhs.k = 3 + draw.below(90), rhs.batch = 1 + draw.below(3);
    rhs.sparsity = OCTET_SPARSE_2_4;
    const bool kn = rhs.order == OCTET_KN;
    rhs.stride = (kn ? rhs.n : rhs.k) + draw.below(4);
    rhs.batch_stride = rhs.stride * (kn ? rhs.k : rhs.n) + draw.below(4);
    std::vector<int32_t> zero_points(draw.one_in(2) ? 1 : rhs.n);
    for (int32_t& z : zero_points) z = draw.one_in(4) ? 0 : any_zero_point(&draw, rhs.type);
    rhs.zero_points = zero_points.data(), rhs.zero_point_count = zero_points.size();
    // Weights of another matrix that are too far from zero do not prevent the refusal
    const bool far = draw.one_in(3);
    const size_t bad_matrix = draw.below(rhs.batch), bad_column = draw.below(rhs.n),
                 four = any_four(&draw, rhs.k);
    std::vector<uint8_t> data(rhs.batch * rhs.batch_stride), sound;
    std::string values;
    int32_t bad_zero = 0;
    for (const bool bad : {false, true}) {
      for (size_t b = 0; b < rhs.batch; ++b)
        for (size_t n = 0; n < rhs.n; ++n) {
          if (bad && (b != bad_matrix || n != bad_column)) continue;
          const int32_t zero = zero_points[zero_points.size() == 1 ? 0 : n];
          std::vector<int32_t> column = sparse_column(&draw, rhs.k, rhs.type, zero);
          if (far && b != bad_matrix) {
            for (size_t k = 0; k < 4 && k < rhs.k; ++k) column[k] = zero;
            const int32_t least = rhs.type == OCTET_U8 ? 0 : -128;
            column[0] = zero < least + 128 ? least + 255 : least;
          }
          if (bad) values = crowd(&draw, &column, four, rhs.type, bad_zero = zero);
          for (size_t k = 0; k < rhs.k; ++k)
            data[b * rhs.batch_stride + (kn ? k * rhs.stride + n : n * rhs.stride + k)] =
                (uint8_t)column[k];
        }
      if (!bad) sound = data;
    }
    rhs.data = data.data();
    size_t bytes = 0;
    octet_error error = {};
    ASSERT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, &error), OCTET_OK) << error.message;
    const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    const auto pack = [&](octet_error* e) {
      return octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), bytes, e);
    };
    const std::string says = "column " + std::to_string(bad_column) + " of matrix " +
                             std::to_string(bad_matrix) + " has more than two weights other than " +
                             std::to_string(bad_zero) + " from k = " + std::to_string(four) +
                             " on: " + values;
    expect_refused(OCTET_BAD_SPARSITY, says.c_str(), pack);
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(blob.data()[i], Guarded::kUntouched);
    rhs.data = sound.data();
    EXPECT_EQ(pack(&error), OCTET_OK) << error.message;
    rhs.data = data.data(), rhs.sparsity = OCTET_SPARSE_AUTO;
    ASSERT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, &error), OCTET_OK) << error.message;
    const Guarded dense(bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, dense.data(), bytes, &error), OCTET_OK)
        << error.message;
    octet_blob_info info = OCTET_BLOB_INFO_INIT;
    EXPECT_EQ(octet_blob_get_info(dense.data(), bytes, &info, &error), OCTET_OK) << error.message;
    EXPECT_EQ(std::string(info.form).find("2of4"), std::string::npos) << info.form;
    if (HasFailure()) return;
  }
}

TEST(SparsePattern, OfFiltersIsNamed) {
  Draw draw(4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    octet_filter_desc f = OCTET_FILTER_DESC_INIT;
    f.type = draw.any({OCTET_S8, OCTET_U8});
    f.order = draw.any({OCTET_OHWI, OCTET_OIHW, OCTET_HWIO, OCTET_IOHW});
    f.sparsity = OCTET_SPARSE_2_4;
    const size_t groups = 1 + draw.below(3), in = 3 + draw.below(70), out = 1 + draw.below(20);
    f.shape = square(9, in * groups, out * groups, 1, 1 + draw.below(2), 1, groups);
    f.shape.kernel_h = 1 + draw.below(3), f.shape.kernel_w = 1 + draw.below(3);
    f.shape.dilation_h = f.shape.dilation_w = 1 + draw.below(2);
    const size_t kh = f.shape.kernel_h, kw = f.shape.kernel_w, channels = out * groups;
    std::vector<int32_t> zero_points(draw.one_in(2) ? 1 : channels);
    for (int32_t& z : zero_points) z = draw.one_in(4) ? 0 : any_zero_point(&draw, f.type);
    f.zero_points = zero_points.data(), f.zero_point_count = zero_points.size();
    const size_t bad_channel = draw.below(channels), bad_y = draw.below(kh), bad_x = draw.below(kw),
                 four = any_four(&draw, in);
    std::vector<uint8_t> data(channels * kh * kw * in);
    const auto at = [&](size_t o, size_t y, size_t x, size_t i) {
      switch (f.order) {
        case OCTET_OHWI: return ((o * kh + y) * kw + x) * in + i;
        case OCTET_OIHW: return ((o * in + i) * kh + y) * kw + x;
        case OCTET_HWIO: return ((y * kw + x) * in + i) * channels + o;
        case OCTET_IOHW: break;
      }
      return (((o / out * in + i) * out + o % out) * kh + y) * kw + x;
    };
    std::string values;
    int32_t bad_zero = 0;
    for (size_t o = 0; o < channels; ++o)
      for (size_t y = 0; y < kh; ++y)
        for (size_t x = 0; x < kw; ++x) {
          const int32_t zero = zero_points[zero_points.size() == 1 ? 0 : o];
          std::vector<int32_t> column = sparse_column(&draw, in, f.type, zero);
          if (o == bad_channel && y == bad_y && x == bad_x)
            values = crowd(&draw, &column, four, f.type, bad_zero = zero);
          for (size_t i = 0; i < in; ++i) data[at(o, y, x, i)] = (uint8_t)column[i];
        }
    f.data = data.data();
    size_t bytes = 0;
    octet_error error = {};
    ASSERT_EQ(octet_conv2d_pack_size(&f, OCTET_ISA_AUTO, &bytes, &error), OCTET_OK)
        << error.message;
    const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    const std::string says =
        "output channel " + std::to_string(bad_channel) + " has more than two weights other than " +
        std::to_string(bad_zero) + " at kernel position (" + std::to_string(bad_y) + ", " +
        std::to_string(bad_x) + "), from input channel " + std::to_string(four) + " on: " + values;
    expect_refused(OCTET_BAD_SPARSITY, says.c_str(), [&](octet_error* e) {
      return octet_conv2d_pack(&f, OCTET_ISA_AUTO, blob.data(), bytes, e);
    });
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(blob.data()[i], Guarded::kUntouched);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace octet_test
