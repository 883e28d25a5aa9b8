// SPDX-License-Identifier: Apache-2.0
// Hands a body to libFuzzer, which brings main.
#include "fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  octet_fuzz::run_once(data, size);
  return 0;
}
