#include "emu/runtime/locate.hpp"

#include <utility>

#include "cuda_runtime_api.h"

namespace {

thread_local const char* located_file = nullptr;
thread_local int located_line = 0;

}  // namespace

namespace rung::emu {

void locate(const char* file, int line) {
  located_file = file;
  located_line = line;
}

std::pair<std::string, int> take_file_and_line() {
  const char* file = std::exchange(located_file, nullptr);
  if (file == nullptr) return {};
  return {file, located_line};
}

}  // namespace rung::emu

extern "C" RUNG_EMU_API void rung_emu_locate(const char* file, int line) {
  rung::emu::locate(file, line);
}
