// SPDX-License-Identifier: Apache-2.0
// Includes xsimd and names its batches for one text that serves all instruction sets.
//
// Templates define weak symbols, of which a linker keeps one, perhaps from a file compiled for
// another CPU. In an unnamed namespace they belong to the file, even where nothing is inlined. The
// standard headers that xsimd includes must come before, outside of that namespace; none of their
// functions is called.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <climits>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <ostream>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

namespace {
#include <xsimd/xsimd.hpp>
}  // namespace

namespace octet {
namespace {

// The architecture is fixed, so that compiler flags for newer CPUs do not widen the kernels.
using Arch = xsimd::sse4_1;
template <typename T>
using Batch = xsimd::batch<T, Arch>;
using Int16 = Batch<int16_t>;
using Sums = Batch<int32_t>;
using Floats = Batch<float>;
constexpr int kLanes = Sums::size;  // accumulators per vector

template <typename To, typename From>
inline To as(const From& from) {
#if XSIMD_VERSION_MAJOR >= 11
  return xsimd::bitwise_cast<typename To::value_type>(from);
#else
  return xsimd::bitwise_cast<To>(from);
#endif
}

}  // namespace
}  // namespace octet
