// Reads and checks the JSON and the data of a description.
#include "bench/described/description_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "bench/cases/network.h"
#include "bench/described/activation_bounds.h"

namespace tool {

DescriptionFile::DescriptionFile(const std::string& path)
    : path_(path), network_(parse_description(path)) {}

void DescriptionFile::fail(const std::string& why) const {
  throw BrokenDescription(fmt::format("{}: {}: {}", path_, where_, why));
}

void DescriptionFile::read_data() {
  where_ = "data";
  if (!network_.contains("data"))
    fail("the description has no weights: tools/models/describe.py --data writes them");
  const auto data =
      std::filesystem::path(path_).parent_path() / network_.at("data").get<std::string>();
  if (!std::filesystem::is_regular_file(data))
    fail(fmt::format("{} is no regular file", data.string()));
  std::ifstream file(data, std::ios::binary);
  if (!file) fail(fmt::format("cannot read {}", data.string()));
  data_.assign(std::istreambuf_iterator<char>(file), {});
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

std::vector<size_t> DescriptionFile::tensors_of(const json& from, const char* field) const {
  std::vector<size_t> tensors;
  for (const json& number : array(from, field))
    if (number != -1) tensors.push_back(checked(number));
  return tensors;
}

std::optional<std::vector<size_t>> DescriptionFile::optional_tensors(const char* field) const {
  if (!network_.contains(field)) return std::nullopt;
  return tensors_of(network_, field);
}

size_t DescriptionFile::checked(const json& number) const {
  if (!number.is_number_unsigned() || number.get<size_t>() >= tensor_count())
    fail(fmt::format("{} is no tensor", number.dump()));
  return number.get<size_t>();
}

std::vector<float> DescriptionFile::scales(size_t index) const {
  if (tensor(index).at("quantization").is_null())
    refuse(fmt::format("tensor {} is not quantized", index));
  return tensor(index).at("quantization").at("scales");
}

float DescriptionFile::scale(size_t index) const {
  const std::vector<float> all = scales(index);
  if (all.size() != 1) refuse(fmt::format("tensor {} has {} scales", index, all.size()));
  constexpr float kMost = float{1ull << 48};  // octet_epilogue's limit; sums within it are finite
  if (!(all[0] > 0 && all[0] <= kMost))
    refuse(fmt::format("tensor {} has the scale {}", index, all[0]));
  return all[0];
}

std::vector<int32_t> DescriptionFile::zero_points(size_t index) const {
  scales(index);
  const std::string type = tensor(index).at("type");
  const Bounds bounds = type == "s8"   ? bounds_of_type(OCTET_S8)
                        : type == "u8" ? bounds_of_type(OCTET_U8)
                                       : Bounds{0, 0};
  std::vector<int32_t> all;
  for (const json& z : array(tensor(index).at("quantization"), "zero_points")) {
    // Large ones are unsigned to json, and would become negative
    if (!z.is_number_integer() || z > bounds.most || z < bounds.least)
      fail(fmt::format("tensor {} of {} has the zero point {}", index, type, z.dump()));
    all.push_back(z.get<int32_t>());
  }
  return all;
}

int32_t DescriptionFile::zero_point(size_t index) const {
  const std::vector<int32_t> all = zero_points(index);
  if (all.size() != 1) refuse(fmt::format("tensor {} has {} zero points", index, all.size()));
  return all[0];
}

const uint8_t* DescriptionFile::data(size_t index, size_t bytes) const {
  if (!tensor(index).contains("data_at")) refuse(fmt::format("tensor {} has no data", index));
  const size_t at = count(tensor(index).at("data_at"), "where its data begin");
  if (at > data_.size() || bytes > data_.size() - at)
    fail(fmt::format("the data of tensor {} ends too early", index));
  return (const uint8_t*)data_.data() + at;
}

}  // namespace tool
