// Packed weights as a file: what they say about themselves, and that nothing damaged is believed.
#include "kernels/gemm/blob.h"

#include "kernels/gemm/crc32.h"
#include "support/guarded.h"
#include "support/kernels.h"

namespace octet_test {
namespace {

struct Blob {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  std::vector<uint8_t> weights;
  std::vector<int32_t> zero_points;
  Guarded memory;

  Blob(size_t n, size_t k, octet_isa isa, size_t batch = 1, bool with_zero_points = false, octet_type type = OCTET_S8) : weights(n * k * batch) {
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<uint8_t>(i * 37 + i / 5);
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
  octet_status verify(size_t bytes) const { return octet_blob_verify(memory.data(), bytes, nullptr); }
  octet_status info(octet_blob_info* out) const {
    *out = {};
    out->struct_size = sizeof *out;
    return octet_blob_get_info(memory.data(), memory.bytes(), out, nullptr);
  }
};

octet_status create(const void* blob, size_t bytes, size_t n, size_t k, octet_error* error) {
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.m_max = 1, d.n = n, d.k = k, d.lhs_type = OCTET_U8, d.rhs_type = OCTET_S8, d.dst_type = OCTET_S32, d.packed = blob, d.packed_bytes = bytes;
  octet_gemm* gemm = nullptr;
  const octet_status status = octet_gemm_create(&d, &gemm, error);
  octet_gemm_destroy(gemm);
  return status;
}

TEST(Blob, Crc32IsTheUsualOne) {
  EXPECT_EQ(octet::crc32("123456789", 9), 0xCBF43926u);
  EXPECT_EQ(octet::crc32("", 0), 0u);
}

TEST(Blob, SaysWhatItIs) {
  const struct {
    octet_isa packed, reads;
  } kTiers[] = {{OCTET_ISA_SCALAR, OCTET_ISA_SCALAR}, {OCTET_ISA_AVX2, OCTET_ISA_AVX2},       {OCTET_ISA_AVXVNNI, OCTET_ISA_AVX2},
                {OCTET_ISA_AVX512VNNI, OCTET_ISA_AVX2}, {OCTET_ISA_NEON, OCTET_ISA_NEON}, {OCTET_ISA_DOTPROD, OCTET_ISA_DOTPROD},
                {OCTET_ISA_I8MM, OCTET_ISA_I8MM}};
  for (const auto& tier : kTiers)
    for (const octet_type type : {OCTET_S8, OCTET_U8}) {
      const Blob blob(7, 9, tier.packed, 2, true, type);
      octet_blob_info info;
      ASSERT_EQ(blob.info(&info), OCTET_OK);
      EXPECT_EQ(info.isa, tier.reads);
      EXPECT_EQ(info.type, type);
      EXPECT_EQ(info.n, 7u);
      EXPECT_EQ(info.k, 9u);
      EXPECT_EQ(info.batch, 2u);
      EXPECT_EQ(info.bytes, blob.memory.bytes());
      EXPECT_EQ(blob.verify(blob.memory.bytes()), OCTET_OK);
    }
}

TEST(Blob, SameInputSameBytes) {
  const Blob a(33, 17, OCTET_ISA_AVX2, 2, true), b(33, 17, OCTET_ISA_AVX2, 2, true);
  ASSERT_EQ(a.memory.bytes(), b.memory.bytes());
  EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), a.memory.bytes()), 0);
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
  for (size_t i = 0; i < sizeof(octet::BlobHeader); ++i)
    for (const uint8_t damage : {0x01, 0x80, 0xff}) {
      blob.memory.data()[i] ^= damage;
      octet_blob_info info;
      octet_error error = {};
      EXPECT_EQ(blob.info(&info), OCTET_BAD_BLOB) << "byte " << i;
      EXPECT_EQ(blob.verify(blob.memory.bytes()), OCTET_BAD_BLOB) << "byte " << i;
      EXPECT_EQ(create(blob.memory.data(), blob.memory.bytes(), 5, 6, &error), OCTET_BAD_BLOB) << "byte " << i;
      EXPECT_NE(std::string(error.message).find("desc.packed"), std::string::npos) << error.message;
      blob.memory.data()[i] ^= damage;
    }
  EXPECT_EQ(blob.verify(blob.memory.bytes()), OCTET_OK);
}

// A header with a right CRC may still lie: each field on its own is changed and signed again.
TEST(Blob, ContradictingFieldsAreRefusedUnderARightCrc) {
  const Blob blob(5, 6, OCTET_ISA_AUTO, 2, true);
  octet::BlobHeader good;
  std::memcpy(&good, blob.memory.data(), sizeof good);
  const auto refused = [&](const octet::BlobHeader& changed) {
    octet::BlobHeader h = changed;
    h.header_crc = octet::crc32(&h, sizeof h - sizeof h.header_crc);
    std::memcpy(blob.memory.data(), &h, sizeof h);
    octet_blob_info info;
    return blob.info(&info) == OCTET_BAD_BLOB && blob.verify(blob.memory.bytes()) == OCTET_BAD_BLOB;
  };
  EXPECT_FALSE(refused(good));
#define OCTET_CHANGED(field, value) \
  { \
    octet::BlobHeader h = good; \
    h.field = static_cast<std::remove_reference_t<decltype((h.field))>>(value); \
    EXPECT_TRUE(refused(h)) << #field " = " << +(value); \
  }
  for (const uint64_t huge : {UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 8, uint64_t{1} << 60, uint64_t{1} << 32, uint64_t{0}, uint64_t{77}}) {
    OCTET_CHANGED(bytes, huge)
    OCTET_CHANGED(n, huge)
    OCTET_CHANGED(k, huge)
    OCTET_CHANGED(batch, huge)
    OCTET_CHANGED(zero_points, huge)
    OCTET_CHANGED(sums, huge)
    OCTET_CHANGED(panels, huge)
    OCTET_CHANGED(sums_stride, huge)
    OCTET_CHANGED(panels_stride, huge)
  }
  for (const int value : {0, 3, 7, 65535}) {
    OCTET_CHANGED(width, value)
    OCTET_CHANGED(step, value)
    OCTET_CHANGED(kr, value)
    OCTET_CHANGED(domain, value | 2)
    OCTET_CHANGED(type, value == 3 ? 4 : value)
    OCTET_CHANGED(kind, value & ~1)
    OCTET_CHANGED(version, value)
    OCTET_CHANGED(header_bytes, value)
    OCTET_CHANGED(reserved[5], value | 1)
  }
#undef OCTET_CHANGED
}

