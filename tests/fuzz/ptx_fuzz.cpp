// Any text is a Module or a ParseError: no crash, no hang, no other exception (libFuzzer).

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/ptx_invariants.hpp"
#include "vgpu/ptx/parser.hpp"

namespace ptx = rung::vgpu::ptx;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string violation;
  try {
    const ptx::Module module = ptx::parse(text);
    violation = ptx::Invariants(module).first_violation();
  } catch (const ptx::ParseError& error) {
    const std::string_view message = error.what();
    if (message.find('\n') != std::string_view::npos) violation = "message of several lines";
  }
  if (violation.empty()) return 0;
  std::fprintf(stderr, "%s\n", violation.c_str());
  std::abort();
}
