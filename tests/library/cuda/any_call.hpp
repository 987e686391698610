#pragma once
// Calls an entry point on a GPU as described by a struct: each operand exactly fills its own
// allocation, and small integers make the right result known to the bit.

#include <cstdint>
#include <string>
#include <vector>

#include "core/cuda_driver/api.hpp"
#include "rung/rung.h"

namespace rung::cuda {

enum class Entry {
  gemm,
  batched,
  pointers,
  groups_of_rows,
  groups_of_k,
  epilogue,
  mixed,
  weight_only,
  block_scaled,
  block_scaled_groups,
  parts,  // rung::gemm_parts(): two parts of rows; a result of false becomes RUNG_UNAVAILABLE
  dot     // of length k; increments are the leading dimensions, and the mode is a rung_dot_mode
};
inline constexpr Entry entries[] = {Entry::gemm,         Entry::batched,
                                    Entry::pointers,     Entry::groups_of_rows,
                                    Entry::groups_of_k,  Entry::epilogue,
                                    Entry::mixed,        Entry::weight_only,
                                    Entry::block_scaled, Entry::block_scaled_groups,
                                    Entry::parts,        Entry::dot};
const char* name(Entry entry);

struct Layout {
  bool by_columns = false;
  std::int64_t padding = 0;  // elements between two rows or columns
  std::int64_t shift = 0;    // elements from an aligned address to the first element
  std::int64_t gap = 0;      // elements between two matrices of a batch
};

struct AnyCall {
  Entry entry = Entry::gemm;
  rung_dtype a = RUNG_DTYPE_F32, b = RUNG_DTYPE_F32, c = RUNG_DTYPE_F32;
  std::int64_t m = 5, n = 6, k = 7;
  std::int64_t count = 3;  // number of matrices of a batch, or of groups
  Layout of_a = {}, of_b = {}, of_c = {};
  bool shares_b = false;  // one B for a whole batch
  int alpha = 1, beta = 0;
  int compute_mode = RUNG_COMPUTE_STANDARD;
  int multiprocessors = 0;
  std::int64_t workspace_bytes = -1;  // negative: no workspace
  // Operand ('a', 'b' or 'c') at an address that is not a multiple of its element size.
  char skewed = 0;
  std::uint64_t seed = 1;
};

std::string describe(const AnyCall& call);

struct Outcome {
  rung_status status = RUNG_OK;
  std::string message = {};  // of the library
  std::string wrong = {};    // error in the result; empty if it is right
};

/// Runs the call in the current context, and counts its hazards and faults as errors. If the call
/// is refused, C must be unchanged. Offsets, weights and scales depend on the seed.
Outcome run(const DriverApi& api, const AnyCall& call);

}  // namespace rung::cuda
