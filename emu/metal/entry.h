#pragma once
// The parameters of a kernel's PTX entry, which the front end writes (emu/compile/metal/entry.cpp).

namespace metal {
namespace rung_detail {

template <class F>
struct Parameters;
template <class R, class... A>
struct Parameters<R(A...)> {
  template <int i>
  using at = __type_pack_element<i, A...>;
};
template <class R, class... A>
struct Parameters<R (*)(A...)> : Parameters<R(A...)> {};
/// The type of a kernel's i-th parameter.
template <class F, int i>
using parameter = typename Parameters<F>::template at<i>;

template <class T>
RUNG_METAL constant T& in_constant_memory(const Bytes<T>& value) {
  return *(constant T*)(&value);
}

/// A parameter passed by value: textures and samplers.
template <class T>
struct Argument {
  using type = Bytes<T>;
  static RUNG_METAL T get(const type& value) { return __builtin_bit_cast(T, value); }
};
template <class T>
struct Argument<T*> {
  using type = T*;
  static RUNG_METAL T* get(type value) { return value; }
};
template <class T>
struct Argument<device T&> {
  using type = device T*;
  static RUNG_METAL device T& get(type value) { return *value; }
};
/// As emu::metal::most_value_bytes.
constexpr size_t most_value_bytes = 2048;
template <class T, bool is_value>
struct ConstantArgument {
  using type = Bytes<__remove_cv(T)>;
  static RUNG_METAL constant T& get(const type& value) { return in_constant_memory(value); }
};
template <class T>
struct ConstantArgument<T, false> {
  using type = constant T*;
  static RUNG_METAL constant T& get(type value) { return *value; }
};
template <class T>
struct Argument<__attribute__((opencl_global_host)) T&>
    : ConstantArgument<T, (sizeof(T) <= most_value_bytes)> {};

}  // namespace rung_detail
}  // namespace metal
