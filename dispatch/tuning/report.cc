// SPDX-License-Identifier: Apache-2.0
// Reports how many lines of a tuning file this machine can use.
#include <stdio.h>
#include <string.h>

#include "dispatch/tuning/tuning.h"

namespace octet {
namespace {

// Takes the next word; *text moves behind it and the space.
TuningWords take_word(TuningWords* text) {
  const char* const space = (const char*)memchr(text->text, ' ', text->length);
  const TuningWords word = {text->text, space ? (size_t)(space - text->text) : text->length};
  const size_t taken = smaller(word.length + 1, text->length);
  *text = {text->text + taken, text->length - taken};
  return word;
}

}  // namespace

int compare(const TuningWords& a, const TuningWords& b) {
  const int order = memcmp(a.text, b.text, smaller(a.length, b.length));
  return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

octet_tuning_report report_on(const char* text, size_t bytes) {
  octet_tuning_report report = OCTET_TUNING_REPORT_INIT;
  const TuningKey here(kPortableTier);
  TuningWords mine = {here.text(), here.length()};
  const TuningWords version = take_word(&mine), machine = take_word(&mine);
  const auto same = [](const TuningWords& a, const TuningWords& b) { return compare(a, b) == 0; };
  TuningReader reader(text, bytes);
  for (TuningWords words; reader.next(&words);) {
    TuningLine line;
    if (!read_tuning_line(words, &line)) {
      if (!report.damaged++) report.first_damaged = reader.number();
      continue;
    }
    TuningWords key = line.key;
    const TuningWords its_version = take_word(&key), its_machine = take_word(&key);
    Choice choice;
    if (!same(its_machine, machine))
      ++report.other_machine;
    else if (!same(its_version, version) || !(read_choice(line, &choice) || has_costs(line)))
      ++report.other_version;
    else
      ++report.usable;
  }
  return report;
}

void trace_tuning(const char* path, const char* text, size_t bytes) {
  // FNV-1a
  uint64_t sum = 0xCBF29CE484222325u;
  const auto add = [&](const char* from, size_t length) {
    for (size_t i = 0; i < length; ++i) sum = (sum ^ (uint8_t)from[i]) * 0x100000001B3u;
  };
  add(path, strlen(path));
  add(text, bytes);
  // Of two threads at once, both may report
  static uint32_t last;
  const uint32_t folded = (uint32_t)(sum ^ sum >> 32);
  if (__atomic_load_n(&last, __ATOMIC_RELAXED) == folded) return;
  __atomic_store_n(&last, folded, __ATOMIC_RELAXED);
  const octet_tuning_report r = report_on(text, bytes);
  fprintf(stderr, "octet,tuning,%s,%zu,%zu,%zu,%zu,%zu\n", path, r.usable, r.other_machine,
          r.other_version, r.damaged, r.first_damaged);
}

}  // namespace octet
