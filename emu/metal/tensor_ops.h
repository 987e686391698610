#pragma once
// Metal Performance Primitives: products of tensors (Metal Shading Language Specification 4,
// section 7.2.1). Threads read and write the memory of their elements as in a loop of their own, so
// that hazards are those of other accesses. Sums are float, or int for integers, in ascending order
// of k, and rounded once.

namespace mpp {
namespace tensor_ops {

using metal::dynamic_extent;
using metal::dynamic_length_v;

enum class reduction_operation { sum, max, min };

template <class T>
struct reduction_operation_identity {
  static constexpr T sum_identity = T(0);
  static constexpr T max_identity = metal::numeric_limits<T>::lowest();
  static constexpr T min_identity = metal::numeric_limits<T>::max();
};

struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };

  int m, n, k;
  bool transpose_left, transpose_right, relaxed_precision;
  mode matmul_mode;

  /// k may be dynamic_extent or 0: the extent of the operands.
  constexpr matmul2d_descriptor(int rows, int cols, int depth = dynamic_length_v<int>,
                                bool transposes_left = false, bool transposes_right = false,
                                bool is_relaxed = false, mode how = mode::multiply)
      : m(rows),
        n(cols),
        k(depth),
        transpose_left(transposes_left),
        transpose_right(transposes_right),
        relaxed_precision(is_relaxed),
        matmul_mode(how) {}
};

namespace rung_detail {

template <class T>
constexpr bool is_cooperative = false;
template <class T, class E, class L>
constexpr bool is_cooperative<metal::cooperative_tensor<T, E, L>> = true;

template <class A, class B, class C>
using Sum = metal::conditional_t<
    metal::is_integral_v<A> && metal::is_integral_v<B> && metal::is_integral_v<C>, int, float>;

/// An operand in memory. `is_transposed`: as stored, the matrix's rows are the first dimension.
template <class Tensor, bool is_transposed>
struct MemoryOperand {
  static_assert(Tensor::get_rank() == 2, "an operand of matmul2d is a tensor of two dimensions");
  const Tensor& tensor;

  RUNG_METAL auto at(int row, int col) const {
    return is_transposed ? tensor.load(row, col) : tensor.load(col, row);
  }
  RUNG_METAL int cols() const { return static_cast<int>(tensor.get_extent(is_transposed ? 1 : 0)); }
};

/// An operand in the registers of a simdgroup, whose layout is that of the matrix as stored.
template <class Tensor, bool is_transposed, bool is_left>
struct RegisterOperand {
  using Layout = typename Tensor::layout_type;
  using T = typename Tensor::value_type;
  const Tensor& tensor;

  RUNG_METAL T at(int row, int col) const {
    const auto r = static_cast<uint>(is_transposed ? col : row);
    const auto c = static_cast<uint>(is_transposed ? row : col);
    const ushort lane = Layout::lane_of(r, c);
    const uint element = Layout::element_of(r, c);
    T value = 0;
#pragma unroll
    for (uint bits = 0; bits < 8; ++bits) {
      if ((bits & ~varying) != 0) continue;
      const T found = metal::simd_shuffle(tensor.elements[(element & ~varying) | bits], lane);
      if ((element & varying) == bits) value = found;
    }
    return r < Layout::rows && c < Layout::cols ? value : T(0);
  }
  RUNG_METAL int cols() const { return is_transposed ? Layout::rows : Layout::cols; }

 private:
  /// Bits of an element's index that differ between lanes, as the row of a left operand and four
  /// times the column of a right one do. The lane that has the element does not know them.
  static constexpr uint varying = !is_transposed ? 0 : is_left ? 3 : 4;
};

template <class Tensor, bool is_transposed>
struct ThreadOperand {
  using Layout = typename Tensor::layout_type;
  const Tensor& tensor;

  RUNG_METAL auto at(int row, int col) const {
    return tensor.elements[is_transposed ? col * Layout::cols + row : row * Layout::cols + col];
  }
  RUNG_METAL int cols() const { return is_transposed ? Layout::rows : Layout::cols; }
};

template <bool is_transposed, bool is_left, class Tensor>
RUNG_METAL auto operand(const Tensor& tensor) {
  if constexpr (!is_cooperative<Tensor>) {
    return MemoryOperand<Tensor, is_transposed>{tensor};
  } else if constexpr (Tensor::layout_type::groups == 0) {
    return ThreadOperand<Tensor, is_transposed>{tensor};
  } else {
    static_assert(Tensor::layout_type::groups == 1,
                  "an operand in registers needs the scope execution_simdgroup");
    return RegisterOperand<Tensor, is_transposed, is_left>{tensor};
  }
}

}  // namespace rung_detail

