#pragma once
// What bf16 and int8 products cost on a CPU with tiles (AMX): with them, and with the dot-product
// instructions of its vectors, which are faster for few rows and for very small products.

#include <optional>

#include "library/select.hpp"

namespace rung {

/// In cycles, counted from the instructions of the rungs: like the costs of library/cost_model.hpp,
/// they name no machine.
double cost_of_tiles(const GemmShape& shape);         // 10
double cost_of_dot_products(const GemmShape& shape);  // 09

inline constexpr Named<cpu::GemmRung> rung_of_tiles = RUNG_GEMM(10, amx_tiles);
inline constexpr Named<cpu::GemmRung> rung_of_vectors = RUNG_GEMM(09, dot_products);

/// The cheaper of the two with its number of threads, where this CPU has tiles.
std::optional<GemmChoice> choose_tiles(const GemmShape& shape, int threads);

}  // namespace rung
