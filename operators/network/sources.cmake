# SPDX-License-Identifier: Apache-2.0
octet_sources(IF OCTET_WITH_NETWORK candidates.cc chains.cc check_args.cc costs.cc repeats.cc run.cc run_bound.cc run_chain.cc
    run_op.cc schedule.cc SETUP check_order.cc create.cc explain.cc layout.cc plan.cc prepare.cc
    read_ops.cc read_tensors.cc)
