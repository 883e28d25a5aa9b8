# Archives beside the library's, for programs that measure (octet::tune) or that ask for traffic
# (octet::traffic).
if(OCTET_WITH_TUNING)
  octet_folders(tune)
endif()
if(OCTET_WITH_TRAFFIC)
  octet_folders(traffic)
endif()
