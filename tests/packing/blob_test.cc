// SPDX-License-Identifier: Apache-2.0
// Checks packed weights as a file: their information, and that damage is refused.
#include "dispatch/tables/formats.h"
#include "operators/conv/algorithms/filter_blob.h"
#include "packing/matrix_blob.h"
#include "support/guarded.h"
#include "support/kernels.h"

namespace octet_test {
namespace {

struct Blob {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  std::vector<uint8_t> weights;
  std::vector<int32_t> zero_points;
  Guarded memory;

  Blob(size_t n, size_t k, octet_isa isa, size_t batch = 1, bool with_zero_points = false,
       octet_type type = OCTET_S8)
      : weights(n * k * batch) {
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = (uint8_t)(i * 37 + i / 5);
    rhs.type = type, rhs.n = n, rhs.k = k, rhs.batch = batch, rhs.data = weights.data();
    if (with_zero_points) {
      zero_points.assign(n, 3);
      rhs.zero_points = zero_points.data();
      rhs.zero_point_count = n;
    }
    octet_error error = {};
    size_t bytes = 0;
    EXPECT_EQ(octet_pack_size(&rhs, isa, &bytes, &error), OCTET_OK) << error.message;
    memory = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_pack(&rhs, isa, memory.data(), bytes, &error), OCTET_OK) << error.message;
  }
  octet_status verify(size_t bytes) const {
    return octet_blob_verify(memory.data(), bytes, nullptr);
  }
  octet_status info(octet_blob_info* out) const {
    *out = {};
    out->struct_size = sizeof *out;
    return octet_blob_get_info(memory.data(), memory.bytes(), out, nullptr);
  }
};

octet::Container head_of(const void* blob) {
  octet::Container c;
  EXPECT_EQ(octet::read_head(blob, SIZE_MAX, &c), octet::BlobProblem::kNone);
  return c;
}

// Puts a head of `bytes` bytes into a blob, with a valid checksum.
void sign(octet::Container c, size_t bytes, uint8_t* blob) {
  c.header.head_checksum = 0;
  c.header.head_checksum = octet::checksum(&c, bytes).folded();
  std::memcpy(blob, &c, bytes);
}

octet_status create(const void* blob, size_t bytes, size_t n, size_t k, octet_error* error) {
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.m_max = 1, d.n = n, d.k = k, d.lhs_type = OCTET_U8, d.rhs_type = OCTET_S8,
  d.dst_type = OCTET_S32, d.packed = blob, d.packed_bytes = bytes;
  octet_gemm* gemm = nullptr;
  const octet_status status = octet_gemm_create(&d, &gemm, error);
  octet_gemm_destroy(gemm);
  return status;
}

TEST(Blob, SaysWhatItIs) {
  for (const octet_isa isa : all_tiers())
    for (const octet_type type : {OCTET_S8, OCTET_U8}) {
      const octet::WeightFormat& format = format_for(isa, type);
      const Blob blob(7, 9, isa, 2, true, type);
      octet_blob_info info;
      ASSERT_EQ(blob.info(&info), OCTET_OK);
      EXPECT_EQ(info.isa, (octet_isa)octet::smallest_tier(format));
      EXPECT_STREQ(info.form, format.name);
      EXPECT_EQ(info.type, type);
      EXPECT_EQ(info.n, 7u);
      EXPECT_EQ(info.k, 9u);
      EXPECT_EQ(info.batch, 2u);
      EXPECT_EQ(info.bytes, blob.memory.bytes());
      EXPECT_EQ(blob.verify(blob.memory.bytes()), OCTET_OK);
    }
}

TEST(FilterBlob, SaysWhatItIs) {
  const std::vector<uint8_t> weights(9 * 2 * 5 * 4, 1);
  octet_filter_desc d = OCTET_FILTER_DESC_INIT;
  d.shape.batch_max = 3, d.shape.in_h_max = d.shape.in_w_max = 8;
  d.shape.in_channels = 12, d.shape.out_channels = 9, d.shape.groups = 3;
  d.shape.kernel_h = 2, d.shape.kernel_w = 5, d.shape.stride_h = d.shape.stride_w = 1;
  d.type = OCTET_U8, d.data = weights.data(), d.algorithm = OCTET_CONV_DIRECT;
  octet_error error = {};
  size_t bytes = 0;
  const octet_isa best = all_tiers().front();
  ASSERT_EQ(octet_conv2d_pack_size(&d, best, &bytes, &error), OCTET_OK) << error.message;
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  ASSERT_EQ(octet_conv2d_pack(&d, best, blob.data(), bytes, &error), OCTET_OK) << error.message;
  octet_blob_info info = OCTET_BLOB_INFO_INIT;
  ASSERT_EQ(octet_blob_get_info(blob.data(), bytes, &info, &error), OCTET_OK) << error.message;
  EXPECT_EQ(info.isa, (octet_isa)octet::smallest_tier(format_for(best, OCTET_U8)));
  EXPECT_EQ(info.type, OCTET_U8);
  EXPECT_EQ(info.n, 9u);
  EXPECT_EQ(info.k, 2u * 5 * 4);
  EXPECT_EQ(info.batch, 1u);
  EXPECT_EQ(info.bytes, bytes);
}

// Only some kernels read weights with -128: packing finds a single one, at any place, in either
// type, for every algorithm.
TEST(FilterBlob, KnowsInt8Min) {
  constexpr size_t kWeights = 32 * 9 * 32;
  const struct {
    octet_conv_algorithm algorithm;
    size_t groups, stride;
  } kCases[] = {{OCTET_CONV_DIRECT, 1, 1},         {OCTET_CONV_DIRECT, 4, 1},
                {OCTET_CONV_IM2COL, 1, 1},         {OCTET_CONV_DEPTHWISE, 32, 1},
                {OCTET_CONV_GROUPED, 4, 1},        {OCTET_CONV_GROUPED, 16, 1},
                {OCTET_CONV_WINOGRAD_2X2, 1, 1},   {OCTET_CONV_WINOGRAD_4X4, 2, 1},
                {OCTET_CONV_WINOGRAD_2X2_S2, 1, 2}};
  for (const auto& c : kCases)
    for (const octet_type type : {OCTET_S8, OCTET_U8})
      for (const octet_filter_order order : {OCTET_OHWI, OCTET_OIHW}) {
        const size_t count = kWeights / c.groups;
        const int32_t centre = type == OCTET_U8 ? 128 : 0;
        for (const size_t at : {size_t{0}, size_t{1}, count / 2 + 1, count - 1, count}) {
          std::vector<uint8_t> weights(count, (uint8_t)(centre - 127));
          if (at < count) weights[at] = (uint8_t)(centre - 128);
          octet_filter_desc d = OCTET_FILTER_DESC_INIT;
          d.shape.batch_max = 1, d.shape.in_h_max = d.shape.in_w_max = 8,
          d.shape.in_channels = d.shape.out_channels = 32, d.shape.groups = c.groups;
          d.shape.kernel_h = d.shape.kernel_w = 3, d.shape.stride_h = d.shape.stride_w = c.stride;
          d.type = type, d.order = order, d.data = weights.data(), d.algorithm = c.algorithm,
          d.zero_points = &centre, d.zero_point_count = 1;
          for (const octet_isa isa : all_tiers()) {
            // u8 weights that stay u8 have no -128
            if (format_for(isa, type).layout.element_type == octet::ElementType::kU8) continue;
            octet_error error = {};
            size_t bytes = 0;
            ASSERT_EQ(octet_conv2d_pack_size(&d, isa, &bytes, &error), OCTET_OK) << error.message;
            const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
            ASSERT_EQ(octet_conv2d_pack(&d, isa, blob.data(), bytes, &error), OCTET_OK)
                << error.message;
            EXPECT_EQ(head_of(blob.data()).header.has_int8_min != 0, at < count)
                << octet_conv_algorithm_name(c.algorithm) << ", " << c.groups << " groups, weight "
                << at << " of " << count;
          }
        }
      }
}

// Packing does not depend on the former contents of the memory.
TEST(Blob, SameInputSameBytes) {
  for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i) {
    const auto isa = (octet_isa)tier->tier_id;
    const Blob a(33, 17, isa, 2, true);
    for (const int before : {0x00, 0xff}) {
      const Guarded again(a.memory.bytes(), Side::kBack, OCTET_ALIGNMENT);
      std::memset(again.data(), before, again.bytes());
      ASSERT_EQ(octet_pack(&a.rhs, isa, again.data(), again.bytes(), nullptr), OCTET_OK);
      EXPECT_EQ(std::memcmp(a.memory.data(), again.data(), again.bytes()), 0) << tier->name;
    }
  }
}

