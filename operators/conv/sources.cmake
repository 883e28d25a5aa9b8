# SPDX-License-Identifier: Apache-2.0
octet_sources(IF "NOT OCTET_WITH_CONVOLUTION" not_built.cc)
octet_sources(IF OCTET_WITH_CONVOLUTION blob.cc cost.cc layouts.cc machine.cc plan.cc run.cc run_lines.cc
  schedule.cc shape.cc trace.cc
  SETUP check.cc choice.cc create.cc filter.cc kernels.cc limit.cc pack.cc)
octet_sources(IF "OCTET_WITH_CONVOLUTION AND OCTET_WITH_TUNING" SETUP tuning.cc)
octet_folders(algorithms algorithms/direct algorithms/winograd)
