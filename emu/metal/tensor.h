#pragma once
// <metal_tensor> and <metal_cooperative_tensor>: views of memory with extents and strides, and
// matrices that are distributed over the threads of an operation (Metal Shading Language
// Specification 4, section 2.20). Included if a kernel includes these headers.

namespace metal {

inline constexpr size_t dynamic_extent = static_cast<size_t>(-1);
template <class T>
inline constexpr T dynamic_length_v = static_cast<T>(-1);

/// The extents of a tensor (section 2.20.1). dynamic_extent stands for one that is a value.
template <class I, size_t... E>
struct extents {
  using index_type = I;
  using size_type = make_unsigned_t<I>;
  using rank_type = size_t;

  static constexpr rank_type rank() { return sizeof...(E); }
  static constexpr rank_type rank_dynamic() { return ((E == dynamic_extent ? 1 : 0) + ... + 0); }
  static constexpr size_t static_extent(rank_type r) {
    constexpr size_t all[] = {E..., 0};
    return all[r];
  }

  constexpr extents() {
    for (rank_type r = 0; r < rank(); ++r) {
      values[r] = static_extent(r) == dynamic_extent ? I(0) : static_cast<I>(static_extent(r));
    }
  }
  /// All extents, or the dynamic ones alone.
  template <class... V, class = enable_if_t<(sizeof...(V) > 0)>>
  RUNG_METAL constexpr extents(V... given) : extents() {
    static_assert(sizeof...(V) == rank() || sizeof...(V) == rank_dynamic(),
                  "extents takes a value for each dimension, or for each dynamic one");
    const I all[] = {static_cast<I>(given)...};
    rank_type next = 0;
    for (rank_type r = 0; r < rank(); ++r) {
      if (sizeof...(V) == rank() || static_extent(r) == dynamic_extent) values[r] = all[next++];
    }
  }
  RUNG_METAL constexpr index_type extent(rank_type r) const { return values[r]; }

  I values[sizeof...(E) == 0 ? 1 : sizeof...(E)];
};

// Formats of less than a byte, and of 8 bits, which are refused.
struct int2b_format;
struct uint2b_format;
struct int4b_format;
struct uint4b_format;
struct metal_fp4_e2m1_format;
struct metal_fp8_e4m3_format;
struct metal_fp8_e5m2_format;

namespace rung_detail {

template <class I, size_t rank, size_t... E>
struct DynamicExtents : DynamicExtents<I, rank - 1, dynamic_extent, E...> {};
template <class I, size_t... E>
struct DynamicExtents<I, 0, E...> {
  using type = extents<I, E...>;
};
/// The extents of a slice: `Given`, or dynamic ones.
template <class Of, size_t... Given>
struct SliceExtents {
  static_assert(sizeof...(Given) == Of::rank(), "a slice takes an extent for each dimension");
  using type = extents<typename Of::index_type, Given...>;
};
template <class Of>
struct SliceExtents<Of> : DynamicExtents<typename Of::index_type, Of::rank()> {};

}  // namespace rung_detail

template <class I, size_t rank>
using dextents = typename rung_detail::DynamicExtents<I, rank>::type;

struct tensor_handle {};
struct tensor_inline {};
struct tensor_offset {};

/// Elements in memory (section 2.20.2). A tensor that the host binds is passed as this structure by
/// value; the others view memory of the kernel's.
template <class Element, class Extents, class Descriptor = tensor_handle, class... Tags>
struct tensor {
  using element_type = Element;
  using value_type = remove_cv_t<Element>;
  using extents_type = Extents;
  using index_type = typename Extents::index_type;
  using size_type = typename Extents::size_type;
  using rank_type = typename Extents::rank_type;
  using reference = Element&;
  using data_handle_type = Element*;
  using descriptor_type = Descriptor;
  static_assert(
      is_arithmetic_v<value_type>,
      "tensors of packed formats (4, 2 and 8-bit floats) are not supported on the virtual "
      "GPU");

  static constexpr rank_type get_rank() { return Extents::rank(); }
  static constexpr size_t get_static_extent(rank_type r) { return Extents::static_extent(r); }

  tensor() = default;
  /// The first dimension is contiguous, and the others follow without gaps.
  RUNG_METAL tensor(data_handle_type data, const Extents& of) : data_(data), extents_(of) {
    index_type all = 1;
    for (rank_type r = 0; r < get_rank(); ++r) {
      strides_[r] = all;
      all *= of.extent(r);
    }
  }
  /// Strides are in elements.
  template <class I>
  RUNG_METAL tensor(data_handle_type data, const Extents& of,
                    const array<I, Extents::rank()>& strides)
      : data_(data), extents_(of) {
    for (rank_type r = 0; r < get_rank(); ++r) strides_[r] = static_cast<index_type>(strides[r]);
  }

