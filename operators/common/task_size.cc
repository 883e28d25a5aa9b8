// SPDX-License-Identifier: Apache-2.0
// The least work of a task. Handing a task to a thread that waits takes half a microsecond to one;
// waking one that sleeps takes several.
#include "operators/common/task_size.h"

#include "kernels/core/strict_float.h"

namespace octet {

extern const double least_task_cycles = 2.25 * 3.5e3;  // 2.25 us

}  // namespace octet