TEST(Blob, MovesToAnotherAddress) {
  const Blob blob(33, 17, OCTET_ISA_AUTO);
  const Guarded copy(blob.memory.bytes(), Side::kFront, OCTET_ALIGNMENT);
  std::memcpy(copy.data(), blob.memory.data(), copy.bytes());
  copy.read_only();
  std::memset(blob.memory.data(), 0, blob.memory.bytes());
  octet_error error = {};
  EXPECT_EQ(octet_blob_verify(copy.data(), copy.bytes(), &error), OCTET_OK) << error.message;
  EXPECT_EQ(create(copy.data(), copy.bytes(), 33, 17, &error), OCTET_OK) << error.message;
}

TEST(Blob, EveryDamagedHeaderByteIsRefused) {
  const Blob blob(5, 6, OCTET_ISA_AUTO, 1, true);
  const size_t head = head_of(blob.memory.data()).header.head_bytes;
  EXPECT_EQ(head, sizeof(octet::ContainerHeader) + sizeof(octet::MatricesGeometry));
  for (size_t i = 0; i < head; ++i)
    for (const uint8_t damage : {0x01, 0x80, 0xff}) {
      blob.memory.data()[i] ^= damage;
      octet_blob_info info;
      octet_error error = {};
      EXPECT_EQ(blob.info(&info), OCTET_BAD_BLOB) << "byte " << i;
      EXPECT_EQ(blob.verify(blob.memory.bytes()), OCTET_BAD_BLOB) << "byte " << i;
      EXPECT_EQ(create(blob.memory.data(), blob.memory.bytes(), 5, 6, &error), OCTET_BAD_BLOB)
          << "byte " << i;
      EXPECT_NE(std::string(error.message).find("desc.packed"), std::string::npos) << error.message;
      blob.memory.data()[i] ^= damage;
    }
  EXPECT_EQ(blob.verify(blob.memory.bytes()), OCTET_OK);
}

