#include "vgpu/engine/control/external.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "vgpu/engine/control/device_launches.hpp"
#include "vgpu/engine/control/external_arguments.hpp"
#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/execution/report.hpp"

namespace rung::vgpu {
namespace {

/// The memory at a generic address and the bytes up to its end; nullptr if the address is invalid.
struct Span {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
};
Span memory_at(Warp& warp, int lane, std::uint64_t address) {
  Block& block = *warp.block;
  const std::uint64_t inside = address & window_mask;
  switch (address & ~window_mask) {
    case shared_window:
      if (inside >= block.worker.launch.shared_bytes) return {};
      return {block.shared.data() + inside, block.worker.launch.shared_bytes - inside};
    case local_window:
      if (inside >= block.worker.kernel.local_bytes) return {};
      return {block.local(warp, lane) + inside, block.worker.kernel.local_bytes - inside};
    default: {
      const Allocation* allocation = block.worker.launch.memory.find(address);
      if (allocation == nullptr) return {};
      return {allocation->data(address), allocation->address + allocation->bytes - address};
    }
  }
}

std::string string_at(Warp& warp, int lane, std::uint64_t address) {
  const Span span = memory_at(warp, lane, address);
  if (span.data == nullptr) return "(null)";
  const auto* text = reinterpret_cast<const char*>(span.data);
  return {text, strnlen(text, span.bytes)};
}

/// Reads the arguments of printf, which are consecutive, each aligned to its size.
class Arguments {
 public:
  explicit Arguments(Span span) : span_(span) {}

  template <class T>
  T next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (at_ + sizeof(T) <= span_.bytes) std::memcpy(&value, span_.data + at_, sizeof value);
    at_ += sizeof(T);
    return value;
  }

 private:
  Span span_;
  std::size_t at_ = 0;
};

template <class T>
std::string print_one(const std::string& conversion, T value) {
  std::array<char, 512> buffer;
  const int length = std::snprintf(buffer.data(), buffer.size(), conversion.c_str(), value);
  if (length < 0) return {};
  if (static_cast<std::size_t>(length) < buffer.size()) return buffer.data();
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), conversion.c_str(), value);
  text.pop_back();
  return text;
}

/// Prints one conversion: '%' to the conversion letter, without its length modifier. `wide`: 64
/// bits.
std::string print_conversion(std::string conversion, bool wide, Warp& warp, int lane,
                             Arguments& arguments) {
  const char kind = conversion.back();
  switch (kind) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      if (!wide) return print_one(conversion, arguments.next<std::uint32_t>());
      conversion.insert(conversion.size() - 1, "ll");
      return print_one(conversion, arguments.next<unsigned long long>());
    case 'c': return print_one(conversion, arguments.next<int>());
    case 'p': return print_one(conversion, arguments.next<void*>());
    case 's':
      return print_one(conversion, string_at(warp, lane, arguments.next<std::uint64_t>()).c_str());
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': return print_one(conversion, arguments.next<double>());
    default: return conversion;
  }
}

// Maximum width or precision: wider output would not fit in the ring anyway.
constexpr int widest = 9999999;
constexpr std::size_t max_digits = 7;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_at_end(const std::string& text) {
  const std::size_t last = text.find_last_not_of("0123456789");
  return last == std::string::npos ? text.size() : text.size() - 1 - last;
}

std::string formatted(const std::string& format, Warp& warp, int lane, Arguments arguments) {
  std::string text;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      text += '%';
      ++i;
      continue;
    }
    std::string conversion = "%";
    bool wide = false;
    while (++i < format.size()) {
      const char c = format[i];
      if (c == 'l' || c == 'h' || c == 'j' || c == 'z' || c == 't' || c == 'L') {
        wide = wide || (c != 'h' && c != 'L');
      } else if (c == '*') {
        conversion += std::to_string(std::clamp(arguments.next<int>(), -widest, widest));
      } else if (is_digit(c) && digits_at_end(conversion) == max_digits) {
        continue;
      } else {
        conversion += c;
        if (std::strchr("+-# .0123456789", c) == nullptr) break;
      }
    }
    text += print_conversion(conversion, wide, warp, lane, arguments);
  }
  return text;
}

void run_vprintf(Warp& warp, const Instr& instr) {
  for_lanes(warp, [&](int lane) {
    const std::string format = string_at(warp, lane, argument<std::uint64_t>(warp, instr, lane, 0));
    const auto list = argument<std::uint64_t>(warp, instr, lane, 1);
    warp.block->printed.add(formatted(format, warp, lane, Arguments(memory_at(warp, lane, list))));
    set_result(warp, instr, lane, std::int32_t{0});
  });
}

void run_assertfail(Warp& warp, const Instr& instr) {
  const int lane = first_lane(warp.mask);
  const auto text = [&](std::size_t index) {
    return string_at(warp, lane, argument<std::uint64_t>(warp, instr, lane, index));
  };
  report(*warp.block, HazardKind::trap, warp.block->thread(warp, lane), call_of(instr).site,
         "assert", {},
         fmt::format("assertion '{}' failed in {} at {}:{}", text(0), text(3), text(1),
                     argument<std::uint32_t>(warp, instr, lane, 2)));
  warp.block->worker.launch.stop = true;
}

void run_malloc(Warp& warp, const Instr& instr) {
  for_lanes(warp, [&](int lane) {
    std::uint64_t address = 0;
    try {
      address = warp.block->worker.launch.memory.allocate(
          argument<std::uint64_t>(warp, instr, lane, 0), "device heap");
    } catch (const std::bad_alloc&) {
      // As on a GPU, the kernel receives a null pointer.
    }
    set_result(warp, instr, lane, address);
  });
}

void run_free(Warp& warp, const Instr& instr) {
  for_lanes(warp, [&](int lane) {
    const auto address = argument<std::uint64_t>(warp, instr, lane, 0);
    if (address == 0 || warp.block->worker.launch.memory.free(address)) return;
    report(*warp.block, HazardKind::out_of_bounds, warp.block->thread(warp, lane),
           call_of(instr).site, "free", warp.block->worker.launch.memory.describe(address),
           "not the beginning of an allocation");
  });
}

}  // namespace

std::optional<ExternalFunction> external_function(std::string_view name) {
  if (name == "vprintf") return ExternalFunction{run_vprintf, {8, 8}, 4};
  if (name == "__assertfail") return ExternalFunction{run_assertfail, {8, 8, 4, 8, 8}, 0};
  if (name == "malloc") return ExternalFunction{run_malloc, {8}, 8};
  if (name == "free") return ExternalFunction{run_free, {8}, 0};
  if (name == "cudaGetParameterBufferV2") {
    return ExternalFunction{run_get_parameter_buffer, {8, sizeof(Dim3), sizeof(Dim3), 4}, 8};
  }
  if (name == "cudaLaunchDeviceV2") return ExternalFunction{run_launch_device, {8, 8}, 4};
  return std::nullopt;
}

}  // namespace rung::vgpu
