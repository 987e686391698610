#include "library/dist/nccl/request.hpp"

#include <algorithm>

namespace rung::nccl {
namespace {

constexpr int max_chunks = 64;

template <class Pointer>
std::optional<std::string> refusal_of(const char* name, const AnyMatrixView<Pointer>& m) {
  const std::string of = std::string(" of ") + name + " is ";
  if (m.rows < 0) return "rows" + of + std::to_string(m.rows) + "; it must be at least 0";
  if (m.cols < 0) return "cols" + of + std::to_string(m.cols) + "; it must be at least 0";
  const std::int64_t least =
      std::max<std::int64_t>(m.order == Order::row_major ? m.cols : m.rows, 1);
  if (m.ld < least) {
    return "ld" + of + std::to_string(m.ld) + "; it must be at least " + std::to_string(least);
  }
  if (m.data == nullptr && m.rows > 0 && m.cols > 0) return "data" + of + "null";
  return {};
}

std::string shape_of(std::int64_t rows, std::int64_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

bool is_16_bit(ElementType type) { return type == ElementType::bf16 || type == ElementType::f16; }

std::optional<std::string> refusal_of_types(const Product& p, int compute_capability) {
  const ElementType a = p.a.type;
  if (a != ElementType::f64 && a != ElementType::f32 && !is_16_bit(a)) {
    return "A must be of f32, f64, bf16 or f16";
  }
  if (p.b.type != a) return "B must have the type of A";
  if (p.c.type != a && !(is_16_bit(a) && p.c.type == ElementType::f32)) {
    return is_16_bit(a) ? "C must have the type of A, or f32" : "C must have the type of A";
  }
  if (is_16_bit(p.c.type) && compute_capability < 90) {
    return "results of 16 bits need a GPU of sm_90; C may be of f32";
  }
  return {};
}

std::optional<std::string> refusal_of_shapes(const Request& request, int ranks) {
  const Product& p = request.product;
  if (p.b.rows != p.a.cols) {
    return "B is " + shape_of(p.b.rows, p.b.cols) + "; it must have " + std::to_string(p.a.cols) +
           " rows";
  }
  std::int64_t rows = p.a.rows;
  if (request.operation == Operation::all_gather_gemm) rows *= ranks;
  if (request.operation == Operation::gemm_reduce_scatter) {
    if (p.a.rows % ranks != 0) {
      return "A has " + std::to_string(p.a.rows) + " rows; it must be a multiple of " +
             std::to_string(ranks) + " ranks";
    }
    rows /= ranks;
  }
  if (p.c.rows != rows || p.c.cols != p.b.cols) {
    return "C is " + shape_of(p.c.rows, p.c.cols) + "; it must be " + shape_of(rows, p.b.cols);
  }
  return {};
}

constexpr std::array<const char*, Terms::count> term_names = {"the operation",
                                                              "rows",
                                                              "columns",
                                                              "the type of A and B",
                                                              "the type of C",
                                                              "the order",
                                                              "the schedule",
                                                              "chunks",
                                                              "",
                                                              ""};

}  // namespace

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::all_gather_gemm: return "all_gather_gemm";
    case Operation::gemm_reduce_scatter: return "gemm_reduce_scatter";
    default: return "gemm_all_reduce";
  }
}

std::optional<std::string> refusal_of(const Request& request, int ranks, int compute_capability) {
  const Product& p = request.product;
  std::optional<std::string> why = refusal_of("A", p.a);
  if (!why) why = refusal_of("B", p.b);
  if (!why) why = refusal_of("C", p.c);
  if (!why) why = refusal_of_types(p, compute_capability);
  if (!why) why = refusal_of_shapes(request, ranks);
  if (!why && (request.call.chunks < 0 || request.call.chunks > max_chunks)) {
    why = "chunks is " + std::to_string(request.call.chunks) + "; it must be 0 to " +
          std::to_string(max_chunks);
  }
  if (!why) return {};
  return std::string("rung: ") + name_of(request.operation) + ": " + *why;
}

bool nothing_travels(const Request& request) {
  const Product& p = request.product;
  if (request.operation == Operation::all_gather_gemm) return p.a.rows == 0 || p.a.cols == 0;
  return p.c.rows == 0 || p.c.cols == 0;
}

Terms terms_of(const Request& request) {
  const Product& p = request.product;
  const bool gathers = request.operation == Operation::all_gather_gemm;
  Terms terms;
  const auto set = [&](Terms::Name name, auto value) {
    terms.values[name] = static_cast<std::int64_t>(value);
  };
  set(Terms::operation, request.operation);
  set(Terms::rows, p.a.rows);
  set(Terms::columns, gathers ? p.a.cols : p.b.cols);
  set(Terms::type_of_ab, p.a.type);
  set(Terms::type_of_c, p.c.type);
  set(Terms::order, gathers ? p.a.order : p.c.order);
  set(Terms::schedule, request.call.schedule);
  set(Terms::chunks, request.call.chunks);
  set(Terms::own_extent, gathers ? p.b.cols : p.a.cols);
  return terms;
}

std::optional<std::string> disagreement(Operation operation, std::span<const Terms> of_ranks) {
  const std::string begin = std::string("rung: ") + name_of(operation) + ": ";
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    if (of_ranks[rank].values[Terms::refused] != 0) {
      return begin + "rank " + std::to_string(rank) +
             " refused its arguments; its own error says why";
    }
  }
  for (std::size_t term = 0; term < Terms::own_extent; ++term) {
    for (std::size_t rank = 1; rank < of_ranks.size(); ++rank) {
      const std::int64_t first = of_ranks[0].values[term], other = of_ranks[rank].values[term];
      if (first == other) continue;
      return begin + "ranks disagree on " + term_names[term] + ": it is " + std::to_string(first) +
             " on rank 0 and " + std::to_string(other) + " on rank " + std::to_string(rank);
    }
  }
  return {};
}

}  // namespace rung::nccl
