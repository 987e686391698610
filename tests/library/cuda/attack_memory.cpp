// Attacks on memory: no free memory, growth over many calls, and operands between guards.

#include <cstdlib>
#include <memory>

#include "attack.hpp"

namespace rung::cuda {
namespace {

constexpr DotMode modes[] = {DotMode::fast, DotMode::deterministic, DotMode::compensated,
                             DotMode::reproducible};

/// Allocates the device's memory, down to the last block of 2 MiB, except for `left_free` bytes.
class FilledMemory {
 public:
  explicit FilledMemory(std::int64_t left_free) {
    std::vector<DevicePointer> last;
    for (std::size_t bytes = std::size_t{1} << 32; bytes >= 1 << 21; bytes /= 2) {
      DevicePointer pointer = 0;
      while (driver_api().cuMemAlloc(&pointer, bytes) == Result::success) {
        (bytes == 1 << 21 ? last : blocks_).push_back(pointer);
      }
    }
    for (; left_free > 0 && !blocks_.empty(); left_free -= 4 << 20) {
      driver_api().cuMemFree(blocks_.back());
      blocks_.pop_back();
    }
    blocks_.insert(blocks_.end(), last.begin(), last.end());
  }
  FilledMemory(const FilledMemory&) = delete;
  FilledMemory& operator=(const FilledMemory&) = delete;
  ~FilledMemory() {
    for (const DevicePointer block : blocks_) driver_api().cuMemFree(block);
  }

 private:
  std::vector<DevicePointer> blocks_;
};

/// Problems of every kind, for repeated runs.
struct Problems {
  using Floats = Product<float, float>;
  const DriverApi& api = driver_api();
  Floats one_part{api, {5, 6, 7}};
  Floats parts{api, {40, 24, 8192}};
  Product<double, double> doubles{api, {33, 17, 65}};
  Product<bfloat16, float> aligned{api, {128, 64, 64}};
  Product<bfloat16, float> copied{api, {.m = 65, .n = 33, .k = 129, .placement = {1, 1}}};
  Product<bfloat16, float> deep{api, {64, 64, 8192}};
  Product<std::int8_t, std::int32_t> bytes{api, {65, 33, 129}};
  // Needs copies larger than the workspace.
  Product<bfloat16, float> wide{api, {.m = 33 * 8192, .n = 8, .k = 1, .placement = {0, 1}}};
  DotProduct<float, float> sum{api, 100'000};

  /// Calls each problem. Returns the number refused for lack of memory, and throws Failure if
  /// another one gives a wrong result.
  int refused() {
    int count = 0;
    const auto each = [&](auto& problem) {
      problem.poison();
      const std::string error = error_of([&] { problem.run(CudaStream(nullptr)); });
      synchronise();
      if (error.empty()) return expect(problem.is_right(), "a wrong result");
      expect(error == "bad_alloc" || error.find("OUT_OF_MEMORY") != error.npos, error);
      ++count;
    };
    each(one_part), each(parts), each(doubles), each(aligned), each(copied), each(deep);
    each(bytes), each(wide);
    for (const DotMode mode : modes) {
      sum.poison();
      const std::string error = error_of([&] { sum.run(CudaStream(nullptr), {.mode = mode}); });
      synchronise();
      expect(error.empty() ? sum.is_right() : error == "bad_alloc", "dot: " + error);
      count += !error.empty();
      float result = -1;
      const std::string other =
          error_of([&] { result = sum.returned(CudaStream(nullptr), {.mode = mode}); });
      expect(other.empty() ? result == sum.expected() : other == "bad_alloc", "dot: " + other);
      count += !other.empty();
    }
    return count;
  }
};

/// True if the ends of allocations are the guards, for compute-sanitizer.
bool is_tight() { return std::getenv("RUNG_ATTACK_TIGHT") != nullptr; }

template <class In, class Out>
int align() {
  int products = 0;
  const auto bytes = static_cast<std::int64_t>(sizeof(In));
  for (std::int64_t offset = 0; offset * bytes <= 128; offset += is_tight() ? 5 : 1) {
    for (const Order order : {Order::row_major, Order::col_major}) {
      for (const std::int64_t padding : {std::int64_t{0}, std::int64_t{1}, 16 / bytes}) {
        const std::int64_t k = 1 + offset % 37;
        Product<In, Out> product(driver_api(), {.m = 17 + offset % 7,
                                                .n = 9 + offset % 5,
                                                .k = k,
                                                .a = order,
                                                .b = order,
                                                .placement = {offset, padding, !is_tight()}});
        product.run(CudaStream(nullptr));
        synchronise();
        expect(product.is_right(), "offset " + std::to_string(offset) + ", k " + std::to_string(k) +
                                       ": a wrong result");
        ++products;
      }
    }
  }
  return products;
}

}  // namespace

void memory_filled() {
  use_primary();
  Problems problems;
  int refused = 0;
  for (const std::int64_t left : {0, 4, 16, 32, 40, 80, 160}) {
    {
      const FilledMemory filled(left << 20);
      refused += problems.refused();
      refused += problems.refused();
    }
    expect(problems.refused() == 0, "refused although memory is free");
    release_cuda_workspace(CudaStream(nullptr));
  }
  std::printf("(%d calls refused) ", refused);
  expect(refused > 0, "memory was not filled");
}

void a_million_calls() {
  use_primary();
  Product<float, float> small(driver_api(), {5, 6, 7});
  Product<bfloat16, float> copied(driver_api(), {.m = 17, .n = 9, .k = 9, .placement = {1, 1}});
  DotProduct<float, float> sum(driver_api(), 1000);
  const CudaStream stream(new_stream());
  const auto round = [&] {
    for (int i = 0; i < 400; ++i) small.run(stream);
    for (int i = 0; i < 50; ++i) copied.run(stream);
    for (int i = 0; i < 45; ++i) sum.run(stream);
    for (int i = 0; i < 5; ++i) expect(sum.returned(stream) == sum.expected(), "a wrong dot");
  };
  for (int i = 0; i < 100; ++i) round();
  const std::int64_t device = free_device_bytes(), host = resident_bytes();
  for (int i = 0; i < 2000; ++i) round();
  synchronise();
  const std::int64_t device_grown = device - free_device_bytes();
  const std::int64_t host_grown = resident_bytes() - host;
  std::printf("(device %+lld bytes, host %+lld) ", static_cast<long long>(device_grown),
              static_cast<long long>(host_grown));
  expect(small.is_right() && copied.is_right() && sum.is_right(), "a wrong result");
  expect(device_grown <= 0 && host_grown < 1 << 20, "growth");
}

void every_alignment() {
  use_primary();
  const int products =
      align<float, float>() + align<double, double>() + align<std::int32_t, std::int32_t>() +
      align<bfloat16, float>() + align<float16, float>() + align<bfloat16, bfloat16>() +
      align<float16, float16>() + align<tfloat32, float>() + align<std::int8_t, std::int32_t>() +
      align<float8_e4m3, float>() + align<float8_e5m2, float>();
  int dots = 0;
  for (std::int64_t offset = 0; offset < 33; offset += is_tight() ? 5 : 1) {
    for (const DotMode mode : modes) {
      DotProduct<float, float> sum(driver_api(), 1000 + offset, static_cast<int>(offset),
                                   {.offset = offset, .is_guarded = !is_tight()});
      sum.run(CudaStream(nullptr), {.mode = mode});
      synchronise();
      expect(sum.is_right(), "a wrong dot");
      ++dots;
    }
  }
  std::printf("(%d products, %d dots) ", products, dots);
}

}  // namespace rung::cuda
