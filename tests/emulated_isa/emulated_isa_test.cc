// SPDX-License-Identifier: Apache-2.0
// Compares the emulator with a definition of its own: each form of each instruction, run by the CPU
// if it has it, when it traps, and when it has been replaced. All registers and flags count.
#include <cpuid.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "emulated_isa/decode.h"
#include "emulated_isa/handler.h"
#include "emulated_isa/instructions.h"
#include "emulated_isa/patch.h"
#include "support/guarded.h"

namespace emulated_isa {
namespace {

using octet_test::Guarded;
using octet_test::Side;

enum class Extension { kAvxVnni, kAvxVnniInt8 };

struct Operation {
  const char* name;
  Extension extension;
  int count, bits;  // products per lane, and the bits of their factors
  bool lhs_signed, rhs_signed, saturating;
};

constexpr Operation kOperations[] = {
    {"vpdpbusd", Extension::kAvxVnni, 4, 8, false, true, false},
    {"vpdpbusds", Extension::kAvxVnni, 4, 8, false, true, true},
    {"vpdpwssd", Extension::kAvxVnni, 2, 16, true, true, false},
    {"vpdpwssds", Extension::kAvxVnni, 2, 16, true, true, true},
    {"vpdpbssd", Extension::kAvxVnniInt8, 4, 8, true, true, false},
    {"vpdpbssds", Extension::kAvxVnniInt8, 4, 8, true, true, true},
    {"vpdpbsud", Extension::kAvxVnniInt8, 4, 8, true, false, false},
    {"vpdpbsuds", Extension::kAvxVnniInt8, 4, 8, true, false, true},
    {"vpdpbuud", Extension::kAvxVnniInt8, 4, 8, false, false, false},
    {"vpdpbuuds", Extension::kAvxVnniInt8, 4, 8, false, false, true},
};

bool cpu_has(Extension extension) {
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 1, &a, &b, &c, &d)) return false;
  return (extension == Extension::kAvxVnni ? a : d) >> 4 & 1;
}

// ---- the definition, on lanes

int64_t factor(uint32_t lane, int bits, int index, bool is_signed) {
  const int64_t range = int64_t{1} << bits, value = lane >> (bits * index) & (range - 1);
  return is_signed && value >= range / 2 ? value - range : value;
}

uint32_t multiply_add(const Operation& o, uint32_t dst, uint32_t lhs, uint32_t rhs) {
  const bool is_signed = o.lhs_signed || o.rhs_signed;
  const int64_t least = is_signed ? INT32_MIN : 0, most = is_signed ? INT32_MAX : UINT32_MAX;
  int64_t sum = factor(dst, 32, 0, is_signed);
  for (int i = 0; i < o.count; ++i)
    sum += factor(lhs, o.bits, i, o.lhs_signed) * factor(rhs, o.bits, i, o.rhs_signed);
  return (uint32_t)(o.saturating ? std::min(std::max(sum, least), most) : sum);
}

uint32_t lane_of(const uint8_t* vector, int lane) {
  uint32_t value;
  std::memcpy(&value, vector + 4 * lane, sizeof value);
  return value;
}

void run_by_definition(const InstructionForm& form, const uint8_t* memory, State* state) {
  const uint8_t* const rhs = form.operand == Operand::kRegister ? state->vector[form.rhs] : memory;
  uint8_t result[32] = {};
  for (int i = 0; i < form.lanes; ++i) {
    const uint32_t sum =
        multiply_add(kOperations[form.operation], lane_of(state->vector[form.dst], i),
                     lane_of(state->vector[form.lhs], i), lane_of(rhs, i));
    std::memcpy(result + 4 * i, &sum, sizeof sum);
  }
  std::memcpy(state->vector[form.dst], result, sizeof result);
}

// ---- registers and memory of a form

constexpr uint64_t kFlags = 0xCD5;  // carry, parity, adjust, zero, sign, direction, overflow
constexpr int kRsp = 4;

