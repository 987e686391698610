#include "device/cpu/amx.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"

#if defined(RUNG_TILE_MODEL)

#include "device/cpu/tile_model.hpp"
#define RUNG_HAS_TILES 1

#elif defined(__x86_64__) && defined(__linux__)

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 warns about undefined operands in its own intrinsics.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <hwy/base.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#define RUNG_HAS_TILES 1

#else
#define RUNG_HAS_TILES 0
#endif

namespace rung::cpu {

#ifdef RUNG_TILE_MODEL
inline namespace tile_model {
#endif

#if RUNG_HAS_TILES

namespace {

#ifdef RUNG_TILE_MODEL
#include "device/cpu/tile_vectors_model-inl.hpp"
#else
HWY_PUSH_ATTRIBUTES("amx-tile,amx-bf16,amx-int8,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2")
#include "device/cpu/tile_vectors-inl.hpp"
#endif

/// A compiler barrier: the compiler does not know which memory the tile intrinsics access. Memory
/// accesses stay on their side of it, and the data at `memory` is written first.
inline void keep_in_order(const void* memory = nullptr) {
  asm volatile("" : : "r"(memory) : "memory");
}

/// The operand of LDTILECFG, palette 1. Tiles 0 and 1 hold A, tiles 2 and 3 hold B, and tile 4 + 2
/// a + b accumulates tile a times tile 2 + b.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  /// Only rows are configured. Columns of packed B and of sums are always complete: storing partial
  /// tiles and loading them again as vectors is ten times slower.
  explicit TileConfig(std::int64_t m) {
    for (int tile = 0; tile < 8; ++tile) {
      row_bytes[tile] = 64;
      rows[tile] = tile_rows;
    }
    // If A has one tile per k-step, the second tile holds the next k-step.
    const std::int64_t below = m > tile_rows ? m - tile_rows : m;
    rows[0] = rows[4] = rows[5] = rows_of(m);
    rows[1] = rows[6] = rows[7] = rows_of(below);
  }

 private:
  static std::uint8_t rows_of(std::int64_t rows) {
    return static_cast<std::uint8_t>(rows < tile_rows ? rows : tile_rows);
  }
};
static_assert(sizeof(TileConfig) == 64);

void begin(std::int64_t rows) {
  const TileConfig config(rows);
  keep_in_order(&config);
  _tile_loadconfig(&config);
}

void end() { _tile_release(); }

// Tile numbers are encoded in the instructions, so they must be literals.
template <int tile>
inline void load(const void* from, std::int64_t row_bytes) {
  const auto stride = static_cast<std::size_t>(row_bytes);
  if constexpr (tile == 0) _tile_loadd(0, from, stride);
  if constexpr (tile == 1) _tile_loadd(1, from, stride);
  if constexpr (tile == 2) _tile_loadd(2, from, stride);
  if constexpr (tile == 3) _tile_loadd(3, from, stride);
}

template <class In, int a, int b>
inline void multiply_tiles() {
  if constexpr (std::is_same_v<In, bfloat16>) {
    if constexpr (a == 0 && b == 0) _tile_dpbf16ps(4, 0, 2);
    if constexpr (a == 0 && b == 1) _tile_dpbf16ps(5, 0, 3);
    if constexpr (a == 1 && b == 0) _tile_dpbf16ps(6, 1, 2);
    if constexpr (a == 1 && b == 1) _tile_dpbf16ps(7, 1, 3);
  } else {
    if constexpr (a == 0 && b == 0) _tile_dpbssd(4, 0, 2);
    if constexpr (a == 0 && b == 1) _tile_dpbssd(5, 0, 3);
    if constexpr (a == 1 && b == 0) _tile_dpbssd(6, 1, 2);
    if constexpr (a == 1 && b == 1) _tile_dpbssd(7, 1, 3);
  }
}

template <class Product>
inline void load_sums(const Product& p) {
  const auto row = static_cast<std::size_t>(p.sums_row) * sizeof(*p.sums);
  _tile_loadd(4, p.sums, row);
  _tile_loadd(5, p.sums + p.sums_right, row);
  _tile_loadd(6, p.sums + p.sums_below, row);
  _tile_loadd(7, p.sums + p.sums_below + p.sums_right, row);
}

template <class Product>
inline void store_sums(const Product& p) {
  const auto row = static_cast<std::size_t>(p.sums_row) * sizeof(*p.sums);
  _tile_stored(4, p.sums, row);
  _tile_stored(5, p.sums + p.sums_right, row);
  _tile_stored(6, p.sums + p.sums_below, row);
  _tile_stored(7, p.sums + p.sums_below + p.sums_right, row);
}

inline void clear_sums() {
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
}

// A tile product issues every 16 cycles with a latency of 52 until its result can be added to; a
// load takes 8. Two loads of each operand feed four products. If A, B or both have a single tile,
// two or four sets of sums alternate between k-steps, to hide this latency; the sets are added at
// the end.
template <class In, class Acc, Panel panel, bool below, bool right>
class Multiply {
  using Product = TileProduct<In, Acc>;
  static constexpr std::int64_t depth = tile_depth<In>;
  static constexpr int sets = 4 / ((below ? 2 : 1) * (right ? 2 : 1));

 public:
  static void run(const Product& p) {
    keep_in_order();
    if (p.is_first) {
      clear_sums();
    } else {
      load_sums(p);
    }
    const std::int64_t tiles = ceil_div(p.k, depth);
    if (tiles > 0) fill(p, 0);
    for (std::int64_t k = 0; k < tiles; k += sets) steps<0>(p, k, tiles);
    store_sums(p);
    keep_in_order();
    if (p.is_last && p.sums != p.c) finish(p);
  }

 private:
  template <int set>
  static void steps(const Product& p, std::int64_t k, std::int64_t tiles) {
    if (k + set >= tiles) return;
    fetch_a(p, k + set);
    if (k + set + 1 < tiles) fill(p, k + set + 1);
    step<set>(p, k + set, tiles);
    if constexpr (set + 1 < sets) steps<set + 1>(p, k, tiles);
  }

  template <int set>
  static void step(const Product& p, std::int64_t k, std::int64_t tiles) {
    const bool packed = p.a_last != nullptr && k + 1 == tiles;
    const auto* const a = packed ? reinterpret_cast<const char*>(p.a_last)
                                 : static_cast<const char*>(p.a) + k * p.a_tile;
    const std::int64_t a_row = packed ? 64 : p.a_row;
    const KGroup* const b = p.panel + k * pair_size;
    // One set: both tiles of both operands. Two sets: `set` selects the tile of the operand with a
    // single tile. Four sets: it selects the tiles of both.
    constexpr int a_tile = !below ? set % 2 : 0;
    constexpr int b_tile = right ? 0 : (below ? set : set / 2 ^ set % 2);
    load<a_tile>(a, a_row);
    load<2 + b_tile>(b, 64);
    if constexpr (right) load<3>(b + tile_size, 64);
    multiply_tiles<In, a_tile, b_tile>();
    if constexpr (right) multiply_tiles<In, a_tile, 1>();
    if constexpr (below) {
      load<1>(a + (packed ? 1024 : p.a_below), a_row);
      multiply_tiles<In, 1, b_tile>();
      if constexpr (right) multiply_tiles<In, 1, 1>();
    }
  }

  static void fill(const Product& p, std::int64_t tile) {
    const std::int64_t k = tile * depth;
    const std::int64_t left = std::min(p.k - k, depth);
    KGroup* const pair = p.panel + tile * pair_size;
    if constexpr (panel == Panel::from_rows) {
      const In* const from = p.b + k * p.b_stride;
      if (p.b_next != 0) {
        for (std::int64_t i = 0; i < left; ++i) {
          __builtin_prefetch(from + i * p.b_stride + p.b_next, 0, 2);
        }
      }
      interleave_rows(from, p.b_stride, left, p.cols, pair);
    }
    if constexpr (panel == Panel::from_columns) {
      transpose_columns(p.b + k, p.b_stride, left, p.cols, pair);
    }
    if constexpr (panel != Panel::ready) keep_in_order();
  }

  /// Prefetches one cache line of each row that a later product reads.
  static void fetch_a(const Product& p, std::int64_t tile) {
    const char* const from = static_cast<const char*>(p.a_next) + tile * 64;
    for (std::int64_t i = 0; i < p.a_next_rows; ++i) {
      __builtin_prefetch(from + i * p.a_next_stride, 0, 2);
    }
  }

  static void finish(const Product& p) {
    constexpr int apart = !below && right ? 2 : 1;
    for (int i = 0; i < (below ? 2 : 1); ++i) {
      for (int j = 0; j < (right ? 2 : 1); ++j) {
        const std::int64_t row = i * tile_rows, col = j * tile_rows;
        const std::int64_t rows = below && i == 0 ? tile_rows : p.rows - row;
        add_to_c(p.sums + (2 * i + j) * tile_size, sets, apart, rows, p.cols - col, p.alpha, p.beta,
                 p.c + row * p.ldc + col, p.ldc);
      }
    }
  }
};

template <class In>
void pack_a(const Matrix<const In>& a, std::int64_t rows, std::int64_t k, KGroup* tiles) {
  constexpr std::int64_t depth = tile_depth<In>;
  for (std::int64_t at = 0; at < k; at += depth, tiles += pair_size) {
    const std::int64_t left = std::min(k - at, depth);
    if (a.col_stride == 1) {
      copy_rows(&a(0, at), a.row_stride, left, rows, tiles);
    } else {
      interleave_rows(&a(0, at), a.col_stride, left, rows, tiles);
      transpose_in_place(tiles);
      transpose_in_place(tiles + tile_size);
    }
  }
}

#ifndef RUNG_TILE_MODEL
HWY_POP_ATTRIBUTES
#endif

#ifdef RUNG_TILE_MODEL
bool may_use_tiles() { return true; }
#else
/// Linux grants the 8 KiB of tile state per thread only to processes that request it.
bool may_use_tiles() {
  constexpr long request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long tile_data = 18;               // XFEATURE_XTILEDATA
  static const bool granted = machine().isa.contains(Isa::amx) &&
                              syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return granted;
}
#endif

template <class In, class Acc>
constexpr TileKernels<In, Acc> kernels = {
    begin,
    end,
    {{{Multiply<In, Acc, Panel::ready, false, false>::run,
       Multiply<In, Acc, Panel::ready, false, true>::run},
      {Multiply<In, Acc, Panel::ready, true, false>::run,
       Multiply<In, Acc, Panel::ready, true, true>::run}},
     {{Multiply<In, Acc, Panel::from_rows, false, false>::run,
       Multiply<In, Acc, Panel::from_rows, false, true>::run},
      {Multiply<In, Acc, Panel::from_rows, true, false>::run,
       Multiply<In, Acc, Panel::from_rows, true, true>::run}},
     {{Multiply<In, Acc, Panel::from_columns, false, false>::run,
       Multiply<In, Acc, Panel::from_columns, false, true>::run},
      {Multiply<In, Acc, Panel::from_columns, true, false>::run,
       Multiply<In, Acc, Panel::from_columns, true, true>::run}}},
    pack_a<In>};

}  // namespace

template <>
const TileKernels<bfloat16, float>* tile_kernels<bfloat16, float>() {
  return may_use_tiles() ? &kernels<bfloat16, float> : nullptr;
}
template <>
const TileKernels<std::int8_t, std::uint32_t>* tile_kernels<std::int8_t, std::uint32_t>() {
  return may_use_tiles() ? &kernels<std::int8_t, std::uint32_t> : nullptr;
}

#else

template <>
const TileKernels<bfloat16, float>* tile_kernels<bfloat16, float>() {
  return nullptr;
}
template <>
const TileKernels<std::int8_t, std::uint32_t>* tile_kernels<std::int8_t, std::uint32_t>() {
  return nullptr;
}

#endif

#ifdef RUNG_TILE_MODEL
}  // namespace tile_model
#endif

}  // namespace rung::cpu
