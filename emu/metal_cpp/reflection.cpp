// Parameters and function constants of kernels, as a program asks for them, and archives of pipelines.

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "emu/metal_cpp/state.hpp"

namespace MTL {

using namespace rung::emu::metal_cpp;

namespace {
struct FunctionConstantObject final : FunctionConstant {
  rung::emu::metal::FunctionConstant constant;
};
}  // namespace

NS::Dictionary* Function::functionConstantsDictionary() const {
  return ask<FunctionObject>(this, [](const FunctionObject& own) -> NS::Dictionary* {
    std::vector<const NS::Object*> constants, names;
    for (const rung::emu::metal::FunctionConstant& each : own.library->constants) {
      auto* const constant = named(new FunctionConstantObject, "MTL::FunctionConstant");
      constant->constant = each;
      constants.push_back(autoreleased(constant));
      names.push_back(autoreleased(new_string(each.name)));
    }
    return NS::Dictionary::dictionary(constants.data(), names.data(), names.size());
  });
}
NS::String* FunctionConstant::name() const {
  return ask<FunctionConstantObject>(this, [](const auto& own) -> NS::String* {
    return autoreleased(new_string(own.constant.name));
  });
}
UInteger FunctionConstant::index() const {
  return ask<FunctionConstantObject>(
      this, [](const auto& own) { return static_cast<UInteger>(own.constant.index); });
}

DataType FunctionConstant::type() const {
  static constexpr auto types =
      std::to_array<std::pair<const char*, DataType>>({{"bool", DataTypeBool},
                                                       {"char", DataTypeChar},
                                                       {"uchar", DataTypeUChar},
                                                       {"short", DataTypeShort},
                                                       {"ushort", DataTypeUShort},
                                                       {"int", DataTypeInt},
                                                       {"uint", DataTypeUInt},
                                                       {"long", DataTypeLong},
                                                       {"ulong", DataTypeULong},
                                                       {"half", DataTypeHalf},
                                                       {"float", DataTypeFloat},
                                                       {"bfloat", DataTypeBFloat}});
  return ask<FunctionConstantObject>(this, [](const auto& own) {
    for (const auto& [name, type] : types) {
      if (own.constant.type == name) return type;
    }
    return DataTypeNone;
  });
}
bool FunctionConstant::required() const { return true; }

namespace {

struct BindingObject final : BufferBinding {
  KernelParameter parameter;
};
struct ArgumentObject final : Argument {
  KernelParameter parameter;
};
struct ReflectionObject final : ComputePipelineReflection {
  std::vector<KernelParameter> parameters;
};

/// The same numbers as ArgumentType's.
BindingType type_of(const KernelParameter& parameter) {
  switch (parameter.kind) {
    case KernelParameter::Kind::threadgroup: return BindingTypeThreadgroupMemory;
    case KernelParameter::Kind::texture: return BindingTypeTexture;
    case KernelParameter::Kind::sampler: return BindingTypeSampler;
    default: return BindingTypeBuffer;
  }
}
BindingAccess access_of(const KernelParameter& parameter) {
  const bool is_constant = parameter.is_read_only || parameter.kind == KernelParameter::Kind::value;
  return is_constant ? BindingAccessReadOnly : BindingAccessReadWrite;
}

/// An array with an object for each parameter.
template <class Object>
NS::Array* array_of(const ComputePipelineReflection* reflection, const char* class_name) {
  return ask<ReflectionObject>(reflection, [&](const auto& own) -> NS::Array* {
    std::vector<const NS::Object*> objects;
    for (const KernelParameter& each : own.parameters) {
      auto* const object = named(new Object, class_name);
      object->parameter = each;
      objects.push_back(autoreleased(object));
    }
    return autoreleased(new_array(objects.data(), objects.size()));
  });
}

}  // namespace

NS::Array* ComputePipelineReflection::arguments() const {
  return array_of<ArgumentObject>(this, "MTL::Argument");
}
NS::Array* ComputePipelineReflection::bindings() const {
  return array_of<BindingObject>(this, "MTL::Binding");
}

NS::String* Binding::name() const {
  return ask<BindingObject>(this, [](const auto& own) -> NS::String* {
    return autoreleased(new_string(own.parameter.name));
  });
}
BindingType Binding::type() const {
  return ask<BindingObject>(this, [](const auto& own) { return type_of(own.parameter); });
}
BindingAccess Binding::access() const {
  return ask<BindingObject>(this, [](const auto& own) { return access_of(own.parameter); });
}
UInteger Binding::index() const {
  return ask<BindingObject>(this, [](const auto& own) { return own.parameter.index; });
}
UInteger BufferBinding::bufferDataSize() const {
  return ask<BindingObject>(this, [](const auto& own) { return own.parameter.bytes; });
}

NS::String* Argument::name() const {
  return ask<ArgumentObject>(this, [](const auto& own) -> NS::String* {
    return autoreleased(new_string(own.parameter.name));
  });
}
ArgumentType Argument::type() const {
  return ask<ArgumentObject>(
      this, [](const auto& own) { return static_cast<ArgumentType>(type_of(own.parameter)); });
}
ArgumentAccess Argument::access() const {
  return ask<ArgumentObject>(this, [](const auto& own) { return access_of(own.parameter); });
}
UInteger Argument::index() const {
  return ask<ArgumentObject>(this, [](const auto& own) { return own.parameter.index; });
}
UInteger Argument::bufferDataSize() const {
  return ask<ArgumentObject>(this, [](const auto& own) { return own.parameter.bytes; });
}

namespace {
struct BinaryArchiveObject final : BinaryArchive {};
struct BinaryArchiveDescriptorObject final : BinaryArchiveDescriptor {};
struct LinkedFunctionsObject final : LinkedFunctions {};
}  // namespace

LinkedFunctions* LinkedFunctions::alloc() {
  return named(new LinkedFunctionsObject, "MTL::LinkedFunctions");
}
LinkedFunctions* LinkedFunctions::linkedFunctions() { return autoreleased(alloc()); }

BinaryArchiveDescriptor* BinaryArchiveDescriptor::alloc() {
  return named(new BinaryArchiveDescriptorObject, "MTL::BinaryArchiveDescriptor");
}
BinaryArchive* Device::newBinaryArchive(const BinaryArchiveDescriptor*, NS::Error**) {
  return named(new BinaryArchiveObject, "MTL::BinaryArchive");
}
Device* BinaryArchive::device() const { return &rung::emu::metal_cpp::device(); }
bool BinaryArchive::serializeToURL(const NS::URL* url, NS::Error** error) {
  const std::string path = text_of(url->path());
  if (std::ofstream(path)) return true;
  fail(error, "MTLBinaryArchiveDomain", 1, fmt::format("{} cannot be written", path));
  return false;
}

}  // namespace MTL

namespace rung::emu::metal_cpp {

MTL::ComputePipelineState* with_reflection(
    MTL::ComputePipelineState* pipeline,
    const MTL::AutoreleasedComputePipelineReflection* reflection) {
  if (pipeline == nullptr || reflection == nullptr) return pipeline;
  auto* const made = named(new MTL::ReflectionObject, "MTL::ComputePipelineReflection");
  made->parameters = static_cast<PipelineObject*>(pipeline)->function->compile().parameters;
  // metal-cpp declares it const, although it is a result.
  *const_cast<MTL::AutoreleasedComputePipelineReflection*>(reflection) = autoreleased(made);
  return pipeline;
}

}  // namespace rung::emu::metal_cpp