class Machine {
 public:
  Machine() {
    absolute_ = mmap((void*)kAbsoluteOperand, kPage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  }
  ~Machine() { munmap(absolute_, kPage); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  bool has_all_memory() const { return absolute_ == (void*)kAbsoluteOperand; }

  // Random registers, and an operand in memory at the form's address.
  State prepare(const InstructionForm& form) {
    State state;
    for (auto& vector : state.vector) fill(vector, sizeof vector);
    for (uint64_t& general : state.general) general = random_();
    state.flags = random_() & kFlags;
    state.general[kRsp] = (uint64_t)(stack_.get() + kStack / 2);
    const size_t bytes = 4 * (size_t)form.lanes;
    operand_ = place_operand(form, bytes, state.general);
    if (operand_) fill(operand_, bytes);
    return state;
  }

  const uint8_t* operand() const { return operand_; }

 private:
  static constexpr size_t kStack = 1 << 17;  // a signal needs some 10 KB of it
  static constexpr size_t kPage = 4096;

  uint8_t* place_operand(const InstructionForm& form, size_t bytes, uint64_t* general) {
    if (form.operand == Operand::kRegister) return nullptr;
    if (form.operand == Operand::kRelative) return emulated_isa_relative_operand;
    if (form.operand == Operand::kAbsolute) return (uint8_t*)absolute_;
    const auto scale = (uint64_t)form.factor;
    const auto displacement = (uint64_t)(int64_t{form.displacement});
    const auto end = (uint64_t)(page_.data() + page_.bytes());
    uint64_t none = 0;
    uint64_t* const base = form.base < 0 ? &none : &general[form.base];
    uint64_t* const index = form.index < 0 ? &none : &general[form.index];
    if (form.base == kRsp) {
      if (form.index >= 0) *index = 1024;
    } else if (form.base >= 0) {
      *base = end - bytes - displacement - *index * scale;
    } else {
      *index = (end - bytes - displacement) / scale;
    }
    return (uint8_t*)(*base + *index * scale + displacement);
  }

  // Fills lanes, some of which make sums saturate or wrap.
  void fill(uint8_t* to, size_t bytes) {
    static constexpr uint32_t kLanes[] = {0,          0xFFFFFFFF, 0x7FFFFFFF, 0x80000000,
                                          0x80808080, 0x7F7F7F7F, 0x80008000, 0x7FFF7FFF};
    for (size_t i = 0; i < bytes; i += 4) {
      const uint64_t random = random_();
      const size_t choice = random >> 32 & 15;
      const uint32_t lane = choice < std::size(kLanes) ? kLanes[choice] : (uint32_t)random;
      std::memcpy(to + i, &lane, sizeof lane);
    }
  }

  std::mt19937_64 random_;
  std::unique_ptr<uint8_t[]> stack_ = std::make_unique<uint8_t[]>(kStack);
  const Guarded page_{64, Side::kBack, 64};
  void* absolute_;
  uint8_t* operand_ = nullptr;
};

testing::AssertionResult same(const State& got, const State& want, const InstructionForm& form) {
  for (int i = 0; i < 16; ++i) {
    if (std::memcmp(got.vector[i], want.vector[i], sizeof got.vector[i]))
      return testing::AssertionFailure() << "ymm" << i << (i == form.dst ? ", the result" : "");
    if (got.general[i] != want.general[i])
      return testing::AssertionFailure() << "general register " << i;
  }
  if ((got.flags ^ want.flags) & kFlags) return testing::AssertionFailure() << "flags";
  return testing::AssertionSuccess();
}

// Runs the form once.
testing::AssertionResult is_right(Machine* machine, const InstructionForm& form) {
  State got = machine->prepare(form), want = got;
  run_by_definition(form, machine->operand(), &want);
  emulated_isa_run(form.site, &got);
  return same(got, want, form);
}

std::string describe(const InstructionForm& form) {
  std::string text = kOperations[form.operation].name;
  Instruction decoded;
  for (int i = 0; decode(form.site, &decoded) && i < decoded.length; ++i)
    text += ' ' + testing::PrintToString((int)form.site[i]);
  return text;
}

class EmulatedIsa : public testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() { install(); }
  void SetUp() override {
    if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this CPU has no ymm registers";
  }
};
INSTANTIATE_TEST_SUITE_P(, EmulatedIsa, testing::Range(0, (int)std::size(kOperations)),
                         [](const auto& info) { return kOperations[info.param].name; });

TEST_P(EmulatedIsa, EachForm) {
  Machine machine;
  ASSERT_TRUE(machine.has_all_memory());
  const bool in_hardware = cpu_has(kOperations[GetParam()].extension);
  int forms = 0;
  for (const InstructionForm* form = emulated_isa_instructions;
       form != emulated_isa_instructions_end; ++form) {
    if (form->operation != GetParam()) continue;
    SCOPED_TRACE(describe(*form));
    ++forms;
    if (in_hardware) {
      ASSERT_TRUE(is_right(&machine, *form)) << " is wrong on the CPU";
      ASSERT_TRUE(hide(form->site));
    }
    const size_t before = traps();
    ASSERT_TRUE(is_right(&machine, *form)) << " is wrong after a trap";
    ASSERT_EQ(traps(), before + 1);
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(is_right(&machine, *form)) << " is wrong, replaced";
    ASSERT_EQ(traps(), before + 1);
  }
  EXPECT_GT(forms, 0);
}

// Each form for the first time, by all threads at once.
TEST(EmulatedIsaThreads, RaceToReplace) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this CPU has no ymm registers";
  install();
  constexpr int kThreads = 4;
  const auto count = emulated_isa_race_end - emulated_isa_race;
  for (int i = 0; cpu_has(Extension::kAvxVnni) && i < count; ++i)
    ASSERT_TRUE(hide(emulated_isa_race[i].site));
  std::atomic<int> arrived{0}, wrong{0};
  const auto race = [&] {
    Machine machine;
    for (int i = 0; i < count; ++i) {
      arrived.fetch_add(1);
      while (arrived.load() < kThreads * (i + 1)) std::this_thread::yield();
      for (int turn = 0; turn < 20; ++turn) wrong += !is_right(&machine, emulated_isa_race[i]);
    }
  };
  const size_t before = traps();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(race);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(traps(), before + (size_t)count);
}

