octet_sources(algorithm_names.cc error.cc struct_size.cc)
octet_sources(IF OCTET_WITH_TUNING SETUP file_error.cc)
