// SPDX-License-Identifier: Apache-2.0
// Checks files of measured choices: a damaged file gives only lines that were written, and no
// writer loses another one's lines.
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "dispatch/select/machine.h"
#include "dispatch/tables/tiers.h"
#include "dispatch/tuning/cache.h"
#include "dispatch/tuning/tuning.h"
#include "octet/tune.h"
#include "support/draw.h"
#include "support/refused.h"
#include "support/temporary_file.h"

#ifdef OCTET_WRAPS_ALLOCATION

// The linker puts these functions in place of the C library's.
namespace {

size_t allocations_left = SIZE_MAX;
bool may_allocate() { return allocations_left && allocations_left--; }

}  // namespace

extern "C" {
void* __real_malloc(size_t bytes);
void* __real_realloc(void* memory, size_t bytes);
void* __wrap_malloc(size_t bytes);
void* __wrap_realloc(void* memory, size_t bytes);
}
void* __wrap_malloc(size_t bytes) { return may_allocate() ? __real_malloc(bytes) : nullptr; }
void* __wrap_realloc(void* memory, size_t bytes) {
  return may_allocate() ? __real_realloc(memory, bytes) : nullptr;
}

#endif

namespace octet_test {
namespace {

using octet::Choice;
using octet::TuningKey;

struct Destroy {
  void operator()(octet_tuning* tuning) const { octet_tuning_destroy(tuning); }
};
using Tuning = std::unique_ptr<octet_tuning, Destroy>;
Tuning empty() {
  octet_tuning* tuning = nullptr;
  EXPECT_EQ(octet_tuning_create(&tuning, nullptr), OCTET_OK);
  return Tuning(tuning);
}
std::string lines_of(const Tuning& tuning) { return {tuning->text, tuning->bytes}; }

octet_tuning_report load(const Tuning& tuning, const std::string& text) {
  const TemporaryFile file(text);
  octet_tuning_report report = OCTET_TUNING_REPORT_INIT;
  octet_error error = {};
  EXPECT_EQ(octet_tuning_load(tuning.get(), file.path(), &report, &error), OCTET_OK)
      << error.message;
  return report;
}
Tuning tuning_of(const std::string& text) {
  Tuning tuning = empty();
  load(tuning, text);
  return tuning;
}

Choice choice(size_t block) {
  Choice c = {};
  c.layout = octet::layout_of(octet::kPortableTier, octet::ElementType::kS8);
  c.kernel = c.small_kernel = octet::find_kernel_name("scalar_u8s8_4x4x4");
  c.block = block;
  return c;
}

TuningKey key_of(const std::string& problem) {
  TuningKey key(octet::kPortableTier);
  key.add(" %s", problem.c_str());
  return key;
}
std::string line(const TuningKey& key, size_t block) {
  char text[octet::kTuningLineBytes];
  const size_t length = octet::write_tuning_line(key, choice(block), {20, 10, 1}, text);
  return {text, length};
}
std::string line(const std::string& problem, size_t block) { return line(key_of(problem), block); }

// The lines that loading this text would keep.
std::string kept_of(const std::string& text) {
  size_t bytes = 0;
  char* const merged = octet::merge_lines({nullptr, 0}, {text.data(), text.size()}, &bytes);
  const std::string kept(merged, bytes);
  std::free(merged);
  return kept;
}

// The block of the choice for this problem; 0 if there is none.
size_t found(const std::string& text, const std::string& problem) {
  octet::TuningReader reader(text.data(), text.size());
  octet::TuningLine line;
  Choice choice;
  return reader.find(key_of(problem), &line, &choice) ? choice.block : 0;
}

TEST(TuningLine, IsReadAsItWasWritten) {
  const std::string text = line("product m=1", 44);
  EXPECT_EQ(text.back(), '\n');
  octet::TuningLine read;
  ASSERT_TRUE(octet::read_tuning_line({text.data(), text.size() - 1}, &read));
  EXPECT_EQ(std::string(read.key.text, read.key.length), key_of("product m=1").text());
  Choice back;
  ASSERT_TRUE(octet::read_choice(read, &back));
  EXPECT_TRUE(back == choice(44));
  EXPECT_NE(text.find(" | plan_ns=20 chosen_ns=10 threads=1 | "), std::string::npos) << text;
  EXPECT_EQ(read.read_figures().plan_ns, 20u);
  EXPECT_EQ(read.read_figures().chosen_ns, 10u);
  EXPECT_EQ(read.read_figures().threads, 1u);
  EXPECT_EQ(read.read_figures().saved_ns(), 10u);
  for (const char* other :
       {"", "plan_ns=20 chosen_ns=10", "plan_ns= chosen_ns=1 threads=1",
        "plan_ns=20 best_ns=10 threads=1", "plan_ns=20 chosen_ns=10 threads=1x"}) {
    read.figures = {other, std::strlen(other)};
    EXPECT_EQ(read.read_figures().saved_ns(), 0u) << other;
    EXPECT_EQ(read.read_figures().threads, 0u) << other;
  }
}

TEST(TuningLine, KeysSayWhereAndWhat) {
  const std::string key = key_of("x").text();
  EXPECT_EQ(key.find(std::string("octet-") + octet_version() + " "), 0u) << key;
  EXPECT_NE(key.find(" SCALAR x"), std::string::npos) << key;
  char cpu[octet::kCpuNameBytes];
  octet::name_cpu(&cpu);
  EXPECT_GT(std::strlen(cpu), 2u);
  EXPECT_EQ(std::string(cpu).find_first_of(" |\n"), std::string::npos) << cpu;
  EXPECT_NE(key.find(std::string(" ") + cpu + "-"), std::string::npos) << key;
}

TEST(TuningLine, IsFoundByHowItsKeyBegins) {
  const std::string text = line("conv a=1 b=2", 4) + line("conv a=11 b=2", 8);
  EXPECT_EQ(found(text, "conv a=1 b=2"), 4u);
  EXPECT_EQ(found(text, "conv a=1"), 4u);
  EXPECT_EQ(found(text, "conv a=11"), 8u);
  EXPECT_EQ(found(text, "conv a"), 0u) << "words are whole";
  EXPECT_EQ(found(text, "conv a=1 b=2 c=3"), 0u);
}

// ---- damage

TEST(TuningCache, NoDamagedByteIsBelieved) {
  const std::string first = line("product m=1 n=2", 44), second = line("product m=2 n=2", 48),
                    whole = first + second;
  for (size_t at = 0; at < whole.size(); ++at)
    for (const int change : {1, 2, 16, 128, -1}) {
      std::string text = whole;
      text[at] = change < 0 ? '\n' : (char)(text[at] ^ change);
      if (text == whole) continue;
      SCOPED_TRACE(testing::Message() << "byte " << at << " ^ " << change);
      const octet_tuning_report report = octet::report_on(text.data(), text.size());
      // The other line is unchanged, the damaged one is gone and reported.
      const bool in_first = at < first.size(), at_end = at + 1 == first.size();
      EXPECT_EQ(kept_of(text), at_end ? "" : in_first ? second : first);
      if (at + 1 == whole.size()) continue;  // only the last line's end is damaged
      EXPECT_GE(report.damaged, 1u);
      EXPECT_EQ(report.first_damaged, in_first && text[at] == '\n' && at == 0 ? 2u
                                      : in_first                              ? 1u
                                                 : 2u + (text[at] == '\n' && at == first.size()));
      EXPECT_EQ(found(text, in_first ? "product m=1" : "product m=2"), 0u);
    }
}

TEST(TuningCache, NoCutIsBelieved) {
  const std::string whole = line("product m=1", 44);
  for (size_t length = 0; length < whole.size() - 1; ++length)
    EXPECT_EQ(found(whole.substr(0, length), "product m=1"), 0u) << length;
  EXPECT_EQ(found(whole.substr(0, whole.size() - 1), "product m=1"), 44u) << "only its end";
  for (size_t start = 1; start < whole.size(); ++start)
    EXPECT_EQ(kept_of(whole.substr(start)), "") << start;
}

TEST(TuningCache, AnythingMayBeInAFile) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    Draw d(seed);
    std::string text;
    for (size_t parts = d.below(6); parts > 0; --parts) {
      std::string part = line("product m=" + std::to_string(d.below(4)), 4 + 4 * d.below(5));
      if (d.one_in(3)) part.erase(d.below(part.size()), 1 + d.below(40));
      if (d.one_in(4)) part.insert(d.below(part.size()), d.below(3000), '\0');
      if (d.one_in(4)) part = std::string(d.below(2000), (char)d.below(256));
      text += part;
    }
    // Loading the kept lines keeps all of them.
    EXPECT_EQ(kept_of(kept_of(text)), kept_of(text));
    octet::report_on(text.data(), text.size());
  }
}

