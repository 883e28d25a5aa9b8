#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

// CRC-32 of IEEE 802.3 (polynomial 0xEDB88320 reflected), as zlib's crc32(0, data, bytes).
uint32_t crc32(const void* data, size_t bytes);

}  // namespace octet
