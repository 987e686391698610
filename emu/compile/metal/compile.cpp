#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "core/c_literal.hpp"
#include "core/temporary_folder.hpp"
#include "emu/compile/ir/device_compiler.hpp"
#include "emu/compile/link/device_code.hpp"
#include "emu/compile/link/object_cache.hpp"
#include "emu/compile/metal/device_code.hpp"
#include "emu/compile/metal/metal.hpp"
#include "emu/compile/metal/passes.hpp"
#include "emu/compile/process.hpp"
#include "emu/compile/toolchain.hpp"

namespace rung::emu::metal {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Headers of Metal 4's tensors, which a text includes only if it asks for them.
constexpr auto tensor_headers =
    std::to_array<const char*>({"metal_tensor", "metal_cooperative_tensor",
                                "MetalPerformancePrimitives/MetalPerformancePrimitives.h",
                                "MetalPerformancePrimitives/MPPTensorOpsConvolution2d.h",
                                "MetalPerformancePrimitives/MPPTensorOpsMatMul2d.h"});
/// The declaration that their file has.
constexpr std::string_view tensor_mark = "struct rung_has_tensors;";
/// The headers of Metal's library. All of them are the one library, which every text includes.
constexpr std::array library_headers =
    std::to_array<const char*>({"metal_array",
                                "metal_assert",
                                "metal_atomic",
                                "metal_command_buffer",
                                "metal_common",
                                "metal_compute",
                                "metal_config",
                                "metal_extended_vector",
                                "metal_function_constant",
                                "metal_geometric",
                                "metal_graphics",
                                "metal_imageblocks",
                                "metal_initializer_list",
                                "metal_integer",
                                "metal_limits",
                                "metal_logging",
                                "metal_math",
                                "metal_matrix",
                                "metal_numeric",
                                "metal_pack",
                                "metal_packed_vector",
                                "metal_pull_model_interpolation",
                                "metal_quadgroup",
                                "metal_raytracing",
                                "metal_reference",
                                "metal_relational",
                                "metal_simdgroup",
                                "metal_simdgroup_matrix",
                                "metal_stdlib",
                                "metal_texture",
                                "metal_tuple",
                                "metal_type_traits",
                                "metal_types",
                                "metal_uniform",
                                "metal_utility",
                                "metal_vector",
                                "metal_visible_function_table",
                                "MetalPerformanceShaders/MetalPerformanceShaders.h",
                                "TargetConditionals.h",
                                "simd/base.h",
                                "simd/matrix_types.h",
                                "simd/simd.h",
                                "simd/types.h",
                                "simd/vector_types.h",
                                "simd/vector_make.h",
                                "simd/math.h",
                                "simd/common.h",
                                "simd/geometry.h",
                                "simd/packed.h",
                                "stdint.h",
                                "stddef.h",
                                "stdbool.h",
                                "float.h",
                                "limits.h",
                                "math.h"});

fs::path library_folder() { return find_installation().library.parent_path() / "metal"; }

/// Messages on calls of functions that the library declares without support give the reason alone:
/// clang reports them for the IR.
std::string with_reasons(const std::string& messages) {
  constexpr std::string_view before = " declared with 'error' attribute: ";
  std::istringstream lines(messages);
  std::string text;
  bool in_excerpt = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t reason = line.find(before);
    in_excerpt = reason != line.npos || (in_excerpt && line.find(" | ") != line.npos);
    if (reason != line.npos) line = "error: " + line.substr(reason + before.size());
    if (reason != line.npos || !in_excerpt) text += line + '\n';
  }
  return text;
}

/// Throws CompileError with clang's messages, in Metal's words, or prints them.
class Compiler {
 public:
  Compiler(const Options& options, const fs::path& folder) : options_(options), folder_(folder) {}

  void run(std::vector<std::string> command) const {
    const fs::path messages = folder_ / "messages";
    command.insert(command.begin(), {"/bin/sh", "-c", "out=$1; shift; exec \"$@\" 2>\"$out\"", "sh",
                                     messages.string()});
    const ExitStatus status = emu::run(command);
    report(read_file(messages), status.code != 0 || status.signal != 0);
  }

