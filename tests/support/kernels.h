// SPDX-License-Identifier: Apache-2.0
// Shows the kernel table as tests see it: each kernel, the shapes around its tile, the types it
// multiplies.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "dispatch/select/machine.h"
#include "dispatch/tables/kernels.h"
#include "dispatch/tables/tier_ops.h"
#include "dispatch/tables/tiers.h"
#include "octet/octet.h"
#include "support/system.h"
#include "support/tiers.h"

namespace octet_test {

using octet::MicroKernel;

struct Types {
  octet_type lhs, rhs;
};

inline bool is_unsigned(octet_type type) { return type == OCTET_U8; }

inline bool is_4bit(octet_type type) { return type == OCTET_S4 || type == OCTET_U4; }

inline bool serves(const MicroKernel& kernel, Types types) {
  if (kernel.rhs_layout.is_4bit() != is_4bit(types.rhs)) return false;
  const bool lhs = kernel.is(octet::kAnyLhs) ||
                   is_unsigned(types.lhs) == (kernel.lhs_element_type == octet::ElementType::kU8);
  const bool rhs =
      kernel.rhs_layout.element_type == octet::ElementType::kS8 || is_unsigned(types.rhs);
  return lhs && rhs;
}

// Whether other kernels of the same weights, of a better tier, leave so few columns to this one.
// kernel: null for none.
inline bool is_for_few_columns(const MicroKernel* kernel, size_t columns) {
  const auto kernels = octet::int8_kernels();
  return kernel && (kernel->n_max || std::any_of(kernels.begin(), kernels.end(), [&](auto* other) {
                      return other->rhs_layout == kernel->rhs_layout && columns < other->n_min;
                    }));
}

// The CPU's features with this machine's caches and cores.
inline octet::CpuFeatures with_microarchitecture(octet::CpuFeatures cpu) {
  octet::add_microarchitecture(&cpu);
  return cpu;
}

// A CPU of these tiers that has every feature, those beyond its tiers', too.
inline octet::CpuFeatures all_of(octet::TierMask isas) {
  octet::CpuFeatures cpu = {};
  cpu.tiers = isas;
  cpu.features = ~0u;
  return cpu;
}

// Run-time weights are unknown when kernels are chosen.
inline bool takes_any_weights(const MicroKernel& kernel) {
  return !kernel.is(octet::kNoInt8Min) && !kernel.rhs_layout.sparse() &&
         !kernel.rhs_layout.is_4bit();
}

inline std::vector<Types> types_of(const MicroKernel& kernel) {
  std::vector<Types> served;
  for (const octet_type rhs : {OCTET_S8, OCTET_U8, OCTET_S4, OCTET_U4})
    for (const octet_type lhs : {OCTET_U8, OCTET_S8})
      if (serves(kernel, {lhs, rhs})) served.push_back({lhs, rhs});
  return served;
}

inline bool usable(const MicroKernel& kernel) {
  return octet::supports(octet::this_machine().cpu, kernel);
}

// A CPU of the kernel's tier may lack what the kernel needs beyond it.
template <typename Kernel>
bool is_to_test(const Kernel& kernel) {
  return octet::supports(octet::this_machine().cpu, kernel) &&
         is_to_test((octet_isa)kernel.tier_id);
}

inline std::vector<const MicroKernel*> table() {
  const octet::KernelList list = octet::int8_kernels();
  return {list.begin(), list.end()};
}

inline std::vector<const MicroKernel*> int16_table() {
  const octet::KernelList list = octet::int16_kernels();
  return {list.begin(), list.end()};
}

// 1, s - 1, s, s + 1, 2s + 1 for each s, without zeros and repetitions.
inline std::vector<size_t> around(std::initializer_list<size_t> sizes) {
  std::vector<size_t> out = {1};
  for (const size_t s : sizes) out.insert(out.end(), {s - 1, s, s + 1, 2 * s + 1});
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  out.erase(std::remove(out.begin(), out.end(), 0u), out.end());
  return out;
}

inline std::vector<size_t> depths(const MicroKernel& kernel) {
  const size_t kr = kernel.rhs_layout.kr;
  return {1, kr - 1 ? kr - 1 : 1, kr, kr + 1, 8 * kr, 257};
}

// Sets an environment variable for a scope.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const char* value) : name_(name) {
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~ScopedEnvironment() { unsetenv(name_); }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  const char* name_;
};

// A test that runs once per kernel of the table. A kernel that this CPU does not run, or another
// run tests, is skipped with a message.
class EachKernel : public testing::TestWithParam<const MicroKernel*> {
 protected:
  void SetUp() override {
    if (!is_to_test(kernel()))
      GTEST_SKIP() << kernel().name << ", of tier " << octet::isa_name(kernel().tier_id)
                   << ": this CPU does not run it, or another run tests it";
  }
  const MicroKernel& kernel() const { return *GetParam(); }
};

inline std::string kernel_name(const testing::TestParamInfo<const MicroKernel*>& info) {
  return info.param->name;
}

#define OCTET_FOR_EACH_KERNEL(Suite) \
  INSTANTIATE_TEST_SUITE_P(, Suite, testing::ValuesIn(octet_test::table()), octet_test::kernel_name)

// Tiers that this CPU runs.
inline std::vector<octet::TierId> usable_tiers() {
  std::vector<octet::TierId> all;
  for (const MicroKernel* kernel : table())
    if (usable(*kernel) && std::find(all.begin(), all.end(), kernel->tier_id) == all.end())
      all.push_back(kernel->tier_id);
  return all;
}

#define OCTET_FOR_EACH_TIER(Suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(, Suite, testing::ValuesIn(octet_test::usable_tiers()),        \
                           [](const testing::TestParamInfo<octet::TierId>& info) {        \
                             return std::string(octet::find_tier((int)info.param)->name); \
                           })

}  // namespace octet_test
