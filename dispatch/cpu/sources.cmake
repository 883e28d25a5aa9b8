octet_sources(SETUP detect.cc environment.cc features.cc)
if(OCTET_WITH_CPU_FILES)
  octet_sources(files.cc)
endif()
