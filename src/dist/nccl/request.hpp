#pragma once
// The arguments of a call: whether they fit, and what ranks have to agree on.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "dist/nccl/product.hpp"
#include "rung/nccl.hpp"

namespace rung::nccl {

enum class Operation { all_gather_gemm, gemm_reduce_scatter, gemm_all_reduce };
const char* name_of(Operation operation);

/// The arguments of a call.
struct Request {
  Operation operation;
  Product product;
  dist::TensorParallelCall call;
};

/// Why the arguments are refused, in one line; none if they fit.
std::optional<std::string> refusal_of(const Request& request, int ranks, int compute_capability);

/// Whether no rank has anything to send. Then ranks do not meet: a call that they meet in depends on
/// every rank.
bool nothing_travels(const Request& request);

/// What must be the same on all ranks, and what this rank's choice depends on besides.
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
    own_extent,  // the only one that may differ
    refused,     // 1: the rank refuses its arguments
    count
  };
  std::array<std::int64_t, count> values = {};

  auto operator<=>(const Terms&) const = default;
};
Terms terms_of(const Request& request);

/// "rung: gemm_all_reduce: ranks disagree on rows: it is 5 on rank 0 and 6 on rank 1", or which rank
/// refused; none if ranks agree.
std::optional<std::string> disagreement(Operation operation, std::span<const Terms> of_ranks);

}  // namespace rung::nccl
