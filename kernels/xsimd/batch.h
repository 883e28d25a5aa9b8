// xsimd's batches: one text for all instruction sets that it knows.
//
// A library of templates defines weak symbols, of which a linker keeps one for everybody, perhaps
// that of a file whose flags this CPU has not. In an unnamed namespace they are the file's own,
// even where a compiler inlines nothing. Standard headers that xsimd includes have to be there
// before, outside of it; none of their functions is called.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <cassert>
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
#include <ostream>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

namespace {
#include <xsimd/xsimd.hpp>
}  // namespace

namespace octet {
namespace {

// Named, so that a distribution's flags for newer CPUs do not widen the kernels that a table lists.
#if XSIMD_WITH_SSE4_1
using Arch = xsimd::sse4_1;
#else
using Arch = xsimd::default_arch;
#endif
template <typename T>
using Batch = xsimd::batch<T, Arch>;
using Int16 = Batch<int16_t>;
using Sums = Batch<int32_t>;
using Floats = Batch<float>;
constexpr int kLanes = Sums::size;  // accumulators of a vector

template <typename To, typename From>
inline To as(const From& from) {
  return xsimd::bitwise_cast<To>(from);
}

}  // namespace
}  // namespace octet
