// SPDX-License-Identifier: Apache-2.0
// Checks octet_conv2d_limit_packed: the limit is kept to the byte, the loss of time is the
// smallest, and no other field of a filter changes.
#include <algorithm>
#include <cstring>
#include <limits>

#include "support/conv_case.h"
#include "support/refused.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

octet_machine known_machine() {
  octet_machine m = OCTET_MACHINE_INIT;
  m.l2_bytes = 512 << 10, m.l3_bytes = 8 << 20, m.design = OCTET_DESIGN_ZEN3;
  return m;
}
const octet_machine kKnown = known_machine();

std::vector<octet_conv2d_shape> layers() {
  return {square(56, 64, 64, 3, 1, 1),   square(28, 128, 128, 3, 1, 1),
          square(28, 128, 128, 3, 2, 1), square(14, 256, 256, 3, 1, 1),
          square(7, 512, 512, 3, 1, 1),  square(14, 256, 64, 1),
          square(112, 3, 32, 3, 2, 1),   square(28, 64, 64, 3, 1, 1, 64)};
}

// Filters without data.
class Filters {
 public:
  explicit Filters(const std::vector<octet_conv2d_shape>& shapes) {
    for (const octet_conv2d_shape& shape : shapes) {
      octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
      filter.shape = shape, filter.type = OCTET_S8, filter.machine = &kKnown;
      list.push_back(filter);
    }
  }
  octet_status limit(octet_isa isa, size_t bytes_max, size_t* bytes, octet_error* error) {
    std::vector<octet_filter_desc*> pointers;
    for (octet_filter_desc& filter : list) pointers.push_back(&filter);
    return octet_conv2d_limit_packed(pointers.data(), pointers.size(), isa, bytes_max, bytes,
                                     error);
  }
  size_t weight_bytes() const {
    size_t bytes = 0;
    for (const octet_filter_desc& f : list)
      bytes += f.shape.kernel_h * f.shape.kernel_w * f.shape.in_channels * f.shape.out_channels /
               f.shape.groups;
    return bytes;
  }
  size_t pack_size(octet_isa isa) const {
    size_t all = 0;
    for (const octet_filter_desc& f : list) {
      size_t bytes = 0;
      octet_error error = {};
      EXPECT_EQ(octet_conv2d_pack_size(&f, isa, &bytes, &error), OCTET_OK) << error.message;
      all += bytes;
    }
    return all;
  }
  // The smallest size of all filters, from the message that refuses a limit of one byte.
  size_t least(octet_isa isa) {
    octet_error error = {};
    EXPECT_EQ(limit(isa, 1, nullptr, &error), OCTET_BAD_SIZE);
    const char* const said = std::strstr(error.message, "packed to is ");
    EXPECT_NE(said, nullptr) << error.message;
    return said ? std::stoul(said + std::strlen("packed to is ")) : 0;
  }

  std::vector<octet_filter_desc> list;
};

struct Way {
  size_t bytes;
  double microseconds;
};

octet_conv2d_candidate chosen(const octet_filter_desc& filter, octet_isa isa) {
  octet_conv2d_candidate c = OCTET_CONV2D_CANDIDATE_INIT;
  octet_error error = {};
  for (size_t i = 0; octet_conv2d_explain(&filter, isa, i, &c, &error) == OCTET_OK; ++i)
    if (c.chosen) return c;
  ADD_FAILURE() << error.message;
  return c;
}

// Every algorithm that a filter is packed for under some limit, by explain.
std::vector<Way> ways_of(octet_filter_desc filter, octet_isa isa) {
  std::vector<Way> ways;
  size_t bytes;
  while (octet_conv2d_pack_size(&filter, isa, &bytes, nullptr) == OCTET_OK) {
    ways.push_back({bytes, chosen(filter, isa).microseconds});
    filter.packed_bytes_max = bytes - 1;
  }
  return ways;
}

