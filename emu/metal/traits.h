#pragma once
// Type traits, and the other parts of <metal_type_traits>, <metal_utility>, <metal_array>.

namespace metal {

template <class T, T v>
struct integral_constant {
  static constexpr T value = v;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return v; }
  constexpr T operator()() const { return v; }
};
template <bool holds>
using bool_constant = integral_constant<bool, holds>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <bool holds, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  using type = T;
};
template <bool holds, class T = void>
using enable_if_t = typename enable_if<holds, T>::type;

template <bool holds, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool holds, class A, class B>
using conditional_t = typename conditional<holds, A, B>::type;

template <class A, class B>
struct is_same : false_type {};
template <class A>
struct is_same<A, A> : true_type {};
template <class A, class B>
constexpr bool is_same_v = is_same<A, B>::value;

template <class T>
struct remove_reference {
  using type = T;
};
template <class T>
struct remove_reference<T&> {
  using type = T;
};
template <class T>
struct remove_reference<T&&> {
  using type = T;
};
template <class T>
using remove_reference_t = typename remove_reference<T>::type;

namespace rung_detail {
template <class T>
struct WithoutSpace {
  using type = T;
};
template <class T>
struct WithoutSpace<device T> {
  using type = T;
};
template <class T>
struct WithoutSpace<threadgroup T> {
  using type = T;
};
template <class T>
struct WithoutSpace<__attribute__((opencl_global_host)) T> {
  using type = T;
};
/// The type without qualifiers and address space.
template <class T>
using plain_t = typename WithoutSpace<__remove_cv(remove_reference_t<T>)>::type;
}  // namespace rung_detail

template <class T>
using remove_cv_t = rung_detail::plain_t<T>;
template <class T>
using remove_addrspace_t = typename rung_detail::WithoutSpace<T>::type;
template <class T>
using remove_cvref_t = rung_detail::plain_t<T>;
template <class T>
using decay_t = rung_detail::plain_t<T>;
template <class T>
using remove_const_t = __remove_const(T);
template <class T>
using remove_volatile_t = __remove_volatile(T);
template <class T>
using remove_pointer_t = __remove_pointer(T);
template <class T>
using remove_extent_t = __remove_extent(T);
template <class T>
using add_const_t = const T;
template <class T>
using make_unsigned_t = __make_unsigned(T);
template <class T>
using make_signed_t = __make_signed(T);
template <class T>
using underlying_type_t = __underlying_type(T);

#define RUNG_METAL_TRANSFORMATION(name) \
  template <class T>                    \
  struct name {                         \
    using type = name##_t<T>;           \
  };
RUNG_METAL_TRANSFORMATION(remove_cv)
RUNG_METAL_TRANSFORMATION(remove_cvref)
RUNG_METAL_TRANSFORMATION(decay)
RUNG_METAL_TRANSFORMATION(remove_const)
RUNG_METAL_TRANSFORMATION(remove_volatile)
RUNG_METAL_TRANSFORMATION(remove_pointer)
RUNG_METAL_TRANSFORMATION(remove_extent)
RUNG_METAL_TRANSFORMATION(add_const)
RUNG_METAL_TRANSFORMATION(make_unsigned)
RUNG_METAL_TRANSFORMATION(make_signed)
RUNG_METAL_TRANSFORMATION(underlying_type)
#undef RUNG_METAL_TRANSFORMATION

template <class T>
T&& declval();

namespace rung_detail {
template <class T>
using same_t = T;
/// The bytes of a value.
template <class T>
struct alignas(alignof(T)) Bytes {
  char bytes[sizeof(T)];
};

/// The elements of a vector; of a scalar, itself.
template <class T>
struct Element {
  using type = T;
  static constexpr int count = 1;
  static constexpr bool is_vector = false;
};
template <class T, int N>
struct Element<vec<T, N>> {
  using type = T;
  static constexpr int count = N;
  static constexpr bool is_vector = true;
};
template <class T>
using element_t = typename Element<T>::type;
template <class T>
constexpr int count = Element<T>::count;
template <class T>
constexpr bool is_vector = Element<T>::is_vector;

template <class T>
constexpr bool is_float = is_same_v<T, float> || is_same_v<T, half> || is_same_v<T, bfloat>;
}  // namespace rung_detail

/// The number of components.
template <class T>
struct vec_elements : integral_constant<size_t, static_cast<size_t>(rung_detail::count<T>)> {};

#define RUNG_METAL_TRAIT(name, ...)              \
  template <class T>                             \
  struct name : bool_constant<(__VA_ARGS__)> {}; \
  template <class T>                             \
  constexpr bool name##_v = name<T>::value;
RUNG_METAL_TRAIT(is_floating_point, rung_detail::is_float<rung_detail::element_t<remove_cv_t<T>>>)
RUNG_METAL_TRAIT(is_integral, __is_integral(rung_detail::element_t<remove_cv_t<T>>))
RUNG_METAL_TRAIT(is_arithmetic, __is_arithmetic(rung_detail::element_t<remove_cv_t<T>>) ||
                                    rung_detail::is_float<rung_detail::element_t<remove_cv_t<T>>>)
RUNG_METAL_TRAIT(is_scalar, !rung_detail::is_vector<remove_cv_t<T>> &&
                                (__is_scalar(T) || rung_detail::is_float<remove_cv_t<T>>))
