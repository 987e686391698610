#pragma once
// Products of matrices that a warp holds together (CUDA C++ Programming Guide, "Warp Matrix
// Functions"), by clang's builtins for the PTX instructions wmma.load, .mma and .store.

/* As in the header of the vendor: programs ask for it. */
#define __MMA_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct s4;
struct u4;
struct b1;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment;

// A fragment holds this thread's elements. Eight elements of four bits are packed into one x.
template <class T, int Elements, int Storage = Elements>
struct rung_emu_elements {
  typedef T element_type;
  typedef T storage_element_type;
  enum { num_elements = Elements, num_storage_elements = Storage };
  T x[Storage];
};

template <class Layout>
struct rung_emu_is_column;
template <>
struct rung_emu_is_column<row_major> {
  static constexpr int value = 0;
};
template <>
struct rung_emu_is_column<col_major> {
  static constexpr int value = 1;
};

// Counters by source line belong to the line that calls.
#define RUNG_EMU_WMMA static __device__ __forceinline__ __attribute__((nodebug))

// A or B of T, which memory has as IN; registers are read and written as WORD.
#define RUNG_EMU_WMMA_FACTOR(MATRIX, M, N, K, T, IN, WORD, LOAD, ...)                          \
  template <class Layout>                                                                      \
  class fragment<MATRIX, M, N, K, T, Layout> : public rung_emu_elements<__VA_ARGS__> {};       \
  template <class Layout>                                                                      \
  RUNG_EMU_WMMA void load_matrix_sync(fragment<MATRIX, M, N, K, T, Layout>& a, const IN* from, \
                                      unsigned int stride) {                                   \
    LOAD(reinterpret_cast<WORD*>(a.x), reinterpret_cast<const WORD*>(from), stride,            \
         rung_emu_is_column<Layout>::value);                                                   \
  }

#define RUNG_EMU_WMMA_SUM(M, N, K, T, WORD, LOAD, STORE, COUNT)                            \
  template <>                                                                              \
  class fragment<accumulator, M, N, K, T> : public rung_emu_elements<T, COUNT> {};         \
  RUNG_EMU_WMMA void load_matrix_sync(fragment<accumulator, M, N, K, T>& c, const T* from, \
                                      unsigned int stride, layout_t layout) {              \
    auto* const x = reinterpret_cast<WORD*>(c.x);                                          \
    const auto* const words = reinterpret_cast<const WORD*>(from);                         \
    if (layout == mem_row_major) {                                                         \
      LOAD(x, words, stride, 0);                                                           \
    } else {                                                                               \
      LOAD(x, words, stride, 1);                                                           \
    }                                                                                      \
  }                                                                                        \
  RUNG_EMU_WMMA void store_matrix_sync(T* to, const fragment<accumulator, M, N, K, T>& d,  \
                                       unsigned int stride, layout_t layout) {             \
    const auto* const x = reinterpret_cast<const WORD*>(d.x);                              \
    auto* const words = reinterpret_cast<WORD*>(to);                                       \
    if (layout == mem_row_major) {                                                         \
      STORE(words, x, stride, 0);                                                          \
    } else {                                                                               \
      STORE(words, x, stride, 1);                                                          \
    }                                                                                      \
  }

// D = A B + C. SATURATES: whether sums may stop at the ends of their range.
#define RUNG_EMU_WMMA_MULTIPLY(M, N, K, T, D, D_WORD, C, C_WORD, WORD, MULTIPLY, SATURATES)    \
  template <class LayoutA, class LayoutB>                                                      \
  RUNG_EMU_WMMA void mma_sync(fragment<accumulator, M, N, K, D>& d,                            \
                              const fragment<matrix_a, M, N, K, T, LayoutA>& a,                \
                              const fragment<matrix_b, M, N, K, T, LayoutB>& b,                \
                              const fragment<accumulator, M, N, K, C>& c, bool satf = false) { \
    constexpr int layouts =                                                                    \
        2 * rung_emu_is_column<LayoutA>::value + rung_emu_is_column<LayoutB>::value;           \
    auto* const to = reinterpret_cast<D_WORD*>(d.x);                                           \
    const auto* const a_words = reinterpret_cast<const WORD*>(a.x);                            \
    const auto* const b_words = reinterpret_cast<const WORD*>(b.x);                            \
    const auto* const c_words = reinterpret_cast<const C_WORD*>(c.x);                          \
    if (SATURATES && satf) {                                                                   \
      MULTIPLY(to, a_words, b_words, c_words, layouts, SATURATES);                             \
    } else {                                                                                   \
      MULTIPLY(to, a_words, b_words, c_words, layouts, 0);                                     \
    }                                                                                          \
  }

