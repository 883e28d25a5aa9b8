octet_sources(IF OCTET_WITH_NETWORK repeats.cc run.cc run_chain.cc run_op.cc
  SETUP candidates.cc chains.cc check_args.cc check_order.cc create.cc explain.cc layout.cc plan.cc
    read_ops.cc read_tensors.cc schedule.cc)
