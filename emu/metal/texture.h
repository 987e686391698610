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
template <int>
struct max_anisotropy {};

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

  /// One component of the four texels around, counterclockwise from the lower left.
  template <class C>
  RUNG_METAL Texel gather(sampler s, C at, int2 offset = 0, component which = component::x) const {
    const float x = static_cast<float>(coordinate(at, 0)) * static_cast<float>(descriptor->width);
    const float y = static_cast<float>(coordinate(at, 1)) * static_cast<float>(descriptor->height);
    const float pixel[3] = {x - 0.5f + static_cast<float>(offset.x),
                            y - 0.5f + static_cast<float>(offset.y), 0};
    const int i = static_cast<int>(which);
    return Texel{fetch(s, pixel, 2, 0)[i], fetch(s, pixel, 3, 0)[i], fetch(s, pixel, 1, 0)[i],
                 fetch(s, pixel, 0, 0)[i]};
  }

  template <class C, class V>
  RUNG_METAL Texel atomic_fetch_add(C at, V value) const {
    device stored_t<T>* const texel =
        (device stored_t<T>*)place(coordinate(at, 0), coordinate(at, 1), coordinate(at, 2));
    return make<Texel>(__atomic_fetch_add(texel, static_cast<stored_t<T>>(make<Texel>(value)[0]),
                                          __ATOMIC_RELAXED));
  }

 private:
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
RUNG_METAL_TEXTURE(texture3d, Texture, 3, false, sample)
RUNG_METAL_TEXTURE(texturecube, Texture, 2, true, sample)
RUNG_METAL_TEXTURE(texturecube_array, Texture, 2, true, sample)
RUNG_METAL_TEXTURE(texture_buffer, Texture, 1, false, read)
RUNG_METAL_TEXTURE(depth2d, DepthTexture, 2, false, sample)
RUNG_METAL_TEXTURE(depth2d_array, DepthTexture, 2, true, sample)
RUNG_METAL_TEXTURE(depthcube, DepthTexture, 2, true, sample)
#undef RUNG_METAL_TEXTURE

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
