// SPDX-License-Identifier: Apache-2.0
// Reads tuning files, and finds the one that pack and create use.
#include <errno.h>
#include <stdlib.h>

#include "dispatch/api/file_error.h"
#include "dispatch/api/struct_size.h"
#include "dispatch/os/os.h"
#include "dispatch/tuning/tuning.h"

namespace octet {
namespace {

constexpr size_t kLargestFile = (size_t)64 << 20;

}  // namespace

octet_status refuse_no_file(octet_status status, const char* name, const char* path,
                            octet_error* error) {
  return fail(error, status, "%s is no regular file: '%.160s'", name, path);
}

octet_status read_tuning_file(const char* path, const char* name, bool must_be_there,
                              octet_status status, char** text, size_t* bytes, octet_error* error) {
  const int reason = os::read_whole(path, kLargestFile, text, bytes);
  if (!reason || (reason == ENOENT && *path && !must_be_there)) return OCTET_OK;
  if (reason == os::kNoRegularFile) return refuse_no_file(status, name, path, error);
  if (reason == EFBIG)
    return fail(error, status, "%s is larger than %zu MiB: '%.160s'", name, kLargestFile >> 20,
                path);
  return fail_file(error, status, name, "read", reason, path);
}

TuningSource::~TuningSource() { free(file_); }

octet_status TuningSource::open(const octet_machine* machine, const Environment& environment,
                                octet_error* error) {
  if (machine) {
    CallerStruct<octet_machine> given;
    OCTET_TRY(given.read(machine, "machine", error));
    if (given->tuning) text_ = given->tuning->text, bytes_ = given->tuning->bytes;
    return OCTET_OK;
  }
  if (!environment.tuning) return OCTET_OK;
  OCTET_TRY(read_tuning_file(environment.tuning, "OCTET_TUNING", true, OCTET_BAD_ENVIRONMENT,
                             &file_, &bytes_, error));
  text_ = file_;
  if (environment.verbose) trace_tuning(environment.tuning, text_, bytes_);
  return OCTET_OK;
}

}  // namespace octet
