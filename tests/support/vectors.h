// SPDX-License-Identifier: Apache-2.0
// Reads the vector files that ../vectors/README.md describes. It needs nothing of Octet.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace octet_test {

struct Tensor {
  // octet_type's values, but for kF64 and kS64
  enum Type : uint32_t { kS8 = 1, kU8, kS32, kF32, kF64, kF16 = 7, kS16, kS64 };
  Type type;
  size_t rows, columns;
  std::vector<uint8_t> bytes;

  size_t size() const { return rows * columns; }
  template <class T>
  const T* data() const {
    return (const T*)bytes.data();
  }
};

struct Case {
  std::string name;
  std::map<std::string, Tensor> tensors;

  const Tensor* find(const char* key) const {
    const auto found = tensors.find(key);
    return found == tensors.end() ? nullptr : &found->second;
  }
};

class VectorFile {
 public:
  static std::vector<Case> read(const std::string& path) {
    VectorFile file(path);
    if (file.text(8) != "OCTETVEC") throw std::runtime_error(path + " is not a vector file");
    std::vector<Case> cases(file.u32());
    for (Case& c : cases) {
      c.name = file.text(file.u8());
      for (uint32_t count = file.u32(); count > 0; --count) {
        const std::string key = file.text(file.u8());
        c.tensors[key] = file.tensor();
      }
    }
    return cases;
  }

 private:
  explicit VectorFile(const std::string& path)
      : path_(path), file_(std::fopen(path.c_str(), "rb"), &std::fclose) {
    if (!file_) throw std::runtime_error("cannot open " + path);
  }

  void bytes(void* to, size_t count) {
    if (count > 0 && std::fread(to, 1, count, file_.get()) != count)
      throw std::runtime_error(path_ + " ends too early");
  }
  uint8_t u8() {
    uint8_t value;
    bytes(&value, 1);
    return value;
  }
  uint32_t u32() {
    uint32_t value;  // little-endian, as every CPU that Octet has kernels for
    bytes(&value, 4);
    return value;
  }
  std::string text(size_t length) {
    std::string value(length, '\0');
    bytes(&value[0], length);
    return value;
  }
  Tensor tensor() {
    Tensor t;
    t.type = (Tensor::Type)u32();
    t.rows = u32();
    t.columns = u32();
    constexpr size_t kBytes[] = {0, 1, 1, 4, 4, 8, 0, 2, 2, 8};
    if (t.type >= std::size(kBytes) || !kBytes[t.type])
      throw std::runtime_error(path_ + " has a type of later versions");
    const size_t element = kBytes[t.type];
    t.bytes.resize(t.size() * element);
    bytes(t.bytes.data(), t.bytes.size());
    return t;
  }

  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace octet_test
