if(OCTET_WITH_TUNING)
  octet_sources(SETUP cache.cc costs.cc report.cc save.cc source.cc tuning.cc)
endif()
