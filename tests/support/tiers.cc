#include "support/tiers.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "dispatch/tables/tiers.h"

namespace octet_test {
namespace {

// With a comma on either side of each name.
std::string listed() {
  const char* const list = std::getenv("OCTET_TEST_TIERS");
  return list ? ',' + std::string(list) + ',' : "";
}

}  // namespace

std::vector<octet_isa> tiers_to_test() {
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  if (octet_get_cpu_info(&info, nullptr)) return {};
  const std::string list = listed();
  std::vector<octet_isa> tiers;
  for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i) {
    const octet_isa isa = static_cast<octet_isa>(tier->isa);
    const std::string name = ',' + std::string(octet_isa_name(isa)) + ',';
    if ((info.detected_isas & ~info.demoted_isas) >> isa & 1 &&
        (list.empty() || list.find(name) != list.npos))
      tiers.push_back(isa);
  }
  return tiers;
}

bool is_to_test(octet_isa isa) {
  const std::vector<octet_isa> tiers = tiers_to_test();
  return std::find(tiers.begin(), tiers.end(), isa) != tiers.end();
}

bool is_better(octet_isa tier, octet_isa than) {
  const auto place = [](octet_isa isa) {
    size_t i = 0;
    for (const octet::Tier* t; (t = octet::nth_tier(i)); ++i)
      if (static_cast<octet_isa>(t->isa) == isa) break;
    return i;
  };
  return place(tier) < place(than);
}

bool has_tiers_to_test() {
  const std::string list = listed();
  const auto commas = std::count(list.begin(), list.end(), ',');
  const size_t names = commas ? static_cast<size_t>(commas) - 1 : 1;
  return tiers_to_test().size() >= names;
}

}  // namespace octet_test