// All tiers of the library, not only those of this CPU: DOTPROD and I8MM alone never take Winograd,
// so a limit changes nothing there.
std::vector<octet_isa> compiled_tiers() {
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  EXPECT_EQ(octet_get_cpu_info(&info, nullptr), OCTET_OK);
  std::vector<octet_isa> tiers;
  for (int isa = 1; isa < 32; ++isa)
    if (info.compiled_isas >> isa & 1) tiers.push_back((octet_isa)isa);
  return tiers;
}
// AUTO may have a format of this machine, too.
std::vector<octet_isa> tiers_and_auto() {
  std::vector<octet_isa> tiers = compiled_tiers();
  tiers.push_back(OCTET_ISA_AUTO);
  return tiers;
}

TEST(ConvLimit, IsKeptToTheByte) {
  size_t limited = 0;
  for (const octet_isa isa : tiers_and_auto()) {
    const Filters free(layers());
    const size_t most = free.pack_size(isa), least = Filters(layers()).least(isa);
    ASSERT_LE(least, most);
    limited += least < most;
    for (size_t i = 0; i <= 40; ++i)
      for (const size_t more : {0, 1}) {
        const size_t limit = least + (most - least) / 40 * i + more;
        SCOPED_TRACE(testing::Message() << octet_isa_name(isa) << ", " << limit << " bytes");
        Filters filters(layers());
        size_t bytes = 0;
        octet_error error = {};
        ASSERT_EQ(filters.limit(isa, limit, &bytes, &error), OCTET_OK) << error.message;
        EXPECT_LE(bytes, limit);
        EXPECT_EQ(bytes, filters.pack_size(isa));
        if (limit == least) {
          EXPECT_EQ(bytes, least);
        }
        for (size_t f = 0; f < filters.list.size(); ++f) {
          filters.list[f].packed_bytes_max = 0;
          EXPECT_EQ(std::memcmp(&filters.list[f], &free.list[f], sizeof free.list[f]), 0)
              << "another field of filter " << f << " was changed";
        }
      }
  }
  EXPECT_GT(limited, 0u);
}

TEST(ConvLimit, WhatFitsIsLeftAlone) {
  for (const octet_isa isa : tiers_and_auto()) {
    const size_t most = Filters(layers()).pack_size(isa);
    for (const size_t limit : {most, most + 1, SIZE_MAX - 1, SIZE_MAX}) {
      Filters filters(layers());
      size_t bytes = 0;
      ASSERT_EQ(filters.limit(isa, limit, &bytes, nullptr), OCTET_OK);
      EXPECT_EQ(bytes, most);
      for (const octet_filter_desc& f : filters.list) EXPECT_EQ(f.packed_bytes_max, 0u);
    }
  }
}

TEST(ConvLimit, BelowTheLeastBothNumbersAreTold) {
  for (const octet_isa isa : tiers_and_auto()) {
    Filters filters(layers());
    const size_t least = filters.least(isa);
    size_t of_each = 0;
    for (const octet_filter_desc& f : filters.list) of_each += ways_of(f, isa).back().bytes;
    EXPECT_EQ(least, of_each);
    for (const size_t limit : {size_t{1}, least / 2, least - 1}) {
      const std::string argument = "bytes_max is " + std::to_string(limit) + ";",
                        told = "packed to is " + std::to_string(least) + " bytes";
      size_t bytes = 77;
      for (const std::string& text : {argument, told})
        expect_refused(OCTET_BAD_SIZE, text.c_str(),
                       [&](octet_error* e) { return filters.limit(isa, limit, &bytes, e); });
      EXPECT_EQ(bytes, 77u);
      for (const octet_filter_desc& f : filters.list) EXPECT_EQ(f.packed_bytes_max, 0u);
    }
  }
}

double total_us(const Filters& filters, octet_isa isa) {
  double sum = 0;
  for (const octet_filter_desc& f : filters.list) sum += chosen(f, isa).microseconds;
  return sum;
}

