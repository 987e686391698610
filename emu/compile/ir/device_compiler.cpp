#include "emu/compile/ir/device_compiler.hpp"

#include <fstream>

#include "emu/compile/ir/passes.hpp"
#include "emu/compile/link/device_code.hpp"

namespace rung::emu {
namespace {

void append(std::vector<std::string>& command, const std::vector<std::string>& arguments) {
  command.insert(command.end(), arguments.begin(), arguments.end());
}

}  // namespace

std::vector<std::string> device_semantics() {
  // -fno-strict-aliasing would leave out the types of copied members, too, which copy_by_vectors()
  // reads.
  return {"-mllvm", "-enable-tbaa=false", "-fno-finite-loops", "-fno-delete-null-pointer-checks",
          "-fno-strict-return"};
}

std::vector<std::string> code_generator(const std::string& clang, const DeviceTarget& target) {
  std::vector<std::string> command = {
      clang, "-cc1", "-triple", "nvptx64-nvidia-cuda", "-target-cpu", target.architecture,
      // The driver's options for CUDA without "-vectorize-slp", which joins bytes to vectors of 16: clang 19
      // loads these as one access even at unaligned addresses. nvcc does not join them, either.
      "-target-feature", ptx_feature, "-vectorize-loops", "-mllvm", "-nvptx-fma-level=2",
      "-fno-dwarf-directory-asm", "-w",
      // A comment with the name of a file ends where the name has a line break.
      "-fno-verbose-asm"};
  append(command, device_semantics());
  append(command, {target.is_optimised ? "-O3" : "-O0", "-debug-info-kind=line-directives-only",
                   "-x", "ir"});
  return command;
}

void compile_device_code(std::vector<std::string> frontend, const DeviceTarget& target,
                         const std::string& source, const std::filesystem::path& output) {
  const std::string clang = frontend.front(), module = output.string() + ".ll";
  append(frontend, device_semantics());
  append(frontend, {"--cuda-device-only", "--cuda-gpu-arch=" + target.architecture, "-Xclang",
                    "-target-feature", "-Xclang", ptx_feature, "-gline-tables-only",
                    // nvcc_conversions() replaces the functions that this makes clang call.
                    "-fno-strict-float-cast-overflow", "-Xclang", "-disable-llvm-passes",
                    "-emit-llvm", "-S", "-o", module, source});
  run_compiler(frontend);
  std::string text = read_file(module);
  for (const IrPass& pass : ir_passes()) text = pass.run(text);
  std::ofstream(module, std::ios::binary) << text;
  std::vector<std::string> generate = code_generator(clang, target);
  append(generate, {module, target.is_relocatable ? "-emit-llvm-bc" : "-S", "-o", output.string()});
  run_compiler(generate);
  std::filesystem::remove(module);
}

void describe_device_code(std::vector<std::string> frontend, const DeviceTarget& target,
                          const std::string& source, const std::filesystem::path& output) {
  append(frontend,
         {"-w", "--cuda-device-only", "--cuda-gpu-arch=" + target.architecture, "-Xclang",
          "-target-feature", "-Xclang", ptx_feature, "-Xclang", "-debug-info-kind=standalone",
          "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-S", "-o", output.string(), source});
  run_compiler(frontend);
}

}  // namespace rung::emu
