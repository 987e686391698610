#pragma once
// <metal_texture> for compute kernels. A texture is the address of emu::metal::TextureDescriptor
// (emu/compile/metal/metal.hpp): texels of four float, int or uint, without mipmaps.

namespace metal {

enum class access { sample, read, write, read_write };
enum class component { x, y, z, w };
enum class coord { normalized, pixel };
enum class address {
  clamp_to_edge,
  clamp_to_zero,
  clamp_to_border,
  repeat,
  mirrored_repeat,
};
enum class s_address { clamp_to_edge, clamp_to_zero, clamp_to_border, repeat, mirrored_repeat };
enum class t_address { clamp_to_edge, clamp_to_zero, clamp_to_border, repeat, mirrored_repeat };
enum class r_address { clamp_to_edge, clamp_to_zero, clamp_to_border, repeat, mirrored_repeat };
enum class filter { nearest, linear, bicubic };
enum class mag_filter { nearest, linear, bicubic };
enum class min_filter { nearest, linear, bicubic };
enum class mip_filter { none, nearest, linear };
enum class compare_func {
  never,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  always,
  none
};
enum class border_color { transparent_black, opaque_black, opaque_white };
enum class memory_coherence { threadgroup_, device_ };
enum class reduction { weighted_average, minimum, maximum };
template <int>
struct max_anisotropy {};
/// There are no mipmaps, so that levels of detail change nothing.
struct lod_clamp {
  RUNG_METAL constexpr lod_clamp(float, float) {}
};

/// Its state: bit 0 linear filtering, bit 1 coordinates in pixels, bits 4 to 6 the addressing, bits 8
/// to 11 the comparison.
struct sampler {
  uint state = 0;

  constexpr sampler() = default;
  template <class... A, class = enable_if_t<(sizeof...(A) > 0)>>
  RUNG_METAL constexpr sampler(A... properties) {
    (set(properties), ...);
  }

 private:
  template <class A>
  RUNG_METAL constexpr void set(A property) {
    if constexpr (is_same_v<A, filter> || is_same_v<A, mag_filter>) {
      if (static_cast<int>(property) != 0) state |= 1;
    } else if constexpr (is_same_v<A, coord>) {
      if (property == coord::pixel) state |= 2;
    } else if constexpr (is_same_v<A, address> || is_same_v<A, s_address>) {
      state = (state & ~0x70u) | static_cast<uint>(property) << 4;
    } else if constexpr (is_same_v<A, compare_func>) {
      state = (state & ~0xF00u) | static_cast<uint>(property) << 8;
    }
  }
};

struct level {
  float value;
  RUNG_METAL constexpr explicit level(float v) : value(v) {}
};
struct bias {
  float value;
  RUNG_METAL constexpr explicit bias(float v) : value(v) {}
};
struct min_lod_clamp {
  RUNG_METAL constexpr explicit min_lod_clamp(float) {}
};
struct gradient2d {
  RUNG_METAL gradient2d(float2, float2) {}
};
struct gradient3d {
  RUNG_METAL gradient3d(float3, float3) {}
};
struct gradientcube {
  RUNG_METAL gradientcube(float3, float3) {}
};

/// A texel of a sparse texture, all of whose tiles are in memory.
template <class T>
struct sparse_color {
  RUNG_METAL constexpr bool resident() const { return true; }
  RUNG_METAL constexpr T value() const { return texel; }
  T texel;
};

namespace rung_detail {

struct TextureDescriptor {
  uint width, height, depth, array_length;
  ulong texels;
};

template <class T>
using stored_t = conditional_t<is_float<T>, float, conditional_t<__is_signed(T), int, uint>>;

template <class C>
RUNG_METAL auto coordinate(C c, int i) {
  return i < count<C> ? Components<C>::at(c, i) : element_t<C>(0);
}

/// A texture of D dimensions, whose last coordinate may be an index of the array.
template <class T, access A, int D, bool is_array>
struct Texture {
  device TextureDescriptor* descriptor;

  using Texel = vec<T, 4>;
  using Stored = vec<stored_t<T>, 4>;