// A valid line may have a choice that this library does not know.
TEST(TuningCache, AnUnknownKernelIsNoChoice) {
  std::string text = line("product m=1", 44);
  std::string other = text.substr(0, text.rfind(" | "));
  other.replace(other.find("scalar_u8s8_4x4x4"), 6, "future");
  // These lines have valid parts.
  octet::TuningLine parts;
  ASSERT_TRUE(octet::read_tuning_line({text.data(), text.size() - 1}, &parts));
  EXPECT_EQ(found(text, "product m=1"), 44u);
  parts.choice = {"product weights=none", 20};
  Choice choice;
  EXPECT_FALSE(octet::read_choice(parts, &choice));
  const std::string nul("product\0", 8);
  parts.choice = {nul.data(), nul.size()};
  EXPECT_FALSE(octet::read_choice(parts, &choice));
  const std::string endless(1000, 'p');
  parts.choice = {endless.data(), endless.size()};
  EXPECT_FALSE(octet::read_choice(parts, &choice));
}

// ---- other machines, other versions

TEST(TuningCache, OtherMachinesAndVersionsAreKeptAndNotUsed) {
  const std::string here = key_of("product m=1").text();
  const size_t version = here.find(' '), machine = here.find(' ', version + 1);
  const std::string old = "octet-0.0.1" + here.substr(version);
  const std::string foreign =
      here.substr(0, version) + " GenuineIntel-6-0-0-1-2-3" + here.substr(machine);
  const std::string text = line(TuningKey(here.c_str()), 4) + line(TuningKey(old.c_str()), 8) +
                           line(TuningKey(foreign.c_str()), 12) + "rubbish\n";
  const Tuning tuning = empty();
  const octet_tuning_report r = load(tuning, text);
  EXPECT_EQ(r.usable, 1u);
  EXPECT_EQ(r.other_version, 1u);
  EXPECT_EQ(r.other_machine, 1u);
  EXPECT_EQ(r.damaged, 1u);
  EXPECT_EQ(r.first_damaged, 4u);
  EXPECT_EQ(found(lines_of(tuning), "product m=1"), 4u);
  EXPECT_EQ(tuning->bytes, text.size() - std::strlen("rubbish\n"));
  EXPECT_EQ(
      found(line(TuningKey(old.c_str()), 8) + line(TuningKey(foreign.c_str()), 12), "product m=1"),
      0u);
}

