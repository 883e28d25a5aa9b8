// Packs weights once for each matrix and filter, and keeps the workspaces of runs.
#include "engines/graph/weights.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#include "engines/graph/check.h"
#include "engines/graph/refused.h"

namespace octet::graph {
namespace {

uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x100000001b3u;
  return hash ^ hash >> 32;
}

// 64 bits of the bytes: FNV-1a (Fowler, Noll, Vo) by words of eight bytes, little-endian, with a
// shift after each product, as the product by itself moves no bit down. Four lanes take turns, so
// that a step does not wait for the one before it.
uint64_t content_hash(const void* data, size_t bytes) {
  const auto* const from = (const uint8_t*)data;
  uint64_t lanes[4] = {0xcbf29ce484222325u, 1, 2, 3};
  size_t at = 0;
  for (; bytes - at >= sizeof lanes; at += sizeof lanes) {
    uint64_t words[4];
    std::memcpy(words, from + at, sizeof words);
    for (size_t i = 0; i < 4; ++i) lanes[i] = mixed(lanes[i], words[i]);
  }
  uint64_t hash = mixed(mixed(mixed(lanes[0], lanes[1]), lanes[2]), lanes[3]);
  for (; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, from + at, std::min<size_t>(8, bytes - at));
    hash = mixed(hash, word);
  }
  return hash;
}

// The parts of a descriptor that a blob depends on, in a line, and hashes of its arrays.
uint64_t zero_points(const int32_t* zeros, size_t count) {
  return content_hash(zeros, count * sizeof *zeros);
}

std::string key_of(const octet_filter_desc& f, octet_isa isa) {
  const octet_conv2d_shape& s = f.shape;
  const size_t bytes =
      bytes_of(s.out_channels * (s.in_channels / s.groups) * s.kernel_h * s.kernel_w, f.type);
  return join("filter ", content_hash(f.data, bytes), ' ', (int)f.type, ' ', (int)f.order, ' ',
              (int)isa, ' ', s.in_channels, ' ', s.out_channels, ' ', s.groups, ' ', s.kernel_h,
              ' ', s.kernel_w, ' ', s.stride_h, ' ', s.stride_w, ' ', s.dilation_h, ' ',
              s.dilation_w, ' ', s.transposed, ' ', (int)f.algorithm, ' ', (int)f.accuracy, ' ',
              f.packed_bytes_max, ' ', (int)f.sparsity, ' ', f.zero_point_count, ' ',
              zero_points(f.zero_points, f.zero_point_count));
}

std::string key_of(const octet_rhs_desc& r, octet_isa isa) {
  const size_t bytes = bytes_of(r.n * r.k, r.type),
               scales = r.scale_block ? r.n * (r.k / r.scale_block) : 0;
  return join("rhs ", content_hash(r.data, bytes), ' ', (int)r.type, ' ', (int)r.order, ' ',
              (int)isa, ' ', r.n, ' ', r.k, ' ', (int)r.sparsity, ' ', r.zero_point_count, ' ',
              zero_points(r.zero_points, r.zero_point_count), ' ', r.scale_block, ' ',
              (int)r.scale_type, ' ',
              content_hash(r.scales, scales * (r.scale_type == OCTET_F16 ? 2 : sizeof(float))));
}

}  // namespace

constexpr std::align_val_t kAlignment{OCTET_ALIGNMENT};

Blob::Blob(size_t size) : data(::operator new(size, kAlignment)), bytes(size) {}
Blob::~Blob() { ::operator delete(data, kAlignment); }

std::unique_ptr<Blob> Workspaces::take(size_t bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::unique_ptr<Blob>& blob : free_)
      if (blob->bytes >= bytes) {
        std::unique_ptr<Blob> taken = std::move(blob);
        blob = std::move(free_.back());
        free_.pop_back();
        return taken;
      }
    if (!free_.empty()) free_.pop_back();  // a larger one takes its place
  }
  return std::make_unique<Blob>(std::max<size_t>(bytes, 1));
}

void Workspaces::give(std::unique_ptr<Blob> workspace) {
  const std::lock_guard<std::mutex> lock(mutex_);
  try {
    free_.push_back(std::move(workspace));
  } catch (const std::bad_alloc&) {
  }
}

void RunMemory::begin(size_t tasks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (; made_ < promised_ + needed(tasks); ++made_) {
    free_.reserve(made_ + 1);  // so that a task gives its memory back without an allocation
    free_.push_back(std::make_unique<Blob>(std::max<size_t>(bytes_, 1)));
  }
  promised_ += needed(tasks);
}

void RunMemory::end(size_t tasks) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  promised_ -= needed(tasks);
}

RunMemory::Taken::Taken(RunMemory* from) noexcept : from_(*from) {
  const std::lock_guard<std::mutex> lock(from_.mutex_);
  blob_ = std::move(from_.free_.back());
  from_.free_.pop_back();
}

RunMemory::Taken::~Taken() {
  const std::lock_guard<std::mutex> lock(from_.mutex_);
  from_.free_.push_back(std::move(blob_));
}

template <typename Desc, typename PackSize, typename Pack>
std::shared_ptr<const Blob> PackedWeights::find_or_pack(const std::string& key, const Desc& desc,
                                                        octet_isa isa, PackSize pack_size,
                                                        Pack pack) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = blobs_.find(key);
  if (found != blobs_.end()) return found->second;
  size_t bytes = 0;
  octet_error error = {};
  check(pack_size(&desc, isa, &bytes, &error), error);
  const auto blob = std::make_shared<Blob>(bytes);
  check(pack(&desc, isa, blob->data, bytes, &error), error);
  blobs_[key] = blob;
  return blob;
}

std::shared_ptr<const Blob> PackedWeights::get(const octet_filter_desc& filter, octet_isa isa) {
  return find_or_pack(key_of(filter, isa), filter, isa, octet_conv2d_pack_size, octet_conv2d_pack);
}

std::shared_ptr<const Blob> PackedWeights::get(const octet_rhs_desc& rhs, octet_isa isa) {
  return find_or_pack(key_of(rhs, isa), rhs, isa, octet_pack_size, octet_pack);
}

size_t PackedWeights::packed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return blobs_.size();
}

size_t PackedWeights::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  size_t bytes = 0;
  for (const auto& [key, blob] : blobs_) bytes += blob->bytes;
  return bytes;
}

}  // namespace octet::graph
