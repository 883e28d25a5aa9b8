# SPDX-License-Identifier: Apache-2.0
# Tiers, kernels and the choice among them.
octet_folders(api os tables cpu self_test select tuning)
