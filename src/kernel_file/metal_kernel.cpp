#include "kernel_file/metal_kernel.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "analysis/toolkit.hpp"
#include "emu/metal.hpp"
#include "emu/toolchain.hpp"

namespace rung {
namespace {

/// "const device float*" or, of a reference, "uint".
std::string type_in_entry(const KernelParameter& parameter) {
  std::string type = parameter.type;
  if (!type.ends_with('&')) return type;
  type.pop_back();
  for (const std::string_view word : {"constant", "const"}) {
    if (const std::size_t at = type.find(word); at != type.npos) type.erase(at, word.size());
  }
  return type;
}

/// The user's text, and behind it the entry of the kernel and the values of its constants.
std::string unit_text(const KernelFile& file) {
  const Signature& signature = file.signature;
  std::string parameters, arguments;
  for (const KernelParameter& parameter : signature.parameters) {
    const std::string type = type_in_entry(parameter);
    const std::string_view role = name(parameter.role);
    const bool is_value = parameter.type.ends_with('&');
    parameters += fmt::format("{}{} rung_{}", parameters.empty() ? "" : ", ", type, role);
    arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ",
                             is_value ? fmt::format("RUNG_METAL_CONSTANT({}, rung_{})", type, role)
                                      : fmt::format("rung_{}", role));
  }
  return emu::metal_source(file.text, file.name()) +
         fmt::format("\n#line 1 \"rung\"\nRUNG_METAL_ENTRY({}_kernel)({}) {{ {}({}); }}\n",
                     signature.function, parameters, signature.function, arguments) +
         metal::constants_text(file.text);
}

}  // namespace

metal::Launch MetalKernel::launch(std::int64_t m, std::int64_t n) const {
  try {
    return file_.signature.op == "gemm" ? constants_.of_matrix(m, n) : constants_.of_vector(n);
  } catch (const std::invalid_argument& error) {
    throw KernelFileError(fmt::format("{}: {}", file_.name(), error.what()));
  }
}

MetalKernel::MetalKernel(const KernelFile& file, metal::VirtualDevice& device)
    : file_(file), device_(device) {
  const analysis::ScratchFolder folder;
  std::vector<std::string> options = file.options;
  // Of quoted includes.
  options.push_back("-I" + std::filesystem::absolute(file.path).parent_path().string());
  ptx_ = emu::compile_metal(unit_text(file), options, folder.path());
  code_ = fmt::format("PTX by {}", std::filesystem::path(emu::find_clang()).filename().string());
  vgpu::Module& module = device.load(file.name(), ptx_);
  const std::string entry = file.signature.function + "_kernel";
  pipeline_ = &device.pipeline(file.name(), entry);
  info_ = &vgpu::info(*module.kernel(entry));
  constants_ = metal::read_constants(module, device.memory());
  launch(1, 1);  // so that bad constants are found here
}

}  // namespace rung
