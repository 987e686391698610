#pragma once
// Loads tiles element by element from operands of any alignment and layout. Tiles in shared memory
// are K-major and written in words of 4 bytes along k. All loads of a tile are in flight at once.

#include <cstdint>
#include <type_traits>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// Loads tiles of EXTENT rows of BK k-steps, by THREADS threads. A row has 16 bytes of padding, so
/// that the eight rows that ldmatrix reads at a time are in different banks.
///
/// For a K-major operand, adjacent threads load adjacent words of a row. For an MN-major operand,
/// they load adjacent rows, 16 bytes of a row each.
template <class In, int EXTENT, int BK, int THREADS>
class ElementLoader {
  static constexpr int IN_WORD = 4 / static_cast<int>(sizeof(In));  // elements
  static constexpr int IN_VECTOR = 4;                               // words
  static constexpr int IN_ROW = BK / IN_WORD;                       // words
  static constexpr int COUNT = EXTENT * IN_ROW / THREADS;           // per thread
  static constexpr int ROW_STEP = THREADS / IN_ROW;
  static constexpr int VECTOR_STEP = THREADS / EXTENT;
  static_assert(THREADS % IN_ROW == 0 && THREADS % EXTENT == 0 && COUNT % IN_VECTOR == 0,
                "a thread stays in its row or word");

 public:
  static constexpr int PITCH = IN_ROW + IN_VECTOR;  // words
  static constexpr int SIZE = EXTENT * PITCH;

  /// For the tiles that begin at e0 in the extent.
  __device__ __forceinline__ ElementLoader(const Operand<In>& operand, std::int64_t e0)
      : is_k_major_(operand.x.col_stride == 1) {
    const int thread = static_cast<int>(threadIdx.x);
    const int e = is_k_major_ ? row_of(thread / IN_ROW) : thread % EXTENT;
    k_ = (is_k_major_ ? thread % IN_ROW : thread / EXTENT * IN_VECTOR) * IN_WORD;
    from_ = &operand.x(e0 + e, k_);
    stride_ = is_k_major_ ? operand.x.row_stride : operand.x.col_stride;
    e_left_ = (operand.extent - e0 < EXTENT ? static_cast<int>(operand.extent - e0) : EXTENT) - e;
    to_ = e * PITCH + k_ / IN_WORD;
    by_words_ = IN_WORD > 1 && is_k_major_ && (stride_ | operand.k) % IN_WORD == 0 &&
                reinterpret_cast<std::uintptr_t>(operand.x.data) % 4 == 0;
  }

  /// Loads the tile that begins at k0, up to k_end; zeros outside the operand.
  __device__ __forceinline__ void load(std::int64_t k0, std::int64_t k_end) {
    const int k_left = (k_end - k0 < BK ? static_cast<int>(k_end - k0) : BK) - k_;
    const In* from = from_ + k0 * (is_k_major_ ? 1 : stride_);
    if (by_words_) {
      const int e_left = 0 < k_left ? e_left_ : 0;
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        const bool exists = i * ROW_STEP < e_left;
        parts_[i][0] = exists ? *reinterpret_cast<const std::uint32_t*>(from) : 0;
        from += ROW_STEP * stride_;
      }
    } else if (is_k_major_) {
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        RUNG_UNROLL
        for (int p = 0; p < IN_WORD; ++p) {
          parts_[i][p] = p < k_left && i * ROW_STEP < e_left_ ? bits(from[p]) : 0;
        }
        from += ROW_STEP * stride_;
      }
    } else {
      const int steps = 0 < e_left_ ? k_left : 0;
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        RUNG_UNROLL
        for (int p = 0; p < IN_WORD; ++p) {
          const int k = (i / IN_VECTOR * VECTOR_STEP * IN_VECTOR + i % IN_VECTOR) * IN_WORD + p;
          parts_[i][p] = k < steps ? bits(*from) : 0;
          from += stride_;
        }
        if (i % IN_VECTOR == IN_VECTOR - 1) {
          from += (VECTOR_STEP - 1) * IN_VECTOR * IN_WORD * stride_;
        }
      }
    }
  }

  /// Writes the tile to shared memory.
  __device__ __forceinline__ void store(std::uint32_t* tile) const {
    if (is_k_major_) {
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        tile[to_ + i * ROW_STEP * PITCH] = by_words_ ? parts_[i][0] : word_of(parts_[i]);
      }
      return;
    }
    RUNG_UNROLL
    for (int i = 0; i < COUNT; i += IN_VECTOR) {
      std::uint32_t words[IN_VECTOR];
      RUNG_UNROLL
      for (int w = 0; w < IN_VECTOR; ++w) words[w] = word_of(parts_[i + w]);
      ptx::st_shared_v4(ptx::cvta_to_shared(tile + to_ + i * VECTOR_STEP), words);
    }
  }

  /// Loads four 8 x 8 matrices of words from a tile in shared memory with ldmatrix: 16 rows from e
  /// by 32 bytes from `byte`. If E_FIRST, the second matrix is 8 rows further, otherwise 16 bytes.
  template <bool E_FIRST>
  static __device__ __forceinline__ void load_fragments(std::uint32_t (&to)[4], std::uint32_t tile,
                                                        int e, int byte) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int matrix = lane / 8;
    const int row = e + lane % 8 + (E_FIRST ? matrix % 2 : matrix / 2) * 8;
    const int at = byte + (E_FIRST ? matrix / 2 : matrix % 2) * 16;
    ptx::ldmatrix_x4<false>(to, tile + row * PITCH * 4 + at);
  }

 private:
  /// The first row that a group of threads loads from a K-major operand. If a warp has two groups,
  /// their rows are four apart, in different banks.
  static __device__ __forceinline__ int row_of(int group) {
    if constexpr (IN_ROW >= 32 || ROW_STEP % 8 != 0) return group;
    return group / 8 * 8 + group % 2 * 4 + group % 8 / 2;
  }

  using Bits = std::conditional_t<sizeof(In) == 4, std::uint32_t,
                                  std::conditional_t<sizeof(In) == 2, std::uint16_t, std::uint8_t>>;

  static __device__ __forceinline__ std::uint32_t bits(const In& element) {
    return __builtin_bit_cast(Bits, element);
  }

  /// Packs adjacent elements into a word, the first one in the lowest bits. tf32 elements are
  /// rounded to the bits that tensor cores multiply.
  static __device__ __forceinline__ std::uint32_t word_of(const std::uint32_t (&parts)[IN_WORD]) {
    if constexpr (IN_WORD == 1) {
      const float value = __builtin_bit_cast(float, parts[0]);
      return __builtin_bit_cast(std::uint32_t, ptx::cvt_rna_tf32(value));
    } else {
      std::uint32_t word = parts[0];
      RUNG_UNROLL
      for (int p = 1; p < IN_WORD; ++p) word |= parts[p] << (32 / IN_WORD * p);
      return word;
    }
  }

  bool is_k_major_, by_words_;
  const In* from_;       // this thread's first element
  std::int64_t stride_;  // distance between rows, or between k-steps
  int k_, e_left_;       // first k-step, and rows left from the first one
  int to_;               // index of the first word in the tile
  std::uint32_t parts_[COUNT][IN_WORD];
};

}  // namespace rung::cuda
