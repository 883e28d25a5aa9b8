# SPDX-License-Identifier: Apache-2.0
# Archives beside the library's, for programs that measure (octet::tune) or that ask for traffic
# (octet::traffic).
octet_choose(octet_tune tune "" OCTET_WITH_TUNING)
octet_choose(octet_traffic traffic "" OCTET_WITH_TRAFFIC)
octet_folders(${octet_tune} ${octet_traffic})
