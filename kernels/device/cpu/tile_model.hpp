#pragma once
// A model in plain C++ of the AMX instructions that amx.cpp uses, under the names of their
// intrinsics, based on the Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
// Included only by tests, which define RUNG_TILE_MODEL.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace rung::amx_model {

struct Tiles {
  static constexpr int count = 8, max_rows = 16, max_bytes = 64;

  bool configured = false;
  int rows[count] = {};
  int row_bytes[count] = {};
  unsigned char data[count][max_rows][max_bytes] = {};

  /// Throws where the hardware raises #UD: an instruction without a configuration.
  void require_configuration() const {
    if (!configured) throw std::logic_error("a tile instruction without LDTILECFG");
  }

  template <class T>
  T get(int tile, int row, int element) const {
    T value;
    std::memcpy(&value, data[tile][row] + element * sizeof(T), sizeof(T));
    return value;
  }
  template <class T>
  void set(int tile, int row, int element, T value) {
    std::memcpy(data[tile][row] + element * sizeof(T), &value, sizeof(T));
  }
};

/// The tiles of each thread.
inline thread_local Tiles tiles;

/// Flushes subnormal numbers to 0, as the instructions do with inputs and results.
inline float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
inline float from_bfloat16(std::uint16_t bits) {
  return flushed(std::bit_cast<float>(std::uint32_t{bits} << 16));
}
inline float multiply_add(float sum, std::uint16_t a, std::uint16_t b) {
  return flushed(std::fma(from_bfloat16(a), from_bfloat16(b), flushed(sum)));
}

}  // namespace rung::amx_model

inline void _tile_loadconfig(const void* config) {
  auto& tiles = rung::amx_model::tiles;
  const auto* const bytes = static_cast<const unsigned char*>(config);
  if (bytes[0] != 1) throw std::logic_error("LDTILECFG: unknown palette");
  for (int tile = 0; tile < tiles.count; ++tile) {
    tiles.row_bytes[tile] = bytes[16 + 2 * tile] | bytes[17 + 2 * tile] << 8;
    tiles.rows[tile] = bytes[48 + tile];
  }
  tiles.configured = true;
}

inline void _tile_release() { rung::amx_model::tiles = {}; }

inline void _tile_zero(int tile) {
  auto& tiles = rung::amx_model::tiles;
  tiles.require_configuration();
  std::memset(tiles.data[tile], 0, sizeof tiles.data[tile]);
}

inline void _tile_loadd(int tile, const void* base, std::size_t stride) {
  auto& tiles = rung::amx_model::tiles;
  _tile_zero(tile);
  for (int row = 0; row < tiles.rows[tile]; ++row) {
    std::memcpy(tiles.data[tile][row], static_cast<const unsigned char*>(base) + row * stride,
                tiles.row_bytes[tile]);
  }
}

inline void _tile_stored(int tile, void* base, std::size_t stride) {
  auto& tiles = rung::amx_model::tiles;
  tiles.require_configuration();
  for (int row = 0; row < tiles.rows[tile]; ++row) {
    std::memcpy(static_cast<unsigned char*>(base) + row * stride, tiles.data[tile][row],
                tiles.row_bytes[tile]);
  }
}

/// Even and odd elements are accumulated separately and added at the end.
inline void _tile_dpbf16ps(int c, int a, int b) {
  using rung::amx_model::flushed;
  auto& tiles = rung::amx_model::tiles;
  tiles.require_configuration();
  for (int m = 0; m < tiles.rows[c]; ++m) {
    for (int n = 0; n < tiles.row_bytes[c] / 4; ++n) {
      float even = 0, odd = 0;
      for (int k = 0; k < tiles.row_bytes[a] / 4; ++k) {
        const auto a_at = [&](int i) { return tiles.get<std::uint16_t>(a, m, 2 * k + i); };
        const auto b_at = [&](int i) { return tiles.get<std::uint16_t>(b, k, 2 * n + i); };
        even = rung::amx_model::multiply_add(even, a_at(0), b_at(0));
        odd = rung::amx_model::multiply_add(odd, a_at(1), b_at(1));
      }
      const float sum = flushed(flushed(tiles.get<float>(c, m, n)) + flushed(even + odd));
      tiles.set(c, m, n, sum);
    }
  }
}

inline void _tile_dpbssd(int c, int a, int b) {
  auto& tiles = rung::amx_model::tiles;
  tiles.require_configuration();
  for (int m = 0; m < tiles.rows[c]; ++m) {
    for (int n = 0; n < tiles.row_bytes[c] / 4; ++n) {
      auto sum = tiles.get<std::uint32_t>(c, m, n);
      for (int k = 0; k < tiles.row_bytes[a] / 4; ++k) {
        for (int i = 0; i < 4; ++i) {
          const int product =
              tiles.get<std::int8_t>(a, m, 4 * k + i) * tiles.get<std::int8_t>(b, k, 4 * n + i);
          sum += static_cast<std::uint32_t>(product);
        }
      }
      tiles.set(c, m, n, sum);
    }
  }
}
