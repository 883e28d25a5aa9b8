// SPDX-License-Identifier: Apache-2.0
// Reads dispatch/tables/tiers.h and OCTET_TEST_TIERS.
#include "support/tiers.h"

#include <errno.h>  // program_invocation_short_name

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "dispatch/tables/tiers.h"
#include "support/system.h"

namespace octet_test {
namespace {

// The list, with a comma on either side of each name.
std::string listed() {
  const char* const list = std::getenv("OCTET_TEST_TIERS");
  return list ? ',' + std::string(list) + ',' : "";
}

const octet::Tier& row_of(octet_isa tier) { return octet::tier_of((octet::TierId)tier); }

std::vector<octet_isa> tiers_where(bool (*wanted)(const octet::Tier&)) {
  std::vector<octet_isa> tiers;
  for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i)
    if (wanted(*tier)) tiers.push_back((octet_isa)tier->tier_id);
  return tiers;
}

// Whether the i-th tier of this machine is one of those that this program tests.
bool is_one_of_some(size_t i) {
#ifdef OCTET_ASAN
  return i == 0 || (i + std::strlen(program_invocation_short_name)) % 2 == 0;
#else
  return (void)i, true;
#endif
}

bool is_native(const octet::Tier& tier) { return has(octet::tiers_of_this_architecture(), tier); }

}  // namespace

std::vector<octet_isa> all_tiers() {
  return tiers_where([](const octet::Tier&) { return true; });
}

std::vector<octet_isa> native_tiers() { return tiers_where(is_native); }

std::vector<octet_isa> foreign_tiers() {
  return tiers_where([](const octet::Tier& tier) { return !is_native(tier); });
}

std::vector<octet_isa> tiers_to_test() {
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  if (octet_get_cpu_info(&info, nullptr)) return {};
  const std::string list = listed();
  std::vector<octet_isa> tiers;
  for (const octet_isa isa : all_tiers()) {
    const std::string name = ',' + std::string(octet_isa_name(isa)) + ',';
    if ((info.detected_isas & ~info.demoted_isas) >> isa & 1 &&
        (list.empty() || list.find(name) != list.npos))
      tiers.push_back(isa);
  }
  if (!list.empty()) return tiers;
  std::vector<octet_isa> some;
  for (size_t i = 0; i < tiers.size(); ++i)
    if (is_one_of_some(i) || i + 1 == tiers.size()) some.push_back(tiers[i]);
  return some;
}

bool is_to_test(octet_isa isa) {
  const std::vector<octet_isa> tiers = tiers_to_test();
  return std::find(tiers.begin(), tiers.end(), isa) != tiers.end();
}

bool is_better(octet_isa tier, octet_isa than) {
  const std::vector<octet_isa> all = all_tiers();
  return std::find(all.begin(), all.end(), tier) < std::find(all.begin(), all.end(), than);
}

bool is_allowed(octet_isa tier, octet_isa limit) {
  return limit == OCTET_ISA_AUTO ||
         !(row_of(tier).needs & ~(row_of(limit).needs | row_of(limit).also_allows));
}

const octet::WeightFormat& format_for(octet_isa tier, octet_type weights) {
  return *octet::find_format_of(
      octet::layout_of((octet::TierId)tier,
                       weights == OCTET_U8 ? octet::ElementType::kU8 : octet::ElementType::kS8));
}

bool has_tiers_to_test() {
  const std::string list = listed();
  const auto commas = std::count(list.begin(), list.end(), ',');
  const size_t names = commas ? (size_t)commas - 1 : 1;
  return tiers_to_test().size() >= names;
}

}  // namespace octet_test
