octet_sources(build.cc loops.cc overlap.cc run.cc runtime_weights.cc schedule.cc trace.cc weights.cc
  SETUP bias.cc check.cc choice.cc choose_kernels.cc create.cc epilogue.cc epilogue_build.cc
    epilogue_check.cc explain.cc kernel_limits.cc pack.cc)
octet_sources(IF OCTET_WITH_TUNING SETUP tuning.cc)
