// Textures and samplers. Texels are stored as emu/metal/texture.h reads them: four elements of four bytes.

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "emu/metal_cpp/state.hpp"

namespace rung::emu::metal_cpp {
namespace {

enum class Element : std::uint8_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f16,
  f32,
  unorm8,
  snorm8,
  unorm16,
  snorm16
};

struct Format {
  MTL::PixelFormat format;
  Element element;
  int channels;
  bool is_reversed = false;  // BGRA
};
constexpr auto formats = std::to_array<Format>({
    {MTL::PixelFormatA8Unorm, Element::unorm8, 1},
    {MTL::PixelFormatR8Unorm, Element::unorm8, 1},
    {MTL::PixelFormatR8Snorm, Element::snorm8, 1},
    {MTL::PixelFormatR8Uint, Element::u8, 1},
    {MTL::PixelFormatR8Sint, Element::i8, 1},
    {MTL::PixelFormatR16Unorm, Element::unorm16, 1},
    {MTL::PixelFormatR16Snorm, Element::snorm16, 1},
    {MTL::PixelFormatR16Uint, Element::u16, 1},
    {MTL::PixelFormatR16Sint, Element::i16, 1},
    {MTL::PixelFormatR16Float, Element::f16, 1},
    {MTL::PixelFormatRG8Unorm, Element::unorm8, 2},
    {MTL::PixelFormatRG8Uint, Element::u8, 2},
    {MTL::PixelFormatRG8Sint, Element::i8, 2},
    {MTL::PixelFormatR32Uint, Element::u32, 1},
    {MTL::PixelFormatR32Sint, Element::i32, 1},
    {MTL::PixelFormatR32Float, Element::f32, 1},
    {MTL::PixelFormatRG16Unorm, Element::unorm16, 2},
    {MTL::PixelFormatRG16Uint, Element::u16, 2},
    {MTL::PixelFormatRG16Sint, Element::i16, 2},
    {MTL::PixelFormatRG16Float, Element::f16, 2},
    {MTL::PixelFormatRGBA8Unorm, Element::unorm8, 4},
    {MTL::PixelFormatRGBA8Snorm, Element::snorm8, 4},
    {MTL::PixelFormatRGBA8Uint, Element::u8, 4},
    {MTL::PixelFormatRGBA8Sint, Element::i8, 4},
    {MTL::PixelFormatBGRA8Unorm, Element::unorm8, 4, true},
    {MTL::PixelFormatRG32Uint, Element::u32, 2},
    {MTL::PixelFormatRG32Sint, Element::i32, 2},
    {MTL::PixelFormatRG32Float, Element::f32, 2},
    {MTL::PixelFormatRGBA16Unorm, Element::unorm16, 4},
    {MTL::PixelFormatRGBA16Uint, Element::u16, 4},
    {MTL::PixelFormatRGBA16Sint, Element::i16, 4},
    {MTL::PixelFormatRGBA16Float, Element::f16, 4},
    {MTL::PixelFormatRGBA32Uint, Element::u32, 4},
    {MTL::PixelFormatRGBA32Sint, Element::i32, 4},
    {MTL::PixelFormatRGBA32Float, Element::f32, 4},
});

const Format* find_format(MTL::PixelFormat format) {
  for (const Format& each : formats) {
    if (each.format == format) return &each;
  }
  return nullptr;
}

std::size_t bytes_of(Element element) {
  switch (element) {
    case Element::u8:
    case Element::i8:
    case Element::unorm8:
    case Element::snorm8: return 1;
    case Element::u32:
    case Element::i32:
    case Element::f32: return 4;
    default: return 2;
  }
}

bool is_integer(Element element) { return element <= Element::i32; }

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// The stored element of a texel.
std::uint32_t widened(Element element, const std::byte* at) {
  switch (element) {
    case Element::u8: return load<std::uint8_t>(at);
    case Element::i8: return static_cast<std::uint32_t>(load<std::int8_t>(at));
    case Element::u16: return load<std::uint16_t>(at);
    case Element::i16: return static_cast<std::uint32_t>(load<std::int16_t>(at));
    case Element::u32:
    case Element::i32:
    case Element::f32: return load<std::uint32_t>(at);
    case Element::f16: return bits(static_cast<float>(load<_Float16>(at)));
    case Element::unorm8: return bits(static_cast<float>(load<std::uint8_t>(at)) / 255.0f);
    case Element::snorm8:
      return bits(std::max(static_cast<float>(load<std::int8_t>(at)) / 127.0f, -1.0f));
    case Element::unorm16: return bits(static_cast<float>(load<std::uint16_t>(at)) / 65535.0f);
    case Element::snorm16:
      return bits(std::max(static_cast<float>(load<std::int16_t>(at)) / 32767.0f, -1.0f));
  }
  return 0;
}

/// Rounds a normalized value, to nearest even, NaN to 0 (Metal Shading Language, "Conversion Rules for
/// Normalized Integer Pixel Data Types").
template <class T>
T normalized(std::uint32_t stored, float scale, float least) {
  const float value = std::bit_cast<float>(stored);
  if (std::isnan(value)) return 0;
  return static_cast<T>(std::nearbyint(std::min(std::max(value, least), 1.0f) * scale));
}

void narrow(Element element, std::uint32_t stored, std::byte* at) {
  switch (element) {
    case Element::u8: return store(at, static_cast<std::uint8_t>(std::min(stored, 255u)));
    case Element::i8: return store(at, static_cast<std::int8_t>(stored));
    case Element::u16: return store(at, static_cast<std::uint16_t>(std::min(stored, 65535u)));
    case Element::i16: return store(at, static_cast<std::int16_t>(stored));
    case Element::u32:
    case Element::i32:
    case Element::f32: return store(at, stored);
    case Element::f16: return store(at, static_cast<_Float16>(std::bit_cast<float>(stored)));
    case Element::unorm8: return store(at, normalized<std::uint8_t>(stored, 255.0f, 0.0f));
    case Element::snorm8: return store(at, normalized<std::int8_t>(stored, 127.0f, -1.0f));
    case Element::unorm16: return store(at, normalized<std::uint16_t>(stored, 65535.0f, 0.0f));
    case Element::snorm16: return store(at, normalized<std::int16_t>(stored, 32767.0f, -1.0f));
  }
}

constexpr std::size_t texel_bytes = 16;

std::size_t texels_of(const TextureInfo& info) {
  return info.width * info.height * info.depth * info.array_length;
}

/// emu::metal::TextureDescriptor (emu/compile/metal/metal.hpp), which kernels read.
struct DeviceDescriptor {
  std::uint32_t width, height, depth, array_length;
  std::uint64_t texels;
};

TextureObject* new_texture(const TextureDescriptorObject& from) {
  const TextureInfo& info = from.info;
  if (find_format(info.format) == nullptr) {
    report_misuse(fmt::format("newTexture: pixel format {} is not supported here",
                              static_cast<NS::UInteger>(info.format)));
    return nullptr;
  }
  auto* const texture = named(new TextureObject, "MTL::Texture");
  texture->info = info;
  texture->state.options = from.options;
  texture->state.bytes = texels_of(info) * texel_bytes;
  gpu().cuMemAllocManaged(&texture->state.address, texture->state.bytes, cuda::attach_global);
  gpu().cuMemAlloc(&texture->descriptor, sizeof(DeviceDescriptor));
  const DeviceDescriptor descriptor = {
      static_cast<std::uint32_t>(info.width), static_cast<std::uint32_t>(info.height),
      static_cast<std::uint32_t>(info.depth), static_cast<std::uint32_t>(info.array_length),
      texture->state.address};
  gpu().cuMemcpyHtoD(texture->descriptor, &descriptor, sizeof descriptor);
  device().allocated += texture->state.bytes;
  return texture;
}

/// Calls visit(texel, bytes) for each texel of a region and its bytes in the caller's memory.
template <class Visit>
void for_texels(const TextureObject& texture, const MTL::Region& region, std::size_t slice,
                std::byte* bytes, std::size_t bytes_per_row, std::size_t bytes_per_image,
                const Visit& visit) {
  const Format& format = *find_format(texture.info.format);
  const std::size_t pixel = bytes_of(format.element) * static_cast<std::size_t>(format.channels);
  const TextureInfo& info = texture.info;
  const MTL::Origin& at = region.origin;
  const bool is_inside = at.x + region.size.width <= info.width &&
                         at.y + region.size.height <= info.height &&
                         at.z + region.size.depth <= info.depth && slice < info.array_length;
  if (!is_inside) return report_misuse("a region of a texture that is not within it");
  for (std::size_t z = 0; z < region.size.depth; ++z) {
    for (std::size_t y = 0; y < region.size.height; ++y) {
      for (std::size_t x = 0; x < region.size.width; ++x) {
        const std::size_t index =
            (((slice * info.depth + at.z + z) * info.height + at.y + y) * info.width) + at.x + x;
        visit(format, reinterpret_cast<std::uint32_t*>(texture.state.address + index * texel_bytes),
              bytes + z * bytes_per_image + y * bytes_per_row + x * pixel);
      }
    }
  }
}

/// The channel of a texel that is stored at this position in the caller's memory.
int channel(const Format& format, int position) {
  if (format.format == MTL::PixelFormatA8Unorm) return 3;
  return format.is_reversed && position < 3 ? 2 - position : position;
}

void write_texel(const Format& format, std::uint32_t* texel, const std::byte* from) {
  const std::uint32_t one = is_integer(format.element) ? 1 : bits(1.0f);
  const std::array<std::uint32_t, 4> missing = {0, 0, 0, one};
  std::memcpy(texel, missing.data(), sizeof missing);
  for (int i = 0; i < format.channels; ++i) {
    const auto offset = static_cast<std::size_t>(i) * bytes_of(format.element);
    texel[channel(format, i)] = widened(format.element, from + offset);
  }
}

void read_texel(const Format& format, const std::uint32_t* texel, std::byte* to) {
  for (int i = 0; i < format.channels; ++i) {
    const auto offset = static_cast<std::size_t>(i) * bytes_of(format.element);
    narrow(format.element, texel[channel(format, i)], to + offset);
  }
}

/// Addressing modes by Metal's numbers, as emu/metal/texture.h has them.
constexpr std::array<std::uint32_t, 6> addressing = {0, 0, 3, 4, 1, 2};

}  // namespace

