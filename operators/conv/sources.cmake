octet_sources(IF "NOT OCTET_WITH_CONVOLUTION" not_built.cc)
octet_sources(IF OCTET_WITH_CONVOLUTION blob.cc check.cc choice.cc cost.cc create.cc filter.cc kernels.cc layouts.cc limit.cc
  machine.cc pack.cc plan.cc run.cc run_lines.cc schedule.cc shape.cc trace.cc)
octet_sources(IF "OCTET_WITH_CONVOLUTION AND OCTET_WITH_TUNING" tuning.cc)
octet_folders(algorithms)