// A head with a valid checksum may still be false: each byte and each field is changed alone, with
// a new checksum. Only the payload's checksum, has_int8_min and outline cannot be checked.
TEST(Blob, ContradictingFieldsAreRefusedUnderARightChecksum) {
  using H = octet::ContainerHeader;
  const Blob blob(5, 6, OCTET_ISA_AUTO, 2, true);
  const octet::Container good = head_of(blob.memory.data());
  const auto refused = [&](const octet::Container& changed) {
    sign(changed, good.header.head_bytes, blob.memory.data());
    octet_blob_info info;
    return blob.info(&info) == OCTET_BAD_BLOB && blob.verify(blob.memory.bytes()) == OCTET_BAD_BLOB;
  };
  EXPECT_FALSE(refused(good));
  const size_t checksums = offsetof(H, payload_checksum), n = sizeof(H),
               k = n + offsetof(octet::MatricesGeometry, k);
  for (size_t i = 0; i < good.header.head_bytes; ++i) {
    // One column more or less may round up to the same size
    if ((i >= checksums && i < offsetof(H, sections)) || i == n || i == k) continue;
    for (int bit = 0; bit < 8; ++bit) {
      octet::Container c = good;
      ((uint8_t*)(&c))[i] ^= (uint8_t)(1 << bit);
      if (bit == 0 && (i == offsetof(H, has_int8_min) || i == offsetof(H, outline))) continue;
      if (i == offsetof(H, sparsity) && (bit == 1 || bit == 2)) continue;  // still dense
      if (i < octet::kMostGeometry && c.header.format != good.header.format &&
          octet::find_format((uint16_t)c.header.format))
        continue;  // other formats: see below
      EXPECT_TRUE(refused(c)) << "byte " << i << ", bit " << bit;
    }
  }
  for (const uint64_t value : {UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 8, uint64_t{1} << 60,
                               uint64_t{1} << 32, uint64_t{0}, uint64_t{77}}) {
    for (size_t at = offsetof(octet::ContainerHeader, bytes); at < good.header.head_bytes;
         at += 8) {
      if (at >= checksums && at < offsetof(octet::ContainerHeader, sections)) continue;
      octet::Container c = good;
      uint8_t* const field = (uint8_t*)(&c) + at;
      if (std::memcmp(field, &value, sizeof value) == 0) continue;
      std::memcpy(field, &value, sizeof value);
      EXPECT_TRUE(refused(c)) << "field at " << at << " = " << value;
    }
  }
}

