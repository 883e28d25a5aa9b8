// Believes the self-test. A test links another file in place of this one.
#include "dispatch/self_test/self_test.h"

namespace octet {

IsaMask demoted_isas(const CpuFeatures& cpu) { return failing_isas(conv_kernels(), cpu); }

}  // namespace octet
