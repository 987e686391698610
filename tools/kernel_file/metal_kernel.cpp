#include "tools/kernel_file/metal_kernel.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "emu/compile/metal/metal.hpp"
#include "emu/compile/toolchain.hpp"
#include "tools/analysis/toolkit.hpp"

namespace rung {
namespace {

/// The headers of rungs.
std::filesystem::path kernel_headers() {
  return emu::find_installation().library.parent_path() / "kernels";
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
  emu::metal::Options options;
  options.compiler = file.options;
  options.compiler.insert(options.compiler.end(),
                          {"-Wall", "-Wno-unused-const-variable", "-Wno-duplicate-decl-specifier"});
  options.compiler.push_back("-I" + kernel_headers().string());
  options.text = file.text;
  options.appended = metal::constants_text(file.text);
  emu::metal::Compiled compiled = emu::metal::compile(file.path, file.signature.function, options);
  ptx_ = std::move(compiled.ptx);
  code_ = fmt::format("PTX by {}", std::filesystem::path(emu::find_clang()).filename().string());
  vgpu::Module& module = device.load(file.name(), ptx_);
  pipeline_ = &device.pipeline(file.name(), compiled.entry);
  info_ = &vgpu::info(*module.kernel(compiled.entry));
  constants_ = metal::read_constants(module, device.memory());
  launch(1, 1);  // detects invalid constants early
}

}  // namespace rung
