// The micro-kernel of group_dots.cpp. No include guard: it is included once per instruction set,
// inside that set's namespace, because functions that use an instruction must be compiled for it.
//
// Dot::add(sum, a, b) adds the products of two vectors of groups of Dot::group elements, loaded by
// Dot::load(). Dot::with_offset() adds Dot::a_offset to each element of A to make it unsigned.

/// Adds the products of one k-step. Whole: `count` elements fill a vector.
template <class Dot, bool Whole, int Rows, int Cols, class Sum>
HWY_INLINE void add_step(const DotTile<typename Dot::In, typename Dot::Acc>& t, std::int64_t k,
                         std::int64_t count, Sum (&sum)[Rows][Cols], Sum (&b_sum)[Cols]) {
  constexpr std::int64_t bytes_ahead = 256;  // hides memory latency
  using Groups = typename Dot::Groups;
  Groups b[Cols];
#pragma GCC unroll 4
  for (int j = 0; j < Cols; ++j) {
    b[j] = Dot::template load<Whole>(t.b + j * t.b_col + k, count);
    if constexpr (Dot::a_offset != 0) b_sum[j] = Dot::add(b_sum[j], Dot::ones(), b[j]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) {
    const auto* const row = t.a + i * t.a_row + k;
    if constexpr (Whole) {
      __builtin_prefetch(row + bytes_ahead / std::int64_t{sizeof(typename Dot::In)});
    }
    const Groups a = Dot::with_offset(Dot::template load<Whole>(row, count));
#pragma GCC unroll 4
    for (int j = 0; j < Cols; ++j) sum[i][j] = Dot::add(sum[i][j], a, b[j]);
  }
}

template <class Dot, int Rows, int Cols>
void dots(const DotTile<typename Dot::In, typename Dot::Acc>& t) {
  using Acc = typename Dot::Acc;
  const hn::ScalableTag<Acc> d;
  using Sum = hn::Vec<decltype(d)>;
  constexpr std::int64_t step = hn::MaxLanes(d) * Dot::group;
  // FMAs on the same sum depend on each other, so a small number of sums is divided into several
  // chains.
  constexpr int chains = Rows * Cols >= 4 ? 1 : Rows * Cols == 1 ? 4 : 2;
  Sum sum[chains][Rows][Cols], b_sum[Cols];
#pragma GCC unroll 32
  for (int i = 0; i < chains * Rows * Cols; ++i) (&sum[0][0][0])[i] = hn::Zero(d);
#pragma GCC unroll 4
  for (int j = 0; j < Cols; ++j) b_sum[j] = hn::Zero(d);

  std::int64_t k = 0;
  for (; k + chains * step <= t.k; k += chains * step) {
#pragma GCC unroll 4
    for (int c = 0; c < chains; ++c) add_step<Dot, true>(t, k + c * step, step, sum[c], b_sum);
  }
  for (; k + step <= t.k; k += step) add_step<Dot, true>(t, k, step, sum[0], b_sum);
  if (k < t.k) add_step<Dot, false>(t, k, t.k - k, sum[0], b_sum);

#pragma GCC unroll 32
  for (int i = Rows * Cols; i < chains * Rows * Cols; ++i) {
    Sum& first = (&sum[0][0][0])[i % (Rows * Cols)];
    first = hn::Add(first, (&sum[0][0][0])[i]);
  }
  HWY_ALIGN Acc sums[Rows * Cols];
  HWY_ALIGN Acc b_sums[Cols];
  add_lanes<Rows * Cols>(&sum[0][0][0], sums);
  if constexpr (Dot::a_offset != 0) add_lanes<Cols>(b_sum, b_sums);
  const Acc alpha = t.alpha, beta = t.beta;  // read once: stores to C may alias them
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Cols; ++j) {
      Acc product = sums[i * Cols + j];
      if constexpr (Dot::a_offset != 0) product -= Dot::a_offset * b_sums[j];
      Acc& c = t.c[i * t.c_row + j * t.c_col];
      c = beta == Acc{} ? alpha * product : alpha * product + beta * c;
    }
  }
}

template <class Dot, int... Row>
constexpr NarrowDots<typename Dot::In, typename Dot::Acc> make_dots(
    std::integer_sequence<int, Row...>) {
  return {{{dots<Dot, Row + 1, 1>, dots<Dot, Row + 1, 2>, dots<Dot, Row + 1, 3>,
            dots<Dot, Row + 1, 4>}...},
          dots<Dot, NarrowDots<typename Dot::In, typename Dot::Acc>::column_rows, 1>};
}