  RUNG_METAL uint get_width(uint = 0) const { return descriptor->width; }
  RUNG_METAL uint get_height(uint = 0) const { return descriptor->height; }
  RUNG_METAL uint get_depth(uint = 0) const { return descriptor->depth; }
  RUNG_METAL uint get_array_size() const { return descriptor->array_length; }
  RUNG_METAL uint get_num_mip_levels() const { return 1; }
  RUNG_METAL uint get_num_samples() const { return 1; }
  RUNG_METAL void fence() const { asm volatile("fence.acq_rel.cta;" ::: "memory"); }

  template <class C>
  RUNG_METAL Texel read(C at) const {
    return load(coordinate(at, 0), coordinate(at, 1), coordinate(at, 2));
  }
  /// The other arguments: the element of an array, the level.
  template <class C, class I, class... R>
  RUNG_METAL Texel read(C at, I index, R...) const {
    return load(coordinate(at, 0), coordinate(at, 1),
                is_array ? static_cast<uint>(index) : static_cast<uint>(coordinate(at, 2)));
  }
  template <class V, class C>
  RUNG_METAL void write(V value, C at) const {
    store(make<Texel>(value), coordinate(at, 0), coordinate(at, 1), coordinate(at, 2));
  }
  template <class V, class C, class I, class... R>
  RUNG_METAL void write(V value, C at, I index, R...) const {
    store(make<Texel>(value), coordinate(at, 0), coordinate(at, 1),
          is_array ? static_cast<uint>(index) : static_cast<uint>(coordinate(at, 2)));
  }

  template <class C, class... R>
  RUNG_METAL Texel sample(sampler s, C at, R... rest) const {
    return filtered(s, at, element_of(rest...), [](Texel texel) { return texel; });
  }

  /// The texels around a point, weighted, after a function of each.
  template <class C, class F>
  RUNG_METAL Texel filtered(sampler s, C at, uint slice, F function) const {
    const bool is_linear = (s.state & 1) != 0;
    float at_pixel[3];
    const uint extents[3] = {descriptor->width, descriptor->height, descriptor->depth};
    for (int i = 0; i < 3; ++i) {
      const float c = static_cast<float>(coordinate(at, i));
      at_pixel[i] = (s.state & 2) != 0 ? c : c * static_cast<float>(extents[i]);
      if (is_linear) at_pixel[i] -= 0.5f;
      if (i >= D) at_pixel[i] = 0;
    }
    if (!is_linear) return function(fetch(s, at_pixel, 0, slice));
    Stored sum = 0;
    for (int corner = 0; corner < 1 << D; ++corner) {
      float weight = 1;
      for (int i = 0; i < D; ++i) {
        const float fraction = at_pixel[i] - __builtin_floorf(at_pixel[i]);
        weight *= (corner >> i & 1) != 0 ? fraction : 1 - fraction;
      }
      sum += make<Stored>(make<float4>(function(fetch(s, at_pixel, corner, slice))) * weight);
    }
    return make<Texel>(sum);
  }

  template <class... R>
  RUNG_METAL sparse_color<Texel> sparse_sample(R... rest) const {
    return {sample(rest...)};
  }
  template <class... R>
  RUNG_METAL sparse_color<Texel> sparse_read(R... rest) const {
    return {read(rest...)};
  }
  template <class C>
  RUNG_METAL float calculate_clamped_lod(sampler, C) const {
    return 0;
  }
  template <class C>
  RUNG_METAL float calculate_unclamped_lod(sampler, C) const {
    return 0;
  }

  /// One component of the four texels around, counterclockwise from the lower left. The arguments
  /// after the point: the element of an array, an offset in texels, the component.
  template <class C, class... R>
  RUNG_METAL Texel gather(sampler s, C at, R... rest) const {
    const bool is_pixel = (s.state & 2) != 0;
    const float x = static_cast<float>(coordinate(at, 0)) *
                    (is_pixel ? 1.0f : static_cast<float>(descriptor->width));
    const float y = static_cast<float>(coordinate(at, 1)) *
                    (is_pixel ? 1.0f : static_cast<float>(descriptor->height));
    int2 offset = 0;
    int i = 0;
    (set_gathered(rest, offset, i), ...);
    const float pixel[3] = {x - 0.5f + static_cast<float>(offset.x),
                            y - 0.5f + static_cast<float>(offset.y), 0};
    const uint slice = element_of(rest...);
    return Texel{fetch(s, pixel, 2, slice)[i], fetch(s, pixel, 3, slice)[i],
                 fetch(s, pixel, 1, slice)[i], fetch(s, pixel, 0, slice)[i]};
  }

