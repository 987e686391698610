#include "device/cpu/amx.hpp"

#include <cstddef>
#include <cstdint>

#include "device/cpu/machine.hpp"

#if defined(RUNG_TILE_MODEL)

#include "device/cpu/tile_model.hpp"
#define RUNG_HAS_TILES 1

#elif defined(__x86_64__) && defined(__linux__)

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

/// The operand of LDTILECFG: palette 1, eight tiles of 16 rows by 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

#ifndef RUNG_TILE_MODEL
HWY_PUSH_ATTRIBUTES("amx-tile,amx-bf16,amx-int8")
#endif

void begin() {
  static constexpr TileConfig config;
  _tile_loadconfig(&config);
}

void end() { _tile_release(); }

// Tiles 0 and 1 are of A, 2 and 3 of B, and 4 to 7 are C, by rows. Two loads of each operand serve
// four products; a product takes 16 cycles and a load 8. The numbers of tiles are part of the
// instructions, so they have to be literals. Compilers do not know which memory these intrinsics
// access; callers reach them through pointers to functions, across which memory is in order.
template <class Acc, class Multiply>
inline void multiply_block(std::int64_t depth, const KGroup* a, const KGroup* b, Acc* c,
                           std::int64_t ldc, bool add, const Multiply& multiply) {
  constexpr int row_bytes = 64;
  const auto c_bytes = static_cast<std::size_t>(ldc) * sizeof(Acc);
  Acc* const below = c + tile_rows * ldc;
  if (add) {
    _tile_loadd(4, c, c_bytes);
    _tile_loadd(5, c + tile_rows, c_bytes);
    _tile_loadd(6, below, c_bytes);
    _tile_loadd(7, below + tile_rows, c_bytes);
  } else {
    _tile_zero(4);
    _tile_zero(5);
    _tile_zero(6);
    _tile_zero(7);
  }
  const KGroup* const right = b + depth * tile_size;
  for (std::int64_t k = 0; k < depth; ++k) {
    _tile_loadd(0, a + 2 * k * tile_size, row_bytes);
    _tile_loadd(2, b + k * tile_size, row_bytes);
    _tile_loadd(3, right + k * tile_size, row_bytes);
    _tile_loadd(1, a + (2 * k + 1) * tile_size, row_bytes);
    multiply();
  }
  _tile_stored(4, c, c_bytes);
  _tile_stored(5, c + tile_rows, c_bytes);
  _tile_stored(6, below, c_bytes);
  _tile_stored(7, below + tile_rows, c_bytes);
}

void multiply_bf16(std::int64_t depth, const KGroup* a, const KGroup* b, float* c, std::int64_t ldc,
                   bool add) {
  multiply_block(depth, a, b, c, ldc, add, [] {
    _tile_dpbf16ps(4, 0, 2);
    _tile_dpbf16ps(5, 0, 3);
    _tile_dpbf16ps(6, 1, 2);
    _tile_dpbf16ps(7, 1, 3);
  });
}

void multiply_i8(std::int64_t depth, const KGroup* a, const KGroup* b, std::uint32_t* c,
                 std::int64_t ldc, bool add) {
  multiply_block(depth, a, b, c, ldc, add, [] {
    _tile_dpbssd(4, 0, 2);
    _tile_dpbssd(5, 0, 3);
    _tile_dpbssd(6, 1, 2);
    _tile_dpbssd(7, 1, 3);
  });
}

#ifndef RUNG_TILE_MODEL
HWY_POP_ATTRIBUTES
#endif

#ifdef RUNG_TILE_MODEL
bool may_use_tiles() { return true; }
#else
/// Linux gives the state of tiles, 8 KiB a thread, only to processes that ask for it.
bool may_use_tiles() {
  constexpr long request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long tile_data = 18;               // XFEATURE_XTILEDATA
  static const bool granted = machine().isa.contains(Isa::amx) &&
                              syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return granted;
}
#endif

constexpr TileKernel<float> kernel_bf16 = {begin, end, multiply_bf16};
constexpr TileKernel<std::uint32_t> kernel_i8 = {begin, end, multiply_i8};

}  // namespace

template <>
const TileKernel<float>* tile_kernel<bfloat16, float>() {
  return may_use_tiles() ? &kernel_bf16 : nullptr;
}
template <>
const TileKernel<std::uint32_t>* tile_kernel<std::int8_t, std::uint32_t>() {
  return may_use_tiles() ? &kernel_i8 : nullptr;
}

#else

template <>
const TileKernel<float>* tile_kernel<bfloat16, float>() {
  return nullptr;
}
template <>
const TileKernel<std::uint32_t>* tile_kernel<std::int8_t, std::uint32_t>() {
  return nullptr;
}

#endif

#ifdef RUNG_TILE_MODEL
}  // namespace tile_model
#endif

}  // namespace rung::cpu
