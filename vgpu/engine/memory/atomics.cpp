#include "vgpu/engine/memory/atomics.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>

#include "rung/types.hpp"
#include "vgpu/engine/memory/access.hpp"
#include "vgpu/engine/observers.hpp"

namespace rung::vgpu {
namespace {

using Operation = AtomicAction::Operation;

template <class T>
T combine(Operation operation, T old, T value) {
  switch (operation) {
    case Operation::add: return static_cast<T>(old + value);
    case Operation::min: return std::min(old, value);
    case Operation::max: return std::max(old, value);
    default: return old;
  }
}

template <class T, class Bits>
Bits combine_as(Operation operation, Bits old, Bits value) {
  return std::bit_cast<Bits>(combine(operation, std::bit_cast<T>(old), std::bit_cast<T>(value)));
}

/// min and max of floating-point numbers ignore NaN, like the instructions min and max.
template <class T, class Bits>
Bits combine_float(Operation operation, Bits old_bits, Bits value_bits) {
  const T old = std::bit_cast<T>(old_bits);
  const T value = std::bit_cast<T>(value_bits);
  switch (operation) {
    case Operation::min: return std::bit_cast<Bits>(std::fmin(old, value));
    case Operation::max: return std::bit_cast<Bits>(std::fmax(old, value));
    default: return std::bit_cast<Bits>(old + value);
  }
}

template <class Half>
std::uint16_t combine_half(Operation operation, std::uint16_t old, std::uint16_t value) {
  const auto a = static_cast<float>(std::bit_cast<Half>(old));
  const auto b = static_cast<float>(std::bit_cast<Half>(value));
  const float result = operation == Operation::min   ? std::fmin(a, b)
                       : operation == Operation::max ? std::fmax(a, b)
                                                     : a + b;
  return Half(result).bits;
}

template <class Half>
std::uint32_t combine_halves(Operation operation, std::uint32_t old, std::uint32_t value) {
  const auto part = [&](int shift) {
    const auto half = combine_half<Half>(operation, static_cast<std::uint16_t>(old >> shift),
                                         static_cast<std::uint16_t>(value >> shift));
    return std::uint32_t{half} << shift;
  };
  return part(0) | part(16);
}

/// Operations that depend only on bits, not on the type.
template <class Bits>
std::optional<Bits> combine_bits(Operation operation, Bits old, Bits value, Bits replacement) {
  switch (operation) {
    case Operation::bit_and: return static_cast<Bits>(old & value);
    case Operation::bit_or: return static_cast<Bits>(old | value);
    case Operation::bit_xor: return static_cast<Bits>(old ^ value);
    case Operation::exch: return value;
    case Operation::cas: return old == value ? replacement : old;
    case Operation::inc: return old >= value ? Bits{0} : static_cast<Bits>(old + 1);
    case Operation::dec: return old == 0 || old > value ? value : static_cast<Bits>(old - 1);
    default: return std::nullopt;
  }
}

std::uint16_t apply(AtomicAction action, std::uint16_t old, std::uint16_t value,
                    std::uint16_t replacement) {
  if (const auto bits = combine_bits(action.operation, old, value, replacement)) return *bits;
  return action.type == ptx::Type::bf16 ? combine_half<bfloat16>(action.operation, old, value)
                                        : combine_half<float16>(action.operation, old, value);
}

std::uint32_t apply(AtomicAction action, std::uint32_t old, std::uint32_t value,
                    std::uint32_t replacement) {
  if (const auto bits = combine_bits(action.operation, old, value, replacement)) return *bits;
  switch (action.type) {
    case ptx::Type::f32: return combine_float<float>(action.operation, old, value);
    case ptx::Type::f16x2: return combine_halves<float16>(action.operation, old, value);
    case ptx::Type::bf16x2: return combine_halves<bfloat16>(action.operation, old, value);
    // Add as unsigned, which wraps by definition.
    case ptx::Type::s32:
      return action.operation == Operation::add
                 ? old + value
                 : combine_as<std::int32_t>(action.operation, old, value);
    default: return combine(action.operation, old, value);
  }
}

std::uint64_t apply(AtomicAction action, std::uint64_t old, std::uint64_t value,
                    std::uint64_t replacement) {
  if (const auto bits = combine_bits(action.operation, old, value, replacement)) return *bits;
  switch (action.type) {
    case ptx::Type::f64: return combine_float<double>(action.operation, old, value);
    case ptx::Type::s64:
      return action.operation == Operation::add
                 ? old + value
                 : combine_as<std::int64_t>(action.operation, old, value);
    default: return combine(action.operation, old, value);
  }
}

/// True for additions of integers, for which signedness does not matter.
bool adds_integers(AtomicAction action) {
  using ptx::Type;
  return action.operation == Operation::add &&
         (action.type == Type::u32 || action.type == Type::s32 || action.type == Type::u64 ||
          action.type == Type::s64);
}

/// Updates device memory, which other cores may write to at the same time. Returns the old value.
template <class T>
T update_device_memory(T& place, AtomicAction action, T value, T replacement) {
  const std::atomic_ref<T> word(place);
  if (adds_integers(action)) return word.fetch_add(value);
  T old = word.load();
  while (!word.compare_exchange_weak(old, apply(action, old, value, replacement))) {
  }
  return old;
}

/// Updates memory that no other CPU thread writes to at the same time, though some may read it.
/// Returns the old value.
template <class T, class Combine>
T update_alone(T& place, const Combine& combine) {
  const T old = place;
  std::atomic_ref<T>(place).store(combine(old), std::memory_order_release);
  return old;
}

/// True if this CPU thread makes all writes to that memory during the launch. That holds for shared
/// memory, because a cluster runs on one thread, and for device memory in launches on one thread.
/// Host memory may be written by the program itself.
bool is_alone(const Worker& worker, const Place& place) {
  if (place.space != ptx::Space::global) return true;
  return worker.launch.options.threads == 1 && !place.allocation->host;
}

template <class T, class Update>
void update_lanes(Warp& warp, const Instr& instr, const Shape& shape, const Place& place,
                  const Update& update) {
  T* destination = warp.row<T>(instr.row[0]);
  const T* values = warp.row<T>(instr.row[1]);
  const T* replacements = warp.row<T>(instr.row[2]);
  const auto& op = instr.op<MemoryOp>();
  bool changes = !op.reads_flag;
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    T& word = *reinterpret_cast<T*>(place.at(shape.address(lane), lane));
    // Read operands before writing the destination, which may share a row with one of them.
    const T value = values[lane], replacement = replacements[lane];
    const T old = destination[lane] = update(word, value, replacement);
    changes = changes || apply(op.atomic, old, value, replacement) != old;
  }
  // An atomic that only reads a flag, or fails to take a lock, polls as a load does.
  warp.worker->polls += !changes;
}

template <class T>
void update_lanes(Warp& warp, const Instr& instr, const Shape& shape, const Place& place) {
  const AtomicAction action = instr.op<MemoryOp>().atomic;
  if (!is_alone(*warp.worker, place)) {
    update_lanes<T>(warp, instr, shape, place, [&](T& word, T value, T replacement) {
      return update_device_memory(word, action, value, replacement);
    });
  } else if (adds_integers(action)) {
    update_lanes<T>(warp, instr, shape, place, [](T& word, T value, T) {
      return update_alone(word, [&](T old) { return static_cast<T>(old + value); });
    });
  } else {
    update_lanes<T>(warp, instr, shape, place, [&](T& word, T value, T replacement) {
      return update_alone(word, [&](T old) { return apply(action, old, value, replacement); });
    });
  }
}

void access_lanes(Block& block, Warp& warp, const Instr& instr, Shape& shape, const Place& place) {
  const auto& op = instr.op<MemoryOp>();
  const bool global = place.space == ptx::Space::global;
  if (block.worker.observe) {
    if (place.space == ptx::Space::shared) {
      block.observers.count_shared(block, op, shape, AccessKind::atomic);
      const std::uint64_t window = op.space == ptx::Space::generic ? shared_window : 0;
      const std::int64_t offset = op.offset - static_cast<std::int64_t>(window);
      block.observers.atomic_shared(block, warp, op.site, shape, offset, op.access_bytes());
      if (block.worker.watched) {
        block.observers.tell_access(block, warp, op.site, shape, offset, op.access_bytes(),
                                    AccessKind::atomic, true);
      }
    } else if (global) {
      block.observers.observe_global(block, warp, op, shape, place, AccessKind::atomic);
    }
  }
  if (global) block.observers.release_by(warp, op, shape, place);
  switch (op.bytes) {
    case 2: update_lanes<std::uint16_t>(warp, instr, shape, place); break;
    case 4: update_lanes<std::uint32_t>(warp, instr, shape, place); break;
    default: update_lanes<std::uint64_t>(warp, instr, shape, place); break;
  }
  if (global) block.observers.acquire_by(warp, op, shape, place);
}

/// Sets lanes with an invalid address to 0, as loads do, unless the destination shares its row with
/// an operand.
void clear_lanes(Warp& warp, const Instr& instr) {
  if (instr.row[0] == instr.row[1] || instr.row[0] == instr.row[2]) return;
  const std::size_t bytes = instr.op<MemoryOp>().bytes;
  std::byte* const row = warp.row<std::byte>(instr.row[0]);
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    std::fill_n(row + static_cast<std::size_t>(first_lane(left)) * bytes, bytes, std::byte{0});
  }
}

