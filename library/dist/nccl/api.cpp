#include "library/dist/nccl/api.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "core/shared_library/shared_library.hpp"
#include "rung/error.hpp"

namespace rung::nccl {
namespace {

constexpr int oldest_version = 21800;
constexpr const char* path_variable = "RUNG_NCCL";

/// If the program itself contains NCCL, its communicators belong to that copy.
void* find(const SharedLibrary& library, const char* name) {
  if (library) return reinterpret_cast<void*>(library.find<void()>(name));
  return dlsym(RTLD_DEFAULT, name);
}

Api open_nccl() {
  const bool is_in_program =
      std::getenv(path_variable) == nullptr && dlsym(RTLD_DEFAULT, "ncclCommCount") != nullptr;
  const SharedLibrary library =
      is_in_program ? SharedLibrary({}) : SharedLibrary(path_variable, {"libnccl.so.2"});
  if (!is_in_program && !library) {
    throw Error(Status::unavailable, "rung: no NCCL here (libnccl.so.2: " + library.why_not() +
                                         "; RUNG_NCCL may name the file)");
  }
  Api api;
#define RUNG_FIND(name, ...)                                                       \
  api.name = reinterpret_cast<FunctionPointer<__VA_ARGS__>>(find(library, #name)); \
  if (api.name == nullptr) {                                                       \
    throw Error(Status::unavailable,                                               \
                "rung: the NCCL here lacks " #name "; it must be 2.18 or later");  \
  }
  RUNG_NCCL_FUNCTIONS(RUNG_FIND)
#undef RUNG_FIND
#define RUNG_FIND_LATER(name, ...) \
  api.name = reinterpret_cast<FunctionPointer<__VA_ARGS__>>(find(library, #name));
  RUNG_NCCL_LATER_FUNCTIONS(RUNG_FIND_LATER)
#undef RUNG_FIND_LATER
  int version = 0;
  if (api.ncclGetVersion(&version) != Result::success || version < oldest_version) {
    throw Error(Status::unavailable, "rung: NCCL here is version " + std::to_string(version) +
                                         "; it must be 21800 (2.18) or later");
  }
  return api;
}

}  // namespace

const Api& real_nccl() {
  static const Api* const api = new Api(open_nccl());  // never destroyed, like the driver's table
  return *api;
}

}  // namespace rung::nccl