TextureObject::~TextureObject() {
  gpu().cuMemFree(state.address);
  gpu().cuMemFree(descriptor);
  metal_cpp::device().allocated -= state.bytes;
}

}  // namespace rung::emu::metal_cpp

namespace MTL {

using namespace rung::emu::metal_cpp;

TextureDescriptor* TextureDescriptor::alloc() {
  return named(new TextureDescriptorObject, "MTL::TextureDescriptor");
}
TextureDescriptor* TextureDescriptor::init() { return this; }
TextureDescriptor* TextureDescriptor::texture2DDescriptor(PixelFormat format, UInteger width,
                                                          UInteger height, bool) {
  auto* const descriptor = named(new TextureDescriptorObject, "MTL::TextureDescriptor");
  descriptor->info.format = format;
  descriptor->info.width = width;
  descriptor->info.height = height;
  return autoreleased(descriptor);
}

#define RUNG_TEXTURE_PROPERTY(type, getter, setter, member)                                     \
  type TextureDescriptor::getter() const {                                                      \
    return ask<TextureDescriptorObject>(this, [](const auto& own) { return own.info.member; }); \
  }                                                                                             \
  void TextureDescriptor::setter(type value) {                                                  \
    ask<TextureDescriptorObject>(this, [&](auto& own) { own.info.member = value; });            \
  }                                                                                             \
  type Texture::getter() const {                                                                \
    return ask<TextureObject>(this, [](const auto& own) { return own.info.member; });           \
  }
RUNG_TEXTURE_PROPERTY(TextureType, textureType, setTextureType, type)
RUNG_TEXTURE_PROPERTY(PixelFormat, pixelFormat, setPixelFormat, format)
RUNG_TEXTURE_PROPERTY(UInteger, width, setWidth, width)
RUNG_TEXTURE_PROPERTY(UInteger, height, setHeight, height)
RUNG_TEXTURE_PROPERTY(UInteger, depth, setDepth, depth)
RUNG_TEXTURE_PROPERTY(UInteger, arrayLength, setArrayLength, array_length)
RUNG_TEXTURE_PROPERTY(TextureUsage, usage, setUsage, usage)
#undef RUNG_TEXTURE_PROPERTY

void TextureDescriptor::setMipmapLevelCount(UInteger count) {
  if (count > 1) report_misuse("mipmaps are not supported here");
}
StorageMode TextureDescriptor::storageMode() const {
  return ask<TextureDescriptorObject>(
      this, [](const auto& own) { return static_cast<StorageMode>(own.options >> 4 & 0xF); });
}
void TextureDescriptor::setStorageMode(StorageMode mode) {
  ask<TextureDescriptorObject>(
      this, [&](auto& own) { own.options = (own.options & ~ResourceOptions{0xF0}) | mode << 4; });
}
void TextureDescriptor::setResourceOptions(ResourceOptions options) {
  ask<TextureDescriptorObject>(this, [&](auto& own) { own.options = options; });
}
void TextureDescriptor::setHazardTrackingMode(HazardTrackingMode mode) {
  ask<TextureDescriptorObject>(
      this, [&](auto& own) { own.options = (own.options & ~ResourceOptions{0x300}) | mode << 8; });
}

Texture* Device::newTexture(const TextureDescriptor* descriptor) {
  return ask<TextureDescriptorObject>(descriptor, [](const TextureDescriptorObject& from) {
    return static_cast<Texture*>(new_texture(from));
  });
}
Texture* Heap::newTexture(const TextureDescriptor* descriptor) {
  return rung::emu::metal_cpp::device().newTexture(descriptor);
}
Texture* Buffer::newTexture(const TextureDescriptor*, UInteger, UInteger) {
  report_misuse("a texture with the memory of a buffer is not supported here");
  return nullptr;
}

void Texture::replaceRegion(Region region, UInteger level, const void* bytes,
                            UInteger bytes_per_row) {
  replaceRegion(region, level, 0, bytes, bytes_per_row, bytes_per_row * region.size.height);
}
void Texture::replaceRegion(Region region, UInteger, UInteger slice, const void* bytes,
                            UInteger bytes_per_row, UInteger bytes_per_image) {
  ask<TextureObject>(this, [&](TextureObject& own) {
    auto* const from = static_cast<std::byte*>(const_cast<void*>(bytes));
    for_texels(own, region, slice, from, bytes_per_row, bytes_per_image, write_texel);
  });
}
void Texture::getBytes(void* bytes, UInteger bytes_per_row, Region region, UInteger level) {
  getBytes(bytes, bytes_per_row, bytes_per_row * region.size.height, region, level, 0);
}
void Texture::getBytes(void* bytes, UInteger bytes_per_row, UInteger bytes_per_image, Region region,
                       UInteger, UInteger slice) {
  ask<TextureObject>(this, [&](TextureObject& own) {
    for_texels(own, region, slice, static_cast<std::byte*>(bytes), bytes_per_row, bytes_per_image,
               read_texel);
  });
}

SamplerDescriptor* SamplerDescriptor::alloc() {
  // Metal's defaults: nearest, clamped to the edge, normalized coordinates.
  return named(new SamplerDescriptorObject, "MTL::SamplerDescriptor");
}
SamplerDescriptor* SamplerDescriptor::init() { return this; }
void SamplerDescriptor::setMinFilter(SamplerMinMagFilter filter) { setMagFilter(filter); }
void SamplerDescriptor::setMagFilter(SamplerMinMagFilter filter) {
  ask<SamplerDescriptorObject>(
      this, [&](auto& own) { own.state |= filter == SamplerMinMagFilterLinear ? 1u : 0u; });
}
void SamplerDescriptor::setSAddressMode(SamplerAddressMode mode) {
  ask<SamplerDescriptorObject>(
      this, [&](auto& own) { own.state = (own.state & ~0x70u) | addressing.at(mode) << 4; });
}
void SamplerDescriptor::setTAddressMode(SamplerAddressMode mode) { setSAddressMode(mode); }
void SamplerDescriptor::setRAddressMode(SamplerAddressMode mode) { setSAddressMode(mode); }
void SamplerDescriptor::setNormalizedCoordinates(bool normalized) {
  ask<SamplerDescriptorObject>(
      this, [&](auto& own) { own.state = normalized ? own.state & ~2u : own.state | 2u; });
}
SamplerState* Device::newSamplerState(const SamplerDescriptor* descriptor) {
  return ask<SamplerDescriptorObject>(descriptor, [](const auto& from) -> SamplerState* {
    auto* const sampler = named(new SamplerObject, "MTL::SamplerState");
    sampler->state = from.state;
    return sampler;
  });
}
Device* SamplerState::device() const { return &rung::emu::metal_cpp::device(); }

}  // namespace MTL
