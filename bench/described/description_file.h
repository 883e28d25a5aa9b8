// SPDX-License-Identifier: Apache-2.0
// Reads a description of a network with its data: numbers of tensors, their quantization and their
// bytes, checked.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/machine/api.h"

namespace tool {

class DescriptionFile {
 protected:
  using json = nlohmann::json;

  explicit DescriptionFile(const std::string& path);

  // Refuses the description: the message names the file and the place.
  [[noreturn]] void fail(const std::string& why) const;

  std::vector<char> read_data() const;

  const json& array(const json& from, const char* field) const;
  size_t count(const json& number, const char* what) const;
  int tensor_of(const json& number) const;  // -1: none
  // The tensors of an operator; absent ones are -1.
  std::vector<int> tensors_of(const json& from, const char* field) const;
  std::vector<float> scales(const json& tensor) const;
  std::vector<int32_t> zero_points(size_t index, const json& tensor) const;

  const std::string path_;
  const json network_;
  std::string where_;  // the place that is being read
};

}  // namespace tool
