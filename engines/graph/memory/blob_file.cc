// SPDX-License-Identifier: Apache-2.0
// Writes a blob behind its key, and reads it back if both are whole.
#include "engines/graph/memory/blob_file.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "engines/graph/memory/map.h"

namespace octet::graph {
namespace {

// The bytes that a file begins with. A file whose key has the same hash, or that has another form,
// begins with other bytes.
std::string head_of(const std::string& key) {
  std::string head = "Octet's packed weights, form 1\n" + key + '\n';
  head.resize(aligned(head.size()));
  return head;
}

std::string path_of(const std::string& folder, const std::string& key) {
  char name[32];
  std::snprintf(name, sizeof name, "/%016llx.octet",
                (unsigned long long)content_hash(key.data(), key.size()));
  return folder + name;
}

// Creates a file of its own beside the path, and tells its name; null if the system refuses it. A
// name is in use where a process with the same number died, or works in another container.
std::FILE* create_beside(const std::string& path, std::string* name) {
  static std::atomic<unsigned> count(0);
  constexpr int kMostNames = 1 << 16;
  for (int i = 0; i < kMostNames; ++i) {
    *name = path + '.' + std::to_string(process_number()) + '.' + std::to_string(count++);
    if (std::FILE* const file = create_new(*name)) return file;
    if (errno != EEXIST) return nullptr;
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<const Blob> read_blob(const std::string& folder, const std::string& key,
                                      size_t bytes) {
  const std::string head = head_of(key);
  size_t mapped = 0;
  void* const mapping = map(path_of(folder, key), &mapped);
  if (!mapping) return nullptr;
  if (mapped != head.size() + bytes || std::memcmp(mapping, head.data(), head.size()) != 0) {
    unmap(mapping, mapped);
    return nullptr;
  }
  std::shared_ptr<const Blob> blob;
  try {
    blob = std::make_shared<const Blob>(mapping, mapped, head.size());
  } catch (...) {
    unmap(mapping, mapped);
    throw;
  }
  return octet_blob_verify(blob->data, blob->bytes, nullptr) == OCTET_OK ? blob : nullptr;
}

bool write_blob(const std::string& folder, const std::string& key, const Blob& blob) {
  if (!kMapsFiles) return false;
  const std::string head = head_of(key), path = path_of(folder, key);
  std::string unfinished;
  std::FILE* const file = create_beside(path, &unfinished);
  if (!file) return false;
  const bool written = std::fwrite(head.data(), 1, head.size(), file) == head.size() &&
                       std::fwrite(blob.data, 1, blob.bytes, file) == blob.bytes;
  if (std::fclose(file) == 0 && written && std::rename(unfinished.c_str(), path.c_str()) == 0)
    return true;
  std::remove(unfinished.c_str());
  return false;
}

}  // namespace octet::graph