  void report(std::string text, bool has_failed) const {
    if (has_failed) text = with_reasons(text);
    constexpr auto words = std::to_array<std::pair<std::string_view, std::string_view>>(
        {{"const __attribute__((opencl_global_host)) ", "constant "},
         {"const __global_host ", "constant "},
         {"__global_host ", "constant "},
         {"__attribute__((opencl_global_host)) ", "constant "},
         {"__attribute__((opencl_global)) ", "device "},
         {"__attribute__((opencl_local)) ", "threadgroup "},
         {"__global ", "device "},
         {"__local ", "threadgroup "}});
    for (const auto& [from, to] : words) {
      for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
        text.replace(at, from.size(), to);
      }
    }
    if (!options_.is_quiet) std::cerr << text;
    if (has_failed) throw CompileError(options_.is_quiet ? text : "the kernel does not compile");
  }

 private:
  const Options& options_;
  const fs::path& folder_;
};

/// A virtual folder of headers: each name of Metal's library is one empty file, because the second
/// compilation includes the library.
void write_header_names(const fs::path& overlay) {
  Json names = Json::array();
  std::map<std::string, Json> folders;
  const auto entry = [](std::string_view name, const char* file) {
    return Json{{"type", "file"},
                {"name", name},
                {"external-contents", (library_folder() / file).string()}};
  };
  const auto add = [&](std::string_view name, const char* file) {
    const std::size_t slash = name.find('/');
    if (slash == name.npos) {
      names.push_back(entry(name, file));
    } else {
      folders[std::string(name.substr(0, slash))].push_back(entry(name.substr(slash + 1), file));
    }
  };
  for (const std::string_view name : library_headers) {
    add(name, "included.h");
    // Apple's compiler searches the folder above, too: <metal/metal_stdlib>.
    if (name.starts_with("metal_")) add(fmt::format("metal/{}", name), "included.h");
  }
  for (const std::string_view name : tensor_headers) add(name, "tensor_included.h");
  for (const auto& [name, contents] : folders) {
    names.push_back({{"type", "directory"}, {"name", name}, {"contents", contents}});
  }
  const Json all = {
      {"version", 0},
      {"case-sensitive", "true"},
      {"roots", {{{"type", "directory"}, {"name", "/rung_metal"}, {"contents", names}}}}};
  std::ofstream(overlay) << all.dump();
}

/// The text with its includes and macros, as clang's preprocessor writes it.
std::string preprocess(const fs::path& file, const Options& options, const Compiler& compiler,
                       const fs::path& folder) {
  const fs::path overlay = folder / "headers.yaml", output = folder / "preprocessed";
  write_header_names(overlay);
  std::vector<std::string> command = {find_clang(),
                                      "-E",
                                      "-x",
                                      "c++",
                                      "-std=c++17",
                                      "-nostdinc",
                                      "-undef",
                                      "-Wno-everything",
                                      "-Wno-invalid-source-encoding",
                                      "-D__METAL__=1",
                                      "-D__METAL_VERSION__=320",
                                      "-D__METAL_MACOS__=1",
                                      "-D__HAVE_BFLOAT__=1",
                                      "-D__LITTLE_ENDIAN__=1",
                                      "-D__clang__=1",
                                      "-D__RUNG__=1",
                                      "-U__cplusplus",
                                      "-D__cplusplus=201402L",
                                      "-ivfsoverlay",
                                      overlay.string(),
                                      "-isystem",
                                      "/rung_metal",
                                      "-include",
                                      (library_folder() / "macros.h").string()};
  for (const std::string& option : options.compiler) {
    const bool is_for_preprocessor =
        option.starts_with("-I") || option.starts_with("-D") || option.starts_with("-U");
    if (is_for_preprocessor) command.push_back(option);
  }
  fs::path input = file;
  if (options.text) {
    // Files in quotes are searched beside the file, not beside this copy.
    command.push_back("-iquote" + fs::absolute(file).parent_path().string());
    input = folder / "text.metal";
    std::ofstream(input, std::ios::binary) << "#line 1 " << c_literal(file.string()) << '\n'
                                           << *options.text;
  }
  command.insert(command.end(), {input.string(), "-o", output.string()});
  compiler.run(command);
  return read_file(output);
}

