// SPDX-License-Identifier: Apache-2.0
// octet_lut_create: functions of one byte by a table.
#include "operators/functions/look_up.h"
#include "dispatch/select/machine.h"
#include "dispatch/tables/elementwise.h"
#include "operators/common/check.h"

namespace octet {

octet_status create_look_up(const octet_lut_desc& d, octet_function** function,
                            octet_error* error) {
  if (!is_8bit(d.input) || !is_8bit(d.output))
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.%s must be OCTET_S8 or OCTET_U8",
                is_8bit(d.input) ? "output" : "input");
  if (d.reserved) return fail(error, OCTET_UNSUPPORTED, "desc.reserved must be 0");
  TierId tier_id;
  OCTET_TRY(choose_tier(d.max_isa, &tier_id, error));
  FunctionBuilder<TablePlan> builder = {};
  builder.function =
      elementwise_function(d.input, d.output, look_up_of(tier_id, this_machine().cpu.features));
  builder.plan.set(d.table);
  return make_function(builder, d.allocator, function, error);
}

}  // namespace octet

using namespace octet;

octet_status octet_lut_create(const octet_lut_desc* given, octet_function** function,
                              octet_error* error) {
  CallerStruct<octet_lut_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  return create_look_up(*desc, function, error);
}
