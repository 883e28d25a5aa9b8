// SPDX-License-Identifier: Apache-2.0
// Packs weights once for each matrix and filter, and keeps the workspaces of runs.
#include "engines/graph/weights.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "engines/graph/check.h"
#include "engines/graph/memory/blob_file.h"
#include "engines/graph/refused.h"
#include "octet/network.h"

namespace octet::graph {
namespace {

// The parts of a descriptor that say which weights a blob has, in a line, and hashes of its arrays.
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
               scale_bytes = r.scale_block ? r.n * (r.k / r.scale_block) *
                                                 (r.scale_type == OCTET_F16 ? 2 : sizeof(float))
                                           : 0;
  return join("rhs ", content_hash(r.data, bytes), ' ', (int)r.type, ' ', (int)r.order, ' ',
              (int)isa, ' ', r.n, ' ', r.k, ' ', (int)r.sparsity, ' ', r.zero_point_count, ' ',
              zero_points(r.zero_points, r.zero_point_count), ' ', r.scale_block, ' ',
              (int)r.scale_type, ' ', content_hash(r.scales, scale_bytes), ' ',
              r.minimums ? content_hash(r.minimums, scale_bytes) : 0);
}

// The other parts, which choose the algorithm and the format of a blob. Any such blob serves all
// sizes, so that a program for other sizes shares the one in memory. Files are told apart by them:
// each session finds the blob that it would pack, in whatever order sessions come.
std::string choices_of(const octet_filter_desc& f) {
  const octet_conv2d_shape& s = f.shape;
  return join(" of ", s.batch_max, ' ', s.in_h_max, ' ', s.in_w_max, ' ', s.pad_top, ' ',
              s.pad_bottom, ' ', s.pad_left, ' ', s.pad_right, ' ', s.output_padding_h, ' ',
              s.output_padding_w, ' ', (int)f.dst_type, ' ', (int)f.requant, ' ', f.has_residual,
              ' ', f.has_lut);
}

std::string choices_of(const octet_rhs_desc& r) { return join(" of ", r.m_max); }

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value && *value;
}

// True while the environment chooses kernels, algorithms or formats. Packing reads these variables
// each time, and a blob may then be one that a process without them does not run.
bool environment_chooses() {
  return is_set("OCTET_KERNEL") || is_set("OCTET_CONV") || is_set("OCTET_TUNING");
}

// The words of a file's key that are not of a descriptor: the library's release and parts, what
// OCTET_ISA_AUTO means here and now, and the facts that the choice of an algorithm looks at.
std::string machine_words() {
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  octet_get_cpu_info(&info, nullptr);
  const char* const limit = std::getenv("OCTET_MAX_ISA");
  return join(octet_version(), " with ", OCTET_PARTS, ", ", octet_isa_name(info.best_isa), ' ',
              limit ? limit : "", ' ', info.compiled_isas, ' ', info.detected_isas, ' ',
              info.demoted_isas, ' ', octet_cpu_design_name(info.design), ' ', info.l1d_bytes, ' ',
              info.l2_bytes, ' ', info.l3_bytes, ' ', info.known_cores, ' ', info.in_order_cores,
              ' ');
}

}  // namespace

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
  if (promised_ == 0) failed_.status = OCTET_OK;
}

void RunMemory::fail(const octet_error& error) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failed_.status == OCTET_OK) failed_ = error;
}

void RunMemory::check_runs() {
  const std::lock_guard<std::mutex> lock(mutex_);
  check(failed_.status, failed_);
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
std::shared_ptr<const Blob> PackedWeights::find_or_pack(const Desc& desc, octet_isa isa,
                                                        PackSize pack_size, Pack pack) {
  const std::string key = key_of(desc, isa);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = blobs_.find(key);
  if (found != blobs_.end()) return found->second;
  size_t bytes = 0;
  octet_error error = {};
  check(pack_size(&desc, isa, &bytes, &error), error);
  const bool in_files = !folder_.empty() && !environment_chooses();
  const std::string key_of_file = in_files ? machine_words() + key + choices_of(desc) : "";
  if (in_files)
    if (std::shared_ptr<const Blob> blob = read_blob(folder_, key_of_file, bytes)) {
      ++mapped_;
      return blobs_[key] = std::move(blob);
    }
  const auto blob = std::make_shared<Blob>(bytes);
  check(pack(&desc, isa, blob->data, bytes, &error), error);
  const bool written = in_files && write_blob(folder_, key_of_file, *blob);
  if (!folder_.empty() && !written) ++unwritten_;
  blobs_[key] = blob;
  return blob;
}

std::shared_ptr<const Blob> PackedWeights::get(const octet_filter_desc& filter, octet_isa isa) {
  return find_or_pack(filter, isa, octet_conv2d_pack_size, octet_conv2d_pack);
}

std::shared_ptr<const Blob> PackedWeights::get(const octet_rhs_desc& rhs, octet_isa isa) {
  return find_or_pack(rhs, isa, octet_pack_size, octet_pack);
}

template <typename Desc, typename Write>
std::shared_ptr<const Blob> write_outline(const Desc& desc, octet_isa isa, Write write) {
  const auto outline = std::make_shared<Blob>(OCTET_OUTLINE_BYTES);
  octet_error error = {};
  check(write(&desc, isa, outline->data, &error), error);
  return outline;
}

std::shared_ptr<const Blob> outline_of(const octet_filter_desc& filter, octet_isa isa) {
  return write_outline(filter, isa, octet_conv2d_pack_outline);
}

std::shared_ptr<const Blob> outline_of(const octet_rhs_desc& rhs, octet_isa isa) {
  return write_outline(rhs, isa, octet_pack_outline);
}

size_t PackedWeights::packed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return blobs_.size() - mapped_;
}

size_t PackedWeights::mapped() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return mapped_;
}

size_t PackedWeights::unwritten() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return unwritten_;
}

size_t PackedWeights::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  size_t bytes = 0;
  for (const auto& [key, blob] : blobs_) bytes += blob->bytes;
  return bytes;
}

}  // namespace octet::graph
