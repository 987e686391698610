#include "vgpu/model/types.hpp"

#include <algorithm>
#include <array>

namespace rung::vgpu::ptx {
namespace {

struct TypeInfo {
  Type type;
  const char* name;
  int size;
};

constexpr std::array<TypeInfo, 26> types = {{
    {Type::pred, "pred", 0},     {Type::b8, "b8", 1},     {Type::b16, "b16", 2},
    {Type::b32, "b32", 4},       {Type::b64, "b64", 8},   {Type::b128, "b128", 16},
    {Type::u8, "u8", 1},         {Type::u16, "u16", 2},   {Type::u32, "u32", 4},
    {Type::u64, "u64", 8},       {Type::s8, "s8", 1},     {Type::s16, "s16", 2},
    {Type::s32, "s32", 4},       {Type::s64, "s64", 8},   {Type::f16, "f16", 2},
    {Type::f16x2, "f16x2", 4},   {Type::bf16, "bf16", 2}, {Type::bf16x2, "bf16x2", 4},
    {Type::tf32, "tf32", 4},     {Type::f32, "f32", 4},   {Type::f64, "f64", 8},
    {Type::e4m3, "e4m3", 1},     {Type::e5m2, "e5m2", 1}, {Type::e4m3x2, "e4m3x2", 2},
    {Type::e5m2x2, "e5m2x2", 2}, {Type::none, "none", 0},
}};

const TypeInfo& info(Type type) {
  return *std::find_if(types.begin(), types.end(),
                       [&](const TypeInfo& known) { return known.type == type; });
}

}  // namespace

int size_of(Type type) { return info(type).size; }

const char* name(Type type) { return info(type).name; }

Type type_named(std::string_view name) {
  const auto found = std::find_if(types.begin(), types.end(),
                                  [&](const TypeInfo& known) { return name == known.name; });
  return found == types.end() ? Type::none : found->type;
}

bool is_float(Type type) { return type >= Type::f16; }

bool is_signed(Type type) { return type >= Type::s8 && type <= Type::s64; }

}  // namespace rung::vgpu::ptx