// Another format has sections of other sizes, or of the same size, which is harmless. Int16 and
// depthwise weights are no matrices, and those of 4 bits no s8.
TEST(Blob, OfAnotherFormIsRefusedWhereItsSizesDiffer) {
  const Blob blob(5, 6, kPortableTier, 2, true);
  const octet::Container good = head_of(blob.memory.data());
  const auto bytes_of = [](const octet::WeightFormat& format) {
    return octet::round_up(format.layout.bytes(5, 6), octet::kAlignment);
  };
  const size_t own = bytes_of(*octet::find_format((uint16_t)good.header.format));
  size_t refused = 0;
  for (size_t i = 0; const octet::WeightFormat* format = octet::nth_format(i); ++i) {
    octet::Container c = good;
    c.header.format = format->id;
    sign(c, c.header.head_bytes, blob.memory.data());
    // The sums of up to 16 lanes take 64 bytes in every format.
    const bool as_large = format->packing && !format->layout.is_4bit() && bytes_of(*format) == own;
    octet_blob_info info;
    EXPECT_EQ(blob.info(&info), as_large ? OCTET_OK : OCTET_BAD_BLOB) << format->name;
    refused += !as_large;
  }
  EXPECT_GE(refused, 6u);
}

TEST(Blob, EveryDamagedPayloadByteIsFoundByVerify) {
  const Blob blob(5, 6, OCTET_ISA_AUTO, 2, true);
  for (size_t i = head_of(blob.memory.data()).header.head_bytes; i < blob.memory.bytes(); ++i) {
    blob.memory.data()[i] ^= 0x10;
    EXPECT_EQ(blob.verify(blob.memory.bytes()), OCTET_BAD_BLOB) << "byte " << i;
    blob.memory.data()[i] ^= 0x10;
  }
}

// Bytes between the sections must be zero, even with a valid checksum.
TEST(FilterBlob, HidesNothingBetweenItsSections) {
  const std::vector<uint8_t> weights(9, 1);
  octet_filter_desc d = OCTET_FILTER_DESC_INIT;
  d.shape.in_h_max = d.shape.in_w_max = 8, d.shape.in_channels = d.shape.out_channels = 1;
  d.shape.kernel_h = d.shape.kernel_w = 3, d.shape.stride_h = d.shape.stride_w = 2;
  d.type = OCTET_S8, d.data = weights.data(), d.algorithm = OCTET_CONV_WINOGRAD_2X2_S2;
  size_t bytes = 0;
  ASSERT_EQ(octet_conv2d_pack_size(&d, OCTET_ISA_SCALAR, &bytes, nullptr), OCTET_OK);
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  ASSERT_EQ(octet_conv2d_pack(&d, OCTET_ISA_SCALAR, blob.data(), bytes, nullptr), OCTET_OK);
  ASSERT_EQ(octet_blob_verify(blob.data(), bytes, nullptr), OCTET_OK);
  octet::Container c = head_of(blob.data());
  const octet::Section last = *c.find(octet::SectionId::kWeights);
  const size_t head = c.header.head_bytes, end = (size_t)(last.offset + last.bytes);
  ASSERT_LT(end, bytes);
  for (size_t i = end; i < bytes; ++i) {
    blob.data()[i] = 1;
    c.header.payload_checksum = octet::checksum(blob.data() + head, bytes - head);
    sign(c, head, blob.data());
    EXPECT_EQ(octet_blob_verify(blob.data(), bytes, nullptr), OCTET_BAD_BLOB) << "byte " << i;
    blob.data()[i] = 0;
  }
}

// Versions 1 and 2 had one mark for products and one for convolutions.
TEST(Blob, OfAnotherVersionIsRefusedAndSaysSo) {
  const Blob blob(5, 6, OCTET_ISA_AUTO);
  for (const char* mark : {"OCTETRHS", "OCTETCNV", "OCTETBLB"})
    for (const uint32_t version : {0u, 1u, 2u, octet::kContainerVersion + 1}) {
      std::memcpy(blob.memory.data(), mark, 8);
      std::memcpy(blob.memory.data() + 8, &version, sizeof version);
      octet_error error = {};
      EXPECT_EQ(octet_blob_verify(blob.memory.data(), blob.memory.bytes(), &error), OCTET_BAD_BLOB);
      EXPECT_NE(std::string(error.message).find("version"), std::string::npos) << error.message;
      EXPECT_EQ(create(blob.memory.data(), blob.memory.bytes(), 5, 6, &error), OCTET_BAD_BLOB);
      EXPECT_NE(std::string(error.message).find("version"), std::string::npos) << error.message;
    }
}