struct Unit {
  std::string text;  // C++ without entries
  bool is_balanced = true;
  bool has_tensors = false;
  Declarations declarations;
  std::vector<std::string> packed_parts;  // macros of the library
};

/// `ones` are function constants that are 1 where they have no value.
Unit rewrite(const std::string& preprocessed, const Options& options, const Compiler& compiler,
             const std::set<std::string>& ones = {}) {
  Source source(preprocessed);
  Unit unit;
  std::string errors = forbidden_words(source) + pointers_without_space(source);
  remove_unroll_counts(source);
  rewrite_literals(source);
  rewrite_global_positions(source);
  unit.declarations = take_kernels(source);
  errors += unit.declarations.errors;
  if (!errors.empty()) compiler.report(errors, true);
  set_function_constants(source, options.function_constants, ones, unit.declarations);
  remove_attributes(source);
  join_parts(source);
  unit.packed_parts = packed_parts(source);
  rewrite_address_spaces(source);
  rewrite_vectors(source);
  unit.text = source.text();
  unit.is_balanced = source.is_balanced();
  unit.has_tensors = preprocessed.find(tensor_mark) != preprocessed.npos;
  return unit;
}

std::vector<std::string> frontend(const Unit& unit, const Options& options) {
  std::vector<std::string> command = {
      find_clang(), "--target=nvptx64-nvidia-cuda", "-march=sm_80", "-Xclang", "-target-feature",
      "-Xclang", "+ptx70", "-x", "c++", "-std=c++17", "-nostdinc", "-fno-exceptions", "-fno-rtti",
      "-fno-crash-diagnostics", "-Wno-everything", "-Xclang", "-fconvergent-functions",
      "-fdeclspec",
      // Address spaces of SYCL convert to pointers without one; clang 19
      // needs the second target for
      // bfloat. With the fake map, constant memory has a space of its own in the IR.
      "-Xclang", "-fsycl-is-device", "-Xclang", "-faddress-space-map-mangling=no", "-Xclang",
      "-ffake-address-space-map", "-Xclang", "-aux-triple", "-Xclang", "x86_64-unknown-linux-gnu",
      "-Xclang", "-fpreserve-vec3-type", "-isystem", library_folder().string(), "-isystem",
      find_installation().include.string(), "-include", (library_folder() / "library.h").string(),
      "-fno-verbose-asm", "-Xclang", "-debug-info-kind=limited", "-O3", "-ffp-contract=fast",
      "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-S"};
  const std::vector<std::string> semantics = device_semantics();
  command.insert(command.end(), semantics.begin(), semantics.end());
  command.insert(command.end(), unit.packed_parts.begin(), unit.packed_parts.end());
  for (const std::string& option : options.compiler) {
    const bool was_preprocessed =
        option.starts_with("-I") || option.starts_with("-D") || option.starts_with("-U");
    if (!was_preprocessed) command.push_back(option);
  }
  if (unit.has_tensors) {
    // matmul2d has a structure as a template argument, and tensors an operator [] of several
    // indices.
    command.insert(command.end(),
                   {"-std=c++23", "-include", (library_folder() / "tensor.h").string(), "-include",
                    (library_folder() / "tensor_ops.h").string()});
  }
  return command;
}

std::vector<std::string> backend() {
  std::vector<std::string> command = {find_clang(),
                                      "--target=nvptx64-nvidia-cuda",
                                      "-march=sm_80",
                                      "-Xclang",
                                      "-target-feature",
                                      "-Xclang",
                                      "+ptx70",
                                      "-Wno-everything",
                                      "-fno-verbose-asm",
                                      "-O3",
                                      "-ffp-contract=fast",
                                      "-mllvm",
                                      "-nvptx-fma-level=2",
                                      "-S"};
  const std::vector<std::string> semantics = device_semantics();
  command.insert(command.end(), semantics.begin(), semantics.end());
  command.insert(command.end(), {"-x", "ir"});
  return command;
}

struct Code {
  std::string ptx;
  std::vector<Type> types;  // of the parameters of the first kernel
};