// The bottlenecks of ResNet-50 (v1.5), and 3x3 layers of a U-Net.
std::vector<octet_conv2d_shape> resnet() {
  std::vector<octet_conv2d_shape> shapes;
  size_t size = 56, channels = 64;
  for (const size_t blocks : {3, 4, 6, 3}) {
    const size_t middle = 3584 / size;
    for (size_t i = 0; i < blocks; ++i) {
      const size_t stride = i == 0 && size < 56 ? 2 : 1;
      shapes.push_back(square(size * stride, channels, middle, 1));
      shapes.push_back(square(size * stride, middle, middle, 3, stride, 1));
      shapes.push_back(square(size, middle, middle * 4, 1));
      if (i == 0) shapes.push_back(square(size * stride, channels, middle * 4, 1, stride));
      channels = middle * 4;
    }
    size /= 2;
  }
  return shapes;
}
std::vector<octet_conv2d_shape> unet() {
  return {square(256, 64, 64, 3, 1, 1), square(128, 128, 128, 3, 1, 1)};
}

constexpr double kRounding = 1e-9;  // sums of doubles in another order differ

// 0 stops at 2.5 times the weights, or where the next step would cost more than a twentieth.
TEST(ConvLimit, TheDefaultStopsAtTheWeightsOrTheTime) {
  for (const octet_isa isa : tiers_to_test())
    for (const auto& shapes : {layers(), resnet(), unet()}) {
      const Filters free(shapes);
      Filters filters(shapes);
      size_t bytes = 0;
      ASSERT_EQ(filters.limit(isa, 0, &bytes, nullptr), OCTET_OK);
      EXPECT_EQ(bytes, filters.pack_size(isa));
      const double free_us = total_us(free, isa), us = total_us(filters, isa),
                   most_us = free_us * (1 + 1. / 20);
      EXPECT_LE(us, most_us + kRounding * free_us);
      if (bytes <= free.weight_bytes() * 5 / 2) continue;
      for (size_t f = 0; f < shapes.size(); ++f) {
        const octet_conv2d_candidate now = chosen(filters.list[f], isa);
        for (const Way& way : ways_of(free.list[f], isa))
          if (way.bytes < now.packed_bytes) {
            EXPECT_GT(us - now.microseconds + way.microseconds, most_us - kRounding * free_us);
          }
      }
    }
}

// The result does not depend on this machine. Where int16 is multiplied as fast as int8, a limit of
// 2.5 times the weights costs a U-Net too much time.
TEST(ConvLimit, TheDefaultByNetworkAndDesign) {
  const struct {
    octet_isa isa;
    octet_cpu_design design;
    bool resnet, unet;  // stay within 2.5 times their weights
  } kMachines[] = {{OCTET_ISA_AVX2, OCTET_DESIGN_ZEN3, true, false},
                   {OCTET_ISA_AVX2, OCTET_DESIGN_UNKNOWN, true, false},
                   {OCTET_ISA_AVX512VNNI, OCTET_DESIGN_ZEN4, true, false},
                   {OCTET_ISA_NEON, OCTET_DESIGN_CORTEX_A72, true, false},
                   {OCTET_ISA_DOTPROD, OCTET_DESIGN_NEOVERSE_N1, true, true}};
  for (const auto& m : kMachines)
    for (const bool large_maps : {false, true}) {
      SCOPED_TRACE(testing::Message() << octet_isa_name(m.isa) << ' '
                                      << octet_cpu_design_name(m.design) << ' ' << large_maps);
      octet_machine machine = kKnown;
      machine.design = m.design;
      Filters filters(large_maps ? unet() : resnet());
      for (octet_filter_desc& f : filters.list) f.machine = &machine;
      const size_t free = filters.pack_size(m.isa), limit = filters.weight_bytes() * 5 / 2;
      size_t bytes = 0;
      ASSERT_EQ(filters.limit(m.isa, 0, &bytes, nullptr), OCTET_OK);
      EXPECT_EQ(bytes <= limit, large_maps ? m.unet : m.resnet) << bytes << " of " << limit;
      EXPECT_LE(bytes, free);
    }
}

