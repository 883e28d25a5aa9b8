// SPDX-License-Identifier: Apache-2.0
// Fuzzes files of measured choices. The library finds all lines that it wrote; from a damaged file
// it keeps unchanged lines only.
#include "dispatch/tuning/tuning.h"

#include <cstdlib>
#include <map>

#include "dispatch/tuning/cache.h"
#include "fuzz/memory.h"
#include "fuzz/other_choice.h"

namespace octet_fuzz {
namespace {

using octet::Choice;
using octet::Lines;

std::string any_key(Choices* c) {
  return c->any({"octet-0.2.0", "octet-0.1.0"}) + std::string(" cpu-1-2-3 SCALAR product m=") +
         std::to_string(c->below(5));
}

std::string any_line(Choices* c, const std::string& key, const Choice& choice) {
  char line[octet::kTuningLineBytes];
  const size_t length = octet::write_tuning_line(octet::TuningKey(key.c_str()), choice,
                                                 {c->odd(), c->odd(), (size_t)c->odd()}, line);
  if (line[length] || line[length - 1] != '\n') fail("a line without its end: %s", line);
  return {line, length};
}

void damage(Choices* c, std::string* text) {
  for (size_t times = c->below(4); times > 0 && !text->empty(); --times) {
    const size_t at = c->below(text->size()), length = c->below(text->size() - at + 1);
    switch (c->below(6)) {
      case 0:
        (*text)[at] = (char)c->below(256);
        break;
      case 1:
        text->insert(at, 1, (char)c->any({' ', '|', '\n', '0'}));
        break;
      case 2:
        text->erase(at, length);
        break;
      case 3:
        text->insert(at, text->substr(at, length % 2000));
        break;
      case 4:
        text->insert(at, c->below(1500), (char)c->below(256));
        break;
      default:
        text->resize(at);
        break;
    }
  }
}

std::string merged(const Lines& first, const Lines& second) {
  size_t bytes = 0;
  char* const text = octet::merge_lines(first, second, &bytes);
  if (!text) fail("merging has no memory");
  const std::string lines(text, bytes);
  std::free(text);
  return lines;
}

Lines lines_of(const Block& block) { return {block.data<char>(), block.bytes()}; }
Block block_of(Choices* c, const std::string& text) {
  return Block(c, std::vector<char>(text.begin(), text.end()));
}

}  // namespace

void fuzz_one(Choices* c) {
  std::map<std::string, std::string> written;  // line -> choice
  std::string text;
  for (size_t lines = c->below(6); lines > 0; --lines) {
    const Choice choice = any_choice(c);
    const std::string line = any_line(c, any_key(c), choice);
    written[line] = text_of(choice);
    text += line;
  }
  damage(c, &text);
  const Block file = block_of(c, text);
  const octet_tuning_report report = octet::report_on(file.data<char>(), file.bytes());
  const std::string kept = merged({nullptr, 0}, lines_of(file));
  size_t count = 0;
  for (size_t at = 0; at < kept.size(); ++count) {
    const size_t end = kept.find('\n', at) + 1;
    if (!written.count(kept.substr(at, end - at)))
      fail("kept, and never written: %s", kept.substr(at, end - at).c_str());
    at = end;
  }
  const size_t right = report.usable + report.other_machine + report.other_version;
  if (count > right) fail("%zu lines are kept of %zu that are right", count, right);
  if ((report.damaged != 0) != (report.first_damaged != 0)) fail("a damaged line without a number");
  (report.damaged ? tally.refusals : tally.runs) += 1;

  // Every choice that is found was written under this key.
  const octet::TuningKey key(any_key(c).c_str());
  octet::TuningReader reader(file.data<char>(), file.bytes());
  octet::TuningLine line;
  for (Choice found; reader.find(key, &line, &found);) {
    const auto it = written.find(std::string(line.all.text, line.all.length) + "\n");
    if (it == written.end() || it->second != text_of(found))
      fail("found %s, and never written", text_of(found).c_str());
    if (!line.key.begins_with(key)) fail("found another key than %s", key.text());
  }

  // Merging kept lines changes nothing, nor does merging two halves with different keys in either
  // order.
  const Block again = block_of(c, kept);
  if (merged(lines_of(again), lines_of(again)) != kept) fail("merging lines with themselves");
  if (merged(lines_of(again), {nullptr, 0}) != kept) fail("merging lines with none");
}

}  // namespace octet_fuzz