  RUNG_METAL index_type get_extent(rank_type r) const { return extents_.extent(r); }
  RUNG_METAL index_type get_stride(rank_type r) const { return strides_[r]; }
  RUNG_METAL const Extents& get_extents() const { return extents_; }
  RUNG_METAL data_handle_type data_handle() const { return data_; }

  template <class... I>
  RUNG_METAL reference operator[](I... indices) const {
    return data_[offset(indices...)];
  }
  template <class I>
  RUNG_METAL reference operator[](const array<I, Extents::rank()>& indices) const {
    return data_[offset(indices)];
  }
  /// 0 outside of the extents.
  template <class... I>
  RUNG_METAL value_type load(I... indices) const {
    return contains(indices...) ? static_cast<value_type>(data_[offset(indices...)])
                                : value_type(0);
  }
  template <class I>
  RUNG_METAL value_type load(const array<I, Extents::rank()>& indices) const {
    return contains(indices) ? static_cast<value_type>(data_[offset(indices)]) : value_type(0);
  }
  /// Nothing outside of the extents.
  template <class... I>
  RUNG_METAL void store(value_type value, I... indices) const {
    if (contains(indices...)) data_[offset(indices...)] = value;
  }
  template <class I>
  RUNG_METAL void store(value_type value, const array<I, Extents::rank()>& indices) const {
    if (contains(indices)) data_[offset(indices)] = value;
  }

  /// The part that begins at `indices` and has the extents `Given`; a dynamic one goes to the end.
  template <size_t... Given, class... I>
  RUNG_METAL auto slice(I... indices) const {
    static_assert(sizeof...(I) == Extents::rank(), "a slice takes an index for each dimension");
    using Part = typename rung_detail::SliceExtents<Extents, Given...>::type;
    tensor<Element, Part, Descriptor> part;
    const index_type from[] = {static_cast<index_type>(indices)...};
    part.data_ = data_ + offset(indices...);
    for (rank_type r = 0; r < get_rank(); ++r) {
      const bool is_given = Part::static_extent(r) != dynamic_extent;
      part.strides_[r] = strides_[r];
      part.extents_.values[r] =
          is_given ? static_cast<index_type>(Part::static_extent(r)) : get_extent(r) - from[r];
    }
    return part;
  }
  template <size_t... Given, class... I>
  RUNG_METAL auto static_slice(I... indices) const {
    return slice<Given...>(indices...);
  }

  template <class I>
  RUNG_METAL long offset(const array<I, Extents::rank()>& indices) const {
    long sum = 0;
    for (rank_type r = 0; r < get_rank(); ++r) {
      sum += static_cast<long>(indices[r]) * static_cast<long>(strides_[r]);
    }
    return sum;
  }
  template <class... I, class = enable_if_t<(is_integral_v<I> && ...)>>
  RUNG_METAL long offset(I... indices) const {
    return offset(array<long, Extents::rank()>{static_cast<long>(indices)...});
  }
  /// True if the indices are within the extents. A slice with static extents may exceed its tensor.
  template <class I>
  RUNG_METAL bool contains(const array<I, Extents::rank()>& indices) const {
    bool inside = true;
    for (rank_type r = 0; r < get_rank(); ++r) {
      const long at = static_cast<long>(indices[r]);
      inside = inside && at >= 0 && at < static_cast<long>(get_extent(r));
    }
    return inside;
  }
  template <class... I, class = enable_if_t<(is_integral_v<I> && ...)>>
  RUNG_METAL bool contains(I... indices) const {
    return contains(array<long, Extents::rank()>{static_cast<long>(indices)...});
  }