// ---- merging

TEST(TuningCache, TheLaterLineCounts) {
  const Tuning tuning = tuning_of(line("b", 4) + line("a", 8) + line("b", 12));
  EXPECT_EQ(lines_of(tuning), line("a", 8) + line("b", 12)) << "in order, each once";
  load(tuning, line("a", 16) + line("c", 20));
  EXPECT_EQ(lines_of(tuning), line("a", 16) + line("b", 12) + line("c", 20));
}

TEST(TuningCache, SavingMerges) {
  const TemporaryFile file(line("a", 4) + "damaged\n" + line("b", 8));
  ASSERT_EQ(chmod(file.path(), 0640), 0);
  octet_error error = {};
  ASSERT_EQ(octet_tuning_save(tuning_of(line("b", 12) + line("c", 16)).get(), file.path(), &error),
            OCTET_OK)
      << error.message;
  EXPECT_EQ(file.read(), line("a", 4) + line("b", 12) + line("c", 16));
  struct stat status;
  ASSERT_EQ(stat(file.path(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  // Saving again gives the same bytes.
  const std::string before = file.read();
  ASSERT_EQ(octet_tuning_save(tuning_of(before).get(), file.path(), nullptr), OCTET_OK);
  EXPECT_EQ(file.read(), before);
  ASSERT_EQ(octet_tuning_save(empty().get(), file.path(), nullptr), OCTET_OK);
  EXPECT_EQ(file.read(), before);
}

// A file that is no tuning is not changed.
TEST(TuningCache, OtherFilesAreLeftAlone) {
  const Tuning tuning = tuning_of(line("a", 4));
  for (const std::string& other :
       {std::string("root:x:0:0\n"), std::string("\n\n"), "#" + line("a", 4), std::string(5, '\0'),
        std::string("octet")}) {
    const TemporaryFile file(other);
    for (const Tuning* t : {&tuning, (const Tuning*)nullptr}) {
      const Tuning nothing = empty();
      expect_refused(OCTET_BAD_FILE, "without any line of a tuning", [&](octet_error* e) {
        return octet_tuning_save((t ? *t : nothing).get(), file.path(), e);
      });
    }
    EXPECT_EQ(file.read(), other);
  }
  // A tuning whose lines are all damaged is replaced.
  const TemporaryFile damaged("octet-0.2.0 and so on\n");
  EXPECT_EQ(octet_tuning_save(tuning.get(), damaged.path(), nullptr), OCTET_OK);
  EXPECT_EQ(damaged.read(), line("a", 4));
}

TEST(TuningCache, OnlyRegularFilesAreTakenAndNobodyWaits) {
  const Tuning tuning = tuning_of(line("a", 4));
  const TemporaryFile file("");
  unlink(file.path());
  ASSERT_EQ(mkfifo(file.path(), 0600), 0);
  const char* const device = "/dev/null";
  for (const char* path : {(const char*)file.path(), device}) {
    struct stat before, after;
    ASSERT_EQ(stat(path, &before), 0);
    expect_refused(OCTET_BAD_FILE, "no regular file", [&](octet_error* e) {
      return octet_tuning_load(tuning.get(), path, nullptr, e);
    });
    // Saving could replace the device if the tests run as root.
    if (path != device)
      expect_refused(OCTET_BAD_FILE, "no regular file",
                     [&](octet_error* e) { return octet_tuning_save(tuning.get(), path, e); });
    ASSERT_EQ(stat(path, &after), 0);
    EXPECT_EQ(before.st_mode, after.st_mode);
    EXPECT_EQ(before.st_ino, after.st_ino);
  }
}

// Loading and saving neither wait nor write if another kind of file is in the file's place.
TEST(TuningCache, NeitherFoldersNorSocketsNorWhatLinksLeadToAreTaken) {
  const Tuning tuning = tuning_of(line("a", 4));
  const TemporaryFile place(""), link("");
  const char* const path = place.path();
  const auto refuse = [&](const char* says, const char* through) {
    expect_refused(OCTET_BAD_FILE, says, [&](octet_error* e) {
      return octet_tuning_load(tuning.get(), through, nullptr, e);
    });
    expect_refused(OCTET_BAD_FILE, says,
                   [&](octet_error* e) { return octet_tuning_save(tuning.get(), through, e); });
  };
  const auto refuse_both = [&](const char* says) {
    unlink(link.path());
    ASSERT_EQ(symlink(path, link.path()), 0);
    refuse(says, path);
    refuse(says, link.path());
  };
  unlink(path);
  ASSERT_EQ(mkfifo(path, 0600), 0);
  refuse_both("no regular file");
  unlink(path);
  ASSERT_EQ(mkdir(path, 0700), 0);
  refuse_both("no regular file");
  ASSERT_EQ(rmdir(path), 0);
  ASSERT_EQ(mknod(path, S_IFSOCK | 0600, 0), 0);
  refuse_both("path");
  unlink(path);
  ASSERT_EQ(symlink(link.path(), path), 0);
  refuse_both("too many links");
}

// The files of the folder whose names begin with this one.
std::vector<std::string> beside(const TemporaryFile& file) {
  glob_t found = {};
  const std::string pattern = std::string(file.path()) + "*";
  std::vector<std::string> names;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    names.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return names;
}

// In a shared folder, a link or a pipe may have the temporary name that older versions used.
TEST(TuningCache, WhatIsWrittenAsideIsANewFile) {
  const TemporaryFile file(line("a", 4)), victim("precious\n");
  const std::string aside = std::string(file.path()) + ".new-" + std::to_string(getpid());
  for (const bool pipe : {false, true}) {
    ASSERT_EQ(pipe ? mkfifo(aside.c_str(), 0600) : symlink(victim.path(), aside.c_str()), 0);
    ASSERT_EQ(chmod(file.path(), 0666), 0);
    alarm(20);  // opening the pipe would block
    EXPECT_EQ(octet_tuning_save(tuning_of(line("b", 8)).get(), file.path(), nullptr), OCTET_OK);
    alarm(0);
    EXPECT_EQ(victim.read(), "precious\n");
    struct stat status;
    ASSERT_EQ(lstat(file.path(), &status), 0);
    EXPECT_TRUE(S_ISREG(status.st_mode));
    EXPECT_EQ(status.st_mode & 0777, 0666u) << "whatever the process masks";
    EXPECT_EQ(file.read(), line("a", 4) + line("b", 8));
    EXPECT_EQ(beside(file), (std::vector<std::string>{file.path(), aside}));
    unlink(aside.c_str());
  }
}

TEST(TuningCache, LinksAreFollowedAndStay) {
  const TemporaryFile file(line("a", 4)), link("");
  for (const bool dangling : {false, true}) {
    unlink(link.path());
    if (dangling) unlink(file.path());
    ASSERT_EQ(symlink(file.path(), link.path()), 0);
    EXPECT_EQ(octet_tuning_save(tuning_of(line("b", 8)).get(), link.path(), nullptr), OCTET_OK);
    struct stat status;
    ASSERT_EQ(lstat(link.path(), &status), 0);
    EXPECT_TRUE(S_ISLNK(status.st_mode));
    EXPECT_EQ(file.read(), dangling ? line("b", 8) : line("a", 4) + line("b", 8));
  }
}

// An editor may end lines with CR LF.
TEST(TuningCache, EndsOfLinesMayBeOfTwoCharacters) {
  std::string text = line("a", 4) + line("b", 8);
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "\r\n");
  const octet_tuning_report report = load(empty(), text);
  EXPECT_EQ(report.usable, 2u);
  EXPECT_EQ(report.damaged, 0u);
  EXPECT_EQ(kept_of(text), line("a", 4) + line("b", 8));
  EXPECT_EQ(kept_of("\r\n"), "");
}

// A name may be too long for the temporary file's; then no empty file remains.
TEST(TuningCache, AWriterThatFailsLeavesNothing) {
  const TemporaryFile file("");
  std::string name = file.path();
  name.resize(name.rfind('/') + 1 + 255, 'p');
  expect_refused(OCTET_BAD_FILE, "its name is too long", [&](octet_error* e) {
    return octet_tuning_save(tuning_of(line("a", 4)).get(), name.c_str(), e);
  });
  struct stat status;
  EXPECT_NE(stat(name.c_str(), &status), 0);
  unlink(name.c_str());
}

TEST(TuningCache, AFileMayBeTooLarge) {
  const TemporaryFile file("");
  ASSERT_EQ(truncate(file.path(), (off_t{64} << 20) + 1), 0);
  expect_refused(OCTET_BAD_FILE, "larger than 64 MiB", [&](octet_error* e) {
    return octet_tuning_load(empty().get(), file.path(), nullptr, e);
  });
}

TEST(TuningCache, AFileThatIsNotThereIsEmpty) {
  const TemporaryFile file("");
  unlink(file.path());
  const Tuning tuning = empty();
  octet_tuning_report report = OCTET_TUNING_REPORT_INIT;
  report.usable = 5;
  EXPECT_EQ(octet_tuning_load(tuning.get(), file.path(), &report, nullptr), OCTET_OK);
  EXPECT_EQ(report.usable, 0u);
  EXPECT_EQ(octet_tuning_save(tuning_of(line("a", 4)).get(), file.path(), nullptr), OCTET_OK);
  EXPECT_EQ(file.read(), line("a", 4));
}

TEST(TuningCache, ConcurrentWritersLoseNothing) {
  constexpr int kWriters = 6, kTimes = 12;
  const TemporaryFile file(line("before", 4));
  std::string expected;
  for (int writer = 0; writer < kWriters; ++writer)
    if (fork() == 0) {
      for (int time = 0; time < kTimes; ++time) {
        const std::string problem = std::to_string(writer) + "-" + std::to_string(time);
        if (octet_tuning_save(tuning_of(line(problem, 4)).get(), file.path(), nullptr)) _exit(1);
        // A reader at the same time finds whole lines.
        octet_tuning_report report = OCTET_TUNING_REPORT_INIT;
        if (octet_tuning_load(empty().get(), file.path(), &report, nullptr)) _exit(2);
        if (report.damaged || report.usable < 2) _exit(3);
      }
      _exit(0);
    }
  for (int writer = 0; writer < kWriters; ++writer) {
    int status = -1;
    wait(&status);
    EXPECT_EQ(status, 0) << "exit code " << (status >> 8);
  }
  const std::string text = file.read();
  EXPECT_EQ(found(text, "before"), 4u);
  for (int writer = 0; writer < kWriters; ++writer)
    for (int time = 0; time < kTimes; ++time)
      EXPECT_EQ(found(text, std::to_string(writer) + "-" + std::to_string(time)), 4u);
}

TEST(TuningCache, ConcurrentThreadsLoseNothing) {
  const TemporaryFile file("");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int time = 0; time < 6; ++time)
        EXPECT_EQ(octet_tuning_save(
                      tuning_of(line(std::to_string(i) + "-" + std::to_string(time), 4)).get(),
                      file.path(), nullptr),
                  OCTET_OK);
    });
  for (std::thread& thread : threads) thread.join();
  octet_tuning_report report = OCTET_TUNING_REPORT_INIT;
  EXPECT_EQ(octet_tuning_load(empty().get(), file.path(), &report, nullptr), OCTET_OK);
  EXPECT_EQ(report.usable, 24u);
  EXPECT_EQ(report.damaged, 0u);
}