TEST(Blob, EveryDamagedPayloadByteIsFoundByVerify) {
  const Blob blob(5, 6, OCTET_ISA_AUTO, 2, true);
  for (size_t i = sizeof(octet::BlobHeader); i < blob.memory.bytes(); ++i) {
    blob.memory.data()[i] ^= 0x10;
    EXPECT_EQ(blob.verify(blob.memory.bytes()), OCTET_BAD_BLOB) << "byte " << i;
    blob.memory.data()[i] ^= 0x10;
  }
}

TEST(Blob, TruncatedAnywhereIsRefused) {
  const Blob blob(5, 6, OCTET_ISA_AUTO, 2, true);
  for (size_t bytes = 0; bytes < blob.memory.bytes(); ++bytes) {
    // The kept part ends at a guard page: whoever trusts the header crashes.
    const size_t shift = (OCTET_ALIGNMENT - bytes % OCTET_ALIGNMENT) % OCTET_ALIGNMENT;
    const Guarded part(bytes + shift, Side::kBack, OCTET_ALIGNMENT);
    std::memcpy(part.data(), blob.memory.data(), bytes);
    octet_error error = {};
    ASSERT_EQ(octet_blob_verify(part.data(), bytes, &error), OCTET_BAD_BLOB) << bytes;
    ASSERT_EQ(create(part.data(), bytes, 5, 6, &error), OCTET_BAD_BLOB) << bytes;
  }
}

TEST(Blob, InfoReadsOnlyTheHeader) {
  const Blob blob(500, 100, OCTET_ISA_AUTO);
  const Guarded header(sizeof(octet::BlobHeader), Side::kBack, OCTET_ALIGNMENT);
  std::memcpy(header.data(), blob.memory.data(), header.bytes());
  octet_blob_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(octet_blob_get_info(header.data(), blob.memory.bytes(), &info, nullptr), OCTET_OK);
  EXPECT_EQ(info.n, 500u);
}

TEST(Blob, OfAnotherProblemIsRefused) {
  const Blob blob(5, 6, OCTET_ISA_AUTO);
  octet_error error = {};
  EXPECT_EQ(create(blob.memory.data(), blob.memory.bytes(), 5, 6, &error), OCTET_OK) << error.message;
  EXPECT_EQ(create(blob.memory.data(), blob.memory.bytes(), 6, 5, &error), OCTET_BAD_BLOB);
  const Blob other(5, 6, OCTET_ISA_AUTO, 1, false, OCTET_U8);
  EXPECT_EQ(create(other.memory.data(), other.memory.bytes(), 5, 6, &error), OCTET_BAD_BLOB);
}

TEST(Blob, OfAnotherArchitectureIsTheWrongTier) {
#if defined(__x86_64__)
  const octet_isa foreign[] = {OCTET_ISA_NEON, OCTET_ISA_DOTPROD, OCTET_ISA_I8MM};
#else
  const octet_isa foreign[] = {OCTET_ISA_AVX2, OCTET_ISA_AVX512VNNI};
#endif
  for (const octet_isa isa : foreign) {
    const Blob blob(5, 6, isa);
    octet_error error = {};
    EXPECT_EQ(create(blob.memory.data(), blob.memory.bytes(), 5, 6, &error), OCTET_WRONG_TIER) << octet_isa_name(isa);
    EXPECT_NE(std::string(error.message).find(octet_isa_name(isa == OCTET_ISA_AVX512VNNI ? OCTET_ISA_AVX2 : isa)), std::string::npos) << error.message;
  }
}

// The definition, bit by bit. Long data is cut into parts inside; lengths around that cut.
TEST(Crc32, AgreesWithItsDefinition) {
  std::vector<uint8_t> data(50000);
  uint32_t seed = 1;
  for (uint8_t& byte : data) byte = static_cast<uint8_t>((seed = seed * 1664525 + 1013904223) >> 24);
  for (const size_t bytes : {0, 1, 7, 8, 9, 1000, 16383, 16384, 16385, 16407, 49999, 50000}) {
    uint32_t crc = ~0u;
    for (size_t i = 0; i < bytes; ++i) {
      crc ^= data[i];
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    EXPECT_EQ(octet::crc32(data.data(), bytes), ~crc) << bytes << " bytes";
  }
}

}  // namespace
}  // namespace octet_test
