// SPDX-License-Identifier: Apache-2.0
// Messages about files, in English whatever the locale.
#include "dispatch/api/file_error.h"

#include <errno.h>

namespace octet {
namespace {

const char* words_of(int number) {
  switch (number) {
    case EACCES:
    case EPERM: return "it is not allowed";
    case EEXIST: return "it is there already";
    case EFBIG: return "it is too large";
    case EIO: return "the device failed";
    case EISDIR: return "it is a folder";
    case ELOOP: return "too many links";
    case EMFILE:
    case ENFILE: return "too many open files";
    case ENAMETOOLONG: return "its name is too long";
    case ENODEV:
    case ENXIO: return "it is no file";
    case ENOENT: return "there is no such file or folder";
    case ENOMEM: return "no memory";
    case ENOSPC: return "no space left";
    case ENOTDIR: return "a part of the path is no folder";
    case EROFS: return "what holds it can only be read";
  }
  return "no other word for it";
}

}  // namespace

octet_status fail_file(octet_error* error, octet_status status, const char* name, const char* what,
                       int number, const char* path) {
  if (number == ENOMEM) status = OCTET_OUT_OF_MEMORY;
  return fail(error, status, "%s cannot be %s: %s (error %d of the system): '%.160s'", name, what,
              words_of(number), number, path);
}

}  // namespace octet
