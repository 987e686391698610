// Copies and fills. All are checked against the bounds of allocations; an overrun returns
// CUDA_ERROR_INVALID_VALUE.

#include <fmt/format.h>

#include <cstring>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"
#include "vgpu/memory/written_bytes.hpp"

namespace rung::vgpu::driver {
namespace {

/// One side of a copy: an address, and the kind of memory that the caller states.
struct End {
  enum class Kind { host, device, any };
  Kind kind;
  std::uint64_t address;
};
End host(const void* pointer) {
  return {End::Kind::host, reinterpret_cast<std::uint64_t>(pointer)};
}
End device(std::uint64_t address) { return {End::Kind::device, address}; }
End any(std::uint64_t address) { return {End::Kind::any, address}; }

[[noreturn]] void fail_beyond(const ContextState& context, std::uint64_t address,
                              std::size_t bytes) {
  fail(Result::invalid_value, fmt::format("{} bytes at {} are not all in one allocation", bytes,
                                          context.memory.describe(address)));
}

/// True if this side is in an allocation that tracks initialisation. Fails if the memory is not of
/// the stated kind.
bool is_tracked(const ContextState& context, End end, std::size_t bytes) {
  const Allocation* allocation = context.memory.find(end.address);
  if (allocation == nullptr) {
    const bool wrong =
        end.kind == End::Kind::device || end.address == 0 || context.memory.reserves(end.address);
    if (wrong) fail_beyond(context, end.address, bytes);
    return false;
  }
  // The caller may copy a whole host buffer even if only a part of it is registered.
  if (end.kind == End::Kind::host && allocation->host) return false;
  const std::uint64_t offset = end.address - allocation->address;
  if (bytes > allocation->bytes - offset) fail_beyond(context, end.address, bytes);
  return true;
}

/// Fails if the memory is read-only by driver/judged_memory.hpp. Constant variables have a name.
void require_writable(const ContextState& context, std::uint64_t address) {
  const Allocation* const allocation = context.memory.find(address);
  if (allocation == nullptr || !allocation->read_only || !allocation->name.empty()) return;
  fail(Result::invalid_value, fmt::format("{} is read-only", context.memory.describe(address)));
}

bool is_host(const ContextState& context, End end) {
  const Allocation* const allocation = context.memory.find(end.address);
  return allocation == nullptr || allocation->host;
}

/// The order of a copy with other operations. As on a GPU, the host waits for an asynchronous copy if
/// it goes to pageable memory, or from host to host ("API synchronization behavior" in the CUDA
/// Runtime API), and for a synchronous one unless it stays on the device. Pageable memory is copied
/// before the call returns.
void order_copy(const ContextState& context, End to, End from, std::size_t bytes,
                bool synchronous) {
  ProgramOrder& order = process().order;
  if (!order.is_on()) return;
  order.describe("copy");
  order.access(context.memory, from.address, bytes, Touch::read);
  order.access(context.memory, to.address, bytes, Touch::write);
  const bool from_host = is_host(context, from), to_host = is_host(context, to);
  const bool to_pageable = context.memory.find(to.address) == nullptr;
  if (to_pageable || (from_host && to_host) || (synchronous && (from_host || to_host))) {
    order.let_host_wait();
  }
}

void copy(ContextState& context, End to, End from, std::size_t bytes, bool synchronous = false) {
  if (bytes == 0) return;
  const bool to_tracked = is_tracked(context, to, bytes);
  const bool from_tracked = is_tracked(context, from, bytes);
  require_writable(context, to.address);
  if (from_tracked && is_host(context, to)) context.host_visible_bytes += bytes;
  order_copy(context, to, from, bytes, synchronous);
  auto* target = reinterpret_cast<void*>(to.address);
  const auto* source = reinterpret_cast<const void*>(from.address);
  if (to_tracked && from_tracked) {
    context.memory.copy(to.address, from.address, bytes);
  } else if (to_tracked) {
    context.memory.write(to.address, source, bytes);
  } else if (from_tracked) {
    context.memory.read(target, from.address, bytes);
  } else {
    std::memmove(target, source, bytes);
  }
}

/// The number of bytes at the end of the range that nothing has written, if that is an error rather than
/// a choice: nothing has written the range, or at least half of it, exactly one element for each thread
/// of the last launch. Correct programs copy a whole buffer after a kernel has filled a part that
/// depends on data, rows with their padding, images without their borders, and whole pages.
std::size_t unwritten_end(const ContextState& context, const Allocation& from,
                          std::uint64_t address, std::size_t bytes) {
  constexpr std::size_t least = 16;  // more than the padding of one structure
  const std::size_t written = find_unwritten(from, address, bytes);
  const std::size_t rest = bytes - written;
  if (rest == 0 || context.launched_threads == 0) return 0;
  const std::uint64_t of_thread = written / context.launched_threads;
  const bool is_element = of_thread == 4 || of_thread == 8 || of_thread == 16;
  const bool is_grid = is_element && of_thread * context.launched_threads == written;
  if (written != 0 && (rest < least || rest > written || !is_grid)) return 0;
  return has_written(from, address + written, rest) ? 0 : rest;
}

/// Reports a copy to the host of memory that nothing has written.
void check_written(const ContextState& context, End to, End from, std::size_t bytes) {
  ProgramReports& reports = process().order.reports();
  if (!reports.has_observer() || bytes == 0 || !is_host(context, to)) return;
  const Allocation* const allocation = context.memory.find(from.address);
  if (allocation == nullptr || allocation->host || allocation->all_initialised) return;
  const std::size_t end = unwritten_end(context, *allocation, from.address, bytes);
  if (end != 0) reports.report_unwritten(from.address, bytes, end, context.memory);
}

Result copy_async(End to, End from, std::size_t bytes, Stream stream) {
  return call_context([&](ContextState& context) {
    Operation operation = [=](ContextState& running) {
      copy(running, to, from, bytes);
      check_written(running, to, from, bytes);
    };
    if (bytes == 0 || is_host(context, to) || is_host(context, from)) {
      return enqueue(context, stream, std::move(operation));
    }
    is_tracked(context, to, bytes);
    is_tracked(context, from, bytes);
    require_writable(context, to.address);
    defer(context, stream, std::move(operation));
  });
}

/// A synchronous copy: as on a GPU, it returns when the copy is done, and the output of kernels is
/// printed.
Result copy_now(End to, End from, std::size_t bytes) {
  let_other_threads_go_first_if_ordered();
  return call_context([&](ContextState& context) {
    enqueue(context, nullptr, [=](ContextState& running) {
      flush_printed(running);
      copy(running, to, from, bytes, true);
    });
    check_written(context, to, from, bytes);
    refuse_in_capture(context, true);
  });
}

/// Returns the byte offset of a row. Fails if it exceeds the address space.
std::size_t offset_of(std::size_t row, std::size_t pitch) {
  constexpr std::size_t most = std::size_t{1} << 62;
  require(row == 0 || pitch <= most / row, Result::invalid_value,
          "rows beyond the end of the address space");
  return row * pitch;
}

/// One side of a 2D copy.
struct Rows {
  End begin;
  std::size_t pitch;
  End row(std::size_t y) const { return {begin.kind, begin.address + y * pitch}; }
};

Rows rows(MemoryType type, const void* host_pointer, std::uint64_t device_pointer,
          std::size_t x_bytes, std::size_t y, std::size_t pitch, std::size_t width) {
  require(type != MemoryType::array, Result::not_supported, "arrays are not supported");
  require(type == MemoryType::host || type == MemoryType::device || type == MemoryType::unified,
          Result::invalid_value, "not a memory type");
  // A pitch of 0 means rows without gaps.
  if (pitch == 0) pitch = width;
  require(width <= pitch && x_bytes <= pitch - width, Result::invalid_value,
          "rows wider than the pitch");
  End end = type == MemoryType::host     ? host(host_pointer)
            : type == MemoryType::device ? device(device_pointer)
                                         : any(device_pointer);
  end.address += offset_of(y, pitch) + x_bytes;
  return {end, pitch};
}

void copy_rows(ContextState& context, const Memcpy2D& c, bool synchronous) {
  if (c.width_bytes == 0 || c.height == 0) return;
  const Rows to = rows(c.destination_type, c.destination_host, c.destination_device,
                       c.destination_x_bytes, c.destination_y, c.destination_pitch, c.width_bytes);
  const Rows from = rows(c.source_type, c.source_host, c.source_device, c.source_x_bytes,
                         c.source_y, c.source_pitch, c.width_bytes);
  // Check both sides before writing anything.
  is_tracked(context, to.begin, offset_of(c.height - 1, to.pitch) + c.width_bytes);
  is_tracked(context, from.begin, offset_of(c.height - 1, from.pitch) + c.width_bytes);
  for (std::size_t y = 0; y < c.height; ++y) {
    copy(context, to.row(y), from.row(y), c.width_bytes, synchronous);
  }
}

Result copy_2d(const Memcpy2D* description, Stream stream, bool synchronous) {
  return call_context([&](ContextState& context) {
    require_pointer(description);
    enqueue(context, stream, [c = *description, synchronous](ContextState& running) {
      if (synchronous) flush_printed(running);
      copy_rows(running, c, synchronous);
    });
  });
}

void check_fill(const ContextState& context, std::uint64_t to, std::size_t bytes_of_one,
                std::size_t count) {
  require(to % bytes_of_one == 0, Result::invalid_value, "the address is not aligned");
  const Allocation* const filled = context.memory.find(to);
  if (filled == nullptr || count > (filled->bytes - (to - filled->address)) / bytes_of_one) {
    fail_beyond(context, to, count * bytes_of_one);
  }
  require_writable(context, to);
}

void fill(ContextState& context, std::uint64_t to, std::uint64_t value, int unit,
          std::size_t count) {
  if (count == 0) return;
  const auto bytes_of_one = static_cast<std::size_t>(unit);
  check_fill(context, to, bytes_of_one, count);
  context.memory.fill(to, value, unit, count);
  ProgramOrder& order = process().order;
  if (!order.is_on()) return;
  order.describe("fill");
  order.access(context.memory, to, count * bytes_of_one, Touch::write);
}

Result fill_in(DevicePointer to, std::uint64_t value, int unit, std::size_t count, Stream stream) {
  return call_context([&](ContextState& context) {
    Operation operation = [=](ContextState& running) { fill(running, to, value, unit, count); };
    if (count == 0 || is_host(context, device(to))) {
      return enqueue(context, stream, std::move(operation));
    }
    check_fill(context, to, static_cast<std::size_t>(unit), count);
    defer(context, stream, std::move(operation));
  });
}

/// Synchronous only for memory that the host can access, too.
Result fill_now(DevicePointer to, std::uint64_t value, int unit, std::size_t count) {
  return call_context([&](ContextState& context) {
    enqueue(context, nullptr, [=](ContextState& running) {
      fill(running, to, value, unit, count);
      if (is_host(running, device(to))) process().order.let_host_wait();
    });
  });
}

}  // namespace

Result cuMemcpy(DevicePointer to, DevicePointer from, std::size_t bytes) {
  return copy_now(any(to), any(from), bytes);
}
Result cuMemcpyAsync(DevicePointer to, DevicePointer from, std::size_t bytes, Stream stream) {
  return copy_async(any(to), any(from), bytes, stream);
}
Result cuMemcpyHtoD(DevicePointer to, const void* from, std::size_t bytes) {
  return copy_now(device(to), host(from), bytes);
}
Result cuMemcpyHtoDAsync(DevicePointer to, const void* from, std::size_t bytes, Stream stream) {
  return copy_async(device(to), host(from), bytes, stream);
}
Result cuMemcpyDtoH(void* to, DevicePointer from, std::size_t bytes) {
  return copy_now(host(to), device(from), bytes);
}
Result cuMemcpyDtoHAsync(void* to, DevicePointer from, std::size_t bytes, Stream stream) {
  return copy_async(host(to), device(from), bytes, stream);
}
Result cuMemcpyDtoD(DevicePointer to, DevicePointer from, std::size_t bytes) {
  return copy_now(device(to), device(from), bytes);
}
Result cuMemcpyDtoDAsync(DevicePointer to, DevicePointer from, std::size_t bytes, Stream stream) {
  return copy_async(device(to), device(from), bytes, stream);
}

Result cuMemcpy2D(const Memcpy2D* copy) { return copy_2d(copy, nullptr, true); }
Result cuMemcpy2DUnaligned(const Memcpy2D* copy) { return copy_2d(copy, nullptr, true); }
Result cuMemcpy2DAsync(const Memcpy2D* copy, Stream stream) { return copy_2d(copy, stream, false); }

Result cuMemsetD8(DevicePointer to, unsigned char value, std::size_t count) {
  return fill_now(to, value, 1, count);
}
Result cuMemsetD16(DevicePointer to, unsigned short value, std::size_t count) {
  return fill_now(to, value, 2, count);
}
Result cuMemsetD32(DevicePointer to, unsigned value, std::size_t count) {
  return fill_now(to, value, 4, count);
}
Result cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t count, Stream stream) {
  return fill_in(to, value, 1, count, stream);
}
Result cuMemsetD16Async(DevicePointer to, unsigned short value, std::size_t count, Stream stream) {
  return fill_in(to, value, 2, count, stream);
}
Result cuMemsetD32Async(DevicePointer to, unsigned value, std::size_t count, Stream stream) {
  return fill_in(to, value, 4, count, stream);
}

Result cuMemsetD2D8(DevicePointer to, std::size_t pitch, unsigned char value, std::size_t width,
                    std::size_t height) {
  return cuMemsetD2D8Async(to, pitch, value, width, height, nullptr);
}
Result cuMemsetD2D8Async(DevicePointer to, std::size_t pitch, unsigned char value,
                         std::size_t width, std::size_t height, Stream stream) {
  return call_context([&](ContextState& context) {
    require(width <= pitch || height <= 1, Result::invalid_value, "rows wider than the pitch");
    enqueue(context, stream, [=](ContextState& running) {
      if (width == 0 || height == 0) return;
      is_tracked(running, device(to), offset_of(height - 1, pitch) + width);
      for (std::size_t y = 0; y < height; ++y) fill(running, to + y * pitch, value, 1, width);
    });
  });
}

}  // namespace rung::vgpu::driver
