#pragma once
// Warp-level matrix instructions: wmma, from sm_70 (bf16 from sm_80), and, from sm_80, ldmatrix and
// mma.sync, whose fragment layout is specified.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions

#include <cstdint>

#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/types.cuh"

namespace rung::ptx {

/// Registers per lane for 16 x 16 elements of A or B. In f16, wmma holds each element twice.
template <class In>
inline constexpr int wmma_registers = 4;
template <>
inline constexpr int wmma_registers<float16> = 8;

template <class In>
struct WmmaFragment {
  std::uint32_t at[wmma_registers<In>];
};

/// 16 x 16 sums, 8 per lane; the fragment layout is unspecified.
struct WmmaSums {
  float at[8];
};

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls them.
template <class In>
void wmma_load_a_col(WmmaFragment<In>& a, std::uint32_t shared, int ld);
template <class In>
void wmma_load_b_row(WmmaFragment<In>& b, std::uint32_t shared, int ld);
template <class In>
void wmma_mma_col_row(WmmaSums& d, const WmmaFragment<In>& a, const WmmaFragment<In>& b);
void wmma_store_d_row(std::uint32_t shared, const WmmaSums& d, int ld);
template <bool TRANS>
void ldmatrix_x4(std::uint32_t (&to)[4], std::uint32_t shared);
void st_shared_v4(std::uint32_t shared, const std::uint32_t (&words)[4]);
template <class In>
void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t* b);
template <class In, class Sum>
void mma_m16n8(Sum (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t* b);
float cvt_rna_tf32(float value);
void mma_m8n8k4(double& d0, double& d1, double a, double b);
void mma_m16n8k8(double (&d)[4], const double (&a)[4], const double (&b)[2]);

#else

/// wmma.load.{a.col, b.row}.m16n16k16: loads 16 x 16 elements from shared memory. `ld` is the
/// distance between lines in elements, a multiple of 8. Lines of A are along m, those of B along n.
template <class In>
__device__ __forceinline__ void wmma_load_a_col(WmmaFragment<In>& a, std::uint32_t shared, int ld);
template <class In>
__device__ __forceinline__ void wmma_load_b_row(WmmaFragment<In>& b, std::uint32_t shared, int ld);

/// wmma.mma.m16n16k16: d += a b, for fragments loaded as above.
template <class In>
__device__ __forceinline__ void wmma_mma_col_row(WmmaSums& d, const WmmaFragment<In>& a,
                                                 const WmmaFragment<In>& b);

#define RUNG_WMMA_FOUR_OUT(x) "=r"(x.at[0]), "=r"(x.at[1]), "=r"(x.at[2]), "=r"(x.at[3])
#define RUNG_WMMA_EIGHT_OUT(x) \
  RUNG_WMMA_FOUR_OUT(x), "=r"(x.at[4]), "=r"(x.at[5]), "=r"(x.at[6]), "=r"(x.at[7])
#define RUNG_WMMA_FOUR_IN(x) "r"(x.at[0]), "r"(x.at[1]), "r"(x.at[2]), "r"(x.at[3])
#define RUNG_WMMA_EIGHT_IN(x) \
  RUNG_WMMA_FOUR_IN(x), "r"(x.at[4]), "r"(x.at[5]), "r"(x.at[6]), "r"(x.at[7])
#define RUNG_WMMA_SUMS(d)                                                                   \
  "+f"(d.at[0]), "+f"(d.at[1]), "+f"(d.at[2]), "+f"(d.at[3]), "+f"(d.at[4]), "+f"(d.at[5]), \
      "+f"(d.at[6]), "+f"(d.at[7])

template <>
__device__ __forceinline__ void wmma_load_a_col(WmmaFragment<bfloat16>& a, std::uint32_t shared,
                                                int ld) {
  asm volatile("wmma.load.a.sync.aligned.col.m16n16k16.shared.bf16 {%0, %1, %2, %3}, [%4], %5;"
               : RUNG_WMMA_FOUR_OUT(a)
               : "r"(shared), "r"(ld)
               : "memory");
}

template <>
__device__ __forceinline__ void wmma_load_b_row(WmmaFragment<bfloat16>& b, std::uint32_t shared,
                                                int ld) {
  asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.shared.bf16 {%0, %1, %2, %3}, [%4], %5;"
               : RUNG_WMMA_FOUR_OUT(b)
               : "r"(shared), "r"(ld)
               : "memory");
}

template <>
__device__ __forceinline__ void wmma_load_a_col(WmmaFragment<float16>& a, std::uint32_t shared,
                                                int ld) {
  asm volatile(
      "wmma.load.a.sync.aligned.col.m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, "
      "[%8], %9;"
      : RUNG_WMMA_EIGHT_OUT(a)
      : "r"(shared), "r"(ld)
      : "memory");
}

template <>
__device__ __forceinline__ void wmma_load_b_row(WmmaFragment<float16>& b, std::uint32_t shared,
                                                int ld) {
  asm volatile(
      "wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, "
      "[%8], %9;"
      : RUNG_WMMA_EIGHT_OUT(b)
      : "r"(shared), "r"(ld)
      : "memory");
}

template <>
__device__ __forceinline__ void wmma_mma_col_row(WmmaSums& d, const WmmaFragment<bfloat16>& a,
                                                 const WmmaFragment<bfloat16>& b) {
  asm volatile(
      "wmma.mma.sync.aligned.col.row.m16n16k16.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, "
      "{%0, %1, %2, %3, %4, %5, %6, %7};"
      : RUNG_WMMA_SUMS(d)
      : RUNG_WMMA_FOUR_IN(a), RUNG_WMMA_FOUR_IN(b));
}

