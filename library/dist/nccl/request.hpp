#pragma once
// The arguments of a call: validation, and comparison between ranks.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "library/dist/nccl/product.hpp"
#include "rung/tensor_parallel.hpp"

namespace rung::nccl {

enum class Operation { all_gather_gemm, gemm_reduce_scatter, gemm_all_reduce };
const char* name_of(Operation operation);

/// The arguments of a call.
struct Request {
  Operation operation;
  Product product;
  dist::TensorParallelCall call;
};

/// The reason why the arguments are invalid, in one line; empty if they are valid.
std::optional<std::string> refusal_of(const Request& request, int ranks, int compute_capability);

/// True if no rank sends anything. Ranks then need not synchronize; otherwise a call depends on
/// every rank.
bool nothing_travels(const Request& request);

/// Values that must be equal on all ranks, followed by values on which only this rank's choice
/// depends.
struct Terms {
  enum Name {
    operation,
    rows,
    columns,
    type_of_ab,
    type_of_c,
    order,
    schedule,
    chunks,
    own_extent,  // may differ between ranks
    refused,     // 1: the rank rejects its arguments
    count
  };
  std::array<std::int64_t, count> values = {};

  auto operator<=>(const Terms&) const = default;
};
Terms terms_of(const Request& request);

/// A message such as "rung: gemm_all_reduce: ranks disagree on rows: it is 5 on rank 0 and 6 on
/// rank 1", or which rank rejected its arguments; empty if ranks agree.
std::optional<std::string> disagreement(Operation operation, std::span<const Terms> of_ranks);

}  // namespace rung::nccl
