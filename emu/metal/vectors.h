#pragma once
// Constructors of vectors, which clang's vector types lack. The front end turns float4(xy, 0, 1),
// (float4)x and static_cast<float4>(x) into make<float4>(…), and likewise for types that may be
// vectors, such as parameters of templates.

namespace metal {

template <class T, int N>
struct packed_vec;

namespace rung_detail {

/// The components that an argument of a constructor provides.
template <class T>
struct Components {
  static constexpr int count = 1;
  static RUNG_METAL constexpr T at(T value, int) { return value; }
};
template <class T, int N>
struct Components<vec<T, N>> {
  static constexpr int count = N;
  static RUNG_METAL constexpr T at(vec<T, N> value, int i) { return value[i]; }
};
template <class T, int N>
struct Components<packed_vec<T, N>> {
  static constexpr int count = N;
  static RUNG_METAL T at(packed_vec<T, N> value, int i) { return value[i]; }
};

/// Conversion of a scalar. clang has none between half and bfloat.
template <class To, class From>
RUNG_METAL constexpr To convert(From value) {
  if constexpr (is_float<To> && is_float<From> && !is_same_v<To, From>) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

/// A comparison of vectors as a vector of bool: clang's result has integers with all bits set.
template <class T>
RUNG_METAL constexpr T truth(T value) {
  return value;
}
template <class T, int N>
RUNG_METAL vec<uchar, N> truth(vec<T, N> value) {
  vec<uchar, N> result;
  for (int i = 0; i < N; ++i) result[i] = value[i] != T(0);
  return result;
}

template <class T>
RUNG_METAL constexpr auto truth_of(T value) {
  if constexpr (is_vector<T>) {
    return truth(value);
  } else {
    return static_cast<uchar>(static_cast<bool>(value));
  }
}

template <class V>
RUNG_METAL void fill(V&, int) {}
template <class V, class First, class... Rest>
RUNG_METAL void fill(V& vector, int from, First first, Rest... rest) {
  for (int i = 0; i < Components<First>::count && from + i < count<V>; ++i) {
    vector[from + i] = convert<element_t<V>>(Components<First>::at(first, i));
  }
  fill(vector, from + Components<First>::count, rest...);
}

template <class V, class Only>
RUNG_METAL constexpr V make_from_one(Only only) {
  if constexpr (is_same_v<V, Only>) {
    return only;
  } else if constexpr (Components<Only>::count == 1 && __is_class(Only)) {
    return only;  // by its conversion operator
  } else if constexpr (Components<Only>::count == 1) {
    return (V)convert<element_t<V>>(only);
  } else {
    V vector{};
    fill(vector, 0, only);
    return vector;
  }
}

template <class V, class... A>
RUNG_METAL constexpr V make(A... arguments) {
  if constexpr (!is_vector<V>) {
    if constexpr (sizeof...(A) == 1 && is_float<V> && (is_float<A> && ...)) {
      return (convert<V>(arguments), ...);
    } else if constexpr (sizeof...(A) == 1) {
      return (V)(arguments, ...);
    } else {
      return V(arguments...);
    }
  } else if constexpr (sizeof...(A) == 0) {
    return V{};
  } else if constexpr (sizeof...(A) == 1) {
    return make_from_one<V>(arguments...);
  } else if constexpr (sizeof...(A) == count<V> && ((Components<A>::count == 1) && ...)) {
    return V{convert<element_t<V>>(arguments)...};
  } else {
    V vector{};
    fill(vector, 0, arguments...);
    return vector;
  }
}

/// A vector of bool.
template <class V, class... A>
RUNG_METAL constexpr V make_bool(A... arguments) {
  return make<V>(truth_of(arguments)...);
}

/// A parameter of a vector of bool, which may be a comparison.
template <class V>
struct Truths {
  V value;
  template <class T>
  RUNG_METAL constexpr Truths(T v) : value(make_bool<V>(v)) {}
  RUNG_METAL constexpr operator V() const { return value; }
};
/// The value for a variable of type V: if that is a vector of bool, a comparison as such.
template <class V, class T>
RUNG_METAL constexpr auto truth_for(T value) {
  if constexpr (is_vector<V> && is_vector<T> && !is_same_v<V, T>) {
    return truth(value);
  } else {
    return value;
  }
}

/// f of each component; arguments are scalars or have as many components as R.
template <class R, class F, class... A>
RUNG_METAL constexpr R map(F f, A... arguments) {
  if constexpr (is_vector<R>) {
    R result{};
    for (int i = 0; i < count<R>; ++i) {
      result[i] = static_cast<element_t<R>>(f(Components<A>::at(arguments, i)...));
    }
    return result;
  } else {
    return static_cast<R>(f(arguments...));
  }
}

/// The type of the same number of components with elements of type T.
template <class V, class T>
struct WithElement {
  using type = T;
};
template <class E, int N, class T>
struct WithElement<vec<E, N>, T> {
  using type = vec<T, N>;
};
template <class V, class T>
using with_element_t = typename WithElement<V, T>::type;

/// bool, or the vector of bool with as many components.
template <class V>
struct Truth {
  using type = bool;
};
template <class T, int N>
struct Truth<vec<T, N>> {
  using type = vec<uchar, N>;
};
template <class V>
using truth_t = typename Truth<V>::type;

/// Packed vectors as vectors.
template <class T>
struct Unpacked {
  using type = T;
};
template <class T, int N>
struct Unpacked<packed_vec<T, N>> {
  using type = vec<T, N>;
};
template <class T>
using unpacked_t = typename Unpacked<T>::type;

template <class T>
constexpr bool is_number =
    __is_arithmetic(element_t<unpacked_t<T>>) || is_float<element_t<unpacked_t<T>>>;

/// The arithmetic type of an operation on two element types: a floating type wins, the wider of two.
template <class A, class B>
struct CommonElement {
  using type = conditional_t<
      is_same_v<A, B>, A,
      conditional_t<is_float<A> && !is_float<B>, A,
                    conditional_t<is_float<B> && !is_float<A>, B, decltype(A() + B())>>>;
};
template <class A, class B>
using common_element_t = typename CommonElement<A, B>::type;

/// The type of an operation on two numbers; one of them may be a scalar.
template <class A, class B, class = void>
struct CommonNumber {};
template <class A, class B>
struct CommonNumber<A, B,
                    enable_if_t<is_number<A> && is_number<B> &&
                                (count<unpacked_t<A>> == count<unpacked_t<B>> ||
                                 !is_vector<unpacked_t<A>> || !is_vector<unpacked_t<B>>)>> {
  // A scalar takes the type of a vector's elements.
  static constexpr bool is_mixed = is_vector<unpacked_t<A>> != is_vector<unpacked_t<B>>;
  using element = conditional_t<
      is_mixed, element_t<conditional_t<is_vector<unpacked_t<A>>, unpacked_t<A>, unpacked_t<B>>>,
      common_element_t<element_t<unpacked_t<A>>, element_t<unpacked_t<B>>>>;
  using type = with_element_t<conditional_t<is_vector<unpacked_t<A>>, unpacked_t<A>, unpacked_t<B>>,
                              conditional_t<is_same_v<element, double>, float, element>>;
};
template <class A, class B>
using common_number_t = typename CommonNumber<A, B>::type;

/// The type of a mathematical function of a number: float for integers.
template <class T, class = void>
struct Floating {};
template <class T>
struct Floating<T, enable_if_t<is_number<T>>> {
  using element = element_t<unpacked_t<T>>;
  using type = with_element_t<unpacked_t<T>, conditional_t<is_float<element>, element, float>>;
};
template <class T>
using floating_t = typename Floating<T>::type;

}  // namespace rung_detail
}  // namespace metal
