#pragma once
// Textures and samplers of Metal as values on the command line.
//
//   rand:48x64  out:48x64        48 rows of 64 texels; the depth, or the length of an array, comes first
//   photo.npy                    an array of that shape, or with a last extent of 1 to 4 components
//   linear,repeat                a sampler's properties, by Metal's names; `nearest` has the defaults

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/any_kernel/npy.hpp"
#include "tools/any_kernel/values.hpp"

namespace rung::any_kernel {

struct TextureType {
  std::size_t extents = 2;  // of the shape, without components
  bool is_array = false;    // the first extent counts the elements of an array, or a cube's faces
  bool is_writable = false;
  /// Texels on the virtual GPU have four components of this type: f32, i32 or u32.
  Scalar scalar = Scalar::f32;
};

/// The texture of a parameter's type, such as "texture2d<half, access::write>"; nullopt for another type. The
/// elements of a type that is not known, such as a template parameter, count as float.
std::optional<TextureType> parse_texture_type(std::string_view type);

/// "float4", the type of a texel in memory.
TypePtr texel_type(Scalar scalar);

/// The texels. Missing components of a file are 0, and 1 for the fourth; a file of bytes has the values 0 to 255 for
/// the range 0 to 1 of a float texture. Throws ArgumentError.
Array make_texture(const std::string& what, const ValueText& value, const TextureType& texture,
                   std::uint64_t seed);

/// The texels of an array with the texture's shape, or with a last extent of 1 to 4 components. `what` begins messages.
/// Throws ArgumentError.
Array make_texture(const std::string& what, const NpyArray& array, const TextureType& texture);

/// The inverse: stores texels in an array that make_texture() accepts. Bytes and shorter integers saturate.
void store_texels(const Array& texels, const NpyArray& like, std::span<std::byte> to);

/// The memory that the kernel's parameter points to.
std::vector<std::byte> texture_descriptor(const TextureType& texture, const Shape& shape,
                                          std::uint64_t texels);

/// The value of a sampler parameter. Throws ArgumentError.
std::vector<std::byte> make_sampler(const std::string& what, const std::string& text);

}  // namespace rung::any_kernel
