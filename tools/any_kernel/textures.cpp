#include "tools/any_kernel/textures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "emu/compile/metal/metal.hpp"

namespace rung::any_kernel {
namespace {

constexpr std::size_t components = 4;

struct Geometry {
  std::string_view name;
  std::size_t extents;
  bool is_array;
};
constexpr auto geometries = std::to_array<Geometry>({
    {"texture1d", 1, false},
    {"texture1d_array", 2, true},
    {"texture2d", 2, false},
    {"texture2d_array", 3, true},
    {"texture2d_ms", 2, false},
    {"texture3d", 3, false},
    {"texturecube", 3, true},
    {"texturecube_array", 3, true},
    {"texture_buffer", 1, false},
    {"depth2d", 2, false},
    {"depth2d_array", 3, true},
    {"depthcube", 3, true},
});

/// A word and the bits of a sampler that it sets (emu/metal/texture.h).
struct SamplerWord {
  std::string_view word;
  std::uint32_t bits;
};
constexpr auto sampler_words = std::to_array<SamplerWord>({
    {"nearest", 0},
    {"linear", 1},
    {"normalized", 0},
    {"pixel", 2},
    {"clamp_to_edge", 0x00},
    {"clamp_to_zero", 0x10},
    {"clamp_to_border", 0x20},
    {"repeat", 0x30},
    {"mirrored_repeat", 0x40},
});

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

Scalar texel_scalar(std::string_view element) {
  const std::optional<Scalar> scalar = parse_scalar(element);
  if (!scalar || is_real(*scalar)) return Scalar::f32;
  return is_signed(*scalar) ? Scalar::i32 : Scalar::u32;
}

/// For messages.
std::string_view extent_words(const TextureType& texture) {
  if (texture.extents == 1) return "its texels";
  if (texture.extents == 2)
    return texture.is_array ? "its elements and their texels" : "its rows and columns";
  return texture.is_array ? "its elements, rows and columns" : "its slices, rows and columns";
}
std::string shape_words(const TextureType& texture) {
  const std::string_view example = texture.extents == 1 ? "64"
                                   : texture.extents == 2
                                       ? (texture.is_array ? "4x64" : "48x64")
                                       : (texture.is_array ? "4x48x64" : "16x48x64");
  return fmt::format("{}, as in rand:{}", extent_words(texture), example);
}

[[noreturn]] void refuse_shape(const std::string& what, const std::string& text,
                               const TextureType& texture) {
  throw ArgumentError(
      fmt::format("{}: '{}' is not a texture's shape; give {}", what, text, shape_words(texture)));
}

/// A component of a file's texel as the texture stores it.
long double texel_value(Scalar from, Scalar to, const std::byte* at) {
  const long double value = load(from, at);
  return from == Scalar::u8 && is_real(to) ? value / 255 : value;
}

/// An element of an array for a component of a texel: the inverse of texel_value(), which saturates.
void store_element(Scalar to, std::byte* at, Scalar from, long double value) {
  if (is_real(to)) return store(to, at, value);
  if (is_real(from)) value *= 255;
  const int bits = static_cast<int>(8 * bytes(to));
  const long double least = is_signed(to) ? -std::ldexp(1.0L, bits - 1) : 0;
  const long double most =
      to == Scalar::boolean ? 1 : std::ldexp(1.0L, is_signed(to) ? bits - 1 : bits) - 1;
  store(to, at, std::isnan(value) ? 0 : std::clamp(std::nearbyint(value), least, most));
}

/// Components of a texel in an array for a texture.
std::size_t given_components(const NpyArray& array, const TextureType& texture) {
  return array.shape.size() > texture.extents ? static_cast<std::size_t>(array.shape.back()) : 1;
}

void check_shape(const std::string& what, const NpyArray& array, const TextureType& texture) {
  const std::size_t given = given_components(array, texture), extents = array.shape.size();
  const bool has_extents = extents == texture.extents || extents == texture.extents + 1;
  if (has_extents && given >= 1 && given <= components) return;
  throw ArgumentError(fmt::format(
      "{}: the shape {} is not a texture's; give {}, and 1 to 4 components as a last extent", what,
      array.shape.empty() ? "of a single number" : to_text(array.shape), extent_words(texture)));
}

void check_type(const std::string& what, const NpyArray& array, const TextureType& texture) {
  const std::optional<Scalar> from = array.scalar();
  const bool fits =
      from && (is_real(texture.scalar) ? is_real(*from) || *from == Scalar::u8
                                       : !is_real(*from) && bytes(*from) <= bytes(texture.scalar));
  if (fits) return;
  throw ArgumentError(fmt::format("{}: the elements have type '{}'; a texture of {} takes {}", what,
                                  array.type, name(texture.scalar),
                                  is_real(texture.scalar)
                                      ? "float32, float16, float64, or uint8 for 0 to 1"
                                      : "integers of at most 32 bits, such as int32 and uint8"));
}

}  // namespace

std::optional<TextureType> parse_texture_type(std::string_view type) {
  const std::size_t open = type.find('<'), close = type.rfind('>');
  if (open == type.npos || close == type.npos || close < open) return std::nullopt;
  std::string_view word = without_spaces(type.substr(0, open));
  word = word.substr(word.find_last_of(" :") + 1);  // "const metal::texture2d"
  const auto geometry = std::ranges::find(geometries, word, &Geometry::name);
  if (geometry == geometries.end()) return std::nullopt;
  const std::string_view arguments = type.substr(open + 1, close - open - 1);
  const std::size_t comma = arguments.find(',');
  TextureType texture{geometry->extents, geometry->is_array, false, Scalar::f32};
  texture.scalar = texel_scalar(without_spaces(arguments.substr(0, comma)));
  // Debug information names an access by its number: 2 is write, 3 is read_write.
  const auto says = [&](std::string_view access) {
    return comma != arguments.npos && arguments.find(access, comma) != arguments.npos;
  };
  texture.is_writable = says("write") || says("access)2") || says("access)3");
  return texture;
}

TypePtr texel_type(Scalar scalar) {
  Type type;
  type.kind = Type::Kind::array;
  type.name = fmt::format("{}{}", name(scalar), components);
  type.bytes = components * bytes(scalar);
  type.element = scalar_type(scalar);
  type.count = components;
  return std::make_shared<const Type>(std::move(type));
}

Array make_texture(const std::string& what, const ValueText& value, const TextureType& texture,
                   std::uint64_t seed) {
  if (value.kind == ValueText::Kind::file) {
    return make_texture(fmt::format("{}: '{}'", what, value.path), read_npy(value.path), texture);
  }
  if (value.kind != ValueText::Kind::fill || value.shape.size() != texture.extents) {
    refuse_shape(what, value.text, texture);
  }
  TextureType named = texture;
  if (!value.type.empty()) named.scalar = texel_scalar(value.type);
  ValueText texels = value;
  texels.type.clear();
  return make_array(what, texels, texel_type(named.scalar), seed);
}

Array make_texture(const std::string& what, const NpyArray& from, const TextureType& texture) {
  check_shape(what, from, texture);
  check_type(what, from, texture);
  const std::size_t given = given_components(from, texture);
  Array array{texel_type(texture.scalar), from.shape, {}, true};
  array.shape.resize(texture.extents);
  array.bytes.resize(static_cast<std::size_t>(count(array.shape)) * array.element->bytes);
  const std::size_t each = bytes(texture.scalar);
  for (std::size_t i = 0; i < array.bytes.size() / each; ++i) {
    const std::size_t texel = i / components, component = i % components;
    long double number = component == components - 1 ? 1 : 0;
    if (component < given) {
      const std::size_t at = (texel * given + component) * from.item_bytes;
      number = texel_value(*from.scalar(), texture.scalar, from.bytes.data() + at);
    }
    store(texture.scalar, array.bytes.data() + i * each, number);
  }
  return array;
}

void store_texels(const Array& texels, const NpyArray& like, std::span<std::byte> to) {
  const Scalar from = texels.element->element->scalar, element = *like.scalar();
  const std::size_t elements = to.size() / like.item_bytes,
                    all = texels.bytes.size() / texels.element->bytes;
  const std::size_t given = all == 0 ? 1 : elements / all;
  for (std::size_t i = 0; i < elements; ++i) {
    const std::size_t at = (i / given) * components + i % given;
    store_element(element, to.data() + i * like.item_bytes, from,
                  load(from, texels.bytes.data() + at * bytes(from)));
  }
}

std::vector<std::byte> texture_descriptor(const TextureType& texture, const Shape& shape,
                                          std::uint64_t texels) {
  emu::metal::TextureDescriptor descriptor;
  const auto extent = [&](std::size_t from_last) {
    return from_last < shape.size()
               ? static_cast<std::uint32_t>(shape[shape.size() - 1 - from_last])
               : 1;
  };
  descriptor.width = extent(0);
  const std::size_t rows = texture.is_array && texture.extents == 2 ? 0 : 1;
  if (rows == 1) descriptor.height = extent(1);
  (texture.is_array ? descriptor.array_length : descriptor.depth) = extent(rows + 1);
  descriptor.texels = texels;
  std::vector<std::byte> bytes(sizeof descriptor);
  std::memcpy(bytes.data(), &descriptor, sizeof descriptor);
  return bytes;
}

std::vector<std::byte> make_sampler(const std::string& what, const std::string& text) {
  std::uint32_t state = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, comma - at);
    const auto found = std::ranges::find(sampler_words, word, &SamplerWord::word);
    if (found == sampler_words.end()) {
      std::vector<std::string_view> words;
      for (const SamplerWord& each : sampler_words) words.push_back(each.word);
      throw ArgumentError(fmt::format("{}: '{}' is not a property of a sampler; properties are {}",
                                      what, word, fmt::join(words, ", ")));
    }
    state |= found->bits;
    at = comma + 1;
  }
  std::vector<std::byte> bytes(sizeof state);
  std::memcpy(bytes.data(), &state, sizeof state);
  return bytes;
}

}  // namespace rung::any_kernel