// ---- what is refused

#ifdef OCTET_WRAPS_ALLOCATION

// Each allocation of a call fails in turn, until the call succeeds.
void expect_no_memory(const std::function<octet_status(octet_error*)>& call,
                      const std::function<void()>& nothing_changed) {
  for (size_t may = 0; may < 20; ++may) {
    octet_error error = {};
    allocations_left = may;
    const octet_status status = call(&error);
    allocations_left = SIZE_MAX;
    EXPECT_EQ(error.status, status);
    if (status == OCTET_OK) {
      EXPECT_GT(may, 0u) << "it allocates something";
      return;
    }
    EXPECT_EQ(octet_status_name(status), std::string("OCTET_OUT_OF_MEMORY")) << error.message;
    EXPECT_NE(std::string(error.message).find("no memory"), std::string::npos) << error.message;
    nothing_changed();
  }
  ADD_FAILURE() << "it goes on allocating";
}

TEST(TuningCache, OutOfMemory) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += line(std::to_string(100 + i), 4);
  ASSERT_GT(text.size(), 16384u) << "more than is read at once";
  const TemporaryFile file(text);
  const Tuning tuning = tuning_of(line("a", 4)), other = tuning_of(line("b", 4));
  octet_tuning* made = nullptr;
  expect_no_memory([&](octet_error* e) { return octet_tuning_create(&made, e); },
                   [&] { EXPECT_EQ(made, nullptr); });
  octet_tuning_destroy(made);
  expect_no_memory(
      [&](octet_error* e) { return octet_tuning_load(tuning.get(), file.path(), nullptr, e); },
      [&] { EXPECT_EQ(lines_of(tuning), line("a", 4)); });
  EXPECT_EQ(lines_of(tuning), text + line("a", 4));
  expect_no_memory([&](octet_error* e) { return octet_tuning_save(other.get(), file.path(), e); },
                   [&] {
                     EXPECT_EQ(file.read(), text);
                     EXPECT_EQ(beside(file), (std::vector<std::string>{file.path()}));
                   });
  EXPECT_EQ(file.read(), text + line("b", 4));
}