  data_handle_type data_;
  Extents extents_;
  index_type strides_[Extents::rank() == 0 ? 1 : Extents::rank()];
};

template <class T, class E>
tensor(T*, E) -> tensor<T, E, tensor_inline>;
template <class T, class E, class I, size_t N>
tensor(T*, E, array<I, N>) -> tensor<T, E, tensor_inline>;

/// The threads that execute an operation together (section 7.1).
template <size_t N>
struct execution_simdgroups {
  static constexpr uint simdgroups = N;
};
using execution_simdgroup = execution_simdgroups<1>;
struct execution_thread {
  static constexpr uint simdgroups = 0;
};
template <size_t N>
struct execution_threads;
template <>
struct execution_threads<1> : execution_thread {};

namespace rung_detail {

/// The elements of a `rows` x `cols` matrix that a thread has. A simdgroup has fragments of 16 x 16
/// elements, in row-major order; those of several simdgroups follow each other. Lane l has rows
/// f = 4 (l / 16) + (l / 2) % 4 and f + 8 of a fragment, in each the four columns from
/// 8 ((l / 8) % 2) + 4 (l % 2), as MLX's kernels suppose (BaseNAXFrag).
template <class Scope, int rows_, int cols_>
struct MatrixLayout {
  static constexpr int rows = rows_, cols = cols_, rank = 2;
  static constexpr int fragment_cols = (cols + 15) / 16;
  static constexpr int fragments = (rows + 15) / 16 * fragment_cols;
  static constexpr int groups = static_cast<int>(Scope::simdgroups);
  static constexpr int per_group = (fragments + groups - 1) / groups;
  static constexpr int capacity = 8 * per_group;

  static RUNG_METAL int first_fragment() {
    return groups == 1 ? 0 : static_cast<int>(SimdgroupIndex::get() % groups) * per_group;
  }
  static RUNG_METAL int row_in_fragment(uint lane) {
    return static_cast<int>((lane >> 4 & 1) << 2 | (lane >> 1 & 3));
  }
  static RUNG_METAL int col_in_fragment(uint lane) {
    return static_cast<int>((lane >> 3 & 1) << 3 | (lane & 1) << 2);
  }
  static RUNG_METAL int row(int i) {
    return (first_fragment() + i / 8) / fragment_cols * 16 + row_in_fragment(LaneIndex::get()) +
           i / 4 % 2 * 8;
  }
  static RUNG_METAL int col(int i) {
    return (first_fragment() + i / 8) % fragment_cols * 16 + col_in_fragment(LaneIndex::get()) +
           i % 4;
  }
  static RUNG_METAL bool is_valid(int i) {
    return first_fragment() + i / 8 < fragments && row(i) < rows && col(i) < cols;
  }
  /// The lane and the element that have (r, c), in a matrix of one simdgroup.
  static RUNG_METAL ushort lane_of(uint r, uint c) {
    return static_cast<ushort>((r & 4) << 2 | (r & 3) << 1 | (c & 8) | (c & 4) >> 2);
  }
  static RUNG_METAL uint element_of(uint r, uint c) {
    return ((r >> 4) * fragment_cols + (c >> 4)) << 3 | (r & 8) >> 1 | (c & 3);
  }
};
/// One thread has all elements, in row-major order.
template <int rows_, int cols_>
struct MatrixLayout<execution_thread, rows_, cols_> {
  static constexpr int rows = rows_, cols = cols_, rank = 2, groups = 0;
  static constexpr int capacity = rows * cols;

  static RUNG_METAL int row(int i) { return i / cols; }
  static RUNG_METAL int col(int i) { return i % cols; }
  static RUNG_METAL bool is_valid(int) { return true; }
};

/// The rows of a matrix (for its columns, `by_row` is false) as a vector: each thread has those of
/// its elements of the matrix.
template <class Matrix, bool by_row>
struct ReducedLayout {
  static constexpr int rank = 1;
  static constexpr bool is_distributed = Matrix::groups == 1;
  static constexpr int fragments = ((by_row ? Matrix::rows : Matrix::cols) + 15) / 16;
  static constexpr int in_fragment = by_row ? 2 : 4;
  static constexpr int capacity =
      is_distributed ? in_fragment * fragments : (by_row ? Matrix::rows : Matrix::cols);

  /// The index in the vector of this thread's i-th element.
  static RUNG_METAL int index(int i) {
    if constexpr (!is_distributed) return i;
    const uint lane = LaneIndex::get();
    const int at =
        by_row ? Matrix::row_in_fragment(lane) + i % 2 * 8 : Matrix::col_in_fragment(lane) + i % 4;
    return i / in_fragment * 16 + at;
  }
  static RUNG_METAL bool is_valid(int i) {
    return index(i) < (by_row ? Matrix::rows : Matrix::cols);
  }
  /// The element for the row or column of the matrix's i-th element.
  static RUNG_METAL int element_for(int i) {
    if constexpr (!is_distributed) {
      return by_row ? Matrix::row(i) : Matrix::col(i);
    } else {
      const int fragment = i / 8;
      return by_row ? fragment / Matrix::fragment_cols * 2 + i / 4 % 2
                    : fragment % Matrix::fragment_cols * 4 + i % 4;
    }
  }
};

}  // namespace rung_detail

/// A tensor whose elements are distributed over threads (section 2.20.3). Its elements are 0 at
/// first: public kernels add to them without another initial value.
template <class Element, class Extents, class Layout>
struct cooperative_tensor {
  using element_type = Element;
  using value_type = Element;
  using extents_type = Extents;
  using layout_type = Layout;
  using index_type = typename Extents::index_type;
  using size_type = typename Extents::size_type;
  using rank_type = typename Extents::rank_type;
  using thread_index_type = ushort;
  using thread_size_type = ushort;
  using index_array = array<index_type, Layout::rank>;

