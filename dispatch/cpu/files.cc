// SPDX-License-Identifier: Apache-2.0
// Reads caches and MIDR registers of CPUs from /sys, or these registers' parts from /proc/cpuinfo.
#include "dispatch/cpu/files.h"

#include <stdio.h>
#include <string.h>

#include "dispatch/os/os.h"

namespace octet {
namespace {

constexpr size_t kTextBytes = 64;

// The /sys folder of one CPU.
class Folder {
 public:
  Folder(const char* root, uint32_t cpu) : root_(root), cpu_(cpu) {}
  bool read(const char* name, char (&text)[kTextBytes]) const {
    char path[256];
    const int length = snprintf(path, sizeof path, "%s/cpu%u/%s", root_, (unsigned)cpu_, name);
    if (length <= 0 || (size_t)length >= sizeof path) return false;
    const size_t bytes = os::read_beginning(path, text, kTextBytes - 1);
    text[bytes] = 0;
    return bytes > 0;
  }

 private:
  const char* const root_;
  const uint32_t cpu_;
};

// Reads digits of a base up to 16 and moves *text behind them. At most 8 hexadecimal digits count:
// the upper half of an identification register is reserved.
uint32_t number(const char** text, uint32_t base) {
  uint32_t value = 0;
  for (;; ++*text) {
    const char c = **text;
    const uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                           : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                                                  : base;
    if (digit >= base) return value;
    value = value * base + digit;
  }
}

// Reads a size such as "512K".
size_t size_of(const char* text) {
  const size_t units = number(&text, 10);
  const uint32_t shift = *text == 'K' ? 10 : *text == 'M' ? 20 : 0;
  return units > (SIZE_MAX >> 1) >> shift ? 0 : units << shift;
}

Caches caches_of(const Folder& cpu) {
  Caches caches = {};
  char text[kTextBytes], name[32];
  for (unsigned index = 0; index < 8; ++index) {
    const auto read = [&](const char* what) {
      snprintf(name, sizeof name, "cache/index%u/%s", index, what);
      return cpu.read(name, text);
    };
    if (!read("level")) break;
    const char level = text[0];
    if (!read("type") || strncmp(text, "Instruction", 11) == 0 || !read("size")) continue;
    size_t* const bytes = level == '1'   ? &caches.l1d_bytes
                          : level == '2' ? &caches.l2_bytes
                          : level == '3' ? &caches.l3_bytes
                                         : nullptr;
    if (bytes) *bytes = size_of(text);
  }
  return caches;
}

// The main identification register (MIDR): implementer, part and revision; 0 if unknown.
uint32_t identification_of(const Folder& cpu) {
  char text[kTextBytes];
  if (!cpu.read("regs/identification/midr_el1", text) || strncmp(text, "0x", 2) != 0) return 0;
  const char* digits = text + 2;
  return number(&digits, 16);
}

bool in_order(uint32_t identification) {
  // Cortex-A34, A35, A53, A55, A510, A520; Brahma-B53; the little Kryos, which are A53 and A55; of
  // 32 bits Cortex-A5, A7, A8.
  constexpr uint32_t kInOrder[] = {0x41d02, 0x41d04, 0x41d03, 0x41d05, 0x41d46, 0x41d80, 0x42100,
                                   0x51801, 0x51803, 0x51805, 0x41c05, 0x41c07, 0x41c08};
  const uint32_t design = (identification >> 24) << 12 | (identification >> 4 & 0xfff);
  for (const uint32_t known : kInOrder)
    if (design == known) return true;
  return false;
}

// Calls found(identification) for each CPU that a text such as /proc/cpuinfo names by "CPU
// implementer", "CPU variant", "CPU part" and "CPU revision", in this order. A text that may be cut
// off is not read, because the big cores may come last.
template <typename Found>
void read_cpuinfo(const char* path, const Found& found) {
  constexpr size_t kMost = 6 << 10;
  char text[kMost];
  const size_t bytes = os::read_beginning(path, text, kMost - 1);
  if (bytes == kMost - 1) return;
  text[bytes] = 0;
  uint32_t identification = 0;
  for (const char* line = text; *line;) {
    const char* at = line;
    const auto field = [&](const char* name, uint32_t* value) {
      if (strncmp(line, name, strlen(name)) != 0) return false;
      at = line + strlen(name);
      while (*at == ' ' || *at == '\t' || *at == ':') ++at;
      if (strncmp(at, "0x", 2) == 0) at += 2;
      *value = number(&at, 16);
      return true;
    };
    uint32_t value;
    if (field("CPU implementer", &value))
      identification = (value & 0xff) << 24 | 0xfu << 16;
    else if (field("CPU variant", &value))
      identification |= (value & 0xf) << 20;
    else if (field("CPU part", &value))
      identification |= (value & 0xfff) << 4;
    else if (field("CPU revision", &value)) {
      if (identification & 0xfff0) found(identification | (value & 0xf));
      identification = 0;
    }
    at = strchr(line, '\n');
    if (!at) break;
    line = at + 1;
  }
}

}  // namespace

CpuFiles read_cpu_files(const char* root, uint32_t cpus, const char* cpuinfo) {
  CpuFiles files = {};
  uint32_t representative = 0;
  const auto found = [&](uint32_t cpu, uint32_t identification) {
    const bool waits = in_order(identification);
    const bool first_big = !waits && files.cores.known == files.cores.in_order;
    if (first_big) representative = cpu;
    if (first_big || !files.cores.known) files.identification = identification;
    files.cores.in_order += waits;
    ++files.cores.known;
  };
  for (uint32_t cpu = 0; cpu < cpus; ++cpu)
    if (const uint32_t identification = identification_of({root, cpu})) found(cpu, identification);
  if (cpuinfo && !files.cores.known)
    read_cpuinfo(cpuinfo,
                 [&](uint32_t identification) { found(files.cores.known, identification); });
  files.caches = caches_of({root, representative});
  return files;
}

}  // namespace octet
