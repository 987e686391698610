// Libraries, which are modules here, and the linker of PTX: one input is the result as it is; of
// several the directives at the top are kept once.

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "emu/runtime/driver_api/from_runtime.hpp"

using namespace rung::emu;
using namespace rung::emu::driver_api;
namespace cuda = rung::cuda;

struct CUlinkState_st {
  std::string text;
  int files = 0;  // the highest number of a file in line tables
};

namespace {

cuda::Module driver_module(CUlibrary library) { return reinterpret_cast<cuda::Module>(library); }
CUfunction function_of(CUkernel kernel) { return reinterpret_cast<CUfunction>(kernel); }

/// CUDA loads a library without a context; here its module belongs to the current one.
CUresult load(CUlibrary* library, const char* text) {
  if (library == nullptr || text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cuda::Result entered = Runtime::get().enter();
  if (entered != cuda::Result::success) return to_result(entered);
  return to_result(driver().cuModuleLoadData(reinterpret_cast<cuda::Module*>(library), text));
}

bool read_file(const char* name, std::string& text) {
  std::ifstream file(name, std::ios::binary);
  if (!file) return false;
  text.assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

/// Says nothing in the logs that the caller gave, and that linking took no time.
void answer_options(unsigned count, const CUjit_option* options, void** values) {
  for (unsigned i = 0; i < count; ++i) {
    const bool is_log =
        options[i] == CU_JIT_INFO_LOG_BUFFER || options[i] == CU_JIT_ERROR_LOG_BUFFER;
    if (is_log && values[i] != nullptr) *static_cast<char*>(values[i]) = '\0';
    if (options[i] == CU_JIT_WALL_TIME) values[i] = nullptr;
  }
}

bool is_directive_of_file(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return false;
  line.remove_prefix(begin);
  return line.starts_with(".version") || line.starts_with(".target") ||
         line.starts_with(".address_size");
}

/// The line, in which the number of a file (`.file 1 "a.cu"`, `.loc 1 27 3`) is increased by `before`, the highest number
/// of the texts before. `most` is raised to the sum.
std::string renumbered(std::string_view line, int before, int& most) {
  for (const std::string_view directive : {".file", ".loc"}) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == line.npos || !line.substr(begin).starts_with(directive)) continue;
    const auto first = line.find_first_not_of(" \t", begin + directive.size());
    const auto last = std::min(line.find_first_not_of("0123456789", first), line.size());
    int number = 0;
    if (first == line.npos ||
        std::from_chars(line.data() + first, line.data() + last, number).ec != std::errc()) {
      break;
    }
    most = std::max(most, number + before);
    return std::string(line.substr(0, first)) + std::to_string(number + before) +
           std::string(line.substr(last));
  }
  return std::string(line);
}

CUresult append(CUlinkState state, std::string_view text) {
  if (text.find(".version") == std::string_view::npos) return CUDA_ERROR_INVALID_IMAGE;
  const bool is_first = state->text.empty();
  const int before = state->files;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    if (is_first || !is_directive_of_file(line)) {
      state->text += renumbered(line, before, state->files);
    }
    text.remove_prefix(end + 1);
  }
  state->text += '\n';
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* /*options*/,
                           void** /*values*/, unsigned /*count*/,
                           CUlibraryOption* /*library_options*/, void** /*library_values*/,
                           unsigned /*library_count*/) {
  return load(library, static_cast<const char*>(code));
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file, CUjit_option* /*options*/,
                               void** /*values*/, unsigned /*count*/,
                               CUlibraryOption* /*library_options*/, void** /*library_values*/,
                               unsigned /*library_count*/) {
  std::string text;
  if (file == nullptr || !read_file(file, text)) return CUDA_ERROR_FILE_NOT_FOUND;
  return load(library, text.c_str());
}

CUresult cuLibraryUnload(CUlibrary library) {
  return to_result(driver().cuModuleUnload(driver_module(library)));
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return to_result(driver().cuModuleGetFunction(reinterpret_cast<cuda::Function*>(kernel),
                                                driver_module(library), name));
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *module = reinterpret_cast<CUmodule>(library);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUlibrary library,
                            const char* name) {
  return to_result(driver().cuModuleGetGlobal(reinterpret_cast<cuda::DevicePointer*>(pointer),
                                              bytes, driver_module(library), name));
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *function = function_of(kernel);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice /*device*/) {
  return cuFuncGetAttribute(value, attribute, function_of(kernel));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice /*device*/) {
  return cuFuncSetAttribute(function_of(kernel), attribute, value);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice /*device*/) {
  return cuFuncSetCacheConfig(function_of(kernel), config);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
  answer_options(count, options, values);
  *state = new CUlinkState_st;
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType /*type*/, void* data, size_t bytes,
                          const char* /*name*/, unsigned /*count*/, CUjit_option* /*options*/,
                          void** /*values*/) {
  if (state == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const char* const text = static_cast<const char*>(data);
  return append(state, {text, strnlen(text, bytes)});
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType /*type*/, const char* file,
                          unsigned /*count*/, CUjit_option* /*options*/, void** /*values*/) {
  std::string text;
  if (state == nullptr || file == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!read_file(file, text)) return CUDA_ERROR_FILE_NOT_FOUND;
  return append(state, text);
}

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  if (state == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *image = state->text.data();
  if (bytes != nullptr) *bytes = state->text.size() + 1;
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
  delete state;
  return CUDA_SUCCESS;
}

}  // extern "C"
