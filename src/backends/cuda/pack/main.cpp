// rung_pack [--without-lines] [--small] [--like OTHER] INPUT OUTPUT: compresses a module of CUDA code,
// PTX or machine code, for src/backends/cuda/images.hpp. A part of the build.
//   --without-lines  leave line tables out
//   --small          a tenth smaller, in ten times the time
//   --like OTHER     store what differs from another module: that of a similar element type

#include <zstd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "backends/cuda/pack/without_lines.hpp"

namespace rung::cuda {
namespace {

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

struct Arguments {
  bool without_lines = false;
  int level = 9;
  const char* like = nullptr;
  const char* input = nullptr;
  const char* output = nullptr;
};

Arguments parsed(std::span<char*> words) {
  Arguments arguments;
  while (words.size() > 2) {
    const std::string_view word = words.front();
    if (word == "--without-lines") {
      arguments.without_lines = true;
    } else if (word == "--small") {
      arguments.level = 19;
    } else if (word == "--like") {
      words = words.subspan(1);
      arguments.like = words.front();
    } else {
      break;
    }
    words = words.subspan(1);
  }
  if (words.size() != 2) {
    throw std::runtime_error(
        "usage: rung_pack [--without-lines] [--small] [--like OTHER] INPUT OUTPUT");
  }
  arguments.input = words[0];
  arguments.output = words[1];
  return arguments;
}

std::string module_of(const char* path, const Arguments& arguments) {
  const std::string code = read(path);
  return arguments.without_lines ? without_lines(code) : code;
}

/// `other` is a dictionary: repetitions of it cost next to nothing, as long as the window has it.
std::string compressed(const std::string& code, const std::string& other, int level) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
  if (context == nullptr) throw std::bad_alloc();
  std::string packed(ZSTD_compressBound(code.size()), '\0');
  const std::size_t bytes =
      ZSTD_compress_usingDict(context.get(), packed.data(), packed.size(), code.data(), code.size(),
                              other.data(), other.size(), level);
  if (ZSTD_isError(bytes)) throw std::runtime_error(ZSTD_getErrorName(bytes));
  packed.resize(bytes);
  return packed;
}

void pack(const Arguments& arguments) {
  const std::string other =
      arguments.like == nullptr ? std::string() : module_of(arguments.like, arguments);
  write(arguments.output,
        compressed(module_of(arguments.input, arguments), other, arguments.level));
}

}  // namespace
}  // namespace rung::cuda

int main(int count, char** arguments) {
  try {
    rung::cuda::pack(
        rung::cuda::parsed(std::span(arguments, static_cast<std::size_t>(count)).subspan(1)));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rung_pack: %s\n", error.what());
    return 1;
  }
}