RUNG_METAL_TRAIT(is_vector, rung_detail::is_vector<remove_cv_t<T>>)
RUNG_METAL_TRAIT(is_signed, __is_signed(rung_detail::element_t<remove_cv_t<T>>) ||
                                rung_detail::is_float<rung_detail::element_t<remove_cv_t<T>>>)
RUNG_METAL_TRAIT(is_unsigned, __is_unsigned(rung_detail::element_t<remove_cv_t<T>>))
RUNG_METAL_TRAIT(is_pointer, __is_pointer(T))
RUNG_METAL_TRAIT(is_reference, __is_reference(T))
RUNG_METAL_TRAIT(is_array, __is_array(T))
RUNG_METAL_TRAIT(is_void, __is_void(T))
RUNG_METAL_TRAIT(is_enum, __is_enum(T))
RUNG_METAL_TRAIT(is_class, __is_class(T))
RUNG_METAL_TRAIT(is_union, __is_union(T))
RUNG_METAL_TRAIT(is_const, __is_const(T))
RUNG_METAL_TRAIT(is_fundamental, __is_fundamental(T) || rung_detail::is_float<T>)
RUNG_METAL_TRAIT(is_function, __is_function(T))
RUNG_METAL_TRAIT(is_standard_layout, __is_standard_layout(T))
RUNG_METAL_TRAIT(is_trivial, __is_trivial(T))
RUNG_METAL_TRAIT(is_trivially_copyable, __is_trivially_copyable(T))
RUNG_METAL_TRAIT(is_default_constructible, __is_constructible(T))
#undef RUNG_METAL_TRAIT

template <class A, class B>
struct is_convertible : bool_constant<__is_convertible(A, B)> {};
template <class A, class B>
constexpr bool is_convertible_v = __is_convertible(A, B);
template <class A, class B>
struct is_base_of : bool_constant<__is_base_of(A, B)> {};
template <class A, class B>
constexpr bool is_base_of_v = __is_base_of(A, B);
template <class A, class B>
constexpr bool is_assignable_v = __is_assignable(A, B);
template <class T, class... A>
struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <class T, class... A>
constexpr bool is_constructible_v = __is_constructible(T, A...);

template <class... T>
struct conjunction : bool_constant<(T::value && ...)> {};
template <class... T>
struct disjunction : bool_constant<(T::value || ...)> {};
template <class T>
struct negation : bool_constant<!T::value> {};
template <class... T>
constexpr bool conjunction_v = conjunction<T...>::value;
template <class... T>
constexpr bool disjunction_v = disjunction<T...>::value;
// Apple's internal names, which programs use after `#pragma METAL internals : enable`.
template <class... T>
using _conjunction = conjunction<T...>;
template <class... T>
using _disjunction = disjunction<T...>;
template <class T>
constexpr bool negation_v = !T::value;

template <class T, class U>
struct common_type {
  using type = decltype(true ? declval<T>() : declval<U>());
};
template <class T, class U>
using common_type_t = rung_detail::plain_t<typename common_type<T, U>::type>;

template <class F, class... A>
using invoke_result_t = decltype(declval<F>()(declval<A>()...));

template <class T, T... I>
struct integer_sequence {
  static constexpr size_t size() { return sizeof...(I); }
};
template <size_t... I>
using index_sequence = integer_sequence<size_t, I...>;
template <class T, T N>
using make_integer_sequence = __make_integer_seq<integer_sequence, T, N>;
template <size_t N>
using make_index_sequence = __make_integer_seq<integer_sequence, size_t, N>;

template <class T>
RUNG_METAL constexpr remove_reference_t<T>&& move(T&& value) {
  return static_cast<remove_reference_t<T>&&>(value);
}
/// Values that are the same in all threads; nothing depends on it here.
template <class T>
using uniform = T;
template <class T>
RUNG_METAL constexpr T make_uniform(T value) {
  return value;
}

namespace rung_detail {

/// The type of an operand of ?: that may be in any address space: a value of its own, or a pointer.
template <class T>
struct Operand {
  using type = plain_t<T>;
};
template <class T>
struct Operand<T[]> {
  using type = T*;
};
template <class T, size_t N>
struct Operand<T[N]> {
  using type = T*;
};
template <class T>
using operand_t = typename Operand<remove_reference_t<T>>::type;

}  // namespace rung_detail

/// Reinterprets the bits as another type of the same size.
template <class To, class From>
RUNG_METAL constexpr To as_type(From value) {
  return __builtin_bit_cast(To, value);
}

template <class T, size_t N>
struct array {
  T elements[N];

  constexpr T& operator[](size_t i) { return elements[i]; }
  constexpr const T& operator[](size_t i) const { return elements[i]; }
  constexpr T& at(size_t i) { return elements[i]; }
  static constexpr size_t size() { return N; }
  static constexpr bool empty() { return N == 0; }
  constexpr T* data() { return elements; }
  constexpr const T* data() const { return elements; }
  constexpr T* begin() { return elements; }
  constexpr const T* begin() const { return elements; }
  constexpr T* end() { return elements + N; }
  constexpr const T* end() const { return elements + N; }
  constexpr T& front() { return elements[0]; }
  constexpr T& back() { return elements[N - 1]; }
  void fill(T value) {
    for (size_t i = 0; i < N; ++i) elements[i] = value;
  }
};

}  // namespace metal

using metal::as_type;
