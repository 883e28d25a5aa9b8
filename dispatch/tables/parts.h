// Parts that a library may be built without. OCTET_IF_<part>(yes, no) is `yes` if the library has
// the part. Tables list rows by OCTET_IF_<part>(ROW, NO_ROW)(row).
#pragma once

#if defined(OCTET_WITHOUT_SPARSE)
#define OCTET_IF_SPARSE(yes, no) no
#else
#define OCTET_IF_SPARSE(yes, no) yes
#endif

#if defined(OCTET_WITHOUT_WINOGRAD)
#define OCTET_IF_WINOGRAD(yes, no) no
#else
#define OCTET_IF_WINOGRAD(yes, no) yes
#endif

#if defined(OCTET_WITHOUT_DEPTHWISE)
#define OCTET_IF_DEPTHWISE(yes, no) no
#else
#define OCTET_IF_DEPTHWISE(yes, no) yes
#endif

#define ROW(...) __VA_ARGS__,
#define NO_ROW(...)
