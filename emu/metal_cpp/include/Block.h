#pragma once
// Blocks of Clang: the functions of Apple's <Block.h>. emu/metal_cpp/blocks.cpp implements them.

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((visibility("default"))) void* _Block_copy(const void* block);
__attribute__((visibility("default"))) void _Block_release(const void* block);
#ifdef __cplusplus
}
#endif

#define Block_copy(...) ((__typeof(__VA_ARGS__))_Block_copy((const void*)(__VA_ARGS__)))
#define Block_release(...) _Block_release((const void*)(__VA_ARGS__))

#if defined(__cplusplus) && defined(__BLOCKS__)
#include <functional>
#include <memory>

namespace rung_blocks {
/// The block as a function that lives as long as its last copy; empty for nil.
template <class R, class... A>
std::function<R(A...)> function(R (^block)(A...)) {
  if (block == nullptr) return nullptr;
  const std::shared_ptr<void> copy(_Block_copy(reinterpret_cast<const void*>(block)),
                                   _Block_release);
  return [copy](A... arguments) { return reinterpret_cast<R (^)(A...)>(copy.get())(arguments...); };
}
}  // namespace rung_blocks
#endif