void write_unit(const fs::path& source, const Unit& unit,
                const std::vector<const KernelEntry*>& kernels, const Options& options) {
  std::ofstream file(source);
  file << unit.text;
  for (const KernelEntry* kernel : kernels) file << entry_text(*kernel);
  if (!options.appended.empty()) file << "\n# 1 \"rung\"\n" << options.appended;
}

/// An instruction in the engine's form for Metal. Functions of a simdgroup act on its active
/// threads, and do not demand the others. Vectors need the alignment of their elements alone to be
/// accessed; LLVM loads and stores two elements of 16 bits as a word of type b32.
std::string metal_form(std::string mnemonic) {
  for (const std::string_view exchange : {"shfl.sync.", "vote.sync."}) {
    if (mnemonic.starts_with(exchange)) return mnemonic.insert(exchange.size(), "simdgroup.");
  }
  if (!mnemonic.starts_with("ld.") && !mnemonic.starts_with("st.")) return mnemonic;
  for (const std::string_view vector : {".v2.", ".v4.", ".b32"}) {
    const std::size_t at = mnemonic.find(vector);
    if (at != mnemonic.npos) return mnemonic.insert(at, ".elements");
  }
  return mnemonic;
}

/// Rewrites the words of a PTX text. An instruction follows a tab, or its guard.
std::string metal_forms(const std::string& ptx) {
  std::string forms;
  forms.reserve(ptx.size() + ptx.size() / 16);
  std::size_t begin = 0;
  while (begin < ptx.size()) {
    const std::size_t end = std::min(ptx.find_first_of("\t \n", begin), ptx.size());
    forms += metal_form(ptx.substr(begin, end - begin));
    if (end < ptx.size()) forms += ptx[end];
    begin = end + 1;
  }
  return forms;
}

/// All kernels, or none if the brackets do not match, which the compiler reports.
std::vector<const KernelEntry*> all_kernels(const Unit& unit) {
  std::vector<const KernelEntry*> kernels;
  if (!unit.is_balanced) return kernels;
  for (const KernelEntry& each : unit.declarations.kernels) kernels.push_back(&each);
  return kernels;
}

Code generate(const Unit& unit, const std::vector<const KernelEntry*>& kernels,
              const Options& options, const Compiler& compiler, const fs::path& folder) {
  const fs::path source = folder / "unit.cpp", module = folder / "unit.ll",
                 ptx = folder / "unit.ptx";
  write_unit(source, unit, kernels, options);
  std::vector<std::string> command = frontend(unit, options);
  command.insert(command.end(), {source.string(), "-o", module.string()});
  compiler.run(command);
  std::string text = read_file(module);
  if (const std::string error = forbidden_conversion(text); !error.empty()) {
    compiler.report(error, true);
  }
  std::vector<std::string> names;
  for (const KernelEntry* kernel : kernels) names.push_back(entry_name(*kernel));
  Code code;
  if (!names.empty()) code.types = take_layouts(text, names.front());
  text = internal_functions(generic_constants(store_components(text)), names);
  std::ofstream(module, std::ios::binary) << text;
  command = backend();
  command.insert(command.end(), {module.string(), "-o", ptx.string()});
  compiler.run(command);
  code.ptx = metal_forms(read_file(ptx));
  return code;
}

/// Larger references to constant memory are addresses: PTX has at most 4352 bytes of parameters.
constexpr std::size_t most_value_bytes = 2048;

Kernel kernel_of(const KernelEntry& entry, const std::vector<Type>& types) {
  Kernel kernel{entry.name, entry.file, entry.line, {}};
  int ptx_parameter = 0;
  for (std::size_t i = 0; i < entry.arguments.size(); ++i) {
    if (!entry.arguments[i].position.empty()) continue;
    Parameter parameter = entry.arguments[i].parameter;
    if (i < types.size()) parameter.element = types[i];
    if (parameter.kind == ParameterKind::value && parameter.element.bytes > most_value_bytes) {
      parameter.kind = ParameterKind::buffer;
    }
    if (parameter.kind != ParameterKind::threadgroup) parameter.ptx_parameter = ptx_parameter++;
    kernel.parameters.push_back(std::move(parameter));
  }
  return kernel;
}

