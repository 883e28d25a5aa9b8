// Checks packed weights in files, which later programs map, or pack again where one is damaged.
#include <filesystem>
#include <fstream>

#include "graph/good_graph.h"

namespace octet_test {
namespace {

namespace fs = std::filesystem;

struct WeightFiles : testing::Test {
  void SetUp() override {
    fs::remove_all(folder);
    fs::create_directory(folder);
    expected = run(*created(good.g), good.g, {in});
  }
  void TearDown() override { fs::remove_all(folder); }

  // Runs a program of weights in the folder, and returns these.
  std::shared_ptr<PackedWeights> use(const fs::path& path) {
    const auto weights = std::make_shared<PackedWeights>(path.string());
    EXPECT_EQ(run(*created(good.g, {}, weights), good.g, {in}), expected);
    return weights;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path());
    return all;
  }
  static Bytes read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), {});
  }
  static void write(const fs::path& path, const Bytes& bytes) {
    std::ofstream(path, std::ios::binary).write((const char*)bytes.data(), (long)bytes.size());
  }

  const fs::path folder = fs::path(testing::TempDir()) / "octet_weight_files_test";
  Good good;
  const Bytes in = good.draw(64);
  Bytes expected;
};

TEST_F(WeightFiles, AreMapped) {
  const auto first = use(folder);
  EXPECT_EQ(first->packed(), 2u);
  EXPECT_EQ(first->mapped(), 0u);
  EXPECT_EQ(files().size(), 2u);
  const auto second = use(folder);
  EXPECT_EQ(second->packed(), 0u);
  EXPECT_EQ(second->mapped(), 2u);
  EXPECT_EQ(second->bytes(), first->bytes());
  good.data[0][5] ^= 1;  // the convolution's weights
  expected = run(*created(good.g), good.g, {in});
  const auto other = use(folder);
  EXPECT_EQ(other->packed(), 1u);
  EXPECT_EQ(other->mapped(), 1u);
  EXPECT_EQ(files().size(), 3u);
}

// Whatever is wrong with a file, it is not used, and a whole one takes its place.
TEST_F(WeightFiles, DamagedOnes) {
  use(folder);
  for (const fs::path& path : files()) {
    const Bytes whole = read(path);
    std::vector<Bytes> damaged = {{}, {0}, Bytes(whole.begin(), whole.end() - 1), whole};
    damaged.back().push_back(0);
    for (size_t at = 0; at < whole.size(); at += 1 + whole.size() / 60) {
      damaged.push_back(whole);
      damaged.back()[at] ^= (uint8_t)(1 + at % 255);
    }
    for (const Bytes& bytes : damaged) {
      write(path, bytes);
      const auto weights = use(folder);
      EXPECT_EQ(weights->packed(), 1u);
      EXPECT_EQ(weights->mapped(), 1u);
      EXPECT_EQ(read(path), whole);
    }
  }
  // One in the other's place has another key
  const std::vector<fs::path> both = files();
  write(both[0], read(both[1]));
  EXPECT_EQ(use(folder)->mapped(), 1u);
}

TEST_F(WeightFiles, NowhereToWrite) {
  for (int i = 0; i < 2; ++i) {
    const auto weights = use(folder / "none");
    EXPECT_EQ(weights->packed(), 2u);
    EXPECT_EQ(weights->mapped(), 0u);
    EXPECT_EQ(weights->unwritten(), 2u);
  }
  EXPECT_TRUE(files().empty());
  const auto without = use("");
  EXPECT_EQ(without->packed(), 2u);
  EXPECT_EQ(without->unwritten(), 0u);
}

}  // namespace
}  // namespace octet_test
