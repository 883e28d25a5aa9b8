// SPDX-License-Identifier: Apache-2.0
// Parts that a library may be built without. CMake defines OCTET_WITH_<part> as 1 or 0, and
// OCTET_IF(part, yes, no) is `yes` if the library has the part. Tables list rows by
// OCTET_IF(part, ROW, NO_ROW)(row).
#pragma once

#define OCTET_IF(part, yes, no) OCTET_EITHER(OCTET_WITH_##part)(yes, no)
#define OCTET_EITHER(on) OCTET_EITHER_OF(on)
#define OCTET_EITHER_OF(on) OCTET_EITHER_##on
#define OCTET_EITHER_1(yes, no) yes
#define OCTET_EITHER_0(yes, no) no

#define ROW(...) __VA_ARGS__,
#define NO_ROW(...)
