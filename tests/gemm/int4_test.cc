// SPDX-License-Identifier: Apache-2.0
// Checks weights of 4 bits through the API: they are the same numbers as weights of 8 bits. Checks
// where the caller's halves of bytes lie, the bytes that they pack to, the refusal of bad input.
#include "octet/sparse.h"
#include "support/gemm_case.h"
#include "support/refused.h"

namespace octet_test {
namespace {

// Weights of n columns, k deep, and their description. Values are -8 to 7, or 0 to 15.
struct Weights {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  std::vector<uint8_t> data;
  std::vector<int32_t> zero_points;

  Weights(octet_type type, size_t n, size_t k, size_t batch = 1) {
    rhs.type = type, rhs.n = n, rhs.k = k, rhs.batch = batch;
    const size_t count = n * k * batch;
    data.resize(is_4bit(type) ? (count + 1) / 2 : count);
    for (size_t i = 0; i < count; ++i) {
      const int value =
          (int)((i * 7 + i / 13) % 16) - (type == OCTET_S4 || type == OCTET_S8 ? 8 : 0);
      if (is_4bit(type))
        data[i / 2] = (uint8_t)(data[i / 2] | (value & 15) << i % 2 * 4);
      else
        data[i] = (uint8_t)value;
    }
    rhs.data = data.data();
  }
  // One for all columns, or one for each.
  void set_zero_points(std::vector<int32_t> values) {
    zero_points = std::move(values);
    rhs.zero_points = zero_points.data();
    rhs.zero_point_count = zero_points.size();
  }
  Guarded pack(octet_isa isa) const {
    octet_error error = {};
    size_t bytes = 0;
    EXPECT_EQ(octet_pack_size(&rhs, isa, &bytes, &error), OCTET_OK) << error.message;
    Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_pack(&rhs, isa, blob.data(), bytes, &error), OCTET_OK) << error.message;
    return blob;
  }
};

octet_gemm_desc describe(const Weights& weights, const Guarded& blob, size_t m) {
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = m, desc.n = weights.rhs.n, desc.k = weights.rhs.k;
  desc.lhs_type = OCTET_S8, desc.rhs_type = weights.rhs.type, desc.dst_type = OCTET_S32;
  desc.lhs_zero_point = -3;
  desc.packed = blob.data(), desc.packed_bytes = blob.bytes();
  return desc;
}

// By an lhs of all bytes, or of one value.
std::vector<int32_t> product(const Weights& weights, size_t m, octet_isa isa,
                             octet_type lhs_type = OCTET_S8, int value = -1) {
  const Guarded blob = weights.pack(isa);
  octet_gemm_desc desc = describe(weights, blob, m);
  desc.max_isa = isa, desc.lhs_type = lhs_type;
  if (lhs_type == OCTET_U8) desc.lhs_zero_point = 0;
  octet_error error = {};
  octet_gemm* gemm = nullptr;
  EXPECT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
  if (!gemm) return {};
  size_t bytes = 0;
  EXPECT_EQ(octet_gemm_workspace(gemm, m, 1, &bytes, &error), OCTET_OK) << error.message;
  const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
  std::vector<uint8_t> lhs(m * desc.k);
  for (size_t i = 0; i < lhs.size(); ++i)
    lhs[i] = value < 0 ? (uint8_t)(i * 29 + i / 7) : (uint8_t)value;
  std::vector<int32_t> dst(m * desc.n);
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = m, args.lhs = lhs.data(), args.dst = dst.data();
  args.workspace = workspace.data(), args.workspace_bytes = bytes;
  EXPECT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
  octet_gemm_destroy(gemm);
  return dst;
}

TEST(Int4, IsTheSameNumbersAsInt8) {
  for (const octet_isa isa : tiers_to_test())
    for (const size_t m : {1, 2, 7, 40})
      for (const size_t k : {1, 31, 64, 1100}) {
        SCOPED_TRACE(std::string(octet_isa_name(isa)) + " m = " + std::to_string(m) +
                     " k = " + std::to_string(k));
        Weights s4(OCTET_S4, 70, k), s8(OCTET_S8, 70, k), u4(OCTET_U4, 70, k);
        u4.set_zero_points({8});
        const std::vector<int32_t> expected = product(s8, m, isa);
        EXPECT_EQ(product(s4, m, isa), expected);
        EXPECT_EQ(product(u4, m, isa), expected);
        s4.set_zero_points({-5}), s8.set_zero_points({-5}), u4.set_zero_points({3});
        const std::vector<int32_t> shifted = product(s8, m, isa);
        EXPECT_NE(shifted, expected);
        EXPECT_EQ(product(s4, m, isa), shifted);
        EXPECT_EQ(product(u4, m, isa), shifted);
      }
}

// Kernels that multiply sixteenfold weights do so only as deep as the products fit 32 bits.
TEST(Int4, DeepRowsOfTheLargestProductsAreExact) {
  for (const octet_isa isa : tiers_to_test())
    for (const size_t k : {65793, 65809, 80000, 131088}) {
      Weights weights(OCTET_S4, 64, k);  // whole panels of every tier
      std::fill(weights.data.begin(), weights.data.end(), (uint8_t)0x88);
      const int sum = (int)k * -8;
      EXPECT_EQ(product(weights, 1, isa, OCTET_U8, 255), std::vector<int32_t>(64, sum * 255))
          << octet_isa_name(isa) << ' ' << k;
      EXPECT_EQ(product(weights, 1, isa, OCTET_S8, 128), std::vector<int32_t>(64, sum * (3 - 128)))
          << octet_isa_name(isa) << ' ' << k;
    }
}

// u4 of zero point 8 are s4: the same weights in the same bytes, and no zero points to add up.
TEST(Int4, UnsignedOfZeroPointEightPacksAsSigned) {
  for (const octet_isa isa : all_tiers()) {
    SCOPED_TRACE(octet_isa_name(isa));
    Weights s4(OCTET_S4, 33, 50), u4(OCTET_U4, 33, 50);
    u4.set_zero_points(std::vector<int32_t>(33, 8));
    const Guarded a = s4.pack(isa), b = u4.pack(isa);
    ASSERT_EQ(a.bytes(), b.bytes());
    octet_blob_info of_a = OCTET_BLOB_INFO_INIT, of_b = OCTET_BLOB_INFO_INIT;
    ASSERT_EQ(octet_blob_get_info(a.data(), a.bytes(), &of_a, nullptr), OCTET_OK);
    ASSERT_EQ(octet_blob_get_info(b.data(), b.bytes(), &of_b, nullptr), OCTET_OK);
    EXPECT_EQ(of_a.type, OCTET_S4);
    EXPECT_EQ(of_b.type, OCTET_U4);
    EXPECT_STREQ(of_a.form, of_b.form);
    constexpr size_t kHead = 512;  // more than the head
    EXPECT_EQ(0, std::memcmp(a.data() + kHead, b.data() + kHead, a.bytes() - kHead));
  }
}

TEST(Int4, TakesHalfOfTheBytes) {
  for (const octet_isa isa : all_tiers()) {
    size_t of_4 = 0, of_8 = 0;
    const Weights s4(OCTET_S4, 256, 512), s8(OCTET_S8, 256, 512);
    ASSERT_EQ(octet_pack_size(&s4.rhs, isa, &of_4, nullptr), OCTET_OK);
    ASSERT_EQ(octet_pack_size(&s8.rhs, isa, &of_8, nullptr), OCTET_OK);
    EXPECT_EQ(of_8 - of_4, 256u * 512 / 2) << octet_isa_name(isa);
  }
}

// Few rows need no room for a micro-panel that is decoded once.
TEST(Int4, FewRowsNeedLittleWorkspace) {
  for (const octet_isa isa : tiers_to_test()) {
    const Weights weights(OCTET_S4, 256, 4096);
    const Guarded blob = weights.pack(isa);
    octet_gemm_desc desc = describe(weights, blob, 1);
    desc.max_isa = isa;
    octet_gemm* gemm = nullptr;
    octet_error error = {};
    ASSERT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
    size_t bytes = 0;
    EXPECT_EQ(octet_gemm_workspace(gemm, 1, 1, &bytes, &error), OCTET_OK);
    const MicroKernel* const kernel =
        octet::find(octet::int8_kernels(), octet_gemm_kernel(gemm, 1));
    ASSERT_NE(kernel, nullptr);
    const size_t panels = kernel->gather ? kernel->lhs_panel_bytes(4096) : 0;
    EXPECT_EQ(bytes, panels + octet::round_up(kernel->decoder.room, octet::kAlignment))
        << kernel->name;
    octet_gemm_destroy(gemm);
  }
}

// With an odd k, rows share a byte if they are dense, and do not with a stride of k + 1. With an
// odd size, matrices share one, too.
TEST(Int4, RowsAndMatricesMayShareBytes) {
  constexpr size_t kN = 3, kK = 5, kBatch = 3;
  Weights dense(OCTET_S4, kN, kK, kBatch), apart = dense;
  dense.rhs.order = apart.rhs.order = OCTET_NK;
  apart.rhs.stride = kK + 1;
  apart.data.assign(kBatch * kN * (kK + 1) / 2, 0xff);
  for (size_t row = 0; row < kBatch * kN; ++row)
    for (size_t i = 0; i < kK; ++i) {
      const size_t from = row * kK + i, to = row * (kK + 1) + i, shift = to % 2 * 4;
      const int nibble = dense.data[from / 2] >> from % 2 * 4 & 15;
      apart.data[to / 2] = (uint8_t)((apart.data[to / 2] & ~(15 << shift)) | nibble << shift);
    }
  apart.rhs.data = apart.data.data();
  for (const octet_isa isa : all_tiers()) {
    const Guarded a = dense.pack(isa), b = apart.pack(isa);
    ASSERT_EQ(a.bytes(), b.bytes());
    EXPECT_EQ(0, std::memcmp(a.data(), b.data(), a.bytes())) << octet_isa_name(isa);
  }
}

TEST(Int4, RefusesWhatHasNoMeaning) {
  const auto pack_refuses = [](octet_status status, const char* argument, const Weights& weights) {
    expect_refused(status, argument, [&](octet_error* e) {
      size_t bytes;
      return octet_pack_size(&weights.rhs, OCTET_ISA_AUTO, &bytes, e);
    });
  };
  for (const octet_type type : {OCTET_S4, OCTET_U4}) {
    Weights weights(type, 8, 16);
    const Guarded blob = weights.pack(OCTET_ISA_AUTO);
    for (const octet_sparsity sparsity : {OCTET_SPARSE_2_4, OCTET_SPARSE_AUTO}) {
      weights.rhs.sparsity = sparsity;
      pack_refuses(OCTET_UNSUPPORTED, "rhs.type", weights);
    }
    weights.rhs.sparsity = OCTET_SPARSE_NONE;
    for (const int32_t wrong : {type == OCTET_S4 ? -9 : -1, type == OCTET_S4 ? 8 : 16}) {
      weights.set_zero_points({wrong});
      pack_refuses(OCTET_BAD_ZERO_POINT, "rhs.zero_points", weights);
    }

    const auto create_refuses = [&](octet_status status, const char* argument,
                                    void (*change)(octet_gemm_desc*)) {
      octet_gemm_desc desc = describe(weights, blob, 1);
      change(&desc);
      expect_refused(status, argument, [&](octet_error* e) {
        octet_gemm* gemm = nullptr;
        const octet_status got = octet_gemm_create(&desc, &gemm, e);
        octet_gemm_destroy(gemm);
        return got;
      });
    };
    create_refuses(OCTET_UNSUPPORTED, "desc.rhs_type",
                   [](octet_gemm_desc* d) { d->packed = nullptr, d->packed_bytes = 0; });
    create_refuses(OCTET_BAD_BLOB, "desc.packed",
                   [](octet_gemm_desc* d) { d->rhs_type = OCTET_S8; });
    create_refuses(OCTET_BAD_BLOB, "desc.packed", [](octet_gemm_desc* d) {
      d->rhs_type = d->rhs_type == OCTET_S4 ? OCTET_U4 : OCTET_S4;
    });
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.lhs_type",
                   [](octet_gemm_desc* d) { d->lhs_type = OCTET_S4; });
    create_refuses(OCTET_UNKNOWN_ENUM, "desc.dst_type",
                   [](octet_gemm_desc* d) { d->dst_type = OCTET_U4; });
  }
}

// Kernels of 4 bits and of 8 bits are families: a forced kernel of one leaves the other alone.
TEST(Int4, KernelsOfEightBitsAreAnotherFamily) {
  for (const MicroKernel* kernel : table()) {
    if (!is_to_test(*kernel)) continue;
    SCOPED_TRACE(kernel->name);
    const ScopedEnvironment forced("OCTET_KERNEL", kernel->name);
    const bool other_is_4bit = !kernel->rhs_layout.is_4bit();
    const Weights weights(other_is_4bit ? OCTET_S4 : OCTET_S8, 40, 40);
    const Guarded blob = weights.pack(OCTET_ISA_AUTO);
    const octet_gemm_desc desc = describe(weights, blob, 4);
    octet_error error = {};
    octet_gemm* gemm = nullptr;
    ASSERT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
    const MicroKernel* const taken = octet::find(octet::int8_kernels(), octet_gemm_kernel(gemm, 4));
    ASSERT_NE(taken, nullptr);
    EXPECT_EQ(taken->rhs_layout.is_4bit(), other_is_4bit) << taken->name;
    octet_gemm_destroy(gemm);
  }
}

}  // namespace
}  // namespace octet_test
