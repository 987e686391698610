#pragma once
// cooperative_groups::memcpy_async and wait: copies by all threads of a group. They are ordinary
// copies, complete when a thread has made its part; waiting is the group's barrier.

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class T>
__device__ __forceinline__ void memcpy_async(const Group& group, T* to, const T* from,
                                             size_t bytes) {
  char* const target = reinterpret_cast<char*>(to);
  const char* const source = reinterpret_cast<const char*>(from);
  // By words where all of it is aligned to them.
  const size_t places = reinterpret_cast<size_t>(target) | reinterpret_cast<size_t>(source) | bytes;
  if (places % 4 == 0) {
    for (size_t i = group.thread_rank(); i < bytes / 4; i += group.size()) {
      reinterpret_cast<unsigned int*>(target)[i] = reinterpret_cast<const unsigned int*>(source)[i];
    }
    return;
  }
  for (size_t i = group.thread_rank(); i < bytes; i += group.size()) target[i] = source[i];
}
/// As many elements as both sides have.
template <class Group, class T>
__device__ __forceinline__ void memcpy_async(const Group& group, T* to, size_t to_count,
                                             const T* from, size_t from_count) {
  memcpy_async(group, to, from, (to_count < from_count ? to_count : from_count) * sizeof(T));
}
template <class Group>
__device__ __forceinline__ void wait(const Group& group) {
  group.sync();
}
template <unsigned int Stages, class Group>
__device__ __forceinline__ void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