const KernelEntry& find_kernel(const Unit& unit, const std::string& name, const fs::path& file) {
  const auto& kernels = unit.declarations.kernels;
  const auto found = std::ranges::find_if(kernels, [&](const KernelEntry& each) {
    return name.empty() || each.name == name || each.expression == name ||
           each.expression == "::" + name;
  });
  if (found != kernels.end()) return *found;
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(kernels.size(), 20); ++i) {
    names += (i == 0 ? "" : ", ") + kernels[i].name;
  }
  throw CompileError(
      kernels.empty() ? fmt::format("{}: no kernel", file.string())
                      : fmt::format("{}: no kernel '{}'; it has {}", file.string(), name, names));
}

Json to_json(const Type& type) {
  Json json = {
      {"kind", type.kind}, {"name", type.name}, {"bytes", type.bytes}, {"count", type.count}};
  if (type.is_read_only) json["is_read_only"] = true;
  for (const Type& each : type.elements) json["elements"].push_back(to_json(each));
  for (const Type::Field& each : type.fields) {
    json["fields"].push_back(
        {{"name", each.name}, {"offset", each.offset}, {"type", to_json(each.type)}});
  }
  return json;
}

Type type_of(const Json& json) {
  Type type;
  type.kind = json.at("kind").get<Type::Kind>();
  type.name = json.at("name");
  type.bytes = json.at("bytes");
  type.count = json.at("count");
  type.is_read_only = json.value("is_read_only", false);
  for (const Json& each : json.value("elements", Json::array()))
    type.elements.push_back(type_of(each));
  for (const Json& each : json.value("fields", Json::array())) {
    type.fields.push_back({each.at("name"), each.at("offset"), type_of(each.at("type"))});
  }
  return type;
}

/// Compiled kernels, by everything that their code depends on.
class KernelCache {
 public:
  KernelCache(const Unit& unit, const KernelEntry& kernel, const Options& options,
              const fs::path& folder)
      : cache_(ObjectCache::default_folder()),
        ptx_(folder / "kept.ptx"),
        types_(folder / "kept.json") {
    std::string all = unit.text + '\0' + entry_text(kernel) + '\0' + options.appended + '\0';
    for (const std::string& word : frontend(unit, options)) all += word + '\n';
    for (const auto& file : fs::directory_iterator(library_folder())) {
      all += fmt::format("{} {} ", file.path().string(),
                         file.last_write_time().time_since_epoch().count());
    }
    all += fmt::format("{}", fs::last_write_time("/proc/self/exe").time_since_epoch().count());
    key_ = ObjectCache::key(all);
  }

  bool fetch(Code& code) const {
    if (!cache_.fetch(key_, {ptx_, types_})) return false;
    code.ptx = read_file(ptx_);
    for (const Json& each : Json::parse(read_file(types_))) code.types.push_back(type_of(each));
    return true;
  }

  void store(const Code& code) const {
    Json types = Json::array();
    for (const Type& each : code.types) types.push_back(to_json(each));
    std::ofstream(ptx_, std::ios::binary) << code.ptx;
    std::ofstream(types_) << types.dump();
    cache_.store(key_, {ptx_, types_}, {});
  }

 private:
  ObjectCache cache_;
  fs::path ptx_, types_;
  std::string key_;
};

/// Finds the function constants without a value on which a kernel depends: its code is not the same
/// for 0 and 1.
class RequiredConstants {
 public:
  RequiredConstants(const std::string& preprocessed, const Options& options,
                    const Compiler& compiler, const fs::path& folder)
      : preprocessed_(preprocessed), options_(options), compiler_(compiler), folder_(folder) {}

  /// `code` is the kernel's with 0 for constants without a value. Throws CompileError.
  void check(const Unit& unit, const KernelEntry& entry, const Code& code) const {
    const std::set<std::string> open = reached_without_value(unit, entry);
    if (open.empty() || !depends(open, entry, code)) return;
    std::string errors;
    for (const FunctionConstant& each : unit.declarations.function_constants) {
      if (!open.contains(each.name)) continue;
      if (open.size() > 1 && !depends({each.name}, entry, code)) continue;
      errors += fmt::format(
          "{}:{}: error: kernel '{}' depends on function constant {} '{}', which has no value: "
          "give "
          "it one\n",
          each.file, each.line, entry.name, each.index, each.name);
    }
    compiler_.report(errors, true);
  }

