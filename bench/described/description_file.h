// Reads a description of a network with its data, as `octet run` does: numbers of tensors, their
// quantization and their bytes, checked.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/machine/api.h"

namespace tool {

// The description contradicts itself: none of it runs.
struct BrokenDescription : Error {
  using Error::Error;
};

class DescriptionFile {
 protected:
  using json = nlohmann::json;

  explicit DescriptionFile(const std::string& path);

  // Refuses the description: the message names the file and the place.
  [[noreturn]] void fail(const std::string& why) const;
  // Leaves out an operator of a valid model for this reason.
  [[noreturn]] static void refuse(const std::string& why) { throw Error(why); }

  void read_data();

  const json& array(const json& from, const char* field) const;
  size_t count(const json& number, const char* what) const;
  size_t tensor_count() const { return network_.at("tensors").size(); }
  // The tensors of an operator; absent ones are -1 in the file.
  std::vector<size_t> tensors_of(const json& from, const char* field) const;
  std::optional<std::vector<size_t>> optional_tensors(const char* field) const;

  std::vector<float> scales(size_t index) const;
  float scale(size_t index) const;
  std::vector<int32_t> zero_points(size_t index) const;
  int32_t zero_point(size_t index) const;
  const uint8_t* data(size_t index, size_t bytes) const;

  const std::string path_;
  const json network_;
  std::string where_;  // the place that is being read

 private:
  size_t checked(const json& number) const;
  const json& tensor(size_t index) const { return network_.at("tensors").at(index); }

  std::vector<char> data_;
};

}  // namespace tool
