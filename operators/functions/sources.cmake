octet_sources(run.cc SETUP add.cc binary.cc function.cc look_up.cc multiply.cc)
