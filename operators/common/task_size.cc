// SPDX-License-Identifier: Apache-2.0
// The least work of a task. Waking a pool's thread takes about a microsecond, a sleeping one
// several, so two tasks of 3 us are the first that gain.
#include "operators/common/task_size.h"

#include "kernels/core/strict_float.h"

namespace octet {

extern const double least_task_cycles = 3 * 3.5e3;  // 3 us

}  // namespace octet
