#pragma once
// Matrices as BLAS stores them: by columns, in bands, or as one part without gaps; and as dense
// ones, which everything is computed with.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "emu/libraries/cublas/elements.hpp"

namespace rung::emu::cublas {

inline std::size_t extent(int n) {
  require(n >= 0);
  return static_cast<std::size_t>(n);
}

/// The index of element (i, j), and whether it is stored.
struct Places {
  enum Kind { columns, bands, packed_upper, packed_lower } kind;
  std::size_t ld;                    // of packed ones: the order
  std::size_t below = 0, above = 0;  // diagonals of bands

  bool has(std::size_t i, std::size_t j) const {
    switch (kind) {
      case bands: return j <= i + above && i <= j + below;
      case packed_upper: return i <= j;
      case packed_lower: return i >= j;
      default: return true;
    }
  }
  std::size_t at(std::size_t i, std::size_t j) const {
    switch (kind) {
      case bands: return above + i - j + j * ld;
      case packed_upper: return i + j * (j + 1) / 2;
      case packed_lower: return i + j * (2 * ld - j - 1) / 2;
      default: return i + j * ld;
    }
  }
};

inline Places full(int rows, int ld) {
  require(ld >= std::max(1, rows));
  return {Places::columns, extent(ld)};
}
inline Places band(int below, int above, int ld) {
  require(below >= 0 && above >= 0 && ld >= below + above + 1);
  return {Places::bands, extent(ld), extent(below), extent(above)};
}
/// A triangle's, with k diagonals beside the main one.
inline Places band(cublasFillMode_t part, int k, int ld) {
  return part == CUBLAS_FILL_MODE_UPPER ? band(0, k, ld) : band(k, 0, ld);
}
inline Places packed(cublasFillMode_t part, int n) {
  return {part == CUBLAS_FILL_MODE_UPPER ? Places::packed_upper : Places::packed_lower, extent(n)};
}

inline bool in_part(cublasFillMode_t part, std::size_t i, std::size_t j) {
  return part == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j;
}

/// A matrix in device memory, as it is stored. Its elements are 0 if it is not read.
template <class E>
class Stored {
 public:
  Stored(const cublasContext& context, const E* device, int rows, int cols, const Places& places,
         bool is_read = true)
      : places_(places), device_(device) {
    std::size_t size = 0;
    for (std::size_t j = 0; j < extent(cols); ++j) {
      for (std::size_t i = extent(rows); i-- > 0;) {
        if (!places.has(i, j)) continue;
        size = std::max(size, places.at(i, j) + 1);
        break;  // the lowest of a column is its last
      }
    }
    values_ = download_if(is_read, device, size, context.stream);
  }
  E operator()(std::size_t i, std::size_t j) const {
    return places_.has(i, j) ? values_[places_.at(i, j)] : E(0);
  }
  void set(std::size_t i, std::size_t j, const E& value) {
    if (places_.has(i, j)) values_[places_.at(i, j)] = value;
  }
  void store(const cublasContext& context) {
    upload(const_cast<E*>(device_), values_, context.stream);
  }

 private:
  Places places_;
  const E* device_;
  std::vector<E> values_;
};

/// By columns, without gaps.
template <class E>
struct Dense {
  std::size_t rows, cols;
  std::vector<E> values;

  Dense(std::size_t rows_, std::size_t cols_) : rows(rows_), cols(cols_), values(rows_ * cols_) {}
  E& operator()(std::size_t i, std::size_t j) { return values[j * rows + i]; }
  const E& operator()(std::size_t i, std::size_t j) const { return values[j * rows + i]; }
};

/// True if a product that is scaled by `factor` reads its operands; its result is rows x cols.
template <class E>
bool reads_operands(const E& factor, int rows, int cols) {
  return factor != E(0) && rows != 0 && cols != 0;
}

inline bool transposes(cublasOperation_t op) { return op == CUBLAS_OP_T || op == CUBLAS_OP_C; }
inline bool conjugates(cublasOperation_t op) { return op == CUBLAS_OP_C || op == CUBLAS_OP_CONJG; }

/// op of the matrix whose elements at(i, j) gives.
template <class E, class At>
Dense<E> dense(std::size_t rows, std::size_t cols, cublasOperation_t op, const At& at) {
  const bool turned = transposes(op);
  Dense<E> made(turned ? cols : rows, turned ? rows : cols);
  for (std::size_t j = 0; j < made.cols; ++j) {
    for (std::size_t i = 0; i < made.rows; ++i) {
      made(i, j) = conjugate_if(conjugates(op), turned ? at(j, i) : at(i, j));
    }
  }
  return made;
}

/// op(A), which is rows x cols, of a matrix by columns.
template <class E>
Dense<E> general(const cublasContext& context, const E* a, int lda, int rows, int cols,
                 cublasOperation_t op, bool is_read = true) {
  if (transposes(op)) std::swap(rows, cols);
  return dense<E>(extent(rows), extent(cols), op,
                  Stored<E>(context, a, rows, cols, full(rows, lda), is_read));
}

template <class E>
Dense<E> triangle(const Stored<E>& a, int n, cublasFillMode_t part, cublasDiagType_t diagonal,
                  cublasOperation_t op) {
  return dense<E>(extent(n), extent(n), op, [&](std::size_t i, std::size_t j) {
    if (i == j && diagonal == CUBLAS_DIAG_UNIT) return E(1);
    return in_part(part, i, j) ? a(i, j) : E(0);
  });
}

/// A matrix with one stored triangle. The imaginary parts of a Hermitian matrix's diagonal are ignored.
template <class E>
Dense<E> symmetric(const Stored<E>& a, int n, cublasFillMode_t part, bool hermitian) {
  return dense<E>(extent(n), extent(n), CUBLAS_OP_N, [&](std::size_t i, std::size_t j) {
    if (i == j && hermitian) return E(std::real(a(i, i)));
    return in_part(part, i, j) ? a(i, j) : conjugate_if(hermitian, a(j, i));
  });
}

}  // namespace rung::emu::cublas
