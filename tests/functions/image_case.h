// SPDX-License-Identifier: Apache-2.0
// Creates functions of images from lists of numbers, and runs them beside guard pages.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "octet/image_functions.h"
#include "support/guarded.h"

namespace octet_test {

// A function, and the sizes of its tensors, which were computed here.
struct Created {
  std::shared_ptr<octet_function> function;
  octet_image_size in, out;
  size_t in_element, out_element;
};

// Numbers as make_image_vectors.py writes them.
Created create_from_numbers(const std::string& name, const std::vector<int64_t>& numbers,
                            octet_isa isa);

Created created(octet_status status, octet_function* function, const octet_image_size& in,
                const octet_image_size& out, size_t in_element = 1, size_t out_element = 1);

// The output's dense bytes for those of an input of some images. Pixels are followed by `gap`
// elements, lines and images by twice and thrice as many, none of which may change; data touches a
// guard page.
std::vector<uint8_t> run_guarded(const Created& f, const std::vector<uint8_t>& input, size_t gap,
                                 Side side, size_t batch = 1,
                                 octet_parallel_for parallel_for = nullptr, size_t tasks = 1);

}  // namespace octet_test