#endif

TEST(TuningCache, BadArguments) {
  const Tuning tuning = tuning_of(line("a", 4));
  expect_refused(OCTET_NULL_POINTER, "tuning",
                 [](octet_error* e) { return octet_tuning_create(nullptr, e); });
  octet_tuning_destroy(nullptr);
  for (const bool no_path : {false, true}) {
    octet_tuning* const t = no_path ? tuning.get() : nullptr;
    const char *const path = no_path ? nullptr : "x", *const says = no_path ? "path" : "tuning";
    expect_refused(OCTET_NULL_POINTER, says,
                   [&](octet_error* e) { return octet_tuning_load(t, path, nullptr, e); });
    expect_refused(OCTET_NULL_POINTER, says,
                   [&](octet_error* e) { return octet_tuning_save(t, path, e); });
  }
  octet_tuning_report report = OCTET_TUNING_REPORT_INIT;
  report.struct_size = 8;
  expect_refused(OCTET_BAD_STRUCT_SIZE, "report", [&](octet_error* e) {
    return octet_tuning_load(tuning.get(), "/no/such", &report, e);
  });
  for (const char* says : {"'/'", "no regular file"})
    expect_refused(OCTET_BAD_FILE, says, [&](octet_error* e) {
      return octet_tuning_load(tuning.get(), "/", nullptr, e);
    });
  expect_refused(OCTET_BAD_FILE, "path is empty",
                 [&](octet_error* e) { return octet_tuning_load(tuning.get(), "", nullptr, e); });
  expect_refused(OCTET_BAD_FILE, "there is no such file or folder (error 2", [&](octet_error* e) {
    return octet_tuning_save(tuning.get(), "/no/such/folder/file", e);
  });
  for (const char* path : {"/", "/no/such/folder/file"})
    expect_refused(OCTET_BAD_FILE, path,
                   [&](octet_error* e) { return octet_tuning_save(tuning.get(), path, e); });
  for (const size_t length : {size_t{0}, size_t{4001}})
    expect_refused(OCTET_BAD_FILE, "characters", [&](octet_error* e) {
      return octet_tuning_save(tuning.get(), std::string(length, 'p').c_str(), e);
    });
  EXPECT_EQ(lines_of(tuning), line("a", 4));
}

}  // namespace
}  // namespace octet_test