template <matmul2d_descriptor Descriptor, class Scope, class... Args>
class matmul2d {
  static_assert(Descriptor.m > 0 && Descriptor.n > 0,
                "matmul2d_descriptor: m and n are dynamic, allowed are sizes of a tile");
  static constexpr bool is_dynamic = Descriptor.k <= 0;
  template <class E, class Layout, class I>
  using Cooperative = metal::cooperative_tensor<E, metal::dextents<I, Layout::rank>, Layout>;
  using Result = metal::rung_detail::MatrixLayout<Scope, Descriptor.m, Descriptor.n>;
  /// As stored.
  template <bool is_transposed, int rows, int cols>
  using Operand = metal::rung_detail::MatrixLayout<Scope, is_transposed ? cols : rows,
                                                   is_transposed ? rows : cols>;

 public:
  static constexpr matmul2d_descriptor descriptor = Descriptor;
  using scope = Scope;

  template <class A, class B, class C, class I = int>
  using cooperative_tensor_left_input_t =
      Cooperative<A, Operand<Descriptor.transpose_left, Descriptor.m, Descriptor.k>, I>;
  template <class A, class B, class C, class I = int>
  using cooperative_tensor_right_input_t =
      Cooperative<B, Operand<Descriptor.transpose_right, Descriptor.k, Descriptor.n>, I>;
  template <class A, class B, class E, class I = int>
  using cooperative_tensor_destination_t = Cooperative<E, Result, I>;
  template <class A, class B, class E, class I = int>
  using cooperative_tensor_row_reduction_destination_t =
      Cooperative<E, metal::rung_detail::ReducedLayout<Result, true>, I>;
  template <class A, class B, class E, class I = int>
  using cooperative_tensor_column_reduction_destination_t =
      Cooperative<E, metal::rung_detail::ReducedLayout<Result, false>, I>;

  template <class A, class B, class C, class I = int>
  RUNG_METAL auto get_left_input_cooperative_tensor() const {
    static_assert(!is_dynamic, "operands in registers need a k in matmul2d_descriptor");
    return cooperative_tensor_left_input_t<A, B, C, I>{};
  }
  template <class A, class B, class C, class I = int>
  RUNG_METAL auto get_right_input_cooperative_tensor() const {
    static_assert(!is_dynamic, "operands in registers need a k in matmul2d_descriptor");
    return cooperative_tensor_right_input_t<A, B, C, I>{};
  }
  template <class A, class B, class E, class I = int>
  RUNG_METAL auto get_destination_cooperative_tensor() const {
    return cooperative_tensor_destination_t<A, B, E, I>{};
  }
  template <class A, class B, class E, class I = int>
  RUNG_METAL auto get_row_reduction_destination_cooperative_tensor() const {
    return cooperative_tensor_row_reduction_destination_t<A, B, E, I>{};
  }
  template <class A, class B, class E, class I = int>
  RUNG_METAL auto get_column_reduction_destination_cooperative_tensor() const {
    return cooperative_tensor_column_reduction_destination_t<A, B, E, I>{};
  }

  /// C = A B, or C += A B. Elements outside of the extents are 0, and are not written.
  template <class A, class B, class C>
  RUNG_METAL void run(const A& a, const B& b, C& c) const {
    using Element = typename C::value_type;
    using Sum = rung_detail::Sum<typename A::value_type, typename B::value_type, Element>;
    const auto left = rung_detail::operand<Descriptor.transpose_left, true>(a);
    const auto right = rung_detail::operand<Descriptor.transpose_right, false>(b);
    const int depth = is_dynamic ? left.cols() : Descriptor.k;
    constexpr bool adds = Descriptor.matmul_mode == matmul2d_descriptor::mode::multiply_accumulate;
    constexpr int part = Result::groups == 0 ? 1 : 8;
#pragma unroll
    for (int first = 0; first < Result::capacity; first += part) {
      Sum sums[part] = {};
      if constexpr (adds) {
#pragma unroll
        for (int i = 0; i < part; ++i) sums[i] = static_cast<Sum>(element(c, first + i));
      }
      multiply(left, right, first, depth, sums);
#pragma unroll
      for (int i = 0; i < part; ++i) put(c, first + i, static_cast<Element>(sums[i]));
    }
  }
  template <class A, class B, class C>
  RUNG_METAL void run(const A& a, const B& b, C&& c) const {
    auto to = c;
    run(a, b, to);
  }

 private:
  template <class C>
  static RUNG_METAL auto element(const C& c, int i) {
    if constexpr (rung_detail::is_cooperative<C>) {
      return c.elements[i];
    } else {
      return Result::is_valid(i) ? c.load(Result::col(i), Result::row(i))
                                 : typename C::value_type(0);
    }
  }
  template <class C, class Element>
  static RUNG_METAL void put(C& c, int i, Element value) {
    if constexpr (rung_detail::is_cooperative<C>) {
      c.elements[i] = value;
    } else {
      if (Result::is_valid(i)) c.store(value, Result::col(i), Result::row(i));
    }
  }

