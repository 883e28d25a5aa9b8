# SPDX-License-Identifier: Apache-2.0
octet_sources(loops.cc overlap.cc run.cc runtime_weights.cc scale_blocks.cc schedule.cc weights.cc s16.cc
  SETUP build.cc check.cc choice.cc choose_kernels.cc create.cc explain.cc kernel_limits.cc pack.cc scale_blocks_check.cc trace.cc)
octet_sources(IF OCTET_WITH_TUNING SETUP tuning.cc)