TEST(EmulatedIsaDecode, KnowsWhatItDoesNotEmulate) {
  const uint8_t kOthers[][6] = {
      {0xC4, 0xE2, 0x71, 0x40, 0xC2},        // vpmulld %xmm2, %xmm1, %xmm0
      {0xC4, 0xE2, 0x72, 0x52, 0xC2},        // vpdpwssd's opcode with another prefix
      {0xC4, 0xE2, 0xF1, 0x50, 0xC2},        // vpdpbusd's with W set
      {0xC4, 0xE1, 0x71, 0x50, 0xC2},        // and in another map
      {0xC4, 0xE2, 0x71, 0xD2, 0xC2},        // vpdpwusd, of AVX-VNNI-INT16
      {0x62, 0xF2, 0x75, 0x08, 0x50, 0xC2},  // vpdpbusd as AVX512-VNNI has it
  };
  for (const auto& other : kOthers) {
    uint8_t site[sizeof other];
    std::copy(std::begin(other), std::end(other), site);
    EXPECT_FALSE(hide(site)) << testing::PrintToString(other);
    EXPECT_FALSE(replace(site)) << testing::PrintToString(other);
    EXPECT_TRUE(std::equal(site, std::end(site), other));
  }
}

TEST(EmulatedIsaHandler, LeavesOtherTrapsToTheSystem) {
  const auto run_into_it = [] {
    install();
    __asm__ volatile("ud2");
  };
  EXPECT_EXIT(run_into_it(), testing::KilledBySignal(SIGILL), "none that is emulated");
}

}  // namespace
}  // namespace emulated_isa
