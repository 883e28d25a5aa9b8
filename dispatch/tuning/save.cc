// SPDX-License-Identifier: Apache-2.0
// octet_tuning_save: replaces the file as a whole, and takes turns with other writers.
#include <stdlib.h>
#include <string.h>

#include "dispatch/api/file_error.h"
#include "dispatch/os/os.h"
#include "dispatch/tuning/cache.h"

namespace octet {
namespace {

constexpr size_t kPathMost = 4000;

octet_status refuse(const os::Failure& failure, const char* path, octet_error* error) {
  if (failure.reason == os::kNoRegularFile)
    return refuse_no_file(OCTET_BAD_FILE, "path", path, error);
  return fail_file(error, OCTET_BAD_FILE, "path", failure.step, failure.reason, path);
}

// True if at least one line looks like a tuning's, damaged or not: no other file is overwritten.
bool is_tuning(const char* text, size_t bytes) {
  constexpr char kBegin[] = "octet-";
  TuningReader reader(text, bytes);
  for (TuningWords line; reader.next(&line);)
    if (line.length >= sizeof kBegin - 1 && memcmp(line.text, kBegin, sizeof kBegin - 1) == 0)
      return true;
  return bytes == 0;
}

octet_status save(const octet_tuning& tuning, const char* path, octet_error* error) {
  os::Replacement file;
  if (const os::Failure failure = file.begin(path); failure.reason)
    return refuse(failure, path, error);
  char* there;
  size_t there_bytes, bytes;
  OCTET_TRY(read_tuning_file(path, "path", false, OCTET_BAD_FILE, &there, &there_bytes, error));
  octet_status status = OCTET_OK;
  char* merged = nullptr;
  if (!is_tuning(there, there_bytes))
    status = fail(error, OCTET_BAD_FILE,
                  "path has a file without any line of a tuning, which is left as it is: '%.160s'",
                  path);
  else if (!(merged = merge_lines({there, there_bytes}, {tuning.text, tuning.bytes}, &bytes)))
    status = fail(error, OCTET_OUT_OF_MEMORY, "no memory for the lines of '%.160s'", path);
  else if (const os::Failure failure = file.write(merged, bytes); failure.reason)
    status = refuse(failure, path, error);
  free(merged);
  free(there);
  return status;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_tuning_save(const octet_tuning* tuning, const char* path, octet_error* error) {
  if (!tuning || !path)
    return fail(error, OCTET_NULL_POINTER, "%s is null", tuning ? "path" : "tuning");
  if (!*path || strlen(path) > kPathMost)
    return fail(error, OCTET_BAD_FILE, "path has %zu characters; it must have 1 to %zu",
                strlen(path), kPathMost);
  return save(*tuning, path, error);
}
