# What may be in an object of the library:
#   - every symbol that it defines is octet_* (C) or octet:: (C++), and everything it needs is its own or in the C library's list below;
#   - no static initialisers;
#   - kernels define no weak symbol: compiled with AVX-512 flags and kept by the linker for everybody, it is a SIGILL on older CPUs.
cmake_minimum_required(VERSION 3.22)
set(c_library memcpy memmove memset memcmp strlen strcmp strncmp getenv snprintf vsnprintf fprintf fputs stderr posix_memalign malloc free
  clock_gettime getauxval sysconf open read close write fsync rename unlink flock stat fstat fchmod mkostemp realpath realloc qsort __errno_location __error __stack_chk_fail _GLOBAL_OFFSET_TABLE_ .TOC.
  # what compilers, fortified C libraries and outlined Arm atomics turn some of them into
  bcmp memchr strchr strcpy
  __memcpy_chk __memset_chk __snprintf_chk __vsnprintf_chk __fprintf_chk
  # of what is the thread's: analysis/traffic/trace.cc
  __tls_get_addr ___tls_get_addr
  __read_chk mkostemp64 open64 stat64 fstat64 __stat64_time64 __fstat64_time64 __open64_2 __open_2
  __aarch64_ldadd4_acq_rel __aarch64_cas4_acq_rel)
# The compiler's own helpers, which every program has: 64-bit divisions on 32-bit CPUs, the address
# of the code, POWER's saved registers where size counts (the linker writes those).
set(helpers "^(__(u?div|u?mod|u?divmod)di[34]|__aeabi_[a-z0-9]+|__x86\\.get_pc_thunk\\..*|\
_(save|rest)(gpr|fpr)[01]?_[0-9]+)$")
set(ours "^(octet_[a-z0-9_]+|_ZN?K?5octet.*)$")
set(kernel_folders "/kernels/(scalar|x86|arm)/")

set(defined)
set(needed)
file(STRINGS ${OBJECTS} objects)
foreach(object IN LISTS objects)
  cmake_path(GET object FILENAME name)
  execute_process(COMMAND ${NM} -P ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" symbols "${symbols}")
  foreach(line IN LISTS symbols)
    if(NOT line MATCHES "^([^ ]+) ([A-Za-z])")
      continue()
    endif()
    set(symbol ${CMAKE_MATCH_1})
    set(type ${CMAKE_MATCH_2})
    if(symbol MATCHES "${helpers}")
      continue()
    endif()
    if(type MATCHES "[WVuvw]" AND object MATCHES "${kernel_folders}")
      message(SEND_ERROR "${name}: weak symbol ${symbol}; a kernel may not define any")
    endif()
    if(type STREQUAL "U")
      list(APPEND needed ${symbol})
    elseif(type MATCHES "[A-Zu]")
      list(APPEND defined ${symbol})
      if(NOT symbol MATCHES "${ours}")
        message(SEND_ERROR "${name}: defines ${symbol}, which is neither octet_* nor octet::")
      endif()
    endif()
  endforeach()
  execute_process(COMMAND ${OBJDUMP} -h ${object} OUTPUT_VARIABLE sections COMMAND_ERROR_IS_FATAL ANY)
  if(sections MATCHES " \\.(init_array|ctors|preinit_array)")
    message(SEND_ERROR "${name}: has a static initialiser (section ${CMAKE_MATCH_1})")
  endif()
endforeach()

list(REMOVE_DUPLICATES needed)
list(REMOVE_ITEM needed ${defined} ${c_library})
if(WITH_CPUINFO)
  list(FILTER needed EXCLUDE REGEX "^cpuinfo_")
endif()
if(needed)
  message(SEND_ERROR "The archive needs what a C program may not have: ${needed}")
endif()
list(LENGTH objects count)
file(SIZE ${ARCHIVE} bytes)
math(EXPR kib "(${bytes} + 1023) / 1024")
message(STATUS "${count} objects looked at; the archive has ${kib} KiB")