  // Atomic operations on the first component; in an array, its element follows the point.
  template <class C, class... R>
  RUNG_METAL Texel atomic_load(C at, R... rest) const {
    return make<Texel>(__atomic_load_n(atomic_texel(at, rest...), __ATOMIC_RELAXED));
  }
  template <class V, class C, class... R>
  RUNG_METAL void atomic_store(V value, C at, R... rest) const {
    __atomic_store_n(atomic_texel(at, rest...), first_of(value), __ATOMIC_RELAXED);
  }
#define RUNG_METAL_TEXTURE_ATOMIC(name, operation)                                               \
  template <class C, class V>                                                                    \
  RUNG_METAL Texel atomic_##name(C at, V value) const {                                          \
    return make<Texel>(operation(atomic_texel(at), first_of(value), __ATOMIC_RELAXED));          \
  }                                                                                              \
  template <class C, class V>                                                                    \
  RUNG_METAL Texel atomic_##name(C at, uint element, V value) const {                            \
    return make<Texel>(operation(atomic_texel(at, element), first_of(value), __ATOMIC_RELAXED)); \
  }
  RUNG_METAL_TEXTURE_ATOMIC(exchange, __atomic_exchange_n)
  RUNG_METAL_TEXTURE_ATOMIC(fetch_add, __atomic_fetch_add)
  RUNG_METAL_TEXTURE_ATOMIC(fetch_sub, __atomic_fetch_sub)
  RUNG_METAL_TEXTURE_ATOMIC(fetch_min, __atomic_fetch_min)
  RUNG_METAL_TEXTURE_ATOMIC(fetch_max, __atomic_fetch_max)
  RUNG_METAL_TEXTURE_ATOMIC(fetch_and, __atomic_fetch_and)
  RUNG_METAL_TEXTURE_ATOMIC(fetch_or, __atomic_fetch_or)
  RUNG_METAL_TEXTURE_ATOMIC(fetch_xor, __atomic_fetch_xor)
#undef RUNG_METAL_TEXTURE_ATOMIC

 private:
  template <class V>
  static RUNG_METAL stored_t<T> first_of(V value) {
    return static_cast<stored_t<T>>(make<Texel>(value)[0]);
  }
  template <class C, class... R>
  RUNG_METAL device stored_t<T>* atomic_texel(C at, R... rest) const {
    const ulong last = is_array ? element_of(rest...) : static_cast<uint>(coordinate(at, 2));
    const ulong second = D == 1 ? last : static_cast<uint>(coordinate(at, 1));
    return (device stored_t<T>*)place(static_cast<uint>(coordinate(at, 0)), second,
                                      D == 1 ? 0 : last);
  }
  template <class R>
  static RUNG_METAL void set_gathered(R property, int2& offset, int& i) {
    if constexpr (is_same_v<R, component>) i = static_cast<int>(property);
    if constexpr (is_same_v<R, int2>) offset = property;
  }
  static RUNG_METAL uint element_of() { return 0; }
  template <class I, class... R>
  static RUNG_METAL uint element_of(I index, R...) {
    if constexpr (is_array && __is_integral(I)) {
      return static_cast<uint>(index);
    } else {
      return 0;
    }
  }

  RUNG_METAL device Stored* place(ulong x, ulong y, ulong z) const {
    const ulong row = D == 1 && is_array ? y : z * descriptor->height + y;
    return (device Stored*)descriptor->texels + row * descriptor->width + x;
  }
  RUNG_METAL bool is_inside(ulong x, ulong y, ulong z) const {
    const ulong slices = is_array && D > 1 ? descriptor->array_length : descriptor->depth;
    const ulong rows = is_array && D == 1 ? descriptor->array_length : descriptor->height;
    return x < descriptor->width && y < rows && z < slices;
  }
  /// Reads outside of a texture yield 0, and writes are dropped.
  RUNG_METAL Texel load(ulong x, ulong y, ulong z) const {
    if (!is_inside(x, y, z)) return Texel(T(0));
    return make<Texel>(*place(x, y, z));
  }
  RUNG_METAL void store(Texel value, ulong x, ulong y, ulong z) const {
    if (is_inside(x, y, z)) *place(x, y, z) = make<Stored>(value);
  }

