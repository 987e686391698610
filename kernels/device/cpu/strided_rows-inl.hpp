// Addresses a column of A with few pointers. No include guard: masked_kernels.cpp includes it once
// per instruction set.

/// The elements of one column of A. One pointer serves five rows: with the stride and three times
/// the stride in registers, base, base + stride, … base + 4 * stride are all addressing modes.
template <class T, int Rows>
struct StridedRows {
  const char* base[(Rows + 4) / 5];
  std::int64_t row, three_rows, step;  // in bytes

  HWY_INLINE StridedRows(const T* a, std::int64_t a_row, std::int64_t a_k)
      : row(a_row * std::int64_t{sizeof(T)}),
        three_rows(3 * row),
        step(a_k * std::int64_t{sizeof(T)}) {
#pragma GCC unroll 8
    for (int i = 0; i < (Rows + 4) / 5; ++i)
      base[i] = reinterpret_cast<const char*>(a) + 5 * i * row;
  }
  HWY_INLINE T at(int i) const {
    const std::int64_t rows = i % 5;
    return *reinterpret_cast<const T*>(base[i / 5] + (rows == 3 ? three_rows : rows * row));
  }
  /// Moves to the tile below.
  HWY_INLINE void skip_rows() {
#pragma GCC unroll 8
    for (int i = 0; i < (Rows + 4) / 5; ++i) base[i] += Rows * row;
  }
  HWY_INLINE void next() {
#pragma GCC unroll 8
    for (int i = 0; i < (Rows + 4) / 5; ++i) base[i] += step;
    // Prevents the compiler from keeping multiples of the stride in registers, which would spill.
    asm("" : "+r"(row), "+r"(three_rows));
  }
};