std::optional<Operation> operation_named(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Operation>, 10> names = {{
      {"add", Operation::add},
      {"min", Operation::min},
      {"max", Operation::max},
      {"and", Operation::bit_and},
      {"or", Operation::bit_or},
      {"xor", Operation::bit_xor},
      {"exch", Operation::exch},
      {"cas", Operation::cas},
      {"inc", Operation::inc},
      {"dec", Operation::dec},
  }};
  for (const auto& [known, operation] : names) {
    if (known == name) return operation;
  }
  return std::nullopt;
}

}  // namespace

std::optional<AtomicAction> atomic_action(const ptx::Instruction& instruction) {
  using ptx::Type;
  std::optional<Operation> operation;
  for (const std::string& modifier : instruction.modifiers) {
    if (const auto found = operation_named(modifier)) operation = found;
  }
  if (instruction.modifiers.empty()) return std::nullopt;
  const std::string& type = instruction.modifiers.back();
  constexpr std::array types = {Type::b16,    Type::b32, Type::b64, Type::u32,  Type::u64,
                                Type::s32,    Type::s64, Type::f16, Type::bf16, Type::f16x2,
                                Type::bf16x2, Type::f32, Type::f64};
  const auto found = std::find_if(types.begin(), types.end(),
                                  [&](Type candidate) { return type == ptx::name(candidate); });
  if (!operation || found == types.end()) return std::nullopt;
  return AtomicAction{*operation, *found};
}

void run_atomic(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<MemoryOp>();
  Block& block = *warp.block;
  Shape& shape = block.worker.shapes[op.slot];
  if (op.starts_shape) make_shape()(shape, warp, op);
  Place place;
  if (locate(block, warp, op, shape, AccessKind::atomic, place)) {
    access_lanes(block, warp, instr, shape, place);
  } else {
    clear_lanes(warp, instr);
    access_good_lanes(block, warp, instr, op, shape, AccessKind::atomic, access_lanes);
  }
}

}  // namespace rung::vgpu