TEST(ConvLimit, TheDefaultTakesTinyFiltersAsTheyAre) {
  for (const octet_isa isa : tiers_and_auto()) {
    // Most of the blob of so few weights is its head
    Filters tiny({square(8, 1, 1, 3, 1, 1), square(8, 1, 1, 1)});
    ASSERT_GT(tiny.least(isa), tiny.weight_bytes() * 5 / 2);
    size_t bytes = 0;
    ASSERT_EQ(tiny.limit(isa, 0, &bytes, nullptr), OCTET_OK);
    EXPECT_EQ(bytes, tiny.pack_size(isa));
  }
}

// The limit is one byte less than all of them take: the loss of time is at most that of the step
// with the smallest loss per byte.
TEST(ConvLimit, GivesUpWhatLosesTheLeastPerByte) {
  size_t compared = 0;
  for (const octet_isa isa : compiled_tiers())
    for (const octet_conv2d_shape& one : layers())
      for (const octet_conv2d_shape& other : layers()) {
        Filters filters({one, other});
        const std::vector<Way> ways[] = {ways_of(filters.list[0], isa),
                                         ways_of(filters.list[1], isa)};
        const Way* best[] = {&ways[0][0], &ways[1][0]};
        double least_loss = std::numeric_limits<double>::infinity();
        for (const size_t f : {0, 1})
          for (const Way& way : ways[f]) {
            const Way& first = ways[f][0];
            if (&way == &first) continue;
            const double loss =
                (way.microseconds - first.microseconds) / (double)(first.bytes - way.bytes);
            if (loss >= least_loss) continue;
            least_loss = loss;
            best[f] = &way;
            best[1 - f] = &ways[1 - f][0];
          }
        const size_t all = ways[0][0].bytes + ways[1][0].bytes;
        octet_error error = {};
        const octet_status status = filters.limit(isa, all - 1, nullptr, &error);
        if (ways[0].size() == 1 && ways[1].size() == 1) {
          EXPECT_EQ(status, OCTET_BAD_SIZE);
          continue;
        }
        ++compared;
        ASSERT_EQ(status, OCTET_OK) << error.message;
        EXPECT_LE(total_us(filters, isa), best[0]->microseconds + best[1]->microseconds);
      }
  EXPECT_GT(compared, 0u);
}

// No filter could be packed faster within the bytes that are left.
TEST(ConvLimit, LeavesNoRoomThatIsOfUse) {
  for (const octet_isa isa : tiers_to_test()) {
    const size_t most = Filters(layers()).pack_size(isa), least = Filters(layers()).least(isa);
    for (size_t limit = least; limit <= most; limit += (most - least) / 25 + 1) {
      Filters filters(layers());
      size_t bytes = 0;
      ASSERT_EQ(filters.limit(isa, limit, &bytes, nullptr), OCTET_OK);
      const Filters free(layers());
      for (size_t f = 0; f < free.list.size(); ++f) {
        const octet_conv2d_candidate now = chosen(filters.list[f], isa);
        for (const Way& way : ways_of(free.list[f], isa))
          if (bytes - now.packed_bytes + way.bytes <= limit) {
            EXPECT_GE(way.microseconds, now.microseconds);
          }
      }
    }
  }
}

TEST(ConvLimit, IsTheSameEveryTime) {
  for (const octet_isa isa : tiers_and_auto()) {
    // Equal filters tie
    std::vector<octet_conv2d_shape> shapes(5, square(14, 256, 256, 3, 1, 1));
    Filters once(shapes), again(shapes);
    const size_t most = once.pack_size(isa), least = once.least(isa), limit = (most + least) / 2;
    ASSERT_EQ(once.limit(isa, limit, nullptr, nullptr), OCTET_OK);
    ASSERT_EQ(again.limit(isa, limit, nullptr, nullptr), OCTET_OK);
    for (size_t i = 0; i < shapes.size(); ++i)
      EXPECT_EQ(once.list[i].packed_bytes_max, again.list[i].packed_bytes_max);
  }
}

