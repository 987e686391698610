#pragma once
// Views of matrices and vectors whose element type is known at run time only.

#include <cstdint>
#include <type_traits>

#include "rung/epilogue_kinds.hpp"
#include "rung/matrix.hpp"

namespace rung {

struct bfloat16;
struct float16;
struct tfloat32;
struct float8_e4m3;
struct float8_e5m2;

namespace detail {

template <class T>
constexpr ElementType element_type_of() {
  if constexpr (std::is_same_v<T, float>) {
    return ElementType::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return ElementType::f64;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return ElementType::i32;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return ElementType::bf16;
  } else if constexpr (std::is_same_v<T, float16>) {
    return ElementType::f16;
  } else if constexpr (std::is_same_v<T, tfloat32>) {
    return ElementType::tf32;
  } else if constexpr (std::is_same_v<T, std::int8_t>) {
    return ElementType::i8;
  } else if constexpr (std::is_same_v<T, float8_e4m3>) {
    return ElementType::e4m3;
  } else {
    static_assert(std::is_same_v<T, float8_e5m2>, "Rung has no such element type");
    return ElementType::e5m2;
  }
}

}  // namespace detail

/// A matrix whose element type is known at run time. Any MatrixView converts to it. A null `data`
/// means that the epilogue omits this operand.
template <class Pointer>
struct AnyMatrixView {
  Pointer data = nullptr;
  ElementType type = ElementType::f32;
  std::int64_t rows = 0, cols = 0, ld = 0;  // as in MatrixView
  Order order = Order::row_major;

  AnyMatrixView() = default;
  AnyMatrixView(Pointer elements, ElementType element_type, std::int64_t row_count,
                std::int64_t col_count, std::int64_t leading, Order stored = Order::row_major)
      : data(elements),
        type(element_type),
        rows(row_count),
        cols(col_count),
        ld(leading),
        order(stored) {}
  template <class T>
  AnyMatrixView(const MatrixView<T>& view)
      : AnyMatrixView(view.data, detail::element_type_of<std::remove_const_t<T>>(), view.rows,
                      view.cols, view.ld, view.order) {}
};
using InputMatrix = AnyMatrixView<const void*>;
using OutputMatrix = AnyMatrixView<void*>;

/// A vector of `count` contiguous elements. A null `data` means that the epilogue omits this
/// operand.
struct InputVector {
  const void* data = nullptr;
  ElementType type = ElementType::f32;
  std::int64_t count = 0;

  InputVector() = default;
  InputVector(const void* elements, ElementType element_type, std::int64_t element_count)
      : data(elements), type(element_type), count(element_count) {}
  template <class T>
    requires(!std::is_void_v<T>)
  InputVector(const T* elements, std::int64_t element_count)
      : InputVector(elements, detail::element_type_of<T>(), element_count) {}
};

}  // namespace rung
