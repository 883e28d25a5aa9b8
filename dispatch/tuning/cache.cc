// SPDX-License-Identifier: Apache-2.0
// The octet_tuning_* functions that work on lines in memory.
#include "dispatch/tuning/cache.h"

#include <stdlib.h>
#include <string.h>

#include "dispatch/api/struct_size.h"
#include "dispatch/select/machine.h"

namespace octet {
namespace {

struct Item {
  TuningLine line;
  size_t turn;  // the later one counts
};

int compare_items(const void* a, const void* b) {
  const Item &x = *(const Item*)a, &y = *(const Item*)b;
  const int order = compare(x.line.key, y.line.key);
  return order ? order : x.turn < y.turn ? -1 : 1;
}

size_t count_lines(const Lines& lines) {
  size_t count = 0;
  TuningReader reader(lines.text, lines.bytes);
  for (TuningWords words; reader.next(&words);) ++count;
  return count;
}

void read_items(const Lines& lines, Item* items, size_t* count) {
  TuningReader reader(lines.text, lines.bytes);
  for (TuningWords words; reader.next(&words);)
    if (read_tuning_line(words, &items[*count].line)) items[*count].turn = *count, ++*count;
}

octet_status no_memory(octet_error* error) {
  return fail(error, OCTET_OUT_OF_MEMORY, "no memory for the lines of a tuning");
}

octet_status add_lines(const Lines& lines, octet_tuning* tuning, octet_error* error) {
  size_t bytes;
  char* const merged = merge_lines({tuning->text, tuning->bytes}, lines, &bytes);
  if (!merged) return no_memory(error);
  free(tuning->text);
  tuning->text = merged;
  tuning->bytes = bytes;
  return OCTET_OK;
}

}  // namespace

char* merge_lines(const Lines& first, const Lines& second, size_t* bytes) {
  // One more each, because an allocation may not be empty
  const size_t most = count_lines(first) + count_lines(second) + 1;
  Item* const items = (Item*)malloc(most * sizeof(Item));
  char* const text = (char*)malloc(first.bytes + second.bytes + 3);
  if (!items || !text) {
    free(items);
    free(text);
    return nullptr;
  }
  size_t count = 0;
  read_items(first, items, &count);
  read_items(second, items, &count);
  qsort(items, count, sizeof *items, compare_items);
  *bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i + 1 < count && compare(items[i].line.key, items[i + 1].line.key) == 0) continue;
    const TuningWords& line = items[i].line.all;
    memcpy(text + *bytes, line.text, line.length);
    text[*bytes + line.length] = '\n';
    *bytes += line.length + 1;
  }
  free(items);
  return text;
}

bool is_known(const octet_tuning& tuning, const TuningKey& key, const Choice& plan, size_t threads,
              octet_tune_result* result) {
  TuningReader reader(tuning.text, tuning.bytes);
  TuningLine line;
  for (Choice choice; reader.find(key, &line, &choice);) {
    const TuningFigures figures = line.read_figures();
    if (line.key.length != key.length() || figures.threads != threads) continue;
    result->plan_us = (double)figures.plan_ns * 1e-3;
    result->best_us = result->chosen_us = (double)figures.chosen_ns * 1e-3;
    result->changed = !(choice == plan);
    to_text(plan, result->plan);
    to_text(choice, result->best);
    to_text(choice, result->choice);
    return true;
  }
  return false;
}

octet_status keep(const TuningKey& key, const TuningEntry& found, octet_tuning* tuning,
                  octet_error* error) {
  char line[kTuningLineBytes];
  const size_t length = write_tuning_line(key, found.choice, found.figures, line);
  return add_lines({line, length}, tuning, error);
}

octet_status keep_costs(TierId tier, const char* costs, octet_tuning* tuning, octet_error* error) {
  char line[kTuningLineBytes];
  const size_t length = write_costs_line(key_of_costs(tier), costs, line);
  return add_lines({line, length}, tuning, error);
}

octet_status add_tuning(const octet_tuning& from, octet_tuning* to, octet_error* error) {
  return add_lines({from.text, from.bytes}, to, error);
}

}  // namespace octet

using namespace octet;

octet_status octet_tuning_create(octet_tuning** tuning, octet_error* error) {
  if (!tuning) return fail(error, OCTET_NULL_POINTER, "tuning is null");
  *tuning = (octet_tuning*)malloc(sizeof **tuning);
  if (!*tuning) return no_memory(error);
  **tuning = {};
  return OCTET_OK;
}

void octet_tuning_destroy(octet_tuning* tuning) {
  if (!tuning) return;
  free(tuning->text);
  free(tuning);
}

octet_status octet_tuning_load(octet_tuning* tuning, const char* path, octet_tuning_report* report,
                               octet_error* error) {
  if (!tuning || !path)
    return fail(error, OCTET_NULL_POINTER, "%s is null", tuning ? "path" : "tuning");
  if (!*path) return fail(error, OCTET_BAD_FILE, "path is empty");
  if (report) OCTET_TRY(check_out(report, "report", error));
  char* text;
  size_t bytes;
  OCTET_TRY(read_tuning_file(path, "path", false, OCTET_BAD_FILE, &text, &bytes, error));
  const octet_status status = add_lines({text, bytes}, tuning, error);
  if (status == OCTET_OK && report) give(report_on(text, bytes), report);
  free(text);
  return status;
}
