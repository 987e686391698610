// The micro-kernel of dot_kernels.cpp. No include guard: it is included once per instruction set,
// inside that set's namespace, because functions that use an instruction must be compiled for it.
//
// Dot::add(sum, a, b) adds the products of two vectors of groups. Dot::direct is true if packed
// groups equal the elements in memory.

/// The groups of Rows rows of a packed A.
template <int Rows>
struct PackedGroups {
  const KGroup* base;
  std::int64_t stride;

  HWY_INLINE PackedGroups(const KGroup* a, std::int64_t a_stride) : base(a), stride(a_stride) {}
  HWY_INLINE KGroup row(int i) const { return base[i]; }
  HWY_INLINE void next() { base += stride; }
};

/// The groups of a row-major A, with one pointer for every three rows: base, base + stride and base
/// + 2 * stride are all addressing modes. Rows may be misaligned for groups.
template <int Rows>
struct DirectGroups {
  const unsigned char* base[(Rows + 2) / 3];
  std::int64_t stride;

  HWY_INLINE DirectGroups(const KGroup* a, std::int64_t a_stride) : stride(a_stride) {
#pragma GCC unroll 8
    for (int i = 0; i < (Rows + 2) / 3; ++i) {
      base[i] = reinterpret_cast<const unsigned char*>(a) + 3 * i * a_stride;
    }
  }
  HWY_INLINE KGroup row(int i) const {
    KGroup group;
    std::memcpy(&group, base[i / 3] + (i % 3) * stride, sizeof group);
    return group;
  }
  HWY_INLINE void next() {
#pragma GCC unroll 8
    for (int i = 0; i < (Rows + 2) / 3; ++i) base[i] += sizeof(KGroup);
  }
};

/// Writes the valid columns of a partial tile, which is already scaled by alpha, to C.
template <class Acc>
HWY_NOINLINE void add_columns(const Tile<KGroup, Acc>& t, const Acc* full, int rows,
                              std::int64_t width) {
  for (int i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < t.cols; ++j) {
      Acc& c = t.c[i * t.ldc + j];
      c = t.beta == Acc{} ? full[i * width + j] : full[i * width + j] + t.beta * c;
    }
  }
}

template <class D, class Acc = hn::TFromD<D>>
HWY_INLINE void store_row(D d, const hn::Vec<D>* sum, int vectors, Acc alpha, Acc beta, Acc* c) {
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  for (int v = 0; v < vectors; ++v, c += lanes) {
    hn::Vec<D> result = hn::Mul(hn::Set(d, alpha), sum[v]);
    if (beta != Acc{}) result = hn::Add(result, hn::Mul(hn::Set(d, beta), hn::LoadU(d, c)));
    hn::StoreU(result, d, c);
  }
}

template <class Dot, template <int> class A, int Rows, int Vectors>
void dot_tile(const Tile<KGroup, typename Dot::Acc>& t) {
  using Acc = typename Dot::Acc;
  const hn::ScalableTag<Acc> d;
  const hn::ScalableTag<KGroup> groups;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  constexpr std::int64_t width = Vectors * lanes;
  constexpr std::int64_t line = 64 / sizeof(KGroup);

  hn::Vec<decltype(d)> sum[Rows][Vectors];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    const auto start = t.start != nullptr ? hn::Set(d, t.start[i]) : hn::Zero(d);
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) sum[i][v] = start;
  }

  // Prefetch C, which is needed only after the loop over k.
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    __builtin_prefetch(t.c + i * t.ldc, 0, 2);
    __builtin_prefetch(t.c + i * t.ldc + width - 1, 0, 2);
  }

  A<Rows> a(t.a, t.a_stride);
  const KGroup* b = t.b;
  for (std::int64_t step = 0; step < t.k; ++step, a.next(), b += t.b_stride) {
    hn::Vec<decltype(groups)> b_k[Vectors];
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) {
      b_k[v] = hn::LoadU(groups, b + v * lanes);
      if (v * lanes % line == 0) __builtin_prefetch(b + t.b_ahead + v * lanes);
    }
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const auto a_ik = hn::Set(groups, a.row(i));
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) sum[i][v] = Dot::add(sum[i][v], a_ik, b_k[v]);
    }
  }

  // Compute a partial tile as a full one, then copy its valid columns.
  const bool whole = t.cols == width;
  HWY_ALIGN Acc full[Rows * width];
  Acc* const c = whole ? t.c : full;
  const std::int64_t ldc = whole ? t.ldc : width;
  const Acc beta = whole ? t.beta : Acc{};
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) store_row(d, sum[i], Vectors, t.alpha, beta, c + i * ldc);
  if (!whole) add_columns(t, full, Rows, width);
}

template <class Dot, int Rows, int Vectors>
constexpr TileFunction<KGroup, typename Dot::Acc> direct_tile() {
  if constexpr (Dot::direct) return dot_tile<Dot, DirectGroups, Rows, Vectors>;
  return nullptr;
}

template <class Dot, int... Row>
constexpr DotKernels<typename Dot::In, typename Dot::Acc> make_dot_kernels(
    std::integer_sequence<int, Row...>) {
  constexpr int lanes = hn::MaxLanes(hn::ScalableTag<KGroup>());
  return {Dot::group,
          sizeof...(Row),
          lanes,
          2 * lanes,
          {{dot_tile<Dot, PackedGroups, Row + 1, 1>, dot_tile<Dot, PackedGroups, Row + 1, 2>}...},
          {{direct_tile<Dot, Row + 1, 1>(), direct_tile<Dot, Row + 1, 2>()}...},
          Dot::pack_a,
          Dot::pack_b,
          Dot::start_rows};
}