template <>
__device__ __forceinline__ void wmma_mma_col_row(WmmaSums& d, const WmmaFragment<float16>& a,
                                                 const WmmaFragment<float16>& b) {
  asm volatile(
      "wmma.mma.sync.aligned.col.row.m16n16k16.f32.f32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, "
      "{%16, %17, %18, %19, %20, %21, %22, %23}, {%0, %1, %2, %3, %4, %5, %6, %7};"
      : RUNG_WMMA_SUMS(d)
      : RUNG_WMMA_EIGHT_IN(a), RUNG_WMMA_EIGHT_IN(b));
}

/// wmma.store.d.row.m16n16k16: stores 16 x 16 sums to shared memory, row-major with leading
/// dimension `ld`.
__device__ __forceinline__ void wmma_store_d_row(std::uint32_t shared, const WmmaSums& d, int ld) {
  asm volatile(
      "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], "
      "{%1, %2, %3, %4, %5, %6, %7, %8}, %9;" ::"r"(shared),
      "f"(d.at[0]), "f"(d.at[1]), "f"(d.at[2]), "f"(d.at[3]), "f"(d.at[4]), "f"(d.at[5]),
      "f"(d.at[6]), "f"(d.at[7]), "r"(ld)
      : "memory");
}

#undef RUNG_WMMA_FOUR_OUT
#undef RUNG_WMMA_EIGHT_OUT
#undef RUNG_WMMA_FOUR_IN
#undef RUNG_WMMA_EIGHT_IN
#undef RUNG_WMMA_SUMS

/// ldmatrix.x4: loads four matrices of 8 x 8 elements of 16 bits. Lanes 8i to 8i + 7 provide the
/// addresses of the 8 rows of matrix i, which have 16 bytes each. Lane l receives elements 2 (l %
/// 4) and 2 (l % 4) + 1 of row l / 4 or, with TRANS, of column l / 4.
template <bool TRANS>
__device__ __forceinline__ void ldmatrix_x4(std::uint32_t (&to)[4], std::uint32_t shared) {
  if constexpr (TRANS) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared)
                 : "memory");
  }
}

/// st.shared.v4.b32: stores 16 bytes, which nvcc would sometimes split.
__device__ __forceinline__ void st_shared_v4(std::uint32_t shared,
                                             const std::uint32_t (&words)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

/// mma.m16n8k16.row.col: d += a b, with 16 x 16 elements of a and 16 x 8 of b. a consists of four 8
/// x 8 matrices as loaded by ldmatrix, at (m, k) = (0, 0), (8, 0), (0, 8), (8, 8); b, transposed,
/// consists of two, at k = 0, 8. Lane l holds d[r][c] for r in {l / 4, l / 4 + 8}, c in {2 (l % 4),
/// 2 (l % 4) + 1}.
template <class In>
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t* b);

template <>
__device__ __forceinline__ void mma_m16n8k16<bfloat16>(float (&d)[4], const std::uint32_t (&a)[4],
                                                       const std::uint32_t* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <>
__device__ __forceinline__ void mma_m16n8k16<float16>(float (&d)[4], const std::uint32_t (&a)[4],
                                                      const std::uint32_t* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// The instruction for 32 bytes along k of any type: k is 16, or 32 for 8-bit integers (sums modulo
/// 2^32), or 8 for tf32. All fragments have the same byte layout, so ldmatrix loads them for every
/// type.
template <class In>
__device__ __forceinline__ void mma_m16n8(float (&d)[4], const std::uint32_t (&a)[4],
                                          const std::uint32_t* b) {
  mma_m16n8k16<In>(d, a, b);
}

template <>
__device__ __forceinline__ void mma_m16n8<tfloat32>(float (&d)[4], const std::uint32_t (&a)[4],
                                                    const std::uint32_t* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <class In>
__device__ __forceinline__ void mma_m16n8(std::uint32_t (&d)[4], const std::uint32_t (&a)[4],
                                          const std::uint32_t* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// cvt.rna.tf32.f32: rounds to nearest, ties away from zero, as tensor cores expect their operands.
__device__ __forceinline__ float cvt_rna_tf32(float value) {
  std::uint32_t result;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(value));
  return mov_f32_b32(result);
}

/// mma.m8n8k4.row.col.f64: d += a b, with 8 x 4 elements of a and 4 x 8 of b. Lane l holds a[l /
/// 4][l % 4], b[l % 4][l / 4], and d[l / 4][c] for c in {2 (l % 4), 2 (l % 4) + 1}.
__device__ __forceinline__ void mma_m8n8k4(double& d0, double& d1, double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(d0), "+d"(d1)
      : "d"(a), "d"(b));
}

/// mma.m16n8k8.row.col.f64: d += a b, with 16 x 8 elements of a and 8 x 8 of b. Lane l holds
/// a[r][k] and b[k][l / 4] for r in {l / 4, l / 4 + 8}, k in {l % 4, l % 4 + 4}, and d[r][c] for
/// the same r, c in {2 (l % 4), 2 (l % 4) + 1}. Requires sm_90.
__device__ __forceinline__ void mma_m16n8k8(double (&d)[4], const double (&a)[4],
                                            const double (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

#endif

}  // namespace rung::ptx
