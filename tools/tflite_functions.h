// TFLite's additions and poolings of 8 bits, line by line, as its reference kernels compute them.
#pragma once

#include "described.h"

namespace tool {

// The bounds of a fused activation; throws of one that it does not know.
void set_activation(DescribedFunction* function, const std::string& activation, float scale,
                    int32_t zero_point);
void make_addition(DescribedFunction* function);  // sets what is to be run
void make_pooling(DescribedFunction* function);

}  // namespace tool
