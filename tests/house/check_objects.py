#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What may be in an object of the library: check_objects.py BUILD

  * every symbol that it defines is octet_* (C) or octet:: (C++), and everything that it needs is
    its own or in the C library's list below;
  * no static initialisers;
  * kernels define no weak symbol: compiled with AVX-512 flags and kept by the linker for everybody,
    it is a SIGILL on older CPUs.
"""

import re
import sys
from pathlib import Path

from build import Build, run

C_LIBRARY = """
    memcpy memmove memset memcmp strlen strcmp strncmp getenv snprintf vsnprintf fprintf fputs
    stderr posix_memalign malloc free clock_gettime getauxval sysconf open read close write fsync rename
    unlink flock stat fstat fchmod mkostemp realpath realloc qsort syscall prctl __errno_location __error
    __stack_chk_fail _GLOBAL_OFFSET_TABLE_ .TOC.
"""
# The names that compilers, fortified C libraries and outlined Arm atomics give some of them.
MADE_OF_THEM = """
    bcmp memchr strchr strcpy __memcpy_chk __memset_chk __snprintf_chk __vsnprintf_chk __fprintf_chk
    __read_chk mkostemp64 open64 stat64 fstat64 __stat64_time64 __fstat64_time64 __clock_gettime64
    __open64_2 __open_2
    __aarch64_ldadd4_acq_rel __aarch64_cas4_acq_rel
"""
# Of the variables that each thread has: analysis/traffic/trace.cc.
OF_THREADS = "__tls_get_addr ___tls_get_addr"
MAY_NEED = {*C_LIBRARY.split(), *MADE_OF_THEM.split(), *OF_THREADS.split()}
# The compiler's own helpers, which every program has: 64-bit divisions on 32-bit CPUs, zeros
# before or behind a number on CPUs without an instruction for them (RISC-V without Zbb), the
# address of the code, POWER's saved registers where size counts (the linker writes those).
HELPERS = re.compile(r"^(__(u?div|u?mod|u?divmod)di[34]|__c[lt]z[sd]i2|__aeabi_[a-z0-9]+|__x86\.get_pc_thunk\..*|"
                     r"_(save|rest)(gpr|fpr|vr)[01]?_[0-9]+)$")
OURS = re.compile(r"^(octet_[a-z0-9_]+|_ZZ?N?K?5octet.*)$")
KERNELS = re.compile(r"/kernels/(scalar|x86|arm)/")


def main():
    build = Build(sys.argv[1])
    objects = build.items("octet_objects")
    complaints, defined, needed = [], set(), set()
    # All objects at once: two programs for each of 270 took ten seconds.
    symbols = run(build.text("CMAKE_NM"), "-A", "-P", *objects)
    for path, symbol, kind in re.findall(r"^(.*): (\S+) ([A-Za-z])", symbols, re.M):
        name = Path(path).name
        if HELPERS.match(symbol):
            continue
        if kind in "WVuvw" and KERNELS.search(path):
            complaints.append(f"{name}: weak symbol {symbol}; a kernel may not define any")
        if kind == "U":
            needed.add(symbol)
        elif kind.isupper() or kind == "u":
            defined.add(symbol)
            if not OURS.match(symbol):
                complaints.append(f"{name}: defines {symbol}, which is neither octet_* nor octet::")
    sections = run(build.text("CMAKE_OBJDUMP"), "-h", *objects)
    looked_at = re.split(r"^(.*):[ \t]+file format .*$", sections, flags=re.M)[1:]
    for path, its in zip(looked_at[::2], looked_at[1::2]):
        initialiser = re.search(r" \.(init_array|ctors|preinit_array)", its)
        if initialiser:
            name = Path(path).name
            complaints.append(f"{name}: has a static initialiser (section {initialiser[1]})")
    if len(looked_at) != 2 * len(objects):
        complaints.append(f"{build.text('CMAKE_OBJDUMP')} shows {len(looked_at) // 2} objects")
    needed -= defined | MAY_NEED
    if build.text("octet_cpuinfo") not in ("", "0", "OFF"):
        needed = {symbol for symbol in needed if not symbol.startswith("cpuinfo_")}
    if needed:
        complaints.append(f"The archive needs what a C program may not have: {sorted(needed)}")
    kib = -(-Path(build.text("octet_archive")).stat().st_size // 1024)
    print(*complaints, f"{len(objects)} objects looked at; the archive has {kib} KiB", sep="\n")
    sys.exit(bool(complaints) or not objects)


if __name__ == "__main__":
    main()
