octet_sources(arena.cc check.cc task_size.cc SETUP blob.cc info.cc)
