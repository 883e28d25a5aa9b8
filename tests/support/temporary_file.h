// SPDX-License-Identifier: Apache-2.0
// Holds a file that is gone after the scope.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace octet_test {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    path_ = testing::TempDir() + "octet-XXXXXX";
    const int file = mkstemp(&path_[0]);
    EXPECT_GE(file, 0) << path_;
    close(file);
    write(text);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const char* path() const { return path_.c_str(); }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

}  // namespace octet_test
