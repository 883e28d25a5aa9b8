// Gives tensors shapes other than those in which they lie in memory.
#pragma once

#include "octet/network.h"

namespace tool {

// Compare and set only the sizes of tensors.
bool same_sizes(const octet_network_tensor& a, const octet_network_tensor& b);
void set_sizes(octet_network_tensor* to, const octet_network_tensor& from);

// Whether each pixel, or each image, is a row of a product of this depth.
bool has_rows(const octet_network_tensor& tensor, size_t depth);
// The output tensor of that product.
octet_network_tensor rows_of(const octet_network_tensor& tensor, size_t depth, size_t n);

// Copies images into images of other sizes and as many bytes.
octet_network_function copy_function();

}  // namespace tool
