// Libraries, functions and pipelines. rung-metal compiles them, next to this library's folder.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "emu/metal_cpp/state.hpp"
#include "emu/runtime/runtime.hpp"
#include "emu/runtime/tool_process.hpp"

namespace fs = std::filesystem;

struct dispatch_data_s {
  std::string bytes;
};

namespace rung::emu::metal_cpp {
namespace {

/// Runs rung-metal. Throws std::runtime_error with what it says.
void run_compiler(std::vector<std::string> words, const fs::path& log) {
  const fs::path compiler = find_tool("rung-metal", "RUNG_METAL");
  if (compiler.empty()) {
    throw std::runtime_error("rung-metal is not beside librung_emu.so; RUNG_METAL can name it");
  }
  words.insert(words.begin(), compiler.string());
  if (!run_tool(words, log)) throw std::runtime_error(source_text(log));
}

/// Reads the names in a library's file. Throws std::runtime_error.
void read_names(LibraryObject& library) {
  const std::string text = source_text(library.file.string());
  for (const metal::LibrarySource& source : metal::parse_library(text, library.file)) {
    library.kernels.insert(library.kernels.end(), source.kernels.begin(), source.kernels.end());
    library.constants.insert(library.constants.end(), source.function_constants.begin(),
                             source.function_constants.end());
  }
}

MTL::Library* open_library(const fs::path& file, NS::Error** error) {
  auto* const library = named(new LibraryObject, "MTL::Library");
  library->file = file;
  try {
    read_names(*library);
    return library;
  } catch (const std::exception& wrong) {
    library->release();
    const bool exists = fs::exists(file);
    return fail(error, library_domain,
                exists ? MTL::LibraryErrorInternal : MTL::LibraryErrorFileNotFound, wrong.what());
  }
}

/// Options of the compiler.
std::vector<std::string> words_of(const MTL::CompileOptions* options) {
  std::vector<std::string> words;
  if (options == nullptr) return words;
  const auto& own = static_cast<const CompileOptionsObject&>(*options);
  if (!own.fast_math || own.math_mode == MTL::MathModeSafe) words.emplace_back("-fno-fast-math");
  return words;
}

void add_macros(std::vector<std::string>& words, const MTL::CompileOptions* options) {
  const NS::Dictionary* const macros =
      options == nullptr ? nullptr
                         : static_cast<const CompileOptionsObject&>(*options).macros.get();
  if (macros == nullptr) return;
  for_each_entry(*macros, [&](const NS::Object& name, const NS::Object& value) {
    words.push_back(
        fmt::format("-D{}={}", text_of(name.description()), text_of(value.description())));
  });
}

/// "program_source:3:5: error: …", as Metal names the text. The last line is this tool's own.
std::string metal_messages(std::string log, const std::string& file) {
  for (std::size_t at = 0; (at = log.find(file, at)) != log.npos;) {
    log.replace(at, file.size(), "program_source");
  }
  const std::size_t own = log.rfind("rung-metal: ");
  if (own != log.npos && own > 0) log.erase(own);
  while (log.ends_with('\n')) log.pop_back();
  return log;
}

MTL::Library* compile_library(const std::string& source, const MTL::CompileOptions* options,
                              NS::Error** error) {
  auto folder = std::make_unique<TemporaryFolder>("rung-metal-");
  const fs::path text = folder->path() / "program_source.metal",
                 output = folder->path() / "library.metallib";
  std::ofstream(text, std::ios::binary) << source;
  std::vector<std::string> words = {"metal", "-I" + fs::current_path().string()};
  for (const std::string& word : words_of(options)) words.push_back(word);
  add_macros(words, options);
  words.insert(words.end(), {text.string(), "-o", output.string()});
  try {
    run_compiler(words, folder->path() / "log");
  } catch (const std::exception& wrong) {
    return fail(error, library_domain, MTL::LibraryErrorCompileFailure,
                metal_messages(wrong.what(), text.string()));
  }
  MTL::Library* const library = open_library(output, error);
  if (library != nullptr) static_cast<LibraryObject*>(library)->folder = std::move(folder);
  return library;
}

/// The library that the build made of the program's .metal files: beside the program, or in the current
/// folder.
fs::path default_library() {
  const fs::path name = "default.metallib";
  for (const fs::path& folder :
       {fs::read_symlink("/proc/self/exe").parent_path(), fs::current_path()}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  return {};
}

std::string constant_text(const void* value, MTL::DataType type) {
  const auto as = [&]<class T>(T) {
    T own;
    std::memcpy(&own, value, sizeof own);
    return own;
  };
  switch (type) {
    case MTL::DataTypeBool: return as(std::uint8_t{}) != 0 ? "true" : "false";
    case MTL::DataTypeChar: return fmt::format("{}", int{as(std::int8_t{})});
    case MTL::DataTypeUChar: return fmt::format("{}", unsigned{as(std::uint8_t{})});
    case MTL::DataTypeShort: return fmt::format("{}", as(std::int16_t{}));
    case MTL::DataTypeUShort: return fmt::format("{}", as(std::uint16_t{}));
    case MTL::DataTypeInt: return fmt::format("{}", as(std::int32_t{}));
    case MTL::DataTypeUInt: return fmt::format("{}u", as(std::uint32_t{}));
    case MTL::DataTypeLong: return fmt::format("{}l", as(std::int64_t{}));
    case MTL::DataTypeULong: return fmt::format("{}ul", as(std::uint64_t{}));
    case MTL::DataTypeFloat:
      return fmt::format("__builtin_bit_cast(float, {}u)", as(std::uint32_t{}));
    case MTL::DataTypeHalf:
      return fmt::format("__builtin_bit_cast(half, (ushort){})", as(std::uint16_t{}));
    default: return {};
  }
}

std::size_t constant_bytes(MTL::DataType type) {
  switch (type) {
    case MTL::DataTypeBool:
    case MTL::DataTypeChar:
    case MTL::DataTypeUChar: return 1;
    case MTL::DataTypeShort:
    case MTL::DataTypeUShort:
    case MTL::DataTypeHalf: return 2;
    case MTL::DataTypeLong:
    case MTL::DataTypeULong: return 8;
    default: return 4;
  }
}

/// A vector's element type and its number of elements.
std::pair<MTL::DataType, std::size_t> scalar_type(MTL::DataType type) {
  for (const MTL::DataType first : {MTL::DataTypeFloat, MTL::DataTypeHalf, MTL::DataTypeInt,
                                    MTL::DataTypeUInt, MTL::DataTypeShort, MTL::DataTypeUShort}) {
    if (type >= first && type < first + 4) return {first, type - first + 1};
  }
  return {type, 1};
}

/// The value of a scalar or a vector as a C++ expression.
std::string constant_value(const void* value, MTL::DataType type) {
  const auto [element, count] = scalar_type(type);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const at = static_cast<const std::byte*>(value) + i * constant_bytes(element);
    text += (i == 0 ? "" : ", ") + constant_text(at, element);
  }
  if (text.empty())
    report_misuse(fmt::format("setConstantValue: DataType {} is not supported",
                              static_cast<NS::UInteger>(type)));
  return text;
}

}  // namespace

const metal::LibraryKernel& FunctionObject::compile() {
  if (compiled) return *compiled;
  const TemporaryFolder folder("rung-metal-");
  const fs::path output = folder.path() / "kernel.json";
  std::vector<std::string> words = {"--compile-kernel", name, library->file.string()};
  for (const auto& [constant, value] : constants) words.push_back(constant + "=" + value);
  words.insert(words.end(), {"-o", output.string()});
  try {
    run_compiler(words, folder.path() / "log");
  } catch (const std::exception& wrong) {
    throw std::runtime_error(metal_messages(
        wrong.what(), (library->file.parent_path() / "program_source.metal").string()));
  }
  compiled = metal::parse_library_kernel(source_text(output.string()));
  return *compiled;
}

PipelineObject::~PipelineObject() {
  if (module != nullptr) gpu().cuModuleUnload(module);
}

namespace {

/// Loads the pipeline's code. Throws std::runtime_error.
void load(PipelineObject& pipeline) {
  const metal::LibraryKernel& kernel = pipeline.function->compile();
  const cuda::DriverApi& api = gpu();
  const bool is_loaded = api.cuModuleLoadDataEx(&pipeline.module, kernel.ptx.c_str(), 0, nullptr,
                                                nullptr) == cuda::Result::success &&
                         api.cuModuleGetFunction(&pipeline.code, pipeline.module,
                                                 kernel.entry.c_str()) == cuda::Result::success;
  if (!is_loaded) throw std::runtime_error(driver_message());
  int value = 0;
  api.cuFuncGetAttribute(&value, cuda::FunctionAttribute::max_threads_per_block, pipeline.code);
  pipeline.most_threads = static_cast<std::size_t>(value);
  api.cuFuncGetAttribute(&value, cuda::FunctionAttribute::shared_size_bytes, pipeline.code);
  pipeline.static_shared = static_cast<std::size_t>(value);
}

MTL::ComputePipelineState* new_pipeline(FunctionObject* function, const std::string& label,
                                        std::size_t most_threads, NS::Error** error) {
  if (function == nullptr) {
    report_misuse("newComputePipelineState: the function is nil");
    return fail(error, pipeline_domain, 3, "computeFunction must not be nil.");
  }
  auto* const pipeline = named(new PipelineObject, "MTL::ComputePipelineState");
  pipeline->function = function;
  pipeline->label = label;
  try {
    load(*pipeline);
  } catch (const std::exception& wrong) {
    pipeline->release();
    return fail(error, pipeline_domain, 3, wrong.what());
  }
  if (most_threads != 0) pipeline->most_threads = std::min(pipeline->most_threads, most_threads);
  return pipeline;
}

FunctionObject* new_function(LibraryObject& library, const std::string& name) {
  if (std::ranges::find(library.kernels, name) == library.kernels.end()) return nullptr;
  auto* const function = named(new FunctionObject, "MTL::Function");
  function->library = &library;
  function->name = name;
  return function;
}

}  // namespace
}  // namespace rung::emu::metal_cpp