  template <class Tensor>
  struct Iterator {
    RUNG_METAL auto& operator*() const { return (*of)[at]; }
    RUNG_METAL index_array get_multidimensional_index() const {
      return of->get_multidimensional_index(at);
    }
    RUNG_METAL Iterator& operator++() {
      ++at;
      return *this;
    }
    RUNG_METAL Iterator operator++(int) {
      Iterator before = *this;
      ++at;
      return before;
    }
    RUNG_METAL Iterator operator+(int n) const {
      return {of, static_cast<thread_index_type>(at + n)};
    }
    RUNG_METAL bool operator==(const Iterator& other) const { return at == other.at; }
    RUNG_METAL bool operator!=(const Iterator& other) const { return at != other.at; }
    RUNG_METAL bool operator<(const Iterator& other) const { return at < other.at; }

    Tensor* of;
    thread_index_type at;
  };
  using iterator = Iterator<cooperative_tensor>;
  using const_iterator = Iterator<const cooperative_tensor>;

  static constexpr rank_type get_rank() { return Layout::rank; }
  static constexpr thread_size_type get_capacity() { return Layout::capacity; }

  RUNG_METAL element_type& operator[](thread_index_type i) { return elements[i]; }
  RUNG_METAL const element_type& operator[](thread_index_type i) const { return elements[i]; }
  RUNG_METAL value_type get(thread_index_type i) const { return elements[i]; }
  RUNG_METAL void set(thread_index_type i, value_type value) { elements[i] = value; }
  /// False for elements that no part of the tensor corresponds to.
  RUNG_METAL bool is_valid_element(thread_index_type i) const { return Layout::is_valid(i); }
  RUNG_METAL bool get_mask(thread_index_type i) const { return Layout::is_valid(i); }
  /// {column, row} of a matrix.
  RUNG_METAL index_array get_multidimensional_index(thread_index_type i) const {
    if constexpr (Layout::rank == 1) {
      return {static_cast<index_type>(Layout::index(i))};
    } else {
      return {static_cast<index_type>(Layout::col(i)), static_cast<index_type>(Layout::row(i))};
    }
  }

  RUNG_METAL iterator begin() { return {this, 0}; }
  RUNG_METAL iterator end() { return {this, get_capacity()}; }
  RUNG_METAL const_iterator begin() const { return {this, 0}; }
  RUNG_METAL const_iterator end() const { return {this, get_capacity()}; }
  /// The element of this tensor for a row or a column of the other's element.
  template <class Other>
  RUNG_METAL iterator map_iterator(const Other& other) {
    return {this, static_cast<thread_index_type>(Layout::element_for(other.at))};
  }

  /// Dimensions of extent 1 are repeated.
  template <class T, class E, class D, class... Tags>
  RUNG_METAL void load(const tensor<T, E, D, Tags...>& from) {
    each_valid([&](auto i, const auto& at) __attribute__((always_inline, nodebug)) {
      elements[i] = static_cast<Element>(from.load(broadcast(from, at)));
    });
  }
  template <class T, class E, class D, class... Tags>
  RUNG_METAL void store(const tensor<T, E, D, Tags...>& to) const {
    using Value = typename tensor<T, E, D, Tags...>::value_type;
    each_valid([&](auto i, const auto& at) __attribute__((always_inline, nodebug)) {
      to.store(static_cast<Value>(elements[i]), at);
    });
  }

  template <class F>
  RUNG_METAL void each_valid(const F& f) const {
#pragma unroll
    for (thread_index_type i = 0; i < get_capacity(); ++i) {
      if (Layout::is_valid(i)) f(i, get_multidimensional_index(i));
    }
  }
  template <class Tensor>
  static RUNG_METAL index_array broadcast(const Tensor& from, index_array at) {
    static_assert(Tensor::get_rank() == Layout::rank, "the ranks of the two tensors differ");
    for (rank_type r = 0; r < Layout::rank; ++r) {
      if (from.get_extent(r) == 1) at[r] = 0;
    }
    return at;
  }

  Element elements[Layout::capacity] = {};
};

}  // namespace metal
