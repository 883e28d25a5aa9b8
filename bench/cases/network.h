// SPDX-License-Identifier: Apache-2.0
// Reads the description of a network that tools/models made of a model: its convolutions and
// products become cases.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/cases/cases.h"

namespace tool {

bool is_network_file(const std::string& name);  // *.json

// Makes a group of all operators of a kind and of the same types; equal layers are one case. Throws
// Error with the fault and its place.
std::vector<CaseGroup> read_network(const std::string& path);

// The group for a layer of these types; a new one if there is none.
CaseGroup& group_of(std::vector<CaseGroup>* groups, const std::string& network,
                    const std::string& types, bool products);
std::string short_name(std::string layer);  // for a table

// The file's JSON; checks its version and that it has an array of operators.
nlohmann::json parse_description(const std::string& path);

}  // namespace tool