extern "C" dispatch_data_t dispatch_data_create(const void* bytes, std::size_t size,
                                                dispatch_queue_t, void*) {
  return new dispatch_data_s{std::string(static_cast<const char*>(bytes), size)};
}

namespace MTL {

using namespace rung::emu::metal_cpp;

CompileOptions* CompileOptions::alloc() {
  return named(new CompileOptionsObject, "MTL::CompileOptions");
}
CompileOptions* CompileOptions::init() { return this; }
NS::Dictionary* CompileOptions::preprocessorMacros() const {
  return ask<CompileOptionsObject>(this, [](const auto& own) { return own.macros.get(); });
}
void CompileOptions::setPreprocessorMacros(const NS::Dictionary* macros) {
  ask<CompileOptionsObject>(this,
                            [&](auto& own) { own.macros = const_cast<NS::Dictionary*>(macros); });
}
bool CompileOptions::fastMathEnabled() const {
  return ask<CompileOptionsObject>(this, [](const auto& own) { return own.fast_math; });
}
void CompileOptions::setFastMathEnabled(bool enabled) {
  ask<CompileOptionsObject>(this, [&](auto& own) { own.fast_math = enabled; });
}
MathMode CompileOptions::mathMode() const {
  return ask<CompileOptionsObject>(this, [](const auto& own) { return own.math_mode; });
}
void CompileOptions::setMathMode(MathMode mode) {
  ask<CompileOptionsObject>(this, [&](auto& own) { own.math_mode = mode; });
}
LanguageVersion CompileOptions::languageVersion() const {
  return ask<CompileOptionsObject>(this, [](const auto& own) { return own.version; });
}
void CompileOptions::setLanguageVersion(LanguageVersion version) {
  ask<CompileOptionsObject>(this, [&](auto& own) { own.version = version; });
}

FunctionConstantValues* FunctionConstantValues::alloc() {
  return named(new FunctionConstantsObject, "MTL::FunctionConstantValues");
}
FunctionConstantValues* FunctionConstantValues::init() { return this; }
void FunctionConstantValues::setConstantValue(const void* value, DataType type, UInteger index) {
  ask<FunctionConstantsObject>(this, [&](FunctionConstantsObject& own) {
    own.values[std::to_string(index)] = constant_value(value, type);
  });
}
void FunctionConstantValues::setConstantValues(const void* values, DataType type, NS::Range range) {
  const auto [element, count] = scalar_type(type);
  for (UInteger i = 0; i < range.length; ++i) {
    setConstantValue(static_cast<const std::byte*>(values) + i * count * constant_bytes(element),
                     type, range.location + i);
  }
}
void FunctionConstantValues::setConstantValue(const void* value, DataType type,
                                              const NS::String* name) {
  ask<FunctionConstantsObject>(this, [&](FunctionConstantsObject& own) {
    own.values[text_of(name)] = constant_value(value, type);
  });
}
void FunctionConstantValues::reset() {
  ask<FunctionConstantsObject>(this, [](FunctionConstantsObject& own) { own.values.clear(); });
}

FunctionDescriptor* FunctionDescriptor::alloc() {
  return named(new FunctionDescriptorObject, "MTL::FunctionDescriptor");
}
FunctionDescriptor* FunctionDescriptor::functionDescriptor() { return autoreleased(alloc()); }
FunctionDescriptor* FunctionDescriptor::init() { return this; }
NS::String* FunctionDescriptor::name() const {
  return ask<FunctionDescriptorObject>(
      this, [](const auto& own) -> NS::String* { return autoreleased(new_string(own.name)); });
}
void FunctionDescriptor::setName(const NS::String* name) {
  ask<FunctionDescriptorObject>(this, [&](auto& own) { own.name = text_of(name); });
}
NS::String* FunctionDescriptor::specializedName() const {
  return ask<FunctionDescriptorObject>(this, [](const auto& own) -> NS::String* {
    return autoreleased(new_string(own.specialized_name));
  });
}
void FunctionDescriptor::setSpecializedName(const NS::String* name) {
  ask<FunctionDescriptorObject>(this, [&](auto& own) { own.specialized_name = text_of(name); });
}
const FunctionConstantValues* FunctionDescriptor::constantValues() const {
  return ask<FunctionDescriptorObject>(
      this, [](const auto& own) -> const FunctionConstantValues* { return own.constants.get(); });
}
void FunctionDescriptor::setConstantValues(const FunctionConstantValues* values) {
  ask<FunctionDescriptorObject>(this, [&](auto& own) {
    own.constants =
        static_cast<FunctionConstantsObject*>(const_cast<FunctionConstantValues*>(values));
  });
}

Library* Device::newDefaultLibrary() { return newDefaultLibrary(nullptr, nullptr); }
Library* Device::newDefaultLibrary(const NS::Bundle*, NS::Error** error) {
  return ask<DeviceObject>(this, [&](DeviceObject&) -> Library* {
    const fs::path file = default_library();
    if (file.empty()) {
      return fail(error, library_domain, LibraryErrorFileNotFound, "no default library was found");
    }
    return open_library(file, error);
  });
}
Library* Device::newLibrary(const NS::String* source, const CompileOptions* options,
                            NS::Error** error) {
  return ask<DeviceObject>(
      this, [&](DeviceObject&) { return compile_library(text_of(source), options, error); });
}
Library* Device::newLibrary(const NS::String* path, NS::Error** error) {
  return ask<DeviceObject>(this, [&](DeviceObject&) { return open_library(text_of(path), error); });
}
Library* Device::newLibrary(const NS::URL* url, NS::Error** error) {
  return ask<DeviceObject>(this, [&](DeviceObject&) -> Library* {
    if (!is_usable(url)) {
      return fail(error, library_domain, LibraryErrorFileNotFound, "the URL is nil");
    }
    return open_library(url->fileSystemRepresentation(), error);
  });
}
Library* Device::newLibrary(dispatch_data_t data, NS::Error** error) {
  return ask<DeviceObject>(this, [&](DeviceObject&) -> Library* {
    auto folder = std::make_unique<rung::TemporaryFolder>("rung-metal-");
    const fs::path file = folder->path() / "library.metallib";
    std::ofstream(file, std::ios::binary) << data->bytes;
    Library* const library = open_library(file, error);
    if (library != nullptr) static_cast<LibraryObject*>(library)->folder = std::move(folder);
    return library;
  });
}

NS::String* Library::label() const {
  return ask<LibraryObject>(
      this, [](const auto& own) -> NS::String* { return autoreleased(new_string(own.label)); });
}
void Library::setLabel(const NS::String* label) {
  ask<LibraryObject>(this, [&](LibraryObject& own) { own.label = text_of(label); });
}
Device* Library::device() const { return &rung::emu::metal_cpp::device(); }
NS::Array* Library::functionNames() const {
  return ask<LibraryObject>(this, [](const LibraryObject& own) -> NS::Array* {
    std::vector<const NS::Object*> names;
    for (const std::string& each : own.kernels) names.push_back(autoreleased(new_string(each)));
    return autoreleased(new_array(names.data(), names.size()));
  });
}
Function* Library::newFunction(const NS::String* name) {
  return ask<LibraryObject>(
      this, [&](LibraryObject& own) -> Function* { return new_function(own, text_of(name)); });
}
Function* Library::newFunction(const NS::String* name, const FunctionConstantValues* values,
                               NS::Error** error) {
  return ask<LibraryObject>(this, [&](LibraryObject& own) -> Function* {
    FunctionObject* const function = new_function(own, text_of(name));
    if (function == nullptr) {
      return fail(error, library_domain, LibraryErrorFunctionNotFound,
                  fmt::format("Function {} was not found in the library.", text_of(name)));
    }
    if (values != nullptr) {
      function->constants = static_cast<const FunctionConstantsObject&>(*values).values;
    }
    return function;
  });
}
Function* Library::newFunction(const FunctionDescriptor* descriptor, NS::Error** error) {
  return ask<FunctionDescriptorObject>(descriptor, [&](const FunctionDescriptorObject& from) {
    NS::String* const name = autoreleased(new_string(from.name));
    return newFunction(name, from.constants.get(), error);
  });
}

NS::String* Function::label() const {
  return ask<FunctionObject>(
      this, [](const auto& own) -> NS::String* { return autoreleased(new_string(own.label)); });
}
void Function::setLabel(const NS::String* label) {
  ask<FunctionObject>(this, [&](FunctionObject& own) { own.label = text_of(label); });
}
Device* Function::device() const { return &rung::emu::metal_cpp::device(); }
NS::String* Function::name() const {
  return ask<FunctionObject>(
      this, [](const auto& own) -> NS::String* { return autoreleased(new_string(own.name)); });
}

ArgumentEncoder* Function::newArgumentEncoder(UInteger buffer_index) {
  return ask<FunctionObject>(this, [&](FunctionObject& own) -> ArgumentEncoder* {
    for (const KernelParameter& each : own.compile().parameters) {
      const bool is_buffer =
          each.kind == KernelParameter::Kind::buffer || each.kind == KernelParameter::Kind::value;
      if (!is_buffer || each.index != buffer_index) continue;
      auto* const encoder = named(new ArgumentEncoderObject, "MTL::ArgumentEncoder");
      encoder->parameter = each;
      return encoder;
    }
    report_misuse(fmt::format("newArgumentEncoder: {} has no buffer {}", own.name, buffer_index));
    return nullptr;
  });
}
UInteger ArgumentEncoder::encodedLength() const {
  return ask<ArgumentEncoderObject>(this, [](const auto& own) { return own.parameter.bytes; });
}
void ArgumentEncoder::setArgumentBuffer(const Buffer* buffer, UInteger offset) {
  ask<ArgumentEncoderObject>(this, [&](ArgumentEncoderObject& own) {
    own.buffer = static_cast<BufferObject*>(const_cast<Buffer*>(buffer));
    own.offset = offset;
  });
}
void* ArgumentEncoder::constantData(UInteger index) {
  return ask<ArgumentEncoderObject>(this, [&](ArgumentEncoderObject& own) -> void* {
    if (!own.buffer || index >= own.parameter.fields.size()) {
      report_misuse(
          fmt::format("an argument encoder of {} without argument {}, or without a buffer",
                      own.parameter.type, index));
      return nullptr;
    }
    return static_cast<std::byte*>(own.buffer->contents()) + own.offset +
           own.parameter.fields[index];
  });
}
void ArgumentEncoder::setBuffer(const Buffer* buffer, UInteger offset, UInteger index) {
  const GPUAddress address = is_usable(buffer) ? buffer->gpuAddress() + offset : 0;
  if (void* const at = constantData(index)) std::memcpy(at, &address, sizeof address);
}
void ArgumentEncoder::setTexture(const Texture* texture, UInteger index) {
  const GPUAddress address =
      is_usable(texture) ? static_cast<const TextureObject&>(*texture).descriptor : 0;
  if (void* const at = constantData(index)) std::memcpy(at, &address, sizeof address);
}

ComputePipelineDescriptor* ComputePipelineDescriptor::alloc() {
  return named(new PipelineDescriptorObject, "MTL::ComputePipelineDescriptor");
}
ComputePipelineDescriptor* ComputePipelineDescriptor::init() { return this; }
NS::String* ComputePipelineDescriptor::label() const {
  return ask<PipelineDescriptorObject>(
      this, [](const auto& own) -> NS::String* { return autoreleased(new_string(own.label)); });
}
void ComputePipelineDescriptor::setLabel(const NS::String* label) {
  ask<PipelineDescriptorObject>(this, [&](auto& own) { own.label = text_of(label); });
}
Function* ComputePipelineDescriptor::computeFunction() const {
  return ask<PipelineDescriptorObject>(
      this, [](const auto& own) -> Function* { return own.function.get(); });
}
void ComputePipelineDescriptor::setComputeFunction(const Function* function) {
  ask<PipelineDescriptorObject>(this, [&](auto& own) {
    own.function = static_cast<FunctionObject*>(const_cast<Function*>(function));
  });
}
bool ComputePipelineDescriptor::threadGroupSizeIsMultipleOfThreadExecutionWidth() const {
  return ask<PipelineDescriptorObject>(this, [](const auto& own) { return own.is_multiple; });
}
void ComputePipelineDescriptor::setThreadGroupSizeIsMultipleOfThreadExecutionWidth(
    bool is_multiple) {
  ask<PipelineDescriptorObject>(this, [&](auto& own) { own.is_multiple = is_multiple; });
}
UInteger ComputePipelineDescriptor::maxTotalThreadsPerThreadgroup() const {
  return ask<PipelineDescriptorObject>(this, [](const auto& own) { return own.most_threads; });
}
void ComputePipelineDescriptor::setMaxTotalThreadsPerThreadgroup(UInteger count) {
  ask<PipelineDescriptorObject>(this, [&](auto& own) { own.most_threads = count; });
}
void ComputePipelineDescriptor::reset() {
  ask<PipelineDescriptorObject>(this, [](auto& own) {
    own.function = {};
    own.is_multiple = false;
    own.most_threads = 0;
  });
}

ComputePipelineState* Device::newComputePipelineState(const Function* function, NS::Error** error) {
  return ask<DeviceObject>(this, [&](DeviceObject&) {
    auto* const own = static_cast<FunctionObject*>(const_cast<Function*>(function));
    return new_pipeline(is_usable(own) ? own : nullptr, "", 0, error);
  });
}
ComputePipelineState* Device::newComputePipelineState(
    const Function* function, PipelineOption,
    const AutoreleasedComputePipelineReflection* reflection, NS::Error** error) {
  return with_reflection(newComputePipelineState(function, error), reflection);
}
ComputePipelineState* Device::newComputePipelineState(
    const ComputePipelineDescriptor* descriptor, PipelineOption,
    const AutoreleasedComputePipelineReflection* reflection, NS::Error** error) {
  return ask<PipelineDescriptorObject>(descriptor, [&](const PipelineDescriptorObject& from) {
    return with_reflection(new_pipeline(from.function.get(), from.label, from.most_threads, error),
                           reflection);
  });
}
NS::String* ComputePipelineState::label() const {
  return ask<PipelineObject>(
      this, [](const auto& own) -> NS::String* { return autoreleased(new_string(own.label)); });
}
Device* ComputePipelineState::device() const { return &rung::emu::metal_cpp::device(); }
UInteger ComputePipelineState::maxTotalThreadsPerThreadgroup() const {
  return ask<PipelineObject>(this, [](const auto& own) { return own.most_threads; });
}
UInteger ComputePipelineState::staticThreadgroupMemoryLength() const {
  return ask<PipelineObject>(this, [](const auto& own) { return own.static_shared; });
}

}  // namespace MTL
