// SPDX-License-Identifier: Apache-2.0
// octet.cpu and the version: facts about the machine and the library.
#include <nanobind/stl/string.h>

#include <string>

#include "engines/python/errors.h"
#include "engines/python/module.h"
#include "engines/threads/threads.h"
#include "octet/octet.hpp"

namespace nb = nanobind;

namespace octet::python {
namespace {

nb::list tiers(uint32_t mask) {
  nb::list names;
  for (int isa = 1; isa < 32; ++isa)
    if (mask >> isa & 1) names.append(octet_isa_name((octet_isa)isa));
  return names;
}

nb::dict cpu() {
  auto info = make<octet_cpu_info>();
  octet_error error;
  check(octet_get_cpu_info(&info, &error), error);
  nb::dict facts;
  facts["tier"] = octet_isa_name(info.best_isa);
  facts["detected"] = tiers(info.detected_isas);
  facts["demoted"] = tiers(info.demoted_isas);
  facts["compiled"] = tiers(info.compiled_isas);
  facts["design"] = octet_cpu_design_name(info.design);
  facts["l1d_bytes"] = info.l1d_bytes;
  facts["l2_bytes"] = info.l2_bytes;
  facts["l3_bytes"] = info.l3_bytes;
  facts["usable_cpus"] = engines::usable_cpus();
  return facts;
}

}  // namespace

void bind_machine(nb::module_& m) {
  m.def("version", &octet_version, "The version of the library, such as \"0.2.0\".");
  m.def("cpu", &cpu, nb::sig("def cpu() -> dict[str, typing.Any]"),
        R"(This machine as Octet sees it, as a dictionary.

tier: the tier (set of instructions) that everything runs on, after OCTET_MAX_ISA
detected, compiled: the tiers that this CPU has; the tiers that this wheel has
demoted: detected tiers that gave a wrong answer in the self-test, and are not used
design: the core's design, such as "zen3", or "unknown"
l1d_bytes, l2_bytes, l3_bytes: sizes of caches; 0 where the system does not tell
usable_cpus: the threads that threads=0 stands for

RuntimeError: OCTET_MAX_ISA or another variable of Octet's has an unknown value.)");
}

}  // namespace octet::python
