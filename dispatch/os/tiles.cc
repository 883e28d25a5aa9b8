// Asks the operating system for the tile registers of AMX.
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "dispatch/os/os.h"

namespace octet::os {

bool request_tiles() {
#if defined(SYS_arch_prctl)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace octet::os
