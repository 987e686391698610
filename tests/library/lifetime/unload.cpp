// Closes the library while its threads sleep, and while a thread that has called it continues:
//   unload LIBRARY
// Exits with 0 if the program survives.

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "rung/rung.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  alarm(300);
  for (int round = 0; round < 3; ++round) {
    void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    const auto gemm = reinterpret_cast<decltype(&rung_gemm_bf16)>(dlsym(library, "rung_gemm_bf16"));
    std::atomic<bool> called = false, closed = false;
    std::atomic<int> status = -1;
    std::thread caller([&] {
      constexpr int n = 160;
      const std::vector<rung_bfloat16> a(n * n, 0x3F80);
      std::vector<float> c(n * n);
      rung_gemm_options options = RUNG_GEMM_OPTIONS_INIT;
      options.threads = 4;
      status = gemm(RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_NO_TRANS, n, n, n, 1, a.data(), n, a.data(),
                    n, 0, c.data(), n, &options);
      called = true;
      while (!closed) std::this_thread::yield();
    });  // releases its scratch memory after the library was closed
    while (!called) std::this_thread::yield();
    dlclose(library);
    closed = true;
    caller.join();
    if (status != RUNG_OK) return 1;
  }
  // Workers whose code is gone would crash as soon as they wake, within about 100 us.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return 0;
}