TEST(Blob, TruncatedAnywhereIsRefused) {
  const Blob blob(5, 6, OCTET_ISA_AUTO, 2, true);
  for (size_t bytes = 0; bytes < blob.memory.bytes(); ++bytes) {
    // The kept part ends at a guard page: a reader that trusts the header crashes.
    const size_t shift = (OCTET_ALIGNMENT - bytes % OCTET_ALIGNMENT) % OCTET_ALIGNMENT;
    const Guarded part(bytes + shift, Side::kBack, OCTET_ALIGNMENT);
    std::memcpy(part.data(), blob.memory.data(), bytes);
    octet_error error = {};
    ASSERT_EQ(octet_blob_verify(part.data(), bytes, &error), OCTET_BAD_BLOB) << bytes;
    ASSERT_EQ(create(part.data(), bytes, 5, 6, &error), OCTET_BAD_BLOB) << bytes;
  }
}

TEST(Blob, OfAConvolutionSaysItsGeometry) {
  for (const int transposed : {0, 1}) {
    const std::vector<uint8_t> weights(6 * 5 * 2 * 3, 1);
    octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
    octet_conv2d_shape& s = filter.shape;
    s.batch_max = 8, s.in_h_max = 40, s.in_w_max = 50, s.in_channels = 6, s.out_channels = 15;
    s.groups = 3, s.kernel_h = 2, s.kernel_w = 3, s.stride_h = 4, s.stride_w = 5;
    s.dilation_h = 6, s.dilation_w = 7, s.pad_top = 1, s.pad_bottom = 2, s.pad_left = 3;
    s.pad_right = 4, s.transposed = transposed, s.output_padding_w = transposed ? 1 : 0;
    filter.type = OCTET_U8, filter.data = weights.data();
    filter.algorithm = OCTET_CONV_IM2COL;
    if (transposed) filter.algorithm = OCTET_CONV_DIRECT;
    octet_error error = {};
    size_t bytes = 0;
    const octet_isa best = all_tiers().front();
    ASSERT_EQ(octet_conv2d_pack_size(&filter, best, &bytes, &error), OCTET_OK) << error.message;
    const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    ASSERT_EQ(octet_conv2d_pack(&filter, best, blob.data(), bytes, &error), OCTET_OK);
    octet_blob_info info = OCTET_BLOB_INFO_INIT;
    ASSERT_EQ(octet_blob_get_info(blob.data(), bytes, &info, &error), OCTET_OK);
    EXPECT_EQ(info.type, OCTET_U8);
    EXPECT_EQ(info.n, 15u);
    EXPECT_EQ(info.k, 12u);
    EXPECT_EQ(info.batch, 1u);
    EXPECT_EQ(info.bytes, bytes);
    EXPECT_EQ(info.algorithm, filter.algorithm);
    EXPECT_STREQ(info.form, format_for(best, OCTET_U8).name);
    octet_conv2d_shape want = {};  // fields that the weights do not depend on are 0
    want.in_channels = 6, want.out_channels = 15, want.groups = 3;
    want.kernel_h = 2, want.kernel_w = 3, want.stride_h = 4, want.stride_w = 5;
    want.dilation_h = 6, want.dilation_w = 7, want.transposed = transposed;
    EXPECT_EQ(std::memcmp(&info.shape, &want, sizeof want), 0);
  }
}

TEST(Blob, InfoReadsOnlyTheHeader) {
  const Blob blob(500, 100, OCTET_ISA_AUTO);
  const size_t head = head_of(blob.memory.data()).header.head_bytes;
  const Guarded header(head, Side::kBack, OCTET_ALIGNMENT);
  std::memcpy(header.data(), blob.memory.data(), header.bytes());
  octet_blob_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(octet_blob_get_info(header.data(), blob.memory.bytes(), &info, nullptr), OCTET_OK);
  EXPECT_EQ(info.n, 500u);
}

TEST(Blob, OfAnotherProblemIsRefused) {
  const Blob blob(5, 6, OCTET_ISA_AUTO);
  octet_error error = {};
  EXPECT_EQ(create(blob.memory.data(), blob.memory.bytes(), 5, 6, &error), OCTET_OK)
      << error.message;
  EXPECT_EQ(create(blob.memory.data(), blob.memory.bytes(), 6, 5, &error), OCTET_BAD_BLOB);
  const Blob other(5, 6, OCTET_ISA_AUTO, 1, false, OCTET_U8);
  EXPECT_EQ(create(other.memory.data(), other.memory.bytes(), 5, 6, &error), OCTET_BAD_BLOB);
}

