#include "tools/any_kernel/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/temporary_folder.hpp"
#include "emu/compile/link/object_cache.hpp"
#include "emu/compile/toolchain.hpp"
#include "emu/reports/launch_json.hpp"
#include "tools/any_kernel/debug_info.hpp"
#include "tools/any_kernel/metal_program.hpp"
#include "tools/kernel_file/kernel_file.hpp"
#include "tools/kernel_file/nearest_name.hpp"
#include "tools/kernel_file/source_functions.hpp"
#include "vgpu/ptx/parser.hpp"

namespace rung::any_kernel {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string without_blanks(std::string_view text) {
  std::string kept(text);
  std::erase(kept, ' ');
  return kept;
}

/// "softmax" for "ops::softmax<float, 128>".
std::string_view base_name(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const std::size_t colons = name.rfind("::");
  return colons == name.npos ? name : name.substr(colons + 2);
}

/// "softmax<float,128>" for "ops::softmax<float,128>".
std::string_view without_scope(std::string_view name) {
  const std::size_t colons = name.substr(0, name.find('<')).rfind("::");
  return colons == name.npos ? name : name.substr(colons + 2);
}

/// Makes clang generate this instantiation of a kernel template.
std::string instantiation(const std::string& kernel) {
  if (kernel.find('<') == kernel.npos) return "";
  return fmt::format(
      "\nnamespace {{ [[maybe_unused]] const void* const rung_instance = "
      "reinterpret_cast<const void*>(&{}); }}\n",
      kernel);
}

void add_kernels(Program& program, std::string_view ir) {
  for (DebugFunction& function : debug_functions(ir)) {
    if (!function.is_kernel) continue;
    Kernel kernel{function.name, function.symbol, function.line, {}};
    int index = 0;
    for (DebugParameter& parameter : function.parameters) {
      const bool is_buffer = parameter.type->is_address();
      kernel.parameters.push_back({is_buffer ? Parameter::Kind::buffer : Parameter::Kind::value,
                                   parameter.name, parameter.type, index, index});
      ++index;
    }
    program.kernels.push_back(std::move(kernel));
  }
  std::ranges::stable_sort(program.kernels, {}, &Kernel::line);
}

emu::CompileOptions compile_options(const ProgramRequest& request) {
  KernelFile file;
  file.path = request.path;
  file.options = request.options;
  emu::CompileOptions options;
  options.passed = compiler_options(file);
  options.architecture = architecture_for(request.arch);
  options.all_cuda = true;
  return options;
}

void compile_cuda(Program& program, const ProgramRequest& request) {
  const emu::CompileOptions options = compile_options(request);
  const emu::Installation installation = emu::find_installation();
  const std::string clang = emu::find_clang();
  const TemporaryFolder folder;
  const emu::DescribedCode code{instantiation(request.kernel), folder.path() / "unit.ptx",
                                folder.path() / "unit.ll", folder.path() / "unit.d"};
  const fs::path lines = folder.path() / "unit.debug";
  const emu::ObjectCache cache(emu::ObjectCache::default_folder());
  emu::CompileOptions identity = options;
  identity.passed.push_back("described" + code.appended);
  const std::string key = emu::ObjectCache::key(identity, request.path, installation, clang);
  if (!cache.fetch(key, {code.ptx, lines})) {
    emu::compile_described(options, request.path, code, installation, clang);
    std::ofstream(lines, std::ios::binary) << debug_lines(contents(code.described));
    cache.store(key, {code.ptx, lines}, {code.dependencies});
  }
  program.ptx = contents(code.ptx);
  program.code =
      fmt::format("PTX for {} by {}", options.architecture, fs::path(clang).filename().string());
  add_kernels(program, contents(lines));
}

/// The type of an entry's parameter. PTX does not distinguish addresses from other integers of 64 bits.
TypePtr ptx_type(const vgpu::ptx::Variable& variable) {
  const std::string name = vgpu::ptx::name(variable.type);
  Type type;
  type.name = "." + name;
  type.bytes = static_cast<std::size_t>(variable.bytes());
  if (variable.count > 1) {
    type.name += fmt::format("[{}]", variable.count);
  } else if (type.bytes == sizeof(std::uint64_t) && !vgpu::ptx::is_float(variable.type)) {
    type.kind = Type::Kind::pointer;
  } else if (const auto scalar = parse_scalar(name.front() == 's' ? "i" + name.substr(1) : name)) {
    return scalar_type(*scalar);
  }
  return std::make_shared<const Type>(std::move(type));
}

void read_ptx(Program& program) {
  try {
    const vgpu::ptx::Module module = vgpu::ptx::parse(program.text, program.file_name());
    for (const vgpu::ptx::Function& function : module.functions) {
      if (!function.entry) continue;
      Kernel kernel{emu::readable_name(function.name), function.name, function.line, {}};
      for (const vgpu::ptx::Variable& variable : function.parameters) {
        const int index = static_cast<int>(kernel.parameters.size());
        const TypePtr type = ptx_type(variable);
        kernel.parameters.push_back(
            {type->is_address() ? Parameter::Kind::buffer : Parameter::Kind::value, "", type, index,
             index});
      }
      program.kernels.push_back(std::move(kernel));
    }
  } catch (const vgpu::ptx::ParseError& error) {
    throw emu::CompileError(error.what());
  }
  program.ptx = program.text;
  program.code = "PTX as given";
}

/// A name that the file does not contain would be an error of the compiler in text that the user did
/// not write.
void check_name(const Program& program, const std::string& kernel) {
  const std::string name(base_name(kernel));
  if (kernel.empty() || program.text.find(name) != program.text.npos) return;
  if (program.text.find("##") != program.text.npos) return;  // a macro may make the name
  std::vector<std::string> names;
  for (const SourceFunction& function : source_functions(program.text)) {
    if (function.is_kernel) names.push_back(function.name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw ArgumentError(
      fmt::format("{} has no kernel '{}'{}{}", program.file_name(), kernel,
                  names.empty() ? "" : fmt::format("; it has {}", fmt::join(names, ", ")),
                  did_you_mean(name, known)));
}

}  // namespace

const Kernel& Program::find(std::string_view name) const {
  if (name.empty() && kernels.size() == 1) return kernels.front();
  const std::string wanted = without_blanks(name);
  std::vector<const Kernel*> found;
  for (const Kernel& kernel : kernels) {
    const std::string known = without_blanks(kernel.name);
    if (known == wanted || kernel.symbol == name) return kernel;
    if (without_scope(known) == wanted) found.push_back(&kernel);
  }
  if (found.empty() && wanted.ends_with('>')) {
    // The compiler may write the arguments of the only instantiation in another way: "unsigned int".
    for (const Kernel& kernel : kernels) {
      if (kernel.name.ends_with('>') && base_name(kernel.name) == base_name(wanted)) {
        found.push_back(&kernel);
      }
    }
  }
  if (found.size() == 1) return *found.front();
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels) names.push_back(kernel.name);
  for (const std::string& each : templates) names.push_back(each + "<...>");
  if (names.empty()) throw ArgumentError(fmt::format("{} has no kernel", file_name()));
  if (name.empty()) {
    throw ArgumentError(fmt::format("{} has {} kernels; name one as {}:{}", file_name(),
                                    names.size(), path.string(), names.front()));
  }
  const bool is_template = std::ranges::find(templates, std::string(name)) != templates.end();
  if (is_template) {
    throw ArgumentError(fmt::format("{} is a template; write its arguments, as in '{}:{}<float>'",
                                    name, path.string(), name));
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw ArgumentError(fmt::format("{} has no kernel '{}'; it has {}{}", file_name(), name,
                                  fmt::join(names, ", "), did_you_mean(name, known)));
}

Program compile_program(const ProgramRequest& request) {
  std::error_code ignored;
  if (!fs::is_regular_file(request.path, ignored)) {
    throw ArgumentError(fmt::format("FILE: '{}' is not a readable file", request.path.string()));
  }
  Program program;
  program.path = request.path;
  program.text = contents(request.path);
  program.is_metal = request.path.extension() == ".metal";
  if (request.path.extension() == ".ptx") {
    read_ptx(program);
    return program;
  }
  if (program.is_metal) {
    compile_metal(program, request);
  } else {
    check_name(program, request.kernel);
    compile_cuda(program, request);
  }
  for (const SourceFunction& function : source_functions(program.text)) {
    if (function.is_kernel && function.is_template) program.templates.push_back(function.name);
  }
  return program;
}

}  // namespace rung::any_kernel
