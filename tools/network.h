// A network described in a file, as tools/network makes of a model: its convolutions and products
// as cases.
#pragma once

#include "cases.h"

namespace tool {

bool is_network_file(const std::string& name);  // *.json

// A group for all operators of a kind and of the same types; layers that are alike are one case.
// Throws what is wrong with the file, and where.
std::vector<CaseGroup> read_network(const std::string& path);

}  // namespace tool
