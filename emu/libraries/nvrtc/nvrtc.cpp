// NVRTC: rung-nvcc, next to this library's folder, compiles the sources.

#include "nvrtc.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/c_literal.hpp"
#include "core/temporary_folder.hpp"
#include "emu/libraries/status_name.hpp"
#include "emu/runtime/call_site.hpp"
#include "emu/runtime/tool_process.hpp"

namespace fs = std::filesystem;

struct nvrtcProgram_st {
  std::string source, name, ptx, log;
  std::vector<std::pair<std::string, std::string>> headers;  // by the name that includes use
  std::map<std::string, std::string> names;                  // of kernels, by expression
  bool is_compiled = false;
};

namespace {

constexpr std::array architectures = {70, 75, 80, 86, 89, 90};

/// The options that mean something here, in rung-nvcc's form. "--name value" stays two words.
std::vector<std::string> accepted(int count, const char* const* options) {
  std::vector<std::string> words;
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i];
    const bool is_for_nvrtc = option.starts_with("--device-as-default-execution-space") ||
                              option.starts_with("-default-device") || option == "-dw" ||
                              option.starts_with("--pch") || option == "-pch";
    if (is_for_nvrtc || option.empty()) continue;
    // NVRTC takes "--gpu-architecture = compute_90" in pieces, too.
    words.push_back(option.starts_with("--include-path=") ? "-I" + option.substr(15) : option);
  }
  return words;
}

/// Behind the source: what makes clang emit the instance of each expression, and a variable with its
/// address from which its symbol is read.
std::string instances_of(const nvrtcProgram_st& program) {
  std::string text;
  int index = 0;
  for (const auto& [expression, name] : program.names) {
    text += fmt::format(
        "\n__device__ const void* const rung_nvrtc_name_{} __attribute__((used)) = "
        "(const void*)({});\n",
        index++, expression);
  }
  return text;
}

/// The symbol that `variable` of the PTX is initialised with.
std::string initial_symbol(const std::string& ptx, const std::string& variable) {
  const std::size_t at = ptx.find(variable);
  const std::size_t equals = at == std::string::npos ? at : ptx.find('=', at);
  if (equals == std::string::npos) return {};
  const std::size_t begin = ptx.find_first_not_of(" \t", equals + 1);
  std::string symbol = ptx.substr(begin, ptx.find_first_of(";)", begin) - begin);
  if (symbol.starts_with("generic(")) symbol = symbol.substr(8);
  return symbol;
}

nvrtcResult compile(nvrtcProgram_st& program, int count, const char* const* options) {
  const fs::path compiler = rung::emu::find_tool("rung-nvcc", "RUNG_NVCC");
  if (compiler.empty()) {
    program.log = "rung-nvcc is not beside librung_emu.so; RUNG_NVCC can name it\n";
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
  const rung::TemporaryFolder folder("rung-nvrtc-");
  const fs::path source = folder.path() / "program.cu", ptx = folder.path() / "program.ptx";
  std::ofstream(source) << fmt::format("#line 1 {}\n", rung::c_literal(program.name))
                        << program.source << instances_of(program);
  for (const auto& [name, text] : program.headers) {
    std::error_code ignored;
    fs::create_directories((folder.path() / name).parent_path(), ignored);
    std::ofstream(folder.path() / name) << text;
  }
  // Headers in quotes are looked for in the current folder, too.
  std::vector<std::string> command = {compiler.string(), "-ptx", "-D__CUDACC_RTC__",
                                      "-I" + folder.path().string(),
                                      "-I" + fs::current_path().string()};
  const std::vector<std::string> words = accepted(count, options);
  command.insert(command.end(), words.begin(), words.end());
  command.insert(command.end(), {"-o", ptx.string(), source.string()});
  const bool is_well = rung::emu::run_tool(command, folder.path() / "log");
  program.log = rung::emu::source_text(folder.path() / "log");
  if (!is_well) return NVRTC_ERROR_COMPILATION;
  program.ptx = rung::emu::source_text(ptx);
  program.is_compiled = true;
  int index = 0;
  for (auto& [expression, name] : program.names) {
    name = initial_symbol(program.ptx, fmt::format("rung_nvrtc_name_{}", index++));
  }
  return NVRTC_SUCCESS;
}

nvrtcResult size_of(const std::string& text, size_t* bytes) {
  if (bytes == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *bytes = text.size() + 1;
  return NVRTC_SUCCESS;
}

nvrtcResult copy_to(char* to, const std::string& text) {
  if (to == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return NVRTC_SUCCESS;
}

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult result) {
  constexpr std::array names = {"NVRTC_SUCCESS",
                                "NVRTC_ERROR_OUT_OF_MEMORY",
                                "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                "NVRTC_ERROR_INVALID_INPUT",
                                "NVRTC_ERROR_INVALID_PROGRAM",
                                "NVRTC_ERROR_INVALID_OPTION",
                                "NVRTC_ERROR_COMPILATION",
                                "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                "NVRTC_ERROR_INTERNAL_ERROR"};
  return rung::emu::status_name(names, result, "NVRTC_ERROR unknown");
}

nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *major = 12;
  *minor = 4;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  if (count == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *count = static_cast<int>(architectures.size());
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int* found) {
  if (found == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  std::copy(architectures.begin(), architectures.end(), found);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name,
                               int header_count, const char* const* headers,
                               const char* const* include_names) {
  if (program == nullptr || source == nullptr || header_count < 0) return NVRTC_ERROR_INVALID_INPUT;
  if (header_count > 0 && (headers == nullptr || include_names == nullptr)) {
    return NVRTC_ERROR_INVALID_INPUT;
  }
  *program = new nvrtcProgram_st;
  (*program)->source = source;
  (*program)->name = name == nullptr || *name == '\0' ? "default_program" : name;
  for (int i = 0; i < header_count; ++i) {
    (*program)->headers.emplace_back(include_names[i], headers[i]);
  }
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (program == nullptr || *program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count,
                                const char* const* options) {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  try {
    return compile(*program, option_count, options);
  } catch (const std::runtime_error& error) {
    program->log = std::string(error.what()) + "\n";
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* bytes) {
  return program == nullptr ? NVRTC_ERROR_INVALID_PROGRAM : size_of(program->ptx, bytes);
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* ptx) {
  return program == nullptr ? NVRTC_ERROR_INVALID_PROGRAM : copy_to(ptx, program->ptx);
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) {
  return nvrtcGetPTXSize(program, bytes);
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* ptx) { return nvrtcGetPTX(program, ptx); }
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) {
  return program == nullptr ? NVRTC_ERROR_INVALID_PROGRAM : size_of(program->log, bytes);
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  return program == nullptr ? NVRTC_ERROR_INVALID_PROGRAM : copy_to(log, program->log);
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression) {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (expression == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  if (program->is_compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  program->names[expression];
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** name) {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (expression == nullptr || name == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  if (!program->is_compiled) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  const auto found = program->names.find(expression);
  if (found == program->names.end() || found->second.empty()) {
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  }
  *name = found->second.c_str();
  return NVRTC_SUCCESS;
}

}  // extern "C"
