# SPDX-License-Identifier: Apache-2.0
octet_sources(arena.cc check.cc measure.cc task_size.cc SETUP blob.cc info.cc)
