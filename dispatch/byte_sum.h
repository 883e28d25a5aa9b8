// TFLite's ADD as a ByteSum.
#pragma once

#include "kernels/core/finish.h"

namespace octet {

// Looks at all pairs of bytes that the product's clamp lets through. False: it has found none.
bool find_byte_sum(const Finish& finish, ByteSum* sum);

}  // namespace octet