TEST(ConvLimit, WhatAFilterHasIsKept) {
  for (const octet_isa isa : tiers_to_test()) {
    Filters filters(std::vector<octet_conv2d_shape>(3, square(28, 128, 128, 3, 1, 1)));
    const size_t direct = ways_of(filters.list[0], isa).back().bytes;
    filters.list[0].algorithm = OCTET_CONV_WINOGRAD_4X4;
    size_t forced = 0;
    ASSERT_EQ(octet_conv2d_pack_size(&filters.list[0], isa, &forced, nullptr), OCTET_OK);
    filters.list[1].packed_bytes_max = forced + 1;
    size_t second = 0;
    ASSERT_EQ(octet_conv2d_pack_size(&filters.list[1], isa, &second, nullptr), OCTET_OK);
    EXPECT_EQ(filters.least(isa), forced + second + direct);
    size_t bytes = 0;
    ASSERT_EQ(filters.limit(isa, forced + second + direct, &bytes, nullptr), OCTET_OK);
    EXPECT_EQ(bytes, forced + second + direct);
    EXPECT_EQ(filters.list[0].packed_bytes_max, 0u);
    EXPECT_EQ(filters.list[0].algorithm, OCTET_CONV_WINOGRAD_4X4);
    EXPECT_EQ(filters.list[1].packed_bytes_max, forced + 1);
    EXPECT_EQ(filters.pack_size(isa), bytes);
    // An algorithm that the environment forces has one size, too
    const ScopedEnvironment environment("OCTET_CONV", "winograd4x4");
    Filters all(std::vector<octet_conv2d_shape>(2, square(28, 128, 128, 3, 1, 1)));
    EXPECT_EQ(all.least(isa), 2 * forced);
  }
}

TEST(ConvLimit, AFilterMayBeListedTwice) {
  for (const octet_isa isa : tiers_to_test()) {
    Filters filters({square(56, 64, 64, 3, 1, 1)});
    octet_filter_desc* const twice[] = {&filters.list[0], &filters.list[0]};
    const std::vector<Way> ways = ways_of(filters.list[0], isa);
    const size_t limit = ways.front().bytes + ways.back().bytes;
    size_t bytes = 0;
    ASSERT_EQ(octet_conv2d_limit_packed(twice, 2, isa, limit, &bytes, nullptr), OCTET_OK);
    EXPECT_LE(2 * filters.pack_size(isa), limit);
  }
}

TEST(ConvLimit, NeverChangesAByte) {
  uint32_t turn = 0;
  for (const octet_conv2d_shape& shape :
       {square(9, 40, 24, 3, 1, 1), square(12, 16, 48, 3, 2, 1), square(10, 32, 32, 3, 1, 1, 32)})
    for (const octet_isa isa : tiers_to_test()) {
      const ConvProblem problem(turned(shape, ++turn));
      octet_filter_desc filter = problem.filter_desc();
      octet_filter_desc* const filters[] = {&filter};
      size_t most = 0;
      ASSERT_EQ(octet_conv2d_pack_size(&filter, isa, &most, nullptr), OCTET_OK);
      for (size_t limit = most; limit > 0;) {
        filter.packed_bytes_max = 0;
        size_t bytes = 0;
        if (octet_conv2d_limit_packed(filters, 1, isa, limit, &bytes, nullptr) != OCTET_OK) break;
        ConvHow how;
        how.isa = isa, how.packed_bytes_max = filter.packed_bytes_max;
        SCOPED_TRACE(testing::Message() << problem.c << ", " << how);
        check(problem, how);
        limit = bytes - 1;
      }
    }
}

// ---- bad input

TEST(BadConvLimit, NoFiltersAreNoError) {
  octet_error error = {};
  for (const size_t limit : {size_t{0}, size_t{1}, SIZE_MAX}) {
    size_t bytes = 77;
    EXPECT_EQ(octet_conv2d_limit_packed(nullptr, 0, OCTET_ISA_AUTO, limit, &bytes, &error),
              OCTET_OK);
    EXPECT_EQ(bytes, 0u);
    EXPECT_EQ(octet_conv2d_limit_packed(nullptr, 0, OCTET_ISA_AUTO, limit, nullptr, nullptr),
              OCTET_OK);
  }
}

