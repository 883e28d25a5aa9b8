// What the library says about itself and the machine, and small helpers.
#include "dispatch/check.h"
#include "dispatch/environment.h"
#include "dispatch/machine.h"
#include "dispatch/struct_size.h"
#include "dispatch/tables/kernel_names.h"
#include "dispatch/tables/tiers.h"

#define OCTET_TEXT2(x) #x
#define OCTET_TEXT(x) OCTET_TEXT2(x)

using namespace octet;

const char* octet_version(void) {
  return OCTET_TEXT(OCTET_VERSION_MAJOR) "." OCTET_TEXT(OCTET_VERSION_MINOR) "." OCTET_TEXT(
      OCTET_VERSION_PATCH);
}

const char* octet_type_name(octet_type type) {
  switch (type) {
    case OCTET_S8: return "s8";
    case OCTET_U8: return "u8";
    case OCTET_S32: return "s32";
    case OCTET_F32: return "f32";
  }
  return "unknown";
}

const char* octet_isa_name(octet_isa isa) {
  const Tier* const tier = find_tier((int)isa);
  return tier ? tier->name : isa == OCTET_ISA_AUTO ? "AUTO" : "unknown";
}

octet_status octet_get_cpu_info(octet_cpu_info* info, octet_error* error) {
  OCTET_TRY(check_out(info, "info", error));
  Environment environment;
  OCTET_TRY(read_environment(&environment, error));
  const Machine machine = this_machine();
  octet_cpu_info out = OCTET_CPU_INFO_INIT;
  out.compiled_isas = machine.compiled;
  out.detected_isas = machine.detected;
  out.demoted_isas = machine.demoted;
  out.best_isa = (octet_isa)best_of(machine.cpu.isas & environment.allowed);
  out.l1d_bytes = machine.cpu.l1d_bytes;
  out.l2_bytes = machine.cpu.l2_bytes;
  out.l3_bytes = machine.cpu.l3_bytes;
  return give(out, info);
}

octet_status octet_get_kernel_info(size_t index, octet_kernel_info* info, octet_error* error) {
  OCTET_TRY(check_out(info, "info", error));
  const KernelName* const kernel = kernel_name(index);
  if (!kernel) {
    size_t count = 0;
    while (kernel_name(count)) ++count;
    return fail(error, OCTET_BAD_SIZE, "index is %zu; there are %zu kernels", index, count);
  }
  octet_kernel_info out = OCTET_KERNEL_INFO_INIT;
  out.name = kernel->name;
  out.isa = (octet_isa)kernel->isa;
  out.usable = (this_machine().cpu.isas & mask_of(kernel->isa)) != 0;
  out.tests_only = kernel->forced_only;
  return give(out, info);
}

octet_status octet_quantize_multiplier(double factor, int32_t* multiplier, int32_t* shift,
                                       octet_error* error) {
  if (!multiplier || !shift)
    return fail(error, OCTET_NULL_POINTER, "%s is null", multiplier ? "shift" : "multiplier");
  uint64_t bits;
  __builtin_memcpy(&bits, &factor, sizeof bits);
  const int exponent = (int)(bits >> 52 & 0x7ff);
  if (!(factor >= 0) || exponent == 0x7ff)
    return fail(error, OCTET_BAD_SCALE, "factor is %g; it must be finite and not negative", factor);
  // factor = fraction * 2^shift with the fraction in [0.5, 1): its 53 bits, rounded half up to 31.
  int64_t q = (int64_t)(((bits & 0xfffffffffffffull) | 0x10000000000000ull) + (1ull << 21)) >> 22;
  int32_t s = exponent - 1022;
  if (q == (int64_t)1 << 31) {
    q >>= 1;
    ++s;
  }
  if (factor == 0 || exponent == 0 || s < -31) q = s = 0;  // as TFLite: too small to matter
  if (s > 30) return fail(error, OCTET_BAD_SCALE, "factor is %g; it must be below 2^30", factor);
  *multiplier = (int32_t)q;
  *shift = s;
  return OCTET_OK;
}
