// SPDX-License-Identifier: Apache-2.0
// Checks packed weights in files, which later programs map, or pack again where one is damaged.
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engines/graph/memory/map.h"
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

// A library without some algorithm packs other blobs, and names other files.
TEST_F(WeightFiles, SayTheLibrarysParts) {
  use(folder);
  for (const fs::path& path : files()) {
    const Bytes bytes = read(path);
    const std::string head(bytes.begin(), std::find(bytes.begin() + 40, bytes.end(), '\n'));
    const std::string words = std::string(octet_version()) + " with ";
    const size_t at = head.find(words);
    ASSERT_NE(at, std::string::npos) << head;
    octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
    filter.shape.in_channels = filter.shape.out_channels = 64;
    filter.shape.in_h_max = filter.shape.in_w_max = 28;
    filter.shape.kernel_h = filter.shape.kernel_w = 3;
    filter.type = OCTET_S8;
    filter.algorithm = OCTET_CONV_WINOGRAD_2X2;
    size_t size = 0;
    const bool has = octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &size, nullptr) == OCTET_OK;
    EXPECT_EQ(head.compare(at + words.size(), 3, "ON ") == 0, has) << head;
  }
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

// A convolution of 3x3 from 64 to 64 channels, whose best algorithm depends on the image.
struct Wide : GraphCase {
  Wide(int64_t size, int64_t pad) {
    const int x = input({1, size, size, 64}, OCTET_S8, 0.1f, 1), w = weights({64, 3, 3, 64}),
              b = bias(64), out = size + 2 * pad - 2;
    const int y = tensor({1, out, out, 64}, OCTET_S8, 0.2f);
    op(Kind::kConvolution, {x, w, b}, y).window.padding = pad ? Padding::kSame : Padding::kValid;
    g.outputs = {y};
  }
};

// Equal weights have a file for each size of the images, and each session maps its own.
TEST_F(WeightFiles, OfOtherSizes) {
  Wide cases[] = {{10, 1}, {56, 1}, {10, 0}};
  for (int round = 0; round < 3; ++round)
    for (Wide& c : cases) {
      const auto weights = std::make_shared<PackedWeights>(folder.string());
      const Bytes image(c.count(c.g.inputs[0]), 3);
      EXPECT_EQ(run(*created(c.g, {}, weights), c.g, {image}), run(*created(c.g), c.g, {image}));
      EXPECT_EQ(weights->packed(), round ? 0u : 1u);
      EXPECT_EQ(weights->mapped(), round ? 1u : 0u);
    }
  EXPECT_EQ(files().size(), 3u);
  // In memory one blob serves all sizes
  const auto weights = std::make_shared<PackedWeights>(folder.string());
  for (Wide& c : cases) created(c.g, {}, weights);
  EXPECT_EQ(weights->mapped(), 1u);
  EXPECT_EQ(weights->packed(), 0u);
}

struct Variable {
  Variable(const char* its_name, const char* value) : name(its_name) {
    if (const char* const before = std::getenv(name)) old = before, was_set = true;
    setenv(name, value, 1);
  }
  ~Variable() { was_set ? setenv(name, old.c_str(), 1) : unsetenv(name); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  const char* const name;
  std::string old;
  bool was_set = false;
};

// A blob that such a variable chose is not for sessions without it, nor the other way round.
TEST_F(WeightFiles, NotWithAnEnvironmentThatChooses) {
  const fs::path tuning = folder / "tuning";
  write(tuning, {});
  const std::pair<const char*, std::string> variables[] = {{"OCTET_KERNEL", "scalar_u8s8_4x4x4"},
                                                           {"OCTET_CONV", "im2col"},
                                                           {"OCTET_TUNING", tuning.string()}};
  for (const bool filled : {false, true}) {
    if (filled) use(folder);
    const size_t before = files().size();
    EXPECT_EQ(before, filled ? 3u : 1u);
    for (const auto& [name, value] : variables) {
      SCOPED_TRACE(name);
      const Variable variable(name, value.c_str());
      const auto weights = use(folder);
      EXPECT_EQ(weights->mapped(), 0u);
      EXPECT_EQ(weights->packed(), 2u);
      EXPECT_EQ(weights->unwritten(), 2u);
      EXPECT_EQ(files().size(), before);
    }
  }
  const Variable empty("OCTET_CONV", "");  // as if it were not set
  EXPECT_EQ(use(folder)->mapped(), 2u);
}

// A pipe, a link or a folder in a file's place: nothing waits, and a link's target stays as it is.
TEST_F(WeightFiles, NoRegularFilesInTheirPlaces) {
  use(folder);
  const fs::path path = files()[0], target = folder / "target";
  const Bytes whole = read(path), text = {'t', 'e', 'x', 't'};
  const auto replaced = [&] {
    const auto weights = use(folder);
    EXPECT_EQ(weights->packed(), 1u);
    EXPECT_EQ(weights->unwritten(), 0u);
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path)));
    EXPECT_EQ(read(path), whole);
  };
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  replaced();
  fs::remove(path);
  write(target, text);
  fs::create_symlink(target, path);
  replaced();
  EXPECT_EQ(read(target), text);
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_EQ(use(folder)->unwritten(), 1u);
  EXPECT_EQ(files().size(), 3u);  // both and the target: no unfinished file stays
}

// The names of unfinished files may be in use.
TEST_F(WeightFiles, UnfinishedOnesOfOthers) {
  use(folder);
  const fs::path path = files()[0], target = folder / "target";
  const Bytes whole = read(path), text = {'t', 'e', 'x', 't'};
  write(target, text);
  fs::remove(path);
  const std::string start = path.string() + '.' + std::to_string(process_number()) + '.';
  constexpr int kNames = 4000;  // more than this process has written files
  for (int i = 0; i < kNames; ++i) fs::create_symlink(target, start + std::to_string(i));
  const auto weights = use(folder);
  EXPECT_EQ(weights->packed(), 1u);
  EXPECT_EQ(weights->unwritten(), 0u);
  EXPECT_EQ(read(path), whole);
  EXPECT_EQ(read(target), text);
  for (int i = 0; i < kNames; ++i)
    EXPECT_TRUE(fs::is_symlink(fs::symlink_status(start + std::to_string(i))));
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
