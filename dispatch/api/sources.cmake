octet_sources(algorithm_names.cc error.cc struct_size.cc)
if(OCTET_WITH_TUNING)
  octet_sources(SETUP file_error.cc)
endif()