// f16, and sums of f16 or f32.
#define RUNG_EMU_WMMA_HALF(M, N, K, SHAPE)                                                         \
  RUNG_EMU_WMMA_FACTOR(matrix_a, M, N, K, __half, __half, int, __hmma_##SHAPE##_ld_a, __half, 16)  \
  RUNG_EMU_WMMA_FACTOR(matrix_b, M, N, K, __half, __half, int, __hmma_##SHAPE##_ld_b, __half, 16)  \
  RUNG_EMU_WMMA_SUM(M, N, K, __half, int, __hmma_##SHAPE##_ld_c_f16, __hmma_##SHAPE##_st_c_f16, 8) \
  RUNG_EMU_WMMA_SUM(M, N, K, float, float, __hmma_##SHAPE##_ld_c_f32, __hmma_##SHAPE##_st_c_f32,   \
                    8)                                                                             \
  RUNG_EMU_WMMA_MULTIPLY(M, N, K, __half, __half, int, __half, int, int,                           \
                         __hmma_##SHAPE##_mma_f16f16, 0)                                           \
  RUNG_EMU_WMMA_MULTIPLY(M, N, K, __half, __half, int, float, float, int,                          \
                         __hmma_##SHAPE##_mma_f16f32, 0)                                           \
  RUNG_EMU_WMMA_MULTIPLY(M, N, K, __half, float, float, __half, int, int,                          \
                         __hmma_##SHAPE##_mma_f32f16, 0)                                           \
  RUNG_EMU_WMMA_MULTIPLY(M, N, K, __half, float, float, float, float, int,                         \
                         __hmma_##SHAPE##_mma_f32f32, 0)

// Elements of A and of B that a thread has.
#define RUNG_EMU_WMMA_BFLOAT(M, N, K, SHAPE, A, B)                                \
  RUNG_EMU_WMMA_FACTOR(matrix_a, M, N, K, __nv_bfloat16, __nv_bfloat16, int,      \
                       __mma_bf16_##SHAPE##_ld_a, __nv_bfloat16, A)               \
  RUNG_EMU_WMMA_FACTOR(matrix_b, M, N, K, __nv_bfloat16, __nv_bfloat16, int,      \
                       __mma_bf16_##SHAPE##_ld_b, __nv_bfloat16, B)               \
  RUNG_EMU_WMMA_MULTIPLY(M, N, K, __nv_bfloat16, float, float, float, float, int, \
                         __mma_bf16_##SHAPE##_mma_f32, 0)

#define RUNG_EMU_WMMA_BYTES(M, N, K, SHAPE, T, NAME, A, B)                               \
  RUNG_EMU_WMMA_FACTOR(matrix_a, M, N, K, T, T, int, __imma_##SHAPE##_ld_a_##NAME, T, A) \
  RUNG_EMU_WMMA_FACTOR(matrix_b, M, N, K, T, T, int, __imma_##SHAPE##_ld_b_##NAME, T, B) \
  RUNG_EMU_WMMA_MULTIPLY(M, N, K, T, int, int, int, int, int, __imma_##SHAPE##_mma_##NAME, 1)

#define RUNG_EMU_WMMA_SHAPE(M, N, K, SHAPE, A, B)                                           \
  RUNG_EMU_WMMA_HALF(M, N, K, SHAPE)                                                        \
  RUNG_EMU_WMMA_BFLOAT(M, N, K, SHAPE, A, B)                                                \
  RUNG_EMU_WMMA_SUM(M, N, K, int, int, __imma_##SHAPE##_ld_c, __imma_##SHAPE##_st_c_i32, 8) \
  RUNG_EMU_WMMA_BYTES(M, N, K, SHAPE, signed char, s8, A, B)                                \
  RUNG_EMU_WMMA_BYTES(M, N, K, SHAPE, unsigned char, u8, A, B)

RUNG_EMU_WMMA_SHAPE(16, 16, 16, m16n16k16, 8, 8)
RUNG_EMU_WMMA_SHAPE(32, 8, 16, m32n8k16, 16, 4)
RUNG_EMU_WMMA_SHAPE(8, 32, 16, m8n32k16, 4, 16)

RUNG_EMU_WMMA_FACTOR(matrix_a, 16, 16, 8, precision::tf32, float, int, __mma_tf32_m16n16k8_ld_a,
                     float, 4)
RUNG_EMU_WMMA_FACTOR(matrix_b, 16, 16, 8, precision::tf32, float, int, __mma_tf32_m16n16k8_ld_b,
                     float, 4)
RUNG_EMU_WMMA_SUM(16, 16, 8, float, float, __mma_tf32_m16n16k8_ld_c, __mma_m16n16k8_st_c_f32, 8)
RUNG_EMU_WMMA_MULTIPLY(16, 16, 8, precision::tf32, float, float, float, float, int,
                       __mma_tf32_m16n16k8_mma_f32, 0)

RUNG_EMU_WMMA_FACTOR(matrix_a, 8, 8, 4, double, double, double, __dmma_m8n8k4_ld_a, double, 1)
RUNG_EMU_WMMA_FACTOR(matrix_b, 8, 8, 4, double, double, double, __dmma_m8n8k4_ld_b, double, 1)
RUNG_EMU_WMMA_SUM(8, 8, 4, double, double, __dmma_m8n8k4_ld_c, __dmma_m8n8k4_st_c_f64, 2)
RUNG_EMU_WMMA_MULTIPLY(8, 8, 4, double, double, double, double, double, double,
                       __dmma_m8n8k4_mma_f64, 0)

#define RUNG_EMU_WMMA_NIBBLES(NAME)                                                        \
  RUNG_EMU_WMMA_FACTOR(matrix_a, 8, 8, 32, experimental::precision::NAME, void, int,       \
                       __imma_m8n8k32_ld_a_##NAME, int, 8, 1)                              \
  RUNG_EMU_WMMA_FACTOR(matrix_b, 8, 8, 32, experimental::precision::NAME, void, int,       \
                       __imma_m8n8k32_ld_b_##NAME, int, 8, 1)                              \
  RUNG_EMU_WMMA_MULTIPLY(8, 8, 32, experimental::precision::NAME, int, int, int, int, int, \
                         __imma_m8n8k32_mma_##NAME, 1)
RUNG_EMU_WMMA_SUM(8, 8, 32, int, int, __imma_m8n8k32_ld_c, __imma_m8n8k32_st_c_i32, 2)
RUNG_EMU_WMMA_NIBBLES(s4)
RUNG_EMU_WMMA_NIBBLES(u4)

// Products of single bits. The engine lacks them and refuses a kernel that has them.
RUNG_EMU_WMMA_FACTOR(matrix_a, 8, 8, 128, experimental::precision::b1, void, int,
                     __bmma_m8n8k128_ld_a_b1, int, 32, 1)
RUNG_EMU_WMMA_FACTOR(matrix_b, 8, 8, 128, experimental::precision::b1, void, int,
                     __bmma_m8n8k128_ld_b_b1, int, 32, 1)
RUNG_EMU_WMMA_SUM(8, 8, 128, int, int, __bmma_m8n8k128_ld_c, __bmma_m8n8k128_st_c_i32, 2)
template <class LayoutA, class LayoutB>
RUNG_EMU_WMMA void bmma_sync(
    fragment<accumulator, 8, 8, 128, int>& d,
    const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, LayoutA>& a,
    const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, LayoutB>& b,
    const fragment<accumulator, 8, 8, 128, int>& c,
    experimental::bmmaBitOp operation = experimental::bmmaBitOpXOR,
    experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
  if (operation == experimental::bmmaBitOpXOR) {
    __bmma_m8n8k128_mma_xor_popc_b1(d.x, a.x, b.x, c.x, 1);
  } else {
    __bmma_m8n8k128_mma_and_popc_b1(d.x, a.x, b.x, c.x, 1);
  }
}

template <class Use, int m, int n, int k, class T, class Layout, class Value>
RUNG_EMU_WMMA void fill_fragment(fragment<Use, m, n, k, T, Layout>& a, const Value& value) {
  for (auto& x : a.x) x = value;
}

RUNG_EMU_WMMA float __float_to_tf32(float value) {
  unsigned int bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return __uint_as_float(bits);
}

#undef RUNG_EMU_WMMA_NIBBLES
#undef RUNG_EMU_WMMA_SHAPE
#undef RUNG_EMU_WMMA_BYTES
#undef RUNG_EMU_WMMA_BFLOAT
#undef RUNG_EMU_WMMA_HALF
#undef RUNG_EMU_WMMA_MULTIPLY
#undef RUNG_EMU_WMMA_SUM
#undef RUNG_EMU_WMMA_FACTOR
#undef RUNG_EMU_WMMA

}  // namespace wmma
}  // namespace nvcuda
