// What the caller asks for by name; null or AUTO: the library's choice.
#pragma once

#include "octet/octet.h"

namespace tool {

struct Forced {
  octet_isa isa = OCTET_ISA_AUTO;
  const char* kernel = nullptr;
  octet_conv_algorithm algorithm = OCTET_CONV_AUTO;  // convolutions only
};

}  // namespace tool
