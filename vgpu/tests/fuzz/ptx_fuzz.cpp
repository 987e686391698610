// libFuzzer target: any text must end in a result, a hazard or an error, not in a crash, a hang or
// another exception.

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "vgpu/tests/fuzz/ptx_case.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const rung::vgpu::PtxCase result = rung::vgpu::run_ptx_case(text);
  if (result.violation.empty()) return 0;
  std::fprintf(stderr, "%s: %s\n", result.violation.c_str(), result.message.c_str());
  std::abort();
}
