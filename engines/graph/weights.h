// SPDX-License-Identifier: Apache-2.0
// Owns packed weights, so that a program that is made again for other sizes packs nothing again;
// and the workspaces of runs.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engines/graph/memory/blob.h"
#include "octet/octet.h"

namespace octet::graph {

// Memory for runs at the same time: one for each, kept for later ones, from any threads.
class Workspaces {
 public:
  // Calls run(void*) with at least so many bytes. Throws the exceptions of run, too.
  template <typename Run>
  void use(size_t bytes, const Run& run) {
    std::unique_ptr<Blob> workspace = take(bytes);
    run(workspace->data);
    give(std::move(workspace));
  }
  // Of at least so many bytes. Throws std::bad_alloc.
  std::unique_ptr<Blob> take(size_t bytes);
  // Without memory to keep it, it is freed: the run that had it is not to fail for it.
  void give(std::unique_ptr<Blob> workspace);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Blob>> free_;
};

// Memory of a function for its tasks in runs at the same time. A run that begins has all that it
// may take, so that no task lacks memory.
class RunMemory {
 public:
  // bytes: of one task. most_tasks: how many of one run call the function at the same time.
  RunMemory(size_t bytes, size_t most_tasks) : bytes_(bytes), most_tasks_(most_tasks) {}

  // Of a run, with the same number of tasks. Throws std::bad_alloc, and then the run has not begun.
  void begin(size_t tasks);
  void end(size_t tasks) noexcept;

  // A network takes no status from a function, and a task does not know its run: what the function
  // tells here ends all runs in progress, by check_runs, which throws it. The first one counts.
  void fail(const octet_error& error) noexcept;
  void check_runs();

  // One task's, between begin and end; it goes back with the object.
  class Taken {
   public:
    explicit Taken(RunMemory* from) noexcept;
    ~Taken();
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    void* data() const { return blob_->data; }

   private:
    RunMemory& from_;
    std::unique_ptr<Blob> blob_;
  };

 private:
  size_t needed(size_t tasks) const { return tasks < most_tasks_ ? tasks : most_tasks_; }

  const size_t bytes_, most_tasks_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Blob>> free_;
  size_t made_ = 0, promised_ = 0;  // blobs: promised to runs in progress, at most those made
  octet_error failed_ = {};         // OCTET_OK: no task
};

// Blobs by the descriptor and a hash of 64 bits of the weights; programs share one, from any
// threads. Each question reads the weights once, in words of eight bytes, so that equal weights
// share a blob wherever they lie, and others at the same address get their own.
class PackedWeights {
 public:
  PackedWeights() = default;
  // With a folder of files, one for each blob: get maps a blob that an earlier process packed for
  // the same weights, sizes, release of Octet and kind of CPU, unless a byte of it is damaged, and
  // writes each blob that it packs. A file is trusted to hold the weights that it names, so other
  // users may not write to the folder. While OCTET_KERNEL, OCTET_CONV or OCTET_TUNING is set, get
  // neither reads nor writes files: a blob would depend on these variables.
  explicit PackedWeights(std::string folder) : folder_(std::move(folder)) {}

  // Packs a filter that it does not have yet. Throws.
  std::shared_ptr<const Blob> get(const octet_filter_desc& filter, octet_isa isa);
  std::shared_ptr<const Blob> get(const octet_rhs_desc& rhs, octet_isa isa);
  size_t packed() const;     // blobs that were packed
  size_t mapped() const;     // blobs that come from files
  size_t unwritten() const;  // blobs that were packed and, in spite of a folder, not written
  size_t bytes() const;      // of all blobs

 private:
  template <typename Desc, typename PackSize, typename Pack>
  std::shared_ptr<const Blob> find_or_pack(const Desc& desc, octet_isa isa, PackSize pack_size,
                                           Pack pack);
  const std::string folder_;  // empty: none
  mutable std::mutex mutex_;
  size_t mapped_ = 0, unwritten_ = 0;
  std::map<std::string, std::shared_ptr<const Blob>> blobs_;
};

// An outline of a filter or of a matrix. Throws.
std::shared_ptr<const Blob> outline_of(const octet_filter_desc& filter, octet_isa isa);
std::shared_ptr<const Blob> outline_of(const octet_rhs_desc& rhs, octet_isa isa);

}  // namespace octet::graph
