// SPDX-License-Identifier: Apache-2.0
// Reads and checks the JSON and the data of a description.
#include "bench/described/description_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "bench/cases/network.h"

namespace tool {

DescriptionFile::DescriptionFile(const std::string& path)
    : path_(path), network_(parse_description(path)) {}

void DescriptionFile::fail(const std::string& why) const {
  throw Error(fmt::format("{}: {}: {}", path_, where_, why));
}

std::vector<char> DescriptionFile::read_data() const {
  if (!network_.contains("data"))
    fail("the description has no weights: tools/models/describe.py --data writes them");
  const auto data =
      std::filesystem::path(path_).parent_path() / network_.at("data").get<std::string>();
  if (!std::filesystem::is_regular_file(data))
    fail(fmt::format("{} is no regular file", data.string()));
  std::ifstream file(data, std::ios::binary);
  if (!file) fail(fmt::format("cannot read {}", data.string()));
  return {std::istreambuf_iterator<char>(file), {}};
}

const nlohmann::json& DescriptionFile::array(const json& from, const char* field) const {
  const json& found = from.at(field);
  if (!found.is_array()) fail(fmt::format("'{}' is no array", field));
  return found;
}

size_t DescriptionFile::count(const json& number, const char* what) const {
  if (!number.is_number_unsigned())
    fail(fmt::format("{} is {}, and must be a whole number from 0 on", what, number.dump()));
  return number.get<size_t>();
}

std::vector<int> DescriptionFile::tensors_of(const json& from, const char* field) const {
  std::vector<int> numbers;
  for (const json& number : array(from, field)) numbers.push_back(tensor_of(number));
  return numbers;
}

int DescriptionFile::tensor_of(const json& number) const {
  const size_t tensors = network_.at("tensors").size();
  if (number != -1 && (!number.is_number_unsigned() || number.get<size_t>() >= tensors))
    fail(fmt::format("{} is no tensor", number.dump()));
  return number.get<int>();
}

std::vector<float> DescriptionFile::scales(const json& tensor) const {
  if (tensor.at("quantization").is_null()) return {};
  return tensor.at("quantization").at("scales");
}

std::vector<int32_t> DescriptionFile::zero_points(size_t index, const json& tensor) const {
  std::vector<int32_t> all;
  if (tensor.at("quantization").is_null()) return all;
  for (const json& z : array(tensor.at("quantization"), "zero_points")) {
    // Large ones are unsigned to json, and would become negative
    if (!z.is_number_integer() || z > 255 || z < -128)
      fail(fmt::format("tensor {} of {} has the zero point {}", index,
                       tensor.at("type").get<std::string>(), z.dump()));
    all.push_back(z.get<int32_t>());
  }
  return all;
}

}  // namespace tool
