// SPDX-License-Identifier: Apache-2.0
// Fuzzes packed weights with false headers and random payloads, but valid checksums. Accepted blobs
// are used, between guard pages and with memory of exactly the announced sizes.
#include <memory>

#include "fuzz/blob_samples.h"
#include "fuzz/memory.h"

namespace octet_fuzz {
namespace {

using octet::Container;

constexpr size_t kMostHead = sizeof(ContainerHeader) + octet::kMostGeometry;

// ---- damage

// Fletcher's checksum, as packing/checksum.h describes it.
struct Sums {
  uint64_t sum = 0, weighted = 0;
};
Sums fletcher(const uint8_t* data, size_t bytes) {
  Sums sums;
  for (; bytes >= 4; bytes -= 4, data += 4) {
    uint32_t word;
    std::memcpy(&word, data, sizeof word);
    sums.sum += word;
    sums.weighted += sums.sum;
  }
  return sums;
}

void mend_checksums(Choices* c, uint8_t* blob, size_t bytes, size_t head) {
  constexpr size_t kPayload = offsetof(ContainerHeader, payload_checksum),
                   kHead = offsetof(ContainerHeader, head_checksum);
  uint64_t whole;
  std::memcpy(&whole, blob + offsetof(ContainerHeader, bytes), sizeof whole);
  if (whole >= head && whole <= bytes && c->one_in(2)) {
    const Sums payload = fletcher(blob + head, (size_t)whole - head);
    std::memcpy(blob + kPayload, &payload, sizeof payload);
  }
  std::memset(blob + kHead, 0, sizeof(uint64_t));
  const Sums own = fletcher(blob, head);
  const uint64_t folded = own.weighted + (own.sum << 32);
  std::memcpy(blob + kHead, &folded, sizeof folded);
}

template <typename T>
void put(Choices* c, uint8_t* to, size_t bytes, T value) {
  std::memcpy(to + c->below(bytes / sizeof value) * sizeof value, &value, sizeof value);
}

void lie(Choices* c, const Sample& sample, uint8_t* blob, size_t bytes) {
  const size_t head = sample.head();
  switch (c->below(7)) {
    case 0:
      return put(c, blob, head, (uint8_t)c->bits(1));
    case 1:
      return put(c, blob, head, (uint16_t)c->bits(2));
    case 2:
      return put(c, blob, head, c->odd());
    case 3:
      return put(c, blob + 16, head - 64, uint64_t{1 + c->below(300)});
    case 4: {  // a field that is nearly right
      uint8_t* const field = blob + 8 * c->below(head / 8);
      uint64_t value;
      std::memcpy(&value, field, sizeof value);
      value = c->one_in(2) ? value * 2 : value + c->below(5) - 2;
      std::memcpy(field, &value, sizeof value);
      return;
    }
    case 5: {  // another blob's head
      const Sample& other = samples()[c->below(samples().size())];
      if (other.filter == sample.filter) std::memcpy(blob, other.bytes.data(), head);
      return;
    }
    default:  // sums, zero points, the head of Winograd's payload, weights
      for (size_t count = bytes > head ? 1 + c->below(20) : 0; count > 0; --count)
        blob[head + c->below(std::min(bytes - head, c->any<size_t>({64, 512, 65536})))] =
            (uint8_t)c->bits(1);
  }
}

// A head whose fields agree with each other, but not with the payload.
void forge(Choices* c, const Sample& sample, uint8_t* blob) {
  size_t formats = 0;
  while (octet::nth_format(formats)) ++formats;
  const auto resize = [&](auto* size) {
    if (c->one_in(3)) *size = 1 + c->below(c->one_in(8) ? 1000 : 40);
  };
  Container was;
  std::memcpy(&was, blob, sample.head());
  const octet::WeightFormat* format = octet::find_format((uint16_t)was.header.format);
  if (!format || c->one_in(2)) format = octet::nth_format(c->below(formats));
  const bool zero_points = c->one_in(2);
  const auto type = c->any<uint8_t>({OCTET_S8, OCTET_U8, OCTET_S4, OCTET_U4});
  Container forged;
  if (sample.filter) {
    octet::ConvShape s = filter_shape(was);
    for (size_t* size : {&s.in_channels, &s.out_channels, &s.groups, &s.kernel_h, &s.kernel_w,
                         &s.stride_h, &s.stride_w, &s.dilation_h, &s.dilation_w})
      resize(size);
    uint8_t algorithm = was.read_geometry<octet::FilterGeometry>().algorithm;
    if (c->one_in(8)) algorithm = (uint8_t)c->below(9);
    const octet::ConvAlgorithm* const implementation = octet::algorithm_of(algorithm);
    if (!implementation || s.in_channels % s.groups || s.out_channels % s.groups ||
        !plan_filter(*format, *implementation, algorithm, type, s, zero_points, &forged))
      return;
  } else if (was.header.kind == octet::BlobKind::kScaleBlocks) {
    auto g = was.read_geometry<octet::ScaleBlocksGeometry>();
    size_t n = (size_t)g.n, k = (size_t)g.k / 16, count = (size_t)g.count;
    for (size_t* size : {&n, &k, &count}) resize(size);
    g.n = n, g.k = k * 16, g.count = count;
    if (c->one_in(3)) g.depth = 16 * (1 + (uint32_t)c->below(17));
    if (c->one_in(3)) g.f16 = (uint8_t)c->below(2);
    if (c->one_in(3)) g.has_zeros = (uint8_t)c->below(2);
    if (c->one_in(3)) g.zero_point = (uint8_t)c->below(17);
    if (c->one_in(3)) g.has_minimums = (uint8_t)c->below(2);
    if (c->one_in(3)) g.bytes = (uint8_t)c->below(2);
    if (!plan_scale_blocks(*octet::find_format_of(layout_of(g)),
                           c->any<uint8_t>({OCTET_S4, OCTET_U4, OCTET_S8, OCTET_U8}), g, &forged))
      return;
  } else {
    const auto g = was.read_geometry<octet::MatricesGeometry>();
    size_t n = (size_t)g.n, k = (size_t)g.k, count = (size_t)g.count;
    for (size_t* size : {&n, &k, &count}) resize(size);
    if (!plan_matrices(*format, type, n, k, count, zero_points, &forged)) return;
  }
  forged.header.payload_checksum = was.header.payload_checksum;
  forged.header.has_int8_min = (uint8_t)c->below(2);
  std::memcpy(blob, &forged, sample.head());
}

// Checksums find one damaged word of the header and two of the payload for certain.
void damage(Choices* c, const Sample& sample, uint8_t* blob) {
  const size_t head = sample.head(), bytes = sample.bytes.size();
  const auto change_word = [&](size_t first, size_t end) {
    uint8_t* const word = blob + first + c->below((end - first) / 4) * 4;
    const uint8_t was[4] = {word[0], word[1], word[2], word[3]};
    for (int i = 0; i < 4; ++i) word[i] ^= (uint8_t)c->bits(1);
    return std::memcmp(was, word, sizeof was) != 0;
  };
  const auto verify = [&](octet_error* e) { return octet_blob_verify(blob, bytes, e); };
  octet_blob_info info = OCTET_BLOB_INFO_INIT;
  const auto get_info = [&](octet_error* e) { return octet_blob_get_info(blob, bytes, &info, e); };
  if (c->one_in(2)) {
    if (!change_word(0, head)) return;
    must_refuse("octet_blob_get_info", "a damaged header", get_info);
    must_refuse("octet_blob_verify", "a damaged header", verify);
  } else {
    change_word(head, bytes);
    change_word(head, bytes);
    must_accept("octet_blob_get_info", get_info);
    if (!std::equal(sample.bytes.begin(), sample.bytes.end(), blob))
      must_refuse("octet_blob_verify", "a damaged payload", verify);
  }
}

// ---- use

constexpr size_t kMostProducts = 1 << 18, kMostElements = 1 << 16;
constexpr float kScale = 0.01f;

// The fields that both descriptors have.
template <typename Desc>
void describe(Choices* c, const Block& blob, octet_type rhs_type, BlockAllocator* allocator,
              Desc* d) {
  d->lhs_type = type_8bit(c);
  d->rhs_type = rhs_type;
  d->dst_type = c->any({OCTET_U8, OCTET_S32});
  if (d->dst_type == OCTET_U8) d->epilogue.scales = &kScale, d->epilogue.scale_count = 1;
  d->lhs_quant = c->one_in(3) ? OCTET_LHS_PER_TENSOR : OCTET_LHS_STATIC;
  d->max_isa = c->any({OCTET_ISA_AUTO, OCTET_ISA_SCALAR, tiers()[c->below(tiers().size())]});
  d->packed = blob.data();
  d->packed_bytes = blob.bytes();
  d->allocator = {BlockAllocator::allocate, BlockAllocator::release, allocator};
}

struct Memory {
  Block lhs, dst, workspace;
  Memory(Choices* c, size_t lhs_bytes, size_t outputs, size_t workspace_bytes)
      : lhs(c, lhs_bytes), dst(c, 4 * outputs, 4), workspace(c, workspace_bytes, OCTET_ALIGNMENT) {}
  template <typename Args>
  void attach(Args* args) const {
    args->lhs = lhs.data();
    args->dst = dst.data();
    args->workspace = workspace.data();
    args->workspace_bytes = workspace.bytes();
  }
};

bool multiply(Choices* c, const Block& blob, const octet_blob_info& info) {
  BlockAllocator allocator(c);
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.m_max = c->size(20);
  d.n = info.n;
  d.k = info.k;
  d.batch_max = info.batch;
  describe(c, blob, info.type, &allocator, &d);
  if (info.scale_block && d.dst_type == OCTET_S32) {
    d.dst_type = OCTET_F32;
    d.epilogue.scales = &kScale, d.epilogue.scale_count = 1;
  }
  octet_gemm* gemm = nullptr;
  const auto create = [&](octet_error* e) { return octet_gemm_create(&d, &gemm, e); };
  if (checked("octet_gemm_create", create) != OCTET_OK) return false;
  const std::unique_ptr<octet_gemm, decltype(&octet_gemm_destroy)> owner(gemm, octet_gemm_destroy);
  size_t bytes = 0;
  must_accept("octet_gemm_workspace",
              [&](octet_error* e) { return octet_gemm_workspace(gemm, d.m_max, 1, &bytes, e); });
  if (d.batch_max > 64 || d.batch_max * d.m_max * d.n * d.k > kMostProducts) return true;
  const Memory memory(c, d.batch_max * d.m_max * d.k, d.batch_max * d.m_max * d.n, bytes);
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = d.m_max;
  args.batch = d.batch_max;
  memory.attach(&args);
  must_accept("octet_gemm_run", [&](octet_error* e) { return octet_gemm_run(gemm, &args, e); });
  ++tally.runs;
  return true;
}

bool convolve(Choices* c, const Block& blob, const octet_blob_info& info) {
  Container head;
  std::memcpy(&head, blob.data(), kMostHead);
  const octet::ConvShape packed = filter_shape(head);
  BlockAllocator allocator(c);
  octet_conv2d_desc d = OCTET_CONV2D_DESC_INIT;
  octet_conv2d_shape& s = d.shape;
  s.in_h_max = c->size(20);
  s.in_w_max = c->size(20);
  s.in_channels = packed.in_channels;
  s.out_channels = packed.out_channels;
  s.groups = packed.groups;
  s.kernel_h = packed.kernel_h;
  s.kernel_w = packed.kernel_w;
  s.stride_h = packed.stride_h;
  s.stride_w = packed.stride_w;
  s.dilation_h = packed.dilation_h;
  s.dilation_w = packed.dilation_w;
  s.transposed = packed.transposed;
  for (size_t* pad : {&s.pad_top, &s.pad_bottom, &s.pad_left, &s.pad_right}) *pad = c->below(3);
  describe(c, blob, info.type, &allocator, &d);
  octet_conv2d* conv = nullptr;
  const auto create = [&](octet_error* e) { return octet_conv2d_create(&d, &conv, e); };
  if (checked("octet_conv2d_create", create) != OCTET_OK) return false;
  const std::unique_ptr<octet_conv2d, decltype(&octet_conv2d_destroy)> owner(conv,
                                                                             octet_conv2d_destroy);
  size_t h_out = 0, w_out = 0, bytes = 0;
  must_accept("octet_conv2d_output_size", [&](octet_error* e) {
    return octet_conv2d_output_size(&s, s.in_h_max, s.in_w_max, &h_out, &w_out, e);
  });
  const auto query = [&](octet_error* e) {
    return octet_conv2d_workspace(conv, 1, 0, 0, 1, &bytes, e);
  };
  if (checked("octet_conv2d_workspace", query) != OCTET_OK) return true;
  const size_t in = s.in_h_max * s.in_w_max * s.in_channels, out = h_out * w_out * s.out_channels;
  if (h_out > kMostElements || w_out > kMostElements || in > kMostElements || out > kMostElements ||
      out * s.kernel_h * s.kernel_w * (s.in_channels / s.groups) > kMostProducts)
    return true;
  const Memory memory(c, in, out, bytes);
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  memory.attach(&args);
  must_accept("octet_conv2d_run", [&](octet_error* e) { return octet_conv2d_run(conv, &args, e); });
  ++tally.runs;
  return true;
}

}  // namespace

void fuzz_one(Choices* c) {
  const Sample& sample = samples()[c->below(samples().size())];
  const size_t head = sample.head(), whole = sample.bytes.size();
  const bool damaged = c->one_in(4);
  const size_t any_size = c->any({c->below(whole), head + c->below(65), 2 * whole, 16 * whole});
  const Block blob(c, damaged || !c->one_in(4) ? whole : any_size, OCTET_ALIGNMENT);
  if (!blob.bytes()) return;
  std::memcpy(blob.data(), sample.bytes.data(), std::min(blob.bytes(), whole));
  if (damaged) return damage(c, sample, blob.data());

  size_t lies = c->below(5);
  if (blob.bytes() < head) lies = 0;
  const bool forged = lies && c->one_in(3);
  if (forged) forge(c, sample, blob.data());
  for (size_t i = forged ? 1 : 0; i < lies; ++i) lie(c, sample, blob.data(), blob.bytes());
  if (lies && !c->one_in(16)) mend_checksums(c, blob.data(), blob.bytes(), head);

  octet_blob_info info = OCTET_BLOB_INFO_INIT;
  const bool valid = checked("octet_blob_get_info", [&](octet_error* e) {
                       return octet_blob_get_info(blob.data(), blob.bytes(), &info, e);
                     }) == OCTET_OK;
  const bool verified = checked("octet_blob_verify", [&](octet_error* e) {
                          return octet_blob_verify(blob.data(), blob.bytes(), e);
                        }) == OCTET_OK;
  if (!lies && (valid != (blob.bytes() >= whole) || verified != valid))
    fail("a blob of %zu bytes, %zu of them here, is taken for %s", whole, blob.bytes(),
         valid ? "valid" : "invalid");
  if (verified && !valid) fail("octet_blob_verify accepted what octet_blob_get_info refused");
  if (valid && info.bytes > blob.bytes()) fail("octet_blob_get_info accepted a blob that is cut");
  if (!valid) {
    ++tally.refusals;
    if (c->one_in(2)) return;  // create refuses it too
    info.n = info.k = info.batch = 1 + c->below(20);
    info.type = OCTET_S8;
  }
  const bool may_be_filter = blob.bytes() >= kMostHead;
  const bool mistaken = may_be_filter && c->one_in(16);  // a blob of the other kind
  octet::BlobKind kind = {};
  if (may_be_filter) std::memcpy(&kind, blob.data() + offsetof(ContainerHeader, kind), sizeof kind);
  const bool filter = (may_be_filter && kind == octet::BlobKind::kFilter) != mistaken;
  const bool used = filter ? convolve(c, blob, info) : multiply(c, blob, info);
  if (used && (mistaken || !valid)) fail("create accepted a blob that is wrong for it");
}

}  // namespace octet_fuzz
