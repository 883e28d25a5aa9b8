// SPDX-License-Identifier: Apache-2.0
// Keeps objects that take a while to make, one for each of the keys that were asked for last.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace octet::onnxruntime {

template <typename Key, typename Value>
class Recent {
 public:
  // The key's object; make() makes it where it is not kept. Called by many threads at once: while
  // one of them makes an object, others find theirs. All get the one that was there first.
  template <typename Make>
  std::shared_ptr<const Value> find(const Key& key, const Make& make) {
    if (std::shared_ptr<const Value> kept = find_kept(key)) return kept;
    std::shared_ptr<const Value> made = make();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (std::shared_ptr<const Value> kept = last_used(key)) return kept;
    if (kept_.size() == kMost) kept_.erase(kept_.begin());
    kept_.emplace_back(key, made);
    return made;
  }

 private:
  static constexpr size_t kMost = 16;

  std::shared_ptr<const Value> find_kept(const Key& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return last_used(key);
  }
  std::shared_ptr<const Value> last_used(const Key& key) {
    const auto at = std::find_if(kept_.begin(), kept_.end(),
                                 [&](const auto& entry) { return entry.first == key; });
    if (at == kept_.end()) return nullptr;
    std::rotate(at, at + 1, kept_.end());
    return kept_.back().second;
  }

  std::mutex mutex_;
  std::vector<std::pair<Key, std::shared_ptr<const Value>>> kept_;  // the last used one is last
};

}  // namespace octet::onnxruntime
