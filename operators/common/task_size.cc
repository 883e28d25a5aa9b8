// The least work of a task. Waking a thread of a pool takes about a microsecond, one that sleeps
// several; two tasks of 3 us are the first that gain by it.
#include "operators/common/task_size.h"

#include "kernels/core/strict_float.h"

namespace octet {

extern const double least_task_cycles = 3 * 3.5e3;  // 3 us

}  // namespace octet