 private:
  std::set<std::string> reached_without_value(const Unit& unit, const KernelEntry& entry) const {
    std::set<std::string> open;
    for (const FunctionConstant& each : unit.declarations.function_constants) {
      if (!each.has_value) open.insert(each.name);
    }
    if (open.empty()) return open;
    const std::set<std::string> reached = reached_names(Source(preprocessed_), entry.expression);
    std::erase_if(open, [&](const std::string& name) { return !reached.contains(name); });
    return open;
  }

  /// True also if the kernel does not compile with 1, such as an array of 1 - n elements.
  bool depends(const std::set<std::string>& ones, const KernelEntry& entry,
               const Code& code) const {
    Options quiet = options_;
    quiet.is_quiet = true;
    const Compiler compiler(quiet, folder_);
    const Unit other = rewrite(preprocessed_, quiet, compiler, ones);
    const auto same = std::ranges::find(other.declarations.kernels, entry.name, &KernelEntry::name);
    try {
      return generate(other, {&*same}, quiet, compiler, folder_).ptx != code.ptx;
    } catch (const CompileError&) {
      return true;
    }
  }

  const std::string& preprocessed_;
  const Options& options_;
  const Compiler& compiler_;
  const fs::path& folder_;
};

Description description_of(const Unit& unit) {
  Description description;
  for (const KernelEntry& each : unit.declarations.kernels) {
    description.kernels.push_back(kernel_of(each, {}));
  }
  description.function_constants = unit.declarations.function_constants;
  return description;
}

}  // namespace

Description describe(const fs::path& file, const Options& options) {
  const TemporaryFolder folder;
  const Compiler compiler(options, folder.path());
  return description_of(
      rewrite(preprocess(file, options, compiler, folder.path()), options, compiler));
}

std::string expand(const fs::path& file, const Options& options) {
  const TemporaryFolder folder;
  return preprocess(file, options, Compiler(options, folder.path()), folder.path());
}

Description check(const fs::path& file, const Options& options) {
  const TemporaryFolder folder;
  const Compiler compiler(options, folder.path());
  const Unit unit = rewrite(preprocess(file, options, compiler, folder.path()), options, compiler);
  const fs::path source = folder.path() / "unit.cpp";
  write_unit(source, unit, all_kernels(unit), options);
  std::vector<std::string> command = frontend(unit, options);
  command.insert(command.end(), {"-fsyntax-only", source.string()});
  compiler.run(command);
  return description_of(unit);
}

Compiled compile(const fs::path& file, const std::string& kernel, const Options& options) {
  const TemporaryFolder folder;
  const Compiler compiler(options, folder.path());
  const std::string preprocessed = preprocess(file, options, compiler, folder.path());
  const Unit unit = rewrite(preprocessed, options, compiler);
  if (!unit.is_balanced || unit.declarations.kernels.empty()) {
    generate(unit, {}, options, compiler, folder.path());  // for the compiler's errors
  }
  const KernelEntry& entry = find_kernel(unit, kernel, file);
  const KernelCache cache(unit, entry, options, folder.path());
  Code code;
  if (!cache.fetch(code)) {
    code = generate(unit, {&entry}, options, compiler, folder.path());
    RequiredConstants(preprocessed, options, compiler, folder.path()).check(unit, entry, code);
    cache.store(code);
  }
  return {std::move(code.ptx), entry_name(entry), kernel_of(entry, code.types)};
}

std::string compile_all(const fs::path& file, const Options& options) {
  const TemporaryFolder folder;
  const Compiler compiler(options, folder.path());
  const Unit unit = rewrite(preprocess(file, options, compiler, folder.path()), options, compiler);
  return generate(unit, all_kernels(unit), options, compiler, folder.path()).ptx;
}

}  // namespace rung::emu::metal
