// The functions that clang calls for blocks, ^{ … }, and for variables declared __block.
// Source: Clang's documentation, "Block Implementation Specification".

#include <atomic>
#include <cstdlib>
#include <cstring>

#define RUNG_EXPORT __attribute__((visibility("default")))

namespace {

constexpr int has_helpers = 1 << 25, is_global = 1 << 28, needs_free = 1 << 24;
constexpr int one_reference = 2, reference_mask = 0xFFFE;

struct Descriptor {
  unsigned long reserved, size;
  void (*copy)(void* to, const void* from);
  void (*dispose)(const void* block);
};
struct Block {
  const void* isa;
  std::atomic<int> flags;
  int reserved;
  void (*invoke)();
  Descriptor* descriptor;
};
/// A variable declared __block.
struct Variable {
  const void* isa;
  Variable* forwarding;
  std::atomic<int> flags;
  int size;
  void (*keep)(void* to, void* from);  // these two only with has_helpers
  void (*destroy)(void* variable);
};

/// Kinds of captured values, in the last argument of _Block_object_assign.
constexpr int is_block = 7, is_variable = 8, kind_mask = 15;

Variable* copied(Variable* from) {
  Variable* const current = from->forwarding;
  if ((current->flags & needs_free) != 0) {
    current->flags += one_reference;
    return current;
  }
  auto* const to = static_cast<Variable*>(std::malloc(static_cast<std::size_t>(current->size)));
  std::memcpy(static_cast<void*>(to), static_cast<const void*>(current),
              static_cast<std::size_t>(current->size));
  // One reference of the block, one of the function with the variable.
  to->flags = (current->flags & ~reference_mask) | needs_free | 2 * one_reference;
  to->forwarding = current->forwarding = to;
  if ((to->flags & has_helpers) != 0) to->keep(to, current);
  return to;
}

void release(Variable* variable) {
  variable = variable->forwarding;
  if ((variable->flags & needs_free) == 0) return;
  if (((variable->flags -= one_reference) & reference_mask) != 0) return;
  if ((variable->flags & has_helpers) != 0) variable->destroy(variable);
  std::free(variable);
}

}  // namespace

extern "C" {

RUNG_EXPORT void* _NSConcreteGlobalBlock[32] = {};
RUNG_EXPORT void* _NSConcreteStackBlock[32] = {};
RUNG_EXPORT void* _NSConcreteMallocBlock[32] = {};

RUNG_EXPORT void* _Block_copy(const void* block) {
  auto* const from = static_cast<Block*>(const_cast<void*>(block));
  if (from == nullptr || (from->flags & is_global) != 0) return from;
  if ((from->flags & needs_free) != 0) {
    from->flags += one_reference;
    return from;
  }
  auto* const to = static_cast<Block*>(std::malloc(from->descriptor->size));
  std::memcpy(static_cast<void*>(to), block, from->descriptor->size);
  to->isa = _NSConcreteMallocBlock;
  to->flags = (from->flags & ~reference_mask) | needs_free | one_reference;
  if ((to->flags & has_helpers) != 0) to->descriptor->copy(to, from);
  return to;
}

RUNG_EXPORT void _Block_release(const void* released) {
  auto* const block = static_cast<Block*>(const_cast<void*>(released));
  if (block == nullptr || (block->flags & needs_free) == 0) return;
  if (((block->flags -= one_reference) & reference_mask) != 0) return;
  if ((block->flags & has_helpers) != 0) block->descriptor->dispose(block);
  std::free(block);
}

RUNG_EXPORT void _Block_object_assign(void* to, const void* from, int flags) {
  const void* value = from;
  if ((flags & kind_mask) == is_block) value = _Block_copy(from);
  if ((flags & is_variable) != 0) value = copied(static_cast<Variable*>(const_cast<void*>(from)));
  *static_cast<const void**>(to) = value;
}

RUNG_EXPORT void _Block_object_dispose(const void* value, int flags) {
  if ((flags & kind_mask) == is_block) _Block_release(value);
  if ((flags & is_variable) != 0) release(static_cast<Variable*>(const_cast<void*>(value)));
}

}  // extern "C"
