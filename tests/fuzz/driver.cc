// SPDX-License-Identifier: Apache-2.0
// Runs a body without libFuzzer, on inputs drawn from a seed:
//
//   fuzz_gemm 100000 [seed]   so many executions
//   fuzz_gemm 60s [seed]      for so many seconds
//   fuzz_gemm FILE...         the inputs that these hold
//
// Execution i of a seed is the same everywhere. A failing input is written to a file, to be run
// again.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/fuzz.h"
#include "support/demoted.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OCTET_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OCTET_SANITIZED 1
#endif
#endif
#ifdef OCTET_SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

namespace octet_fuzz {
namespace {

constexpr size_t kInputBytes = 256;
constexpr int kSkipped = 77;

const char* program = "";
uint8_t input[kInputBytes];
char saved_as[256];

// Must be async-signal-safe, because an access to a guard page may have failed.
void say(std::initializer_list<const char*> texts) {
  for (const char* text : texts)
    if (write(report_file, text, strlen(text)) < 0) return;
}

void save_input() {
  say({"Last call: ", doing.call, doing.wrong ? ", with " : "", doing.wrong ? doing.wrong : "",
       "\n"});
  const int file = creat(saved_as, 0644);
  if (file < 0 || write(file, input, sizeof input) != (ssize_t)(sizeof input)) return;
  close(file);
  say({"Again: ", program, " ", saved_as, "\n"});
}

void on_signal(int number) {
  save_input();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void watch() {
#ifdef OCTET_SANITIZED
  __sanitizer_set_death_callback(save_input);  // and its report says more than a signal
  std::signal(SIGABRT, on_signal);
#else
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction before;
    // The emulator of instructions has a handler of SIGILL
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
      std::signal(number, on_signal);
  }
#endif
}

void run_seeded(uint64_t seed, uint64_t executions, double seconds) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (uint64_t i = 0; seconds > 0 ? i % 64 || elapsed() < seconds : i < executions; ++i) {
    Random random(seed * 0x100000001B3u + i);
    for (size_t byte = 0; byte < kInputBytes; byte += 8) {
      const uint64_t bits = random();
      std::memcpy(input + byte, &bits, sizeof bits);
    }
    std::snprintf(saved_as, sizeof saved_as, "%s-%llu-%llu.input",
                  std::strrchr(program, '/') ? std::strrchr(program, '/') + 1 : program,
                  (unsigned long long)seed, (unsigned long long)i);
    run_once(input, kInputBytes);
  }
}

int run_file(const char* name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "%s: cannot read %s\n", program, name);
    return 2;
  }
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  run_once((const uint8_t*)bytes.data(), bytes.size());
  return 0;
}

// A limit to a tier that this machine does not have would test the next smaller one under a wrong
// name.
bool lacks_tier(octet_isa best) {
  const char* const limit = std::getenv("OCTET_MAX_ISA");
  return limit && std::strcmp(limit, octet_isa_name(best)) != 0;
}

int main(int argc, char** argv) {
  program = argv[0];
  for (const char* name : {"OCTET_KERNEL", "OCTET_CONV", "OCTET_VERBOSE"}) unsetenv(name);
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  octet_error error;
  if (octet_get_cpu_info(&info, &error))
    return std::fprintf(stderr, "%s: %s\n", program, error.message), 2;
  if (octet_test::is_anything_demoted()) return 1;
  if (lacks_tier(info.best_isa)) {
    std::printf("skipped: this machine has no %s; its best is %s\n", std::getenv("OCTET_MAX_ISA"),
                octet_isa_name(info.best_isa));
    return kSkipped;
  }
  const char* const what = argc > 1 ? argv[1] : "1000";
  if (what[0] >= '0' && what[0] <= '9') {
    char* end;
    const uint64_t count = std::strtoull(what, &end, 10),
                   seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    watch();
    run_seeded(seed, count, *end == 's' ? (double)count : 0);
  } else {
    for (int i = 1; i < argc; ++i)
      if (const int status = run_file(argv[i])) return status;
  }
  std::printf(
      "%s: %llu executions (%llu asked for too much memory), %llu runs, %llu outputs compared, "
      "%llu refusals; best tier %s\n",
      program, (unsigned long long)tally.executions, (unsigned long long)tally.too_large,
      (unsigned long long)tally.runs, (unsigned long long)tally.outputs,
      (unsigned long long)tally.refusals, octet_isa_name(info.best_isa));
  return 0;
}

}  // namespace
}  // namespace octet_fuzz

int main(int argc, char** argv) { return octet_fuzz::main(argc, argv); }
