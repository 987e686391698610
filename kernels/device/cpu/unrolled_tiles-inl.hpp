// Tiles for instruction sets with 16 registers, unrolled by eight k-steps so that positions in A
// and B are constant offsets: a step takes 21 instructions instead of 25. This matters if another
// thread on the same core leaves fewer issue slots. No include guard: masked_kernels.cpp includes
// it once per instruction set.

constexpr int steps_at_once = 8;
// For a shorter k, the overhead around the loop exceeds the gain.
constexpr std::int64_t least_unrolled_k = 48;

template <int Rows, int Vectors>
constexpr bool is_unrolled =
    HWY_TARGET == HWY_AVX2 && ((Vectors == 2 && Rows > 4) || (Vectors == 4 && Rows == 3));

/// The location of a strip of B: a packed panel, rows of B, or rows of B that are packed meanwhile.
enum class PlaceOfB { panel, rows, copied };

/// The form of A: rows, or a packed panel as wide as the tile has rows.
enum class PlaceOfA { rows, panel };

/// Prevents the compiler from deriving other addresses from this one.
template <class T>
HWY_INLINE void hold(const T*& address) {
  asm("" : "+r"(address));
}

/// sum += a * b. Written in assembly, because the compiler may otherwise overwrite a or b with the
/// sum and add moves.
template <class D, class V>
HWY_INLINE void add_product(D d, V a, V b, V& sum) {
#if HWY_TARGET == HWY_AVX2
  (void)d;
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) {
    asm("vfmadd231ps %2, %1, %0" : "+x"(sum.raw) : "x"(a.raw), "x"(b.raw));
  } else {
    asm("vfmadd231pd %2, %1, %0" : "+x"(sum.raw) : "x"(a.raw), "x"(b.raw));
  }
#else
  sum = hn::MulAdd(a, b, sum);
#endif
}

/// The position of the next step in A and B, and the step's prefetches and copies.
template <PlaceOfA A, class T, int Rows>
struct Cursor {
  static constexpr int streams = A == PlaceOfA::rows ? Rows : 1;

  const T* a[streams];
  const T* b;
  FetchedLines<T> lines;
  T* copy;

  HWY_INLINE explicit Cursor(const MaskedTile<T>& t)
      : b(t.b), lines{t.next, t.next + t.next_last}, copy(t.copy) {
#pragma GCC unroll 8
    for (int i = 0; i < streams; ++i) {
      a[i] = t.a + i * t.a_row;
      hold(a[i]);
    }
  }
};

/// sum += A * B for `Steps` steps.
template <PlaceOfB B, int Steps, PlaceOfA A, class D, int Rows, int Vectors>
HWY_INLINE void add_steps_at_once(D d, std::int64_t b_row, Cursor<A, hn::TFromD<D>, Rows>& at,
                                  hn::Vec<D> (&sum)[Rows][Vectors]) {
  using V = hn::Vec<D>;
  constexpr bool by_rows = A == PlaceOfA::rows;
  constexpr std::int64_t lanes = hn::MaxLanes(d), width = Vectors * lanes;
#pragma GCC unroll 8
  for (int step = 0; step < Steps; ++step) {
    const std::int64_t b_step = B == PlaceOfB::panel ? step * width : 0;
    // Keep the shorter side's vectors all in registers, and one of the other side.
    if constexpr (Vectors < Rows) {
      V b[Vectors];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) {
        b[v] = hn::LoadU(d, at.b + b_step + v * lanes);
        if constexpr (B == PlaceOfB::copied)
          hn::StoreU(b[v], d, at.copy + step * width + v * lanes);
      }
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) {
        const V a = hn::Set(d, by_rows ? at.a[by_rows ? i : 0][step] : at.a[0][step * Rows + i]);
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) add_product(d, a, b[v], sum[i][v]);
      }
    } else {
      V a[Rows];
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) {
        a[i] = hn::Set(d, by_rows ? at.a[by_rows ? i : 0][step] : at.a[0][step * Rows + i]);
      }
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) {
        const V b = hn::LoadU(d, at.b + b_step + v * lanes);
        if constexpr (B == PlaceOfB::copied) hn::StoreU(b, d, at.copy + step * width + v * lanes);
#pragma GCC unroll 8
        for (int i = 0; i < Rows; ++i) add_product(d, a[i], b, sum[i][v]);
      }
    }
    if constexpr (B != PlaceOfB::panel) {
      at.b += b_row;
      hold(at.b);
    }
  }
  if constexpr (B == PlaceOfB::panel) at.b += Steps * width;
  if constexpr (B == PlaceOfB::copied) at.copy += Steps * width;
