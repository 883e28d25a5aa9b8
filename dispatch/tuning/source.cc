// Reads tuning files, and finds the one that pack and create use.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dispatch/api/file_error.h"
#include "dispatch/api/struct_size.h"
#include "dispatch/tuning/tuning.h"

namespace octet {
namespace {

constexpr size_t kLargestFile = (size_t)64 << 20;

// Reads until the end, because a file may grow meanwhile.
bool read_all(int file, char** text, size_t* bytes) {
  size_t room = 0;
  *text = nullptr;
  errno = ENOMEM;
  for (*bytes = 0; *bytes <= kLargestFile;) {
    if (*bytes == room) {
      char* const larger = (char*)realloc(*text, room = room ? 2 * room : 16384);
      if (!larger) break;
      *text = larger;
    }
    const ssize_t length = read(file, *text + *bytes, room - *bytes);
    if (length == 0) return true;
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) break;
    *bytes += (size_t)length;
  }
  if (*bytes > kLargestFile) errno = EFBIG;
  const int reason = errno;
  free(*text);
  errno = reason;
  return false;
}

}  // namespace

bool is_regular(int file) {
  struct stat status;
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

octet_status refuse_no_file(octet_status status, const char* name, const char* path,
                            octet_error* error) {
  return fail(error, status, "%s is no regular file: '%.160s'", name, path);
}

octet_status read_tuning_file(const char* path, const char* name, bool must_be_there,
                              octet_status status, char** text, size_t* bytes, octet_error* error) {
  *text = nullptr, *bytes = 0;
  // O_NONBLOCK, because opening a pipe would wait
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0 && errno == ENOENT && *path && !must_be_there) return OCTET_OK;
  if (file < 0) return fail_file(error, status, name, "read", errno, path);
  const bool regular = is_regular(file), read = regular && read_all(file, text, bytes);
  const int reason = errno;
  close(file);
  if (read) return OCTET_OK;
  *text = nullptr, *bytes = 0;
  if (!regular) return refuse_no_file(status, name, path, error);
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
