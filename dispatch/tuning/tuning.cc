// SPDX-License-Identifier: Apache-2.0
// Writes and parses the lines of a tuning file.
#include "dispatch/tuning/tuning.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dispatch/select/machine.h"
#include "dispatch/tables/tiers.h"
#include "packing/checksum.h"

namespace octet {
namespace {

constexpr char kBar[] = " | ", kCosts[] = " costs";
constexpr size_t kBarBytes = sizeof kBar - 1, kDigits = 16;

uint64_t checksum_of(const char* text, size_t length) {
  uint32_t words[kTuningLineBytes / sizeof(uint32_t)] = {};
  memcpy(words, text, length);
  return checksum(words, round_up(length, sizeof(uint32_t))).folded();
}

void write_checksum(const char* text, size_t length, char (&digits)[kDigits + 1]) {
  snprintf(digits, sizeof digits, "%016llx", (unsigned long long)checksum_of(text, length));
}

// Takes the part up to the next bar; *text moves behind the bar. False if there is no bar.
bool take(TuningWords* text, TuningWords* part) {
  for (size_t i = 0; i + kBarBytes <= text->length; ++i)
    if (memcmp(text->text + i, kBar, kBarBytes) == 0) {
      *part = {text->text, i};
      *text = {text->text + i + kBarBytes, text->length - i - kBarBytes};
      return true;
    }
  return false;
}

// False if the text contains a zero byte or is too long.
template <size_t room>
bool copy_words(const TuningWords& words, char (&text)[room]) {
  if (words.length >= room || memchr(words.text, 0, words.length)) return false;
  memcpy(text, words.text, words.length);
  text[words.length] = 0;
  return true;
}

// Takes "NAME=NUMBER" and the space behind it; *text moves behind both.
bool take_number(TuningWords* text, const char* name, uint64_t* number) {
  const size_t begin = strlen(name);
  if (text->length < begin || memcmp(text->text, name, begin) != 0) return false;
  size_t at = begin;
  *number = 0;
  for (; at < text->length && text->text[at] >= '0' && text->text[at] <= '9'; ++at)
    *number = 10 * *number + (uint64_t)(text->text[at] - '0');
  const bool is_number = at > begin;
  if (at < text->length && text->text[at] == ' ') ++at;
  *text = {text->text + at, text->length - at};
  return is_number;
}

}  // namespace

TuningKey::TuningKey(TierId tier) {
  char cpu[kCpuNameBytes];
  name_cpu(&cpu);
  const Caches c = this_microarchitecture().caches;
  add("octet-%s", octet_version());
  add(" %s-%zu-%zu-%zu", cpu, c.l1d_bytes, c.l2_bytes, c.l3_bytes);
  add(" %s", isa_name(tier));
}

void TuningKey::add(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int added = vsnprintf(text_ + length_, sizeof text_ - length_, format, arguments);
  va_end(arguments);
  length_ = smaller(length_ + (size_t)added, sizeof text_ - 1);
}

bool TuningWords::begins_with(const TuningKey& key) const {
  return length >= key.length() && memcmp(text, key.text(), key.length()) == 0 &&
         (length == key.length() || text[key.length()] == ' ');
}

bool TuningWords::ends_with(const char* words) const {
  const size_t bytes = strlen(words);
  return length >= bytes && memcmp(text + length - bytes, words, bytes) == 0;
}

bool TuningReader::next(TuningWords* line) {
  while (next_ < end_) {
    const char* const start = next_;
    const char* const newline = (const char*)memchr(start, '\n', (size_t)(end_ - start));
    const char* const stop = newline ? newline : end_;
    next_ = newline ? newline + 1 : end_;
    ++number_;
    *line = {start, (size_t)(stop - start)};
    if (line->length && stop[-1] == '\r') --line->length;  // an editor may write \r\n
    if (line->length) return true;
  }
  return false;
}

bool TuningReader::find(const TuningKey& key, TuningLine* line, Choice* choice) {
  for (TuningWords words; next(&words);)
    if (words.begins_with(key) && read_tuning_line(words, line) && read_choice(*line, choice))
      return true;
  return false;
}

bool TuningReader::find_costs(const TuningKey& key, TierCosts* costs, CostsOrigin* origin) {
  TuningLine line;
  for (TuningWords words; next(&words);)
    if (words.begins_with(key) && read_tuning_line(words, &line) && read_costs(line, costs, origin))
      return true;
  return false;
}

TuningFigures TuningLine::read_figures() const {
  TuningWords text = figures;
  uint64_t plan, chosen, threads;
  if (!take_number(&text, "plan_ns=", &plan) || !take_number(&text, "chosen_ns=", &chosen) ||
      !take_number(&text, "threads=", &threads) || text.length)
    return {};
  return {plan, chosen, (size_t)threads};
}

bool read_tuning_line(const TuningWords& words, TuningLine* line) {
  if (words.length < kBarBytes + kDigits || words.length >= kTuningLineBytes) return false;
  const size_t checked = words.length - kBarBytes - kDigits;
  char digits[kDigits + 1];
  write_checksum(words.text, checked, digits);
  if (memcmp(words.text + checked, kBar, kBarBytes) != 0 ||
      memcmp(words.text + checked + kBarBytes, digits, kDigits) != 0)
    return false;
  line->all = words;
  TuningWords rest = words;
  return take(&rest, &line->key) && line->key.length < kTuningKeyBytes &&
         take(&rest, &line->choice) && take(&rest, &line->figures);
}

size_t write_tuning_line(const TuningKey& key, const Choice& choice, const TuningFigures& f,
                         char (&line)[kTuningLineBytes]) {
  char text[kChoiceBytes], digits[kDigits + 1];
  to_text(choice, text);
  const size_t checked = (size_t)snprintf(
      line, sizeof line, "%s%s%s%splan_ns=%llu chosen_ns=%llu threads=%zu", key.text(), kBar, text,
      kBar, (unsigned long long)f.plan_ns, (unsigned long long)f.chosen_ns, f.threads);
  write_checksum(line, checked, digits);
  return checked + (size_t)snprintf(line + checked, sizeof line - checked, "%s%s\n", kBar, digits);
}

bool read_choice(const TuningLine& line, Choice* choice) {
  char text[kChoiceBytes];
  return copy_words(line.choice, text) && from_text(text, choice, nullptr) == OCTET_OK;
}

TuningKey key_of_costs(TierId tier) {
  TuningKey key(tier);
  key.add("%s", kCosts);
  return key;
}

size_t write_costs_line(const TuningKey& key, const char* costs, char (&line)[kTuningLineBytes]) {
  char digits[kDigits + 1];
  const size_t checked =
      (size_t)snprintf(line, sizeof line, "%s%s%s%s-", key.text(), kBar, costs, kBar);
  write_checksum(line, checked, digits);
  return checked + (size_t)snprintf(line + checked, sizeof line - checked, "%s%s\n", kBar, digits);
}

bool read_costs(const TuningLine& line, TierCosts* costs, CostsOrigin* origin) {
  char text[kCostsBytes];
  return copy_words(line.choice, text) && read_costs(text, costs, origin, nullptr) == OCTET_OK;
}

bool has_costs(const TuningLine& line) {
  for (size_t i = 0; const Tier* tier = nth_tier(i); ++i) {
    char end[64];
    snprintf(end, sizeof end, " %s%s", tier->name, kCosts);
    TierCosts costs = tier->costs;
    CostsOrigin origin;
    if (line.key.ends_with(end)) return read_costs(line, &costs, &origin);
  }
  return false;
}

}  // namespace octet
