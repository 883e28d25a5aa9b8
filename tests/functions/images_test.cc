// SPDX-License-Identifier: Apache-2.0
// Compares functions of images with the bytes of engines (image_vectors.txt), on every tier, with
// and without gaps between pixels, lines and images, beside pages that may not be touched.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "functions/from_hex.h"
#include "functions/image_case.h"
#include "support/vector_test.h"

namespace octet_test {
namespace {

class ImagesTest : public testing::TestWithParam<octet_isa> {
 protected:
  void SetUp() override {
    if (!is_to_test(GetParam())) GTEST_SKIP() << "not on this machine, or tested by another run";
  }
};

TEST_P(ImagesTest, GivesTheBytesOfEngines) {
  std::ifstream file(OCTET_SOURCE_DIR "/tests/functions/image_vectors.txt");
  std::string text;
  size_t lines = 0;
  while (std::getline(file, text)) {
    ++lines;
    SCOPED_TRACE("line " + std::to_string(lines) + ": " + text.substr(0, 120));
    std::istringstream words(text);
    std::string name, word;
    std::vector<std::string> rest;
    words >> name;
    while (words >> word) rest.push_back(word);
    ASSERT_GT(rest.size(), 2u);
    const std::vector<uint8_t> output = from_hex(rest.back());
    rest.pop_back();
    const std::vector<uint8_t> input = from_hex(rest.back());
    rest.pop_back();
    std::vector<int64_t> numbers;
    for (const std::string& number : rest) numbers.push_back(std::stoll(number));
    const Created f = create_from_numbers(name, numbers, GetParam());
    ASSERT_NE(f.function, nullptr);
    for (const size_t gap : {0, 1, 5})
      for (const Side side : {Side::kBack, Side::kFront})
        ASSERT_EQ(run_guarded(f, input, gap, side), output) << "gap " << gap;
    if (HasFailure()) return;
  }
  EXPECT_GT(lines, 530u);
}

OCTET_FOR_EACH_TIER(ImagesTest);

}  // namespace
}  // namespace octet_test
