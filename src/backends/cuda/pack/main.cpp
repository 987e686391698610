// rung_pack [--without-lines] INPUT OUTPUT: compresses a module of CUDA code, PTX or machine code,
// for src/backends/cuda/images.hpp. A part of the build.

#include <zstd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "backends/cuda/pack/without_lines.hpp"

namespace rung::cuda {
namespace {

/// Higher levels save a tenth and take ten times as long.
constexpr int level = 9;

std::string read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string(path) + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const char* path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    if (std::filesystem::is_regular_file(path)) std::filesystem::remove(path);
    throw std::runtime_error(std::string(path) + ": cannot be written");
  }
}

std::string without_lines(const std::string& code) {
  return code.starts_with("\x7f") ? cubin_without_lines(code) : ptx_without_lines(code);
}

std::string compressed(const std::string& code) {
  std::string packed(ZSTD_compressBound(code.size()), '\0');
  const std::size_t bytes =
      ZSTD_compress(packed.data(), packed.size(), code.data(), code.size(), level);
  if (ZSTD_isError(bytes)) throw std::runtime_error(ZSTD_getErrorName(bytes));
  packed.resize(bytes);
  return packed;
}

void pack(int count, char** arguments) {
  const bool lean = count == 4 && std::string_view(arguments[1]) == "--without-lines";
  if (!lean && count != 3) {
    throw std::runtime_error("usage: rung_pack [--without-lines] INPUT OUTPUT");
  }
  const std::string code = read(arguments[count - 2]);
  write(arguments[count - 1], compressed(lean ? without_lines(code) : code));
}

}  // namespace
}  // namespace rung::cuda

int main(int count, char** arguments) {
  try {
    rung::cuda::pack(count, arguments);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rung_pack: %s\n", error.what());
    return 1;
  }
}
