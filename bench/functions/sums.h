// Adds up windows, channel by channel.
#pragma once

#include <cstdint>

#include "bench/functions/lines.h"

namespace tool {

// sums[c] = the sum of value(byte) of type T over the pixels of a window that are there, in the
// order of lines and pixels, for n channels from first_channel on.
template <typename T, typename Sum, typename Value>
TOOL_INLINE void sum_window(const octet_network_image& in, const Window& window, size_t y, size_t x,
                            size_t first_channel, size_t n, Sum* __restrict sums,
                            const Value& value) {
  for (size_t c = 0; c < n; ++c) sums[c] = 0;
  for_each_pixel(
      in, window, y, x, first_channel, [&](const uint8_t* bytes) __attribute__((always_inline)) {
        const T* const __restrict from = (const T*)bytes;
        for (size_t c = 0; c < n; ++c) sums[c] += value(from[c]);
      });
}

}  // namespace tool
