// Measures the stack used by a call: runs it in a thread with a painted stack, once for each type,
// mode and path through the library. Exits with 1 if it exceeds the size documented in
// include/rung/gemm.hpp.

#include <pthread.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../entry_points.hpp"
#include "rung/rung.hpp"

namespace {

constexpr std::size_t stack_bytes = 1 << 20;
constexpr std::size_t documented = 64 << 10;
constexpr unsigned char paint = 0xA5;

struct Call {
  void (*run)(const void* arguments);
  const void* arguments;
};

/// The size of the written part of the stack, in bytes.
std::size_t stack_of(const Call& call) {
  void* const stack =
      mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) std::abort();
  std::memset(stack, paint, stack_bytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, stack_bytes);
  pthread_t thread;
  const auto run = [](void* erased) -> void* {
    const auto& what = *static_cast<const Call*>(erased);
    what.run(what.arguments);
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, run, const_cast<Call*>(&call)) != 0) std::abort();
  pthread_join(thread, nullptr);
  const auto* const bytes = static_cast<const unsigned char*>(stack);
  std::size_t untouched = 0;
  while (untouched < stack_bytes && bytes[untouched] == paint) ++untouched;
  munmap(stack, stack_bytes);
  return stack_bytes - untouched;
}

template <class Body>
std::size_t stack_of(const Body& body) {
  return stack_of(
      Call{[](const void* arguments) { (*static_cast<const Body*>(arguments))(); }, &body});
}

std::size_t largest = 0;

void record(const char* what, std::size_t bytes) {
  if (bytes > largest) std::printf("%s: %zu bytes\n", what, bytes);
  largest = std::max(largest, bytes);
}

template <class In, class Out>
void products(const char* type) {
  constexpr std::int64_t shapes[][3] = {
      {5, 5, 5}, {40, 200, 70}, {100, 100, 100}, {90, 80, 650}, {30, 30, 5000}};
  for (const auto& [m, n, k] : shapes) {
    const std::vector<In> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
    std::vector<Out> c(static_cast<std::size_t>(m * n));
    for (const int threads : {1, 2}) {
      record(type, stack_of([&, m = m, n = n, k = k] {
               rung::gemm(rung::row_major(a.data(), m, k), rung::col_major(b.data(), k, n),
                          rung::row_major(c.data(), m, n), {.threads = threads});
             }));
    }
  }
}

template <class In>
void dots(const char* type) {
  constexpr std::int64_t n = 300'000;
  const std::vector<In> x(n), y(n);
  for (int mode = 0; mode < 4; ++mode) {
    for (const std::int64_t increment : {1, 2}) {
      record(type, stack_of([&] {
               const double sum = static_cast<double>(
                   rung::dot(n / 2, x.data(), increment, y.data(), increment,
                             {.threads = 2, .mode = static_cast<rung::DotMode>(mode)}));
               if (sum != 0) std::abort();
             }));
    }
  }
}

/// Calls each function of rung.h in each mode, including refused ones.
void functions() {
  for (const rung::entry::EntryPoint& entry : rung::entry::entry_points()) {
    for (const rung::entry::Problem& problem :
         {rung::entry::Problem{5, 5, 5, 2}, {40, 200, 70, 2}, {90, 80, 650, 1}}) {
      const rung::entry::Call call = entry.make(problem, rung::entry::allocate);
      for (int mode = 0; mode < 4; ++mode) {
        for (const int threads : {1, 2}) {
          record(entry.name().c_str(), stack_of([&] { call.run(threads, mode); }));
        }
      }
    }
  }
}

}  // namespace

int main() {
  record("an empty thread", stack_of([] {}));
  products<float, float>("gemm f32");
  products<double, double>("gemm f64");
  products<std::int32_t, std::int32_t>("gemm i32");
  products<rung::bfloat16, float>("gemm bf16");
  products<rung::float16, float>("gemm f16");
  dots<float>("dot f32");
  dots<double>("dot f64");
  dots<rung::bfloat16>("dot bf16");
  dots<rung::float16>("dot f16");
  functions();
  std::printf("at most %zu bytes\n", largest);
  return largest <= documented ? 0 : 1;
}