#pragma GCC unroll 8
  for (int i = 0; i < at.streams; ++i) {
    at.a[i] += by_rows ? Steps : Steps * Rows;
    hold(at.a[i]);
  }
}

/// C = alpha * A * B + beta * C for one tile. A separate function whose loop over groups counts up:
/// otherwise GCC 12 keeps the sums in memory.
template <PlaceOfB B, PlaceOfA A, class D, int Rows, int Vectors>
HWY_NOINLINE void unrolled_tile(const MaskedTile<hn::TFromD<D>>& t) {
  const D d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  hn::Vec<D> sum[Rows][Vectors];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) sum[i][v] = hn::Zero(d);
  }
  Cursor<A, hn::TFromD<D>, Rows> at(t);
  const std::int64_t k = t.k, b_row = t.b_k, next_row = t.next_row, pace = t.pace;
  const std::int64_t groups = k / steps_at_once, moves = t.moves / steps_at_once;
  for (std::int64_t group = 0; group < groups; ++group) {
    if (group < moves) {
      for (std::int64_t step = 0; step < steps_at_once; step += pace) at.lines.fetch(next_row);
    }
    add_steps_at_once<B, steps_at_once>(d, b_row, at, sum);
  }
  for (std::int64_t step = k % steps_at_once; step > 0; --step) {
    add_steps_at_once<B, 1>(d, b_row, at, sum);
  }
  const auto all = hn::FirstN(d, static_cast<std::size_t>(lanes));
  scale_and_store(d, all, lanes, sum, t.alpha, t.beta, t.c, t.ldc);
}

/// The function for tiles of whole vectors; null if A and B have an unsupported form.
template <class D, int Rows, int Vectors>
HWY_INLINE MaskedTileFunction<hn::TFromD<D>> unrolled(const MaskedTile<hn::TFromD<D>>& t) {
  constexpr PlaceOfA rows = PlaceOfA::rows, panel = PlaceOfA::panel;
  if (t.k < least_unrolled_k || t.fetches_right) return nullptr;
  const bool is_panel = t.b_k == Vectors * std::int64_t{hn::MaxLanes(D())};
  if (t.a_k == 1) {
    if (t.copy != nullptr) return unrolled_tile<PlaceOfB::copied, rows, D, Rows, Vectors>;
    return is_panel ? unrolled_tile<PlaceOfB::panel, rows, D, Rows, Vectors>
                    : unrolled_tile<PlaceOfB::rows, rows, D, Rows, Vectors>;
  }
  if constexpr (Vectors == 2) {
    const bool is_a_panel = t.a_row == 1 && t.a_k == Rows;
    if (is_a_panel && t.copy != nullptr)
      return unrolled_tile<PlaceOfB::copied, panel, D, Rows, Vectors>;
    if (is_a_panel && is_panel) return unrolled_tile<PlaceOfB::panel, panel, D, Rows, Vectors>;
  }
  return nullptr;
}

/// Computes `tiles` tiles of whole vectors, one below the other. Returns false if they are
/// unsupported.
template <class D, int Rows, int Vectors>
HWY_INLINE bool multiplies_unrolled(const MaskedTile<hn::TFromD<D>>& t, std::int64_t tiles) {
  if constexpr (is_unrolled<Rows, Vectors>) {
    const auto function = unrolled<D, Rows, Vectors>(t);
    if (function == nullptr) return false;
    if (tiles == 1) {
      function(t);
      return true;
    }
    MaskedTile<hn::TFromD<D>> tile = t;
    for (; tiles > 0; --tiles, tile.a += Rows * t.a_row, tile.c += Rows * t.ldc) function(tile);
    return true;
  } else {
    return false;
  }
}
