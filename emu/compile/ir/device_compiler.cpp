#include "emu/compile/ir/device_compiler.hpp"

#include <fstream>

#include "emu/compile/ir/inlined_calls.hpp"
#include "emu/compile/ir/passes.hpp"
#include "emu/compile/link/device_code.hpp"

namespace rung::emu {
namespace {

void append(std::vector<std::string>& command, const std::vector<std::string>& arguments) {
  command.insert(command.end(), arguments.begin(), arguments.end());
}

constexpr const char* newest_of_clang = "sm_90a";

bool is_known_to_clang(const std::string& architecture) {
  return !architecture.starts_with("sm_1");
}

std::string known_target(const std::string& architecture) {
  return is_known_to_clang(architecture) ? architecture : newest_of_clang;
}

/// The options that name the architecture. nvcc defines these macros (CUDA C++ Programming Guide, "Feature
/// Availability").
std::vector<std::string> target_options(const std::string& architecture) {
  std::vector<std::string> options = {"--cuda-gpu-arch=" + known_target(architecture), "-Xclang",
                                      "-target-feature", "-Xclang", ptx_feature};
  if (is_known_to_clang(architecture)) return options;
  const std::string number = architecture.substr(3, 3);  // "100" of sm_100a
  append(options,
         {"-U__CUDA_ARCH__", "-D__CUDA_ARCH__=" + number + "0", "-U__CUDA_ARCH_FEAT_SM90_ALL",
          "-D__CUDA_ARCH_FEAT_SM" + number + "_ALL", "-D__CUDA_ARCH_SPECIFIC__=" + number + "0",
          "-D__CUDA_ARCH_FAMILY_SPECIFIC__=" + number + "0"});
  return options;
}

}  // namespace

void set_target(const std::filesystem::path& ptx, const std::string& architecture) {
  if (is_known_to_clang(architecture)) return;
  std::string text = read_file(ptx);
  const auto replace_word = [&](const std::string& directive, const std::string& word) {
    const std::size_t at = text.find(directive);
    if (at == std::string::npos) return;
    const std::size_t begin = at + directive.size();
    text.replace(begin, text.find_first_of(",\n", begin) - begin, word);
  };
  replace_word(".version ", "8.8");  // the first with all of sm_100a, sm_103a and sm_120a
  replace_word(".target ", architecture);
  std::ofstream(ptx, std::ios::binary) << text;
}

/// The text of a module of LLVM without its first line if that is a comment with the file's name,
/// which would end at a carriage return in the name.
std::string read_module(const std::filesystem::path& module) {
  std::string text = read_file(module);
  if (text.starts_with("; ModuleID = ")) text.erase(0, text.find("source_filename = "));
  return text;
}

std::vector<std::string> device_semantics() {
  // -fno-strict-aliasing would leave out the types of copied members, too, which copy_by_vectors()
  // reads.
  return {"-mllvm", "-enable-tbaa=false", "-fno-finite-loops", "-fno-delete-null-pointer-checks",
          "-fno-strict-return"};
}

std::vector<std::string> code_generator(const std::string& clang, const DeviceTarget& target) {
  std::vector<std::string> command = {
      clang, "-cc1", "-triple", "nvptx64-nvidia-cuda", "-target-cpu",
      known_target(target.architecture),
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

void generate_ptx(const std::string& clang, const DeviceTarget& target,
                  const std::vector<std::string>& sources, const std::filesystem::path& ptx) {
  const std::string optimised = ptx.string() + ".opt.ll";
  std::vector<std::string> optimise = code_generator(clang, target);
  append(optimise, sources);
  append(optimise, {"-emit-llvm", "-o", optimised});
  run_compiler(optimise);
  const InlinedCalls calls = number_inlined_calls(read_module(optimised));
  std::ofstream(optimised, std::ios::binary) << calls.module;
  std::vector<std::string> generate = code_generator(clang, target);
  append(generate, {optimised, "-disable-llvm-passes", "-S", "-o", ptx.string()});
  run_compiler(generate);
  const std::string text = with_inlined_calls(read_file(ptx), calls.comments);
  std::ofstream(ptx, std::ios::binary) << text;
  std::filesystem::remove(optimised);
}

void compile_device_code(std::vector<std::string> frontend, const DeviceTarget& target,
                         const std::string& source, const std::filesystem::path& output) {
  compile_device_code(std::move(frontend), target, source, output, run_compiler);
}

void compile_device_code(std::vector<std::string> frontend, const DeviceTarget& target,
                         const std::string& source, const std::filesystem::path& output,
                         const RunFrontEnd& run) {
  const std::string clang = frontend.front(), module = output.string() + ".ll";
  append(frontend, device_semantics());
  append(frontend, target_options(target.architecture));
  append(frontend, {"--cuda-device-only", "-gline-tables-only",
                    // nvcc_conversions() replaces the functions that this makes clang call.
                    "-fno-strict-float-cast-overflow", "-Xclang", "-disable-llvm-passes",
                    "-emit-llvm", "-S", "-o", module, source});
  run(frontend);
  std::string text = read_module(module);
  for (const IrPass& pass : ir_passes()) text = pass.run(text);
  std::ofstream(module, std::ios::binary) << text;
  if (target.is_relocatable) {
    std::vector<std::string> generate = code_generator(clang, target);
    append(generate, {module, "-emit-llvm-bc", "-o", output.string()});
    run_compiler(generate);
  } else {
    generate_ptx(clang, target, {module}, output);
    set_target(output, target.architecture);
  }
  std::filesystem::remove(module);
}

void describe_device_code(std::vector<std::string> frontend, const DeviceTarget& target,
                          const std::string& source, const std::filesystem::path& output) {
  append(frontend, target_options(target.architecture));
  append(frontend, {"-w", "--cuda-device-only", "-Xclang", "-debug-info-kind=standalone", "-Xclang",
                    "-disable-llvm-passes", "-emit-llvm", "-S", "-o", output.string(), source});
  run_compiler(frontend);
}

}  // namespace rung::emu