  /// The texel at a corner of the cell that contains the point.
  RUNG_METAL Texel fetch(sampler s, const float (&at)[3], int corner, uint slice) const {
    const uint extents[3] = {descriptor->width, descriptor->height, descriptor->depth};
    uint texel[3] = {0, 0, slice};
    for (int i = 0; i < D; ++i) {
      const int n = static_cast<int>(extents[i]);
      int c = static_cast<int>(__builtin_floorf(at[i])) + (corner >> i & 1);
      const uint mode = s.state >> 4 & 7;
      if (mode == static_cast<uint>(address::repeat)) {
        c = (c % n + n) % n;
      } else if (mode == static_cast<uint>(address::mirrored_repeat)) {
        c = (c % (2 * n) + 2 * n) % (2 * n);
        c = c < n ? c : 2 * n - 1 - c;
      } else if (mode != static_cast<uint>(address::clamp_to_edge) && (c < 0 || c >= n)) {
        return Texel(T(0));
      } else {
        c = c < 0 ? 0 : c >= n ? n - 1 : c;
      }
      texel[i] = static_cast<uint>(c);
    }
    return load(texel[0], texel[1], texel[2]);
  }
};

template <class T, access A, int D, bool is_array>
struct DepthTexture : Texture<T, A, D, is_array> {
  using Base = Texture<T, A, D, is_array>;
  template <class... R>
  RUNG_METAL T read(R... rest) const {
    return Base::read(rest...)[0];
  }
  template <class... R>
  RUNG_METAL T sample(R... rest) const {
    return Base::sample(rest...)[0];
  }
  /// The share of texels to which the reference compares as the sampler says.
  template <class C, class... R>
  RUNG_METAL T sample_compare(sampler s, C at, float reference, R...) const {
    return compared(s, at, 0, reference);
  }
  template <class C, class... R>
  RUNG_METAL T sample_compare(sampler s, C at, uint slice, float reference, R...) const {
    return compared(s, at, slice, reference);
  }

 private:
  template <class C>
  RUNG_METAL T compared(sampler s, C at, uint slice, float reference) const {
    const auto order = static_cast<compare_func>(s.state >> 8 & 15);
    return Base::filtered(s, at, slice, [=](vec<T, 4> texel) {
      const float depth = static_cast<float>(texel[0]);
      const bool holds = order == compare_func::always ||
                         (order == compare_func::less && reference < depth) ||
                         (order == compare_func::less_equal && reference <= depth) ||
                         (order == compare_func::greater && reference > depth) ||
                         (order == compare_func::greater_equal && reference >= depth) ||
                         (order == compare_func::equal && reference == depth) ||
                         (order == compare_func::not_equal && reference != depth);
      return vec<T, 4>(T(holds ? 1 : 0));
    })[0];
  }
};

/// A cube: the faces +x, -x, +y, -y, +z and -z are the elements of an array.
template <class T, access A, bool is_array>
struct CubeTexture : Texture<T, A, 2, true> {
  using Base = Texture<T, A, 2, true>;
  RUNG_METAL uint get_array_size() const { return Base::get_array_size() / 6; }
  template <class... R>
  RUNG_METAL vec<T, 4> sample(sampler s, float3 direction, R... rest) const {
    const float3 at = face_point(direction);
    return Base::sample(s, float2{at[0], at[1]}, face_of(at, rest...));
  }
  template <class... R>
  RUNG_METAL vec<T, 4> gather(sampler s, float3 direction, R... rest) const {
    const float3 at = face_point(direction);
    return Base::gather(s, float2{at[0], at[1]}, face_of(at, rest...), rest...);
  }
  /// The other arguments: the face, the element of an array, the level.
  template <class C, class... R>
  RUNG_METAL vec<T, 4> read(C at, uint face, R... rest) const {
    return Base::read(at, face + 6 * element(rest...));
  }
  template <class V, class C, class... R>
  RUNG_METAL void write(V value, C at, uint face, R... rest) const {
    Base::write(value, at, face + 6 * element(rest...));
  }