TEST(BadConvLimit, PointersAndCounts) {
  size_t bytes = 0;
  expect_refused(OCTET_NULL_POINTER, "filters is null", [&](octet_error* e) {
    return octet_conv2d_limit_packed(nullptr, 1, OCTET_ISA_AUTO, 0, &bytes, e);
  });
  Filters filters(layers());
  octet_filter_desc* const with_null[] = {&filters.list[0], &filters.list[1], nullptr};
  expect_refused(OCTET_NULL_POINTER, "filters[2]: filter is null", [&](octet_error* e) {
    return octet_conv2d_limit_packed(with_null, 3, OCTET_ISA_AUTO, 0, &bytes, e);
  });
  for (const size_t count : {SIZE_MAX, SIZE_MAX / 2, size_t{PTRDIFF_MAX} / 64})
    expect_refused(OCTET_BAD_SIZE, "count is", [&](octet_error* e) {
      return octet_conv2d_limit_packed(with_null, count, OCTET_ISA_AUTO, 0, &bytes, e);
    });
}

TEST(BadConvLimit, TheErrorOfAFilterTellsWhich) {
  const auto refuses = [](octet_status status, size_t index, const char* field,
                          const std::function<void(octet_filter_desc&)>& edit) {
    Filters filters(layers());
    edit(filters.list[index]);
    const std::string said = "filters[" + std::to_string(index) + "]: filter." + field;
    expect_refused(status, said.c_str(),
                   [&](octet_error* e) { return filters.limit(OCTET_ISA_AUTO, 0, nullptr, e); });
    filters.list[index].packed_bytes_max = 0;  // the edit may have set it
    for (const octet_filter_desc& f : filters.list) EXPECT_EQ(f.packed_bytes_max, 0u);
  };
  refuses(OCTET_UNKNOWN_ENUM, 0, "type", [](octet_filter_desc& f) { f.type = OCTET_S32; });
  refuses(OCTET_UNKNOWN_ENUM, 3, "order", [](octet_filter_desc& f) { set_raw(&f.order, 9); });
  refuses(OCTET_BAD_SIZE, 7, "shape.in_h_max", [](octet_filter_desc& f) { f.shape.in_h_max = 0; });
  refuses(OCTET_UNSUPPORTED, 5, "algorithm",
          [](octet_filter_desc& f) { f.algorithm = OCTET_CONV_WINOGRAD_4X4; });
  refuses(OCTET_BAD_SIZE, 1, "packed_bytes_max",
          [](octet_filter_desc& f) { f.packed_bytes_max = 1; });
  refuses(OCTET_BAD_STRUCT_SIZE, 2, "struct_size", [](octet_filter_desc& f) { f.struct_size = 8; });
  // The struct is an older program's, with no room for a limit
  refuses(OCTET_BAD_STRUCT_SIZE, 4, "struct_size",
          [](octet_filter_desc& f) { f.struct_size = offsetof(octet_filter_desc, zero_points); });
  Filters filters(layers());
  expect_refused(OCTET_UNKNOWN_ENUM, "isa is 77",
                 [&](octet_error* e) { return filters.limit((octet_isa)77, 0, nullptr, e); });
}

TEST(BadConvLimit, SumsThatOverflow) {
  Filters filters({square(1, 1 << 20, size_t{1} << 31, 1)});
  const std::vector<octet_filter_desc*> many(20000, &filters.list[0]);
  size_t bytes = 0;
  const char* const said = sizeof(size_t) == 8 ? "blobs leave 64 bits" : "filters[0]: ";
  expect_refused(OCTET_BAD_SIZE, said, [&](octet_error* e) {
    return octet_conv2d_limit_packed(many.data(), many.size(), OCTET_ISA_SCALAR, 0, &bytes, e);
  });
}

}  // namespace
}  // namespace octet_test
