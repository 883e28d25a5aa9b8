octet_sources(SETUP bias.cc build.cc check.cc float_scale.cc plan.cc s16.cc)