 private:
  static RUNG_METAL uint element() { return 0; }
  template <class I, class... R>
  static RUNG_METAL uint element(I index, R...) {
    if constexpr (is_array && __is_integral(I)) return static_cast<uint>(index);
    return 0;
  }
  template <class... R>
  static RUNG_METAL uint face_of(float3 at, R... rest) {
    return static_cast<uint>(at[2]) + 6 * element(rest...);
  }
  /// The coordinates on the face that a direction points to, and that face.
  static RUNG_METAL float3 face_point(float3 d) {
    const float x = __builtin_fabsf(d[0]), y = __builtin_fabsf(d[1]), z = __builtin_fabsf(d[2]);
    float face, longest, u, v;
    if (x >= y && x >= z) {
      face = d[0] < 0 ? 1 : 0, longest = x, u = d[0] < 0 ? d[2] : -d[2], v = -d[1];
    } else if (y >= z) {
      face = d[1] < 0 ? 3 : 2, longest = y, u = d[0], v = d[1] < 0 ? -d[2] : d[2];
    } else {
      face = d[2] < 0 ? 5 : 4, longest = z, u = d[2] < 0 ? -d[0] : d[0], v = -d[1];
    }
    return float3{0.5f * (u / longest + 1), 0.5f * (v / longest + 1), face};
  }
};

}  // namespace rung_detail

#define RUNG_METAL_TEXTURE(name, base, D, is_array, usual) \
  template <class T, access A = access::usual>             \
  struct name : rung_detail::base<T, A, D, is_array> {};   \
  template <class T, access A>                             \
  RUNG_METAL bool is_null_texture(name<T, A> t) {          \
    return t.descriptor == nullptr;                        \
  }
RUNG_METAL_TEXTURE(texture1d, Texture, 1, false, sample)
RUNG_METAL_TEXTURE(texture1d_array, Texture, 1, true, sample)
RUNG_METAL_TEXTURE(texture2d, Texture, 2, false, sample)
RUNG_METAL_TEXTURE(texture2d_array, Texture, 2, true, sample)
RUNG_METAL_TEXTURE(texture2d_ms, Texture, 2, false, read)
RUNG_METAL_TEXTURE(texture2d_ms_array, Texture, 2, true, read)
RUNG_METAL_TEXTURE(texture3d, Texture, 3, false, sample)
RUNG_METAL_TEXTURE(texture_buffer, Texture, 1, false, read)
RUNG_METAL_TEXTURE(depth2d, DepthTexture, 2, false, sample)
RUNG_METAL_TEXTURE(depth2d_array, DepthTexture, 2, true, sample)
RUNG_METAL_TEXTURE(depth2d_ms, DepthTexture, 2, false, read)
RUNG_METAL_TEXTURE(depth2d_ms_array, DepthTexture, 2, true, read)
RUNG_METAL_TEXTURE(depthcube, DepthTexture, 2, true, sample)
RUNG_METAL_TEXTURE(depthcube_array, DepthTexture, 2, true, sample)
#undef RUNG_METAL_TEXTURE
template <class T, access A = access::sample>
struct texturecube : rung_detail::CubeTexture<T, A, false> {};
template <class T, access A = access::sample>
struct texturecube_array : rung_detail::CubeTexture<T, A, true> {};
template <class T, access A>
RUNG_METAL bool is_null_texture(texturecube<T, A> t) {
  return t.descriptor == nullptr;
}
template <class T, access A>
RUNG_METAL bool is_null_texture(texturecube_array<T, A> t) {
  return t.descriptor == nullptr;
}

/// os_log(…).log(…): messages are not printed.
struct os_log {
  template <class... A>
  RUNG_METAL constexpr os_log(A...) {}
  template <class... A>
  RUNG_METAL void log(A...) const {}
  template <class... A>
  RUNG_METAL void log_debug(A...) const {}
  template <class... A>
  RUNG_METAL void log_info(A...) const {}
  template <class... A>
  RUNG_METAL void log_error(A...) const {}
  template <class... A>
  RUNG_METAL void log_fault(A...) const {}
};
constexpr os_log os_log_default;

}  // namespace metal
