// The functions of tile_vectors-inl.hpp in plain C++, for tests with modelled tiles
// (tile_model.hpp). No include guard: amx.cpp includes one of the two files inside its namespace.

/// The elements of group g of a row or column, padded with zeros; at(k) returns an element.
template <class In, class At>
KGroup group_of(std::int64_t g, std::int64_t k, const At& at) {
  constexpr std::int64_t group = sizeof(KGroup) / sizeof(In);
  KGroup bits = 0;
  for (std::int64_t e = 0; e < group && g * group + e < k; ++e) {
    const In element = at(g * group + e);
    std::memcpy(reinterpret_cast<unsigned char*>(&bits) + e * sizeof(In), &element, sizeof(In));
  }
  return bits;
}

/// Fills two adjacent tiles of B.
template <class In, class At>
void fill_tiles_of_b(std::int64_t k, std::int64_t cols, KGroup* tiles, const At& at) {
  for (std::int64_t g = 0; g < tile_groups; ++g) {
    for (std::int64_t j = 0; j < tile_block; ++j) {
      KGroup& group = tiles[j / tile_rows * tile_size + g * tile_rows + j % tile_rows];
      group = group_of<In>(g, j < cols ? k : 0, [&](std::int64_t e) { return at(e, j); });
    }
  }
}

template <class In>
void interleave_rows(const In* from, std::int64_t stride, std::int64_t k, std::int64_t cols,
                     KGroup* tiles) {
  fill_tiles_of_b<In>(k, cols, tiles,
                      [&](std::int64_t e, std::int64_t j) { return from[e * stride + j]; });
}

template <class In>
void transpose_columns(const In* from, std::int64_t stride, std::int64_t k, std::int64_t cols,
                       KGroup* tiles) {
  fill_tiles_of_b<In>(k, cols, tiles,
                      [&](std::int64_t e, std::int64_t j) { return from[j * stride + e]; });
}

inline void transpose_in_place(KGroup* tile) {
  for (std::int64_t i = 0; i < tile_rows; ++i) {
    for (std::int64_t g = 0; g < i; ++g) {
      std::swap(tile[i * tile_groups + g], tile[g * tile_groups + i]);
    }
  }
}

template <class In>
void copy_rows(const In* from, std::int64_t stride, std::int64_t k, std::int64_t rows,
               KGroup* tiles) {
  for (std::int64_t i = 0; i < tile_block; ++i) {
    for (std::int64_t g = 0; g < tile_groups; ++g) {
      tiles[i * tile_groups + g] =
          group_of<In>(g, i < rows ? k : 0, [&](std::int64_t e) { return from[i * stride + e]; });
    }
  }
}

template <class Acc>
void add_to_c(const Acc* sums, int count, int apart, std::int64_t rows, std::int64_t cols,
              Acc alpha, Acc beta, Acc* c, std::int64_t ldc) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < std::min(cols, tile_rows); ++j) {
      Acc sum = 0;
      for (int s = 0; s < count; ++s) sum += sums[s * apart * tile_size + i * tile_rows + j];
      Acc& element = c[i * ldc + j];
      element = beta == Acc{} ? alpha * sum : alpha * sum + beta * element;
    }
  }
}
