if(NOT OCTET_WITH_CONVOLUTION)
  octet_sources(not_built.cc)
  return()
endif()
octet_sources(blob.cc check.cc choice.cc cost.cc create.cc filter.cc kernels.cc layouts.cc limit.cc
  machine.cc pack.cc plan.cc run.cc run_lines.cc schedule.cc shape.cc trace.cc)
octet_sources(IF OCTET_WITH_TUNING tuning.cc)
octet_folders(algorithms)
