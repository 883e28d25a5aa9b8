#include "kernels/gemm/crc32.h"

namespace octet {
namespace {

// table[i][b]: the CRC of byte b followed by i zero bytes, so that eight bytes are looked up at once ("slicing by 8", Kounavis and Berry).
struct Tables {
  uint32_t table[8][256];
  constexpr Tables() : table() {
    for (uint32_t b = 0; b < 256; ++b) {
      uint32_t crc = b;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
      table[0][b] = crc;
    }
    for (int i = 1; i < 8; ++i)
      for (uint32_t b = 0; b < 256; ++b) table[i][b] = (table[i - 1][b] >> 8) ^ table[0][table[i - 1][b] & 255];
  }
};
constexpr Tables kTables;

}  // namespace

uint32_t crc32(const void* data, size_t bytes) {
  const auto& table = kTables.table;
  const uint8_t* p = (const uint8_t*)data;
  uint32_t crc = ~0u;
  for (; bytes >= 8; bytes -= 8, p += 8) {
    uint32_t low, high;
    __builtin_memcpy(&low, p, 4);
    __builtin_memcpy(&high, p + 4, 4);
    low ^= crc;
    crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^ table[3][high & 255] ^
          table[2][high >> 8 & 255] ^ table[1][high >> 16 & 255] ^ table[0][high >> 24];
  }
  for (; bytes; --bytes) crc = (crc >> 8) ^ table[0][(crc ^ *p++) & 255];
  return ~crc;
}

}  // namespace octet
