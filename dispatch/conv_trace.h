#pragma once

#include "dispatch/conv.h"
#include "dispatch/trace.h"

namespace octet {

void trace(const char* event, const octet_conv2d& conv, size_t batch, size_t in_h, size_t in_w,
           double microseconds);

}  // namespace octet