  /// Adds products to elements `first` to first + part.
  template <class Left, class Right, class Sum, int part>
  static RUNG_METAL void multiply(const Left& left, const Right& right, int first, int depth,
                                  Sum (&sums)[part]) {
    constexpr int rows = part == 1 ? 1 : 2, cols = part == 1 ? 1 : 4;
    if constexpr (is_in_registers<Left> || is_in_registers<Right>) {
      // The register that an element is in must be known to the compiler.
#pragma unroll
      for (int k = 0; k < Descriptor.k; ++k) step<rows, cols>(left, right, first, k, sums);
    } else {
#pragma nounroll
      for (int k = 0; k < depth; ++k) step<rows, cols>(left, right, first, k, sums);
    }
  }
  template <int rows, int cols, class Left, class Right, class Sum>
  static RUNG_METAL void step(const Left& left, const Right& right, int first, int k,
                              Sum (&sums)[rows * cols]) {
    Sum a[rows], b[cols];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const int i = first + r * cols;
      a[r] = is_needed<Left>(Result::row(i) < Descriptor.m)
                 ? static_cast<Sum>(left.at(Result::row(i), k))
                 : Sum(0);
    }
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      b[c] = is_needed<Right>(Result::col(first + c) < Descriptor.n)
                 ? static_cast<Sum>(right.at(k, Result::col(first + c)))
                 : Sum(0);
    }
#pragma unroll
    for (int i = 0; i < rows * cols; ++i) sums[i] += a[i / cols] * b[i % cols];
  }
  template <class Operand>
  static constexpr bool is_in_registers = false;
  template <class T, bool is_transposed, bool is_left>
  static constexpr bool is_in_registers<rung_detail::RegisterOperand<T, is_transposed, is_left>> =
      true;
  /// All lanes take part in the exchange of operands in registers.
  template <class Operand>
  static RUNG_METAL bool is_needed(bool is_inside) {
    return is_in_registers<Operand> || is_inside;
  }
};

/// Section 7.2.2; refused.
enum class convolution2d_activation_layout { nhwc };
enum class convolution2d_weights_layout { hwio };
struct convolution2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
  template <class... A>
  constexpr convolution2d_descriptor(A...) {}
};
template <convolution2d_descriptor Descriptor, class Scope, class... Args>
class convolution2d {
  static_assert(Scope::simdgroups < 0,
                "convolution2d is not supported on the virtual GPU: write it as a matmul2d");
};

namespace rung_detail {

template <class T>
RUNG_METAL T reduced(reduction_operation op, T a, T b) {
  if (op == reduction_operation::sum) return a + b;
  return op == reduction_operation::max ? (b > a ? b : a) : (b < a ? b : a);
}

/// Combines the valid elements of the rows or columns that each of the destination's elements
/// stands for: first in each lane, then over the lanes that have other parts of it.
template <class Source, class Destination, class T>
RUNG_METAL void reduce(const Source& source, Destination& destination, reduction_operation op,
                       T identity, uint lanes) {
  using From = typename Source::layout_type;
  using To = typename Destination::layout_type;
  static_assert(From::groups <= 1, "reductions need the scope execution_simdgroup");
#pragma unroll
  for (int to = 0; to < To::capacity; ++to) {
    T all = identity;
#pragma unroll
    for (int i = 0; i < From::capacity; ++i) {
      if (To::element_for(i) == to && From::is_valid(i)) {
        all = reduced(op, all, source.elements[i]);
      }
    }
    if constexpr (From::groups == 1) {
#pragma unroll
      for (uint bit = 1; bit < 32; bit *= 2) {
        if ((lanes & bit) == 0) continue;
        all = reduced(op, all, metal::simd_shuffle_xor(all, static_cast<ushort>(bit)));
      }
    }
    destination.elements[to] = all;
  }
}

}  // namespace rung_detail

template <class T, class E0, class E1, class L0, class L1>
RUNG_METAL void reduce_rows(const metal::cooperative_tensor<T, E0, L0>& source,
                            metal::cooperative_tensor<T, E1, L1>& destination,
                            reduction_operation op = reduction_operation::sum,
                            T identity = reduction_operation_identity<T>::sum_identity) {
  // Lanes l and l ^ 1 and l ^ 8 have other columns of the same rows.
  rung_detail::reduce(source, destination, op, identity, 1 | 8);
}
template <class T, class E0, class E1, class L0, class L1>
RUNG_METAL void reduce_columns(const metal::cooperative_tensor<T, E0, L0>& source,
                               metal::cooperative_tensor<T, E1, L1>& destination,
                               reduction_operation op = reduction_operation::sum,
                               T identity = reduction_operation_identity<T>::sum_identity) {
  rung_detail::reduce(source, destination, op, identity, 2 | 4 | 16);
}
/// True if map_iterator() of the destination finds the elements of the source's rows or columns.
template <class T0, class T1, class E0, class E1, class L0, class L1>
RUNG_METAL constexpr bool is_iterator_compatible(const metal::cooperative_tensor<T0, E0, L0>&,
                                                 const metal::cooperative_tensor<T1, E1, L1>&) {
  return L1::rank == 1;
}

}  // namespace tensor_ops
}  // namespace mpp
