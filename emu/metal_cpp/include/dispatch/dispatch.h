#pragma once
// The part of Grand Central Dispatch that programs use beside Metal: semaphores, and data as a view of memory.

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)
extern "C" {

using dispatch_time_t = std::uint64_t;
#define DISPATCH_TIME_NOW (0ull)
#define DISPATCH_TIME_FOREVER (~0ull)
#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define USEC_PER_SEC 1000000ull
#define NSEC_PER_USEC 1000ull
/// Nanoseconds after `when`.
dispatch_time_t dispatch_time(dispatch_time_t when, std::int64_t nanoseconds);

struct dispatch_semaphore_s;
using dispatch_semaphore_t = dispatch_semaphore_s*;
dispatch_semaphore_t dispatch_semaphore_create(std::intptr_t value);
/// Returns 0, or another value if the time passes.
std::intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout);
std::intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore);

struct dispatch_queue_s;
using dispatch_queue_t = dispatch_queue_s*;

struct dispatch_data_s;
using dispatch_data_t = dispatch_data_s*;
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT nullptr
#define DISPATCH_DATA_DESTRUCTOR_FREE nullptr
#define DISPATCH_DATA_DESTRUCTOR_MUNMAP nullptr
/// Copies the bytes; queue and destructor are ignored.
dispatch_data_t dispatch_data_create(const void* bytes, std::size_t size, dispatch_queue_t queue,
                                     void* destructor);

void dispatch_release(void* object);

}  // extern "C"
#pragma GCC visibility pop
