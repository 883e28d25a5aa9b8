// SPDX-License-Identifier: Apache-2.0
// Packed weights in files of a folder, one for each key, so that a later process maps them instead
// of packing again.
#pragma once

#include <memory>
#include <string>

#include "engines/graph/memory/blob.h"

namespace octet::graph {

// Maps the blob of a key, of so many bytes, and checks each of them. Null: there is none, or its
// file is not as write_blob wrote it. Throws std::bad_alloc.
std::shared_ptr<const Blob> read_blob(const std::string& folder, const std::string& key,
                                      size_t bytes);

// Puts the blob into the folder, in the place of an older file with its key: other processes see
// the older one or the whole new one. False: the system did not let it, or it does not map files,
// so that nothing would read the blob.
bool write_blob(const std::string& folder, const std::string& key, const Blob& blob);

}  // namespace octet::graph
