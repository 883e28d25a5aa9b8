# SPDX-License-Identifier: Apache-2.0
octet_sources(SETUP bias.cc build.cc check.cc float_scale.cc tflite_floats.cc plan.cc s16.cc)
