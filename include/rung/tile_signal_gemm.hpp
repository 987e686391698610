#pragma once
// GEMM with tile signals: the kernel waits for the input of a part of the rows and reports the
// part's completion while it runs. It is a building block for multi-GPU products; librung_nccl
// (rung/nccl.hpp) provides the usual ones.

#include <cstdint>
#include <vector>

#include "rung/cuda.hpp"
#include "rung/epilogue.hpp"
#include "rung/export.hpp"

namespace rung {

/// One part of a TileSignalGemm: `rows` rows, from row a_row of a[a] and into row c_row of c[c].
struct TileSignalPart {
  std::int64_t rows = 0;
  int a = 0;
  std::int64_t a_row = 0;
  int c = 0;
  std::int64_t c_row = 0;
  /// The first row of the addend that is added before results are rounded. Negative: no addend.
  std::int64_t addend_row = -1;
  /// Words in GPU-accessible memory. If `awaited` is not null, the kernel does not read the part's
  /// rows of the addend (or of A, without an addend) before that word is nonzero. If `finished` is
  /// not null, that word becomes TileSignalGemm::finished_value once the part's results are visible in
  /// memory, also to other GPUs and to copy engines.
  const std::uint32_t* awaited = nullptr;
  std::uint32_t* finished = nullptr;
};

/// C = alpha A B + addend. The rows of A and C are in one or two matrices. Parts need not be
/// contiguous, but their rows of C must not overlap.
struct TileSignalGemm {
  double alpha = 1;
  InputMatrix a[2] = {};                   // k columns each
  InputMatrix b = {};                      // k x n
  OutputMatrix c[2] = {};                  // n columns each
  InputMatrix addend = {};                 // n columns
  std::vector<TileSignalPart> parts = {};  // in the order of execution
  std::uint32_t finished_value = 1;
};

/// Enqueues the product as one kernel, with the rules of gemm() in rung/cuda.hpp. Each element has
/// the same bits in every run and for any division into parts. Returns false and enqueues nothing
/// unless
///
/// - the GPU is sm_90; A, B, C and the addend are all bfloat16 or all float16; no extent is 0 and
///   alpha is not 0; there are 1 to 48 parts; and the mode is not reproducible;
/// - C and the addend are row-major, and A's matrices are both row-major or both column-major; all
///   matrices and each of their rows (or columns) begin at multiples of 16 bytes, and rows of C
///   also end at one;
/// - parts of column-major A's begin at multiples of 8 rows.
///
/// Blocks of the kernel stay resident while they wait for words, and they process tiles part by
/// part. The work that sets a word must therefore not wait for the kernel to finish or for a later
/// part. It need not wait for blocks that have not started: running blocks compute their tiles.
///
/// Throws rung::Error (Status::invalid_argument) for inconsistent parts, and what gemm() throws.
RUNG_API bool gemm_parts(const TileSignalGemm& product, CudaStream stream,
                         const CudaOptions& options = {});

}  // namespace rung
