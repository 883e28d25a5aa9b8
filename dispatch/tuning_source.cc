// Files of measured choices, read; and where pack and create look for them.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "dispatch/struct_size.h"
#include "dispatch/tuning.h"

namespace octet {
namespace {

constexpr size_t kLargestFile = (size_t)64 << 20;

// Files grow while they are read, and some have no size.
bool read_all(int file, char** text, size_t* bytes) {
  size_t room = 0;
  *text = nullptr;
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
  free(*text);
  return false;
}

}  // namespace

octet_status read_tuning_file(const char* path, const char* name, bool must_be_there,
                              octet_status status, char** text, size_t* bytes, octet_error* error) {
  *text = nullptr, *bytes = 0;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT && !must_be_there) return OCTET_OK;
  const bool read = file >= 0 && read_all(file, text, bytes);
  const int reason = errno;
  if (file >= 0) close(file);
  if (read) return OCTET_OK;
  *text = nullptr, *bytes = 0;
  return fail(error, status, "%s is '%.160s', a file that cannot be read (error %d of the system)",
              name, path, reason);
}

TuningSource::~TuningSource() { free(file_); }

octet_status TuningSource::open(const octet_machine* machine, const Environment& environment,
                                octet_error* error) {
  if (machine) {
    Given<octet_machine> given;
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
