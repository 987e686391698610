// libcuda.so.1 for programs that open the driver by this name, such as Numba, Triton and cuda-python.
//
// It exports the driver's functions and nothing else, because these programs load NVIDIA's other libraries, too, all into
// one scope. Each function jumps to the one of librung_emu.so, which stays in a scope of its own.

#include <dlfcn.h>

#include <climits>
#include <cstdio>
#include <cstring>

#if defined __x86_64__
#define JUMP(slot) "  endbr64\n  jmp *" slot "(%rip)\n"
#elif defined __aarch64__
#define JUMP(slot) "  bti c\n  adrp x16, " slot "\n  ldr x16, [x16, :lo12:" slot "]\n  br x16\n"
#endif

// names.inc is made from the symbols of librung_emu.so.
#define CALL(name)                                                      \
  __attribute__((visibility("hidden"))) void* rung_address_of_##name;   \
  __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name \
          ":\n" JUMP("rung_address_of_" #name) ".size " #name ", .-" #name "\n");
#include "names.inc"
#undef CALL

namespace {

struct Call {
  const char* name;
  void** address;
};
const Call calls[] = {
#define CALL(name) {#name, &rung_address_of_##name},
#include "names.inc"
#undef CALL
};

int not_initialized() { return 3; }  // CUDA_ERROR_NOT_INITIALIZED

void* open_virtual_gpu() {
  Dl_info own;
  char path[PATH_MAX];
  if (dladdr(calls, &own) == 0) return nullptr;
  const char* const last = std::strrchr(own.dli_fname, '/');
  const int length = last == nullptr ? 0 : static_cast<int>(last + 1 - own.dli_fname);
  std::snprintf(path, sizeof path, "%.*s../librung_emu.so", length, own.dli_fname);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

__attribute__((constructor)) void connect_calls() {
  void* const library = open_virtual_gpu();
  if (library == nullptr) std::fprintf(stderr, "rung: libcuda.so.1: %s\n", dlerror());
  for (const Call& call : calls) {
    void* const found = library == nullptr ? nullptr : dlsym(library, call.name);
    *call.address = found == nullptr ? reinterpret_cast<void*>(&not_initialized) : found;
  }
}

}  // namespace

/// Tables of undocumented functions, which this driver lacks. NVRTC 13 calls this without asking whether it exists.
extern "C" __attribute__((visibility("default"))) int cuGetExportTable(const void** table,
                                                                       const void* /*id*/) {
  if (table != nullptr) *table = nullptr;
  return 500;  // CUDA_ERROR_NOT_FOUND
}
