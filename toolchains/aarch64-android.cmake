# SPDX-License-Identifier: Apache-2.0
# Android on arm64-v8a, by the NDK's own toolchain file: ANDROID_NDK_ROOT names the NDK.
# Verified: the library's files compile with Bionic's headers (docs/building.md). Not verified: an NDK,
# and running anything.
if(NOT DEFINED ENV{ANDROID_NDK_ROOT})
  message(FATAL_ERROR "Set ANDROID_NDK_ROOT to the Android NDK")
endif()
set(ANDROID_ABI arm64-v8a)
if(NOT ANDROID_PLATFORM)
  set(ANDROID_PLATFORM android-24)
endif()
include($ENV{ANDROID_NDK_ROOT}/build/cmake/android.toolchain.cmake)
