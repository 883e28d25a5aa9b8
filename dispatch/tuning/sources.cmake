# SPDX-License-Identifier: Apache-2.0
octet_sources(IF OCTET_WITH_TUNING SETUP cache.cc costs.cc report.cc save.cc source.cc tuning.cc)
