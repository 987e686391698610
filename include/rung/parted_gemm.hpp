#pragma once
// A product in parts of rows, each of which may be awaited and reported while the kernel runs: for
// products over several GPUs. librung_nccl (rung/nccl.hpp) has the usual ones.

#include <cstdint>
#include <vector>

#include "rung/cuda.hpp"
#include "rung/epilogue.hpp"
#include "rung/export.hpp"

namespace rung {

/// `rows` rows of a PartedGemm: of matrix a[a] from a_row on, of c[c] from c_row on.
struct PartOfGemm {
  std::int64_t rows = 0;
  int a = 0;
  std::int64_t a_row = 0;
  int c = 0;
  std::int64_t c_row = 0;
  /// Rows of the addend, from there on, are added before results are rounded; below 0: none.
  std::int64_t addend_row = -1;
  /// Words of memory that the GPU reaches. If `awaited` is not null, the part's rows of the addend or, if
  /// it has none, of A are not read before the word is other than 0. If `finished` is not null, the word
  /// becomes PartedGemm::finished_value once the part's results are in memory, for other GPUs and copy engines too.
  const std::uint32_t* awaited = nullptr;
  std::uint32_t* finished = nullptr;
};

/// C = alpha A B + addend, of rows that lie in one or two matrices. A part may follow another one in
/// memory or not, but no two have rows of C in common.
struct PartedGemm {
  double alpha = 1;
  InputMatrix a[2] = {};               // of k columns
  InputMatrix b = {};                  // k x n
  OutputMatrix c[2] = {};              // of n columns
  InputMatrix addend = {};             // of n columns
  std::vector<PartOfGemm> parts = {};  // in the order in which they are begun
  std::uint32_t finished_value = 1;
};

/// Enqueues the product as one kernel, under the rules of gemm() in rung/cuda.hpp. Each element has the same
/// bits in every run, and however rows are divided. False, and nothing is enqueued, unless
///
/// - the GPU is of sm_90, A, B, C and the addend are all bfloat16 or all float16, no extent and not alpha
///   is 0, and there are 1 to 48 parts;
/// - C and the addend are stored by rows, A's matrices both by rows or both by columns, and all begin,
///   and each of their lines begins, at a multiple of 16 bytes; rows of C also end at one;
/// - parts of A's matrices by columns begin at multiples of 8 rows.
///
/// Blocks of the kernel keep their SMs while they wait for words, and take tiles part by part: what sets a
/// word must not have to wait for the kernel to end, nor for a later part. It need not wait for blocks that
/// have no SM yet, whose tiles others compute.
///
/// Throws rung::Error (Status::invalid_argument) for parts that do not fit, and what gemm() throws.
RUNG_API bool gemm_parts(const PartedGemm& product, CudaStream stream,
                         const CudaOptions& options = {});

}  // namespace rung
