// SPDX-License-Identifier: Apache-2.0
// Checks the calls of the operating system (memory, clock, files), on each system alike.
#include "dispatch/os/os.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "support/temporary_file.h"

namespace octet_test {
namespace {

namespace os = octet::os;
namespace files = std::filesystem;

// A folder that is gone after the scope.
class Folder {
 public:
  Folder() : path_(TemporaryFile("").path() + std::string(".folder")) {
    EXPECT_TRUE(files::create_directory(path_));
  }
  ~Folder() { files::remove_all(path_); }
  std::string file(const char* name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  size_t entries() const {
    return (size_t)std::distance(files::directory_iterator(path_), files::directory_iterator());
  }

 private:
  const files::path path_;
};

// All of a file; the reason in place of it.
std::string read(const std::string& path, size_t most = 1 << 20) {
  char* text = nullptr;
  size_t bytes = 1;
  const int reason = os::read_whole(path.c_str(), most, &text, &bytes);
  if (reason) {
    EXPECT_TRUE(text == nullptr && bytes == 0);
  }
  const std::string all = reason ? "reason " + std::to_string(reason) : std::string(text, bytes);
  std::free(text);
  return all;
}
std::string reason(int number) { return "reason " + std::to_string(number); }

os::Failure replace(const std::string& path, const std::string& text) {
  os::Replacement file;
  const os::Failure failure = file.begin(path.c_str());
  return failure.reason ? failure : file.write(text.data(), text.size());
}

TEST(Os, MemoryIsAligned) {
  for (const size_t alignment : {16, 64, 4096}) {
    void* const memory = os::allocate(1000, alignment);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ((uintptr_t)memory % alignment, 0u);
    std::memset(memory, 1, 1000);
    os::release(memory);
  }
  os::release(nullptr);
}

TEST(Os, TheClockGoesOn) {
  const double start = os::microseconds();
  double now = start;
  while (now < start + 1000) {
    const double next = os::microseconds();
    ASSERT_GE(next, now);
    now = next;
  }
}

TEST(Os, FilesAreReadAsTheyAre) {
  // Line ends of any system, the byte that ended files on some, and more than a first buffer
  const std::string text = "a\r\nb\n\x1a" + std::string(40000, 'c') + std::string(1, '\0');
  const TemporaryFile file(text), empty("");
  EXPECT_EQ(read(file.path()), text);
  EXPECT_EQ(read(file.path(), text.size()), text);
  EXPECT_EQ(read(file.path(), text.size() - 1), reason(EFBIG));
  EXPECT_EQ(read(empty.path()), "");
  char beginning[5];
  EXPECT_EQ(os::read_beginning(file.path(), beginning, 5), 5u);
  EXPECT_EQ(std::string(beginning, 5), text.substr(0, 5));
  EXPECT_EQ(os::read_beginning(empty.path(), beginning, 5), 0u);
}

TEST(Os, WhatIsNoFileIsNotRead) {
  const Folder folder;
  char beginning[5];
  EXPECT_EQ(read(folder.file("none")), reason(ENOENT));
  EXPECT_EQ(read(folder.path()), reason(os::kNoRegularFile));
  EXPECT_EQ(os::read_beginning(folder.file("none").c_str(), beginning, 5), 0u);
  EXPECT_EQ(os::read_beginning(folder.path().c_str(), beginning, 5), 0u);
}

TEST(Os, FilesAreReplacedAsAWhole) {
  const Folder folder;
  const std::string path = folder.file("file");
  for (const std::string text : {"first\r\n", "2", ""}) {
    EXPECT_EQ(replace(path, text).reason, 0);
    EXPECT_EQ(read(path), text);
    EXPECT_EQ(folder.entries(), 1u);
  }
}

TEST(Os, WhatIsNotWrittenIsLeft) {
  const Folder folder;
  const std::string path = folder.file("file");
  os::Replacement().begin(path.c_str());
  EXPECT_EQ(folder.entries(), 0u);
  ASSERT_EQ(replace(path, "text").reason, 0);
  os::Replacement().begin(path.c_str());
  EXPECT_EQ(read(path), "text");
  EXPECT_EQ(replace(folder.path(), "text").reason, os::kNoRegularFile);
  const os::Failure failure = replace(folder.file("no/file"), "text");
  EXPECT_EQ(failure.reason, ENOENT);
  EXPECT_STRNE(failure.step, "");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(Os, WritersTakeTurns) {
  const Folder folder;
  const std::string path = folder.file("count");
  constexpr int kThreads = 4, kTimes = 25;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int time = 0; time < kTimes; ++time) {
        os::Replacement file;
        if (file.begin(path.c_str()).reason) continue;
        const std::string before = read(path);
        const int count = before.empty() || before[0] == 'r' ? 0 : std::stoi(before);
        const std::string after = std::to_string(count + 1);
        file.write(after.data(), after.size());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read(path), std::to_string(kThreads * kTimes));
}

}  // namespace
}  // namespace octet_test
