// rung_pack [--without-lines] [--small] [--like OTHER] INPUT OUTPUT: compresses a CUDA module, PTX
// or machine code, for backends/cuda/images.hpp. Runs only during the build.
//   --without-lines  remove line tables
//   --small          compress a fifth better, in more time
//   --like OTHER     use another module as the dictionary: that of a similar element type

#include <lzma.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "backends/cuda/pack/differences.hpp"
#include "backends/cuda/pack/packed.hpp"
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

bool is_machine_code(const std::string& code) { return code.starts_with("\x7f"); }

std::string without_lines(const std::string& code) {
  return is_machine_code(code) ? cubin_without_lines(code) : ptx_without_lines(code);
}

struct Arguments {
  bool without_lines = false;
  std::uint32_t preset = 3;  // LZMA preset
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
      arguments.preset = 9 | LZMA_PRESET_EXTREME;
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

/// A module in the form that compresses best.
struct Module {
  std::string bytes;
  std::uint8_t form;
};

Module module_of(const char* path, const Arguments& arguments) {
  const std::string read_code = read(path);
  const std::string code = arguments.without_lines ? without_lines(read_code) : read_code;
  if (!can_have_differences(code)) return {code, PackedHeader::as_it_is};
  std::string coded = with_differences(code);
  if (without_differences(coded) != code) {
    throw std::runtime_error(std::string(path) + ": its numbers differ after packing");
  }
  return {std::move(coded), PackedHeader::of_differences};
}

/// LZMA parameters for the code. Machine code has 16-byte instructions, so statistics depend on the
/// byte's position within an instruction; text has no such structure.
lzma_options_lzma model(const std::string& code, const std::string& other, std::uint32_t preset) {
  lzma_options_lzma options;
  if (lzma_lzma_preset(&options, preset)) throw std::runtime_error("this liblzma lacks a preset");
  options.lc = is_machine_code(code) ? 0 : 3;
  options.lp = is_machine_code(code) ? 4 : 0;
  options.pb = is_machine_code(code) ? 4 : 0;
  // Unrolled code repeats itself: longer chains of candidates take up to five times as long for 0.6 % less.
  if ((preset & LZMA_PRESET_EXTREME) != 0) options.depth = 64;
  const std::size_t window = code.size() + other.size();
  options.dict_size = static_cast<std::uint32_t>(std::max<std::size_t>(window, LZMA_DICT_SIZE_MIN));
  set_dictionary(options, other);
  return options;
}

void check(lzma_ret result) {
  if (result != LZMA_OK) throw std::runtime_error("liblzma: error " + std::to_string(result));
}

PackedHeader header(const lzma_filter& filter, const Module& module) {
  PackedHeader header;
  std::ranges::copy(PackedHeader::first_bytes, header.magic);
  header.form = module.form;
  std::uint64_t size = module.bytes.size();
  for (std::uint8_t& byte : header.size) {
    byte = static_cast<std::uint8_t>(size);
    size >>= 8;
  }
  check(lzma_properties_encode(&filter, header.properties));
  return header;
}

/// Compresses with `other` as a dictionary, so that repetitions of it cost almost nothing.
std::string compressed(const Module& module, const std::string& other, std::uint32_t preset) {
  const std::string& code = module.bytes;
  lzma_options_lzma options = model(code, other, preset);
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA1, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  const PackedHeader first = header(filters[0], module);
  std::string packed(reinterpret_cast<const char*>(&first), sizeof first);
  std::size_t end = packed.size();
  packed.resize(sizeof first + lzma_stream_buffer_bound(code.size()));
  check(lzma_raw_buffer_encode(filters, nullptr, reinterpret_cast<const std::uint8_t*>(code.data()),
                               code.size(), reinterpret_cast<std::uint8_t*>(packed.data()), &end,
                               packed.size()));
  packed.resize(end);
  return packed;
}

void pack(const Arguments& arguments) {
  const std::string other =
      arguments.like == nullptr ? std::string() : module_of(arguments.like, arguments).bytes;
  write(arguments.output,
        compressed(module_of(arguments.input, arguments), other, arguments.preset));
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
