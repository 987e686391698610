// Replaces operator new, aligned_alloc and pthread_create in the program and its libraries.

#include "failing_allocations.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> requests_left = 0;  // until one fails; 0: none fails
std::atomic<bool> keeps_failing = false;
std::atomic<bool> has_failed = false;

bool fails() {
  if (requests_left.load() == 0) return keeps_failing && has_failed;
  if (requests_left.fetch_sub(1) != 1) return false;
  has_failed = true;
  return true;
}

void* allocate(std::size_t bytes) {
  void* const memory = fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

namespace rung {

void fail_allocation(int n, bool forever) {
  has_failed = false;
  keeps_failing = forever;
  requests_left = n;
}

bool allocation_failed() { return has_failed; }

}  // namespace rung

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  void* memory = nullptr;
  if (fails() || posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
  return memory;
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return fails() ? EAGAIN : create(thread, attributes, start, argument);
}