TEST(Blob, OfAnotherArchitectureIsTheWrongTier) {
  for (const octet_isa isa : foreign_tiers()) {
    const Blob blob(5, 6, isa);
    octet_error error = {};
    EXPECT_EQ(create(blob.memory.data(), blob.memory.bytes(), 5, 6, &error), OCTET_WRONG_TIER)
        << octet_isa_name(isa);
    octet_blob_info info;
    ASSERT_EQ(blob.info(&info), OCTET_OK);
    EXPECT_NE(std::string(error.message).find(octet_isa_name(info.isa)), std::string::npos)
        << error.message;
  }
}

std::vector<uint8_t> drawn(size_t bytes) {
  std::vector<uint8_t> data(bytes);
  uint32_t seed = 1;
  for (uint8_t& byte : data) byte = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
  return data;
}

// The definition, word by word. Lengths are around the 32 bytes of a vector step.
TEST(Checksum, AgreesWithItsDefinition) {
  for (const uint8_t fill : {0x00, 0xff}) {
    std::vector<uint8_t> data = drawn(50000);
    if (fill) std::fill(data.begin() + 8, data.end(), fill);
    for (const size_t bytes :
         {0, 8, 16, 24, 32, 40, 56, 64, 72, 96, 120, 248, 1024, 16384, 49992, 50000}) {
      uint64_t sum = 0, weighted = 0;
      for (size_t i = 0; i < bytes; i += 4) {
        sum += data[i] + (data[i + 1] << 8) + (data[i + 2] << 16) + (uint64_t{data[i + 3]} << 24);
        weighted += sum;
      }
      const octet::Checksum c = octet::checksum(data.data(), bytes);
      EXPECT_EQ(c.sum, sum) << bytes << " bytes";
      EXPECT_EQ(c.weighted, weighted) << bytes << " bytes";
      EXPECT_EQ(c.folded(), weighted + (sum << 32)) << bytes << " bytes";
    }
  }
}

TEST(Checksum, ReadsNothingElse) {
  const std::vector<uint8_t> data = drawn(256);
  for (size_t bytes = 0; bytes <= data.size(); bytes += 8)
    for (const Side side : {Side::kFront, Side::kBack}) {
      const Guarded memory(bytes + !bytes, side, 1);
      std::memcpy(memory.data(), data.data(), bytes);
      EXPECT_EQ(octet::checksum(memory.data(), bytes), octet::checksum(data.data(), bytes))
          << bytes << " bytes";
    }
}

// checksum.h promises that any two changed words are found: all pairs of flipped bits, and swapped
// words.
TEST(Checksum, FindsDamageOfAnyTwoWords) {
  std::vector<uint8_t> data = drawn(120);
  const octet::Checksum good = octet::checksum(data.data(), data.size());
  const auto flip = [&](size_t bit) { data[bit / 8] ^= (uint8_t)(1 << bit % 8); };
  size_t missed = 0;
  for (size_t i = 0; i < 8 * data.size(); ++i) {
    flip(i);
    missed += octet::checksum(data.data(), data.size()).folded() == good.folded();
    for (size_t j = 0; j < i; ++j) {
      flip(j);
      missed += octet::checksum(data.data(), data.size()) == good;
      flip(j);
    }
    flip(i);
  }
  EXPECT_EQ(missed, 0u);
  for (size_t i = 0; i < data.size(); i += 4)
    for (size_t j = 0; j < i; j += 4) {
      std::swap_ranges(data.begin() + i, data.begin() + i + 4, data.begin() + j);
      EXPECT_FALSE(octet::checksum(data.data(), data.size()) == good) << i << ", " << j;
      std::swap_ranges(data.begin() + i, data.begin() + i + 4, data.begin() + j);
    }
}

// Every byte of a payload, every value that it could take.
TEST(Checksum, FindsEveryDamagedByte) {
  std::vector<uint8_t> data = drawn(256);
  const octet::Checksum good = octet::checksum(data.data(), data.size());
  for (size_t i = 0; i < data.size(); ++i)
    for (int damage = 1; damage < 256; ++damage) {
      data[i] ^= (uint8_t)damage;
      const octet::Checksum bad = octet::checksum(data.data(), data.size());
      EXPECT_TRUE(!(bad == good) && bad.folded() != good.folded())
          << "byte " << i << ", " << damage;
      data[i] ^= (uint8_t)damage;
    }
}

}  // namespace
}  // namespace octet_test
