// SPDX-License-Identifier: Apache-2.0
// Moves bytes between tensors: to other sizes, through a table, to another order of channels.
#pragma once

#include <memory>

#include "engines/graph/sizes.h"
#include "octet/functions.h"

namespace octet::graph {

// A function of a network with what its context points to.
struct Function {
  octet_network_function lines = {};
  std::shared_ptr<void> arguments;
};

// A function whose context is a copy of these arguments.
template <typename Arguments>
Function function_of(const Arguments& arguments, void (*run)(void*, const octet_network_call*),
                     size_t kernel_h) {
  Function f;
  f.arguments = std::make_shared<Arguments>(arguments);
  f.lines.run = run, f.lines.context = f.arguments.get(), f.lines.kernel_h = kernel_h;
  return f;
}
// Its kernel_h if any line of the output may want all of the input's: of its image, or of all.
constexpr size_t reach(bool all_images) { return all_images ? OCTET_NETWORK_ALL_IMAGES : 0; }

// The same elements in the same order, in images of any sizes, each byte through `table` if there
// is one. element: bytes of an element. all_images: the input may have another number of images.
Function copy_function(size_t element, const std::vector<uint8_t>& table, bool all_images);

// Transposes between NHWC images of these sizes and NCHW images. To a network an NCHW image has as
// many lines as channels, h * w pixels in a line and one channel.
Function transpose_function(octet_type type, const Sizes& nhwc, octet_layout to);

// Output axis i of each image is axis permutation[i] of the input's; shape: the input's. Both lie
// dense, in images of any sizes. all_images: shape is that of all of them.
Function permute_function(size_t element, const std::vector<size_t>& shape,
                          const std::vector<size_t>& permutation, bool all_images);

// `sizes` elements of each axis from `begins` on, of all images. Both tensors lie dense.
Function cut_function(size_t element, const std::vector<size_t>& shape,
                      const std::vector<size_t>& begins, const std::vector<size_t>& sizes);

// The images of the inputs one after the other. The bytes of an input go through its table, if that
// is not empty; only elements of one byte have tables.
Function join_images_function(size_t element, std::vector<std::vector<uint8_t>> tables);

// Groups of channels of a pixel become a square of block * block pixels, in the order of lines.
// pixels_together: a channel's block * block pixels are neighbours, else a pixel's channels.
Function depth_to_space_function(size_t element, size_t block, bool pixels_together);

// The other way round.
Function space_to_depth_function(size_t element, size_t block);

// table[byte of the input] for each byte.
Function look_up_function(octet_type from, octet_type to, const std::vector<uint8_t>& table);

// Of an object of the library's, which it owns from now on.
Function owned_function(octet_function* function);

}  // namespace octet::graph
