octet_sources(SETUP bias.cc build.cc check.cc plan.cc words.cc)
