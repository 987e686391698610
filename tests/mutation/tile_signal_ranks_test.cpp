// The fused kernel of a reduce-scatter (kernels/device/cuda/library/tile_signal_gemm.cu) on two virtual
// GPUs at the same time: each kernel waits for a sum that the other one sends while it runs. CPU
// threads replace the copy engines between them.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "backends/cuda/images.hpp"
#include "backends/rungs/cuda.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "device/cuda/library/tile_signal_gemm.hpp"
#include "encode_map.hpp"
#include "rung/types.hpp"
#include "vgpu/launch.hpp"
#include "vgpu/memory/device_memory.hpp"

namespace rung {
namespace {

using T = bfloat16;

constexpr std::int64_t rows = 150;  // of a rank's block of C: one whole tile, and a part of another
constexpr std::int64_t n = 136, k = 72;

float a_of(std::int64_t rank, std::int64_t i, std::int64_t p) {
  return static_cast<float>((i * 7 + p * 3 + rank) % 3 - 1);
}
float b_of(std::int64_t rank, std::int64_t p, std::int64_t j) {
  return static_cast<float>((p * 5 + j * 11 + rank) % 3 - 1);
}
float sum_of_ranks(std::int64_t i, std::int64_t j) {
  float sum = 0;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    for (std::int64_t p = 0; p < k; ++p) sum += a_of(rank, i, p) * b_of(rank, p, j);
  }
  return sum;
}

bool is_set_soon(unsigned* word) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(300);
  while (std::chrono::steady_clock::now() < end) {
    if (std::atomic_ref(*word).load(std::memory_order_acquire) == 1) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return false;
}

class TileSignalRanksTest : public testing::Test {
 protected:
  /// A virtual GPU, and the memory that its kernel uses.
  struct Rank {
    explicit Rank(std::int64_t number_) : number(number_) {}

    template <class Element, class F>
    Element* array(std::int64_t lines, std::int64_t length, const F& f) {
      std::vector<Element> values;
      for (std::int64_t i = 0; i < lines; ++i) {
        for (std::int64_t j = 0; j < length; ++j) values.push_back(Element(f(i, j)));
      }
      const std::uint64_t address = memory.allocate(values.size() * sizeof(Element));
      memory.write(address, values.data(), values.size() * sizeof(Element));
      return reinterpret_cast<Element*>(address);
    }
    template <class Element>
    Element* filled(std::int64_t count, int value) {
      return array<Element>(1, count, [&](auto, auto) {
        return static_cast<std::conditional_t<std::is_integral_v<Element>, Element, float>>(value);
      });
    }

    std::int64_t number;
    vgpu::DeviceMemory memory{std::size_t{1} << 24};
    T* a = array<T>(2 * rows, k, [&](auto i, auto p) { return a_of(number, i, p); });
    T* b = array<T>(k, n, [&](auto p, auto j) { return b_of(number, p, j); });
    T* c = filled<T>(rows * n, 99);
    T* outgoing = filled<T>(rows * n, 99);
    T* incoming = filled<T>(rows * n, 77);
    unsigned* departure = filled<unsigned>(1, 0);
    unsigned* arrival = filled<unsigned>(1, 0);
    unsigned* next_tile = filled<unsigned>(1, 0);
    unsigned* stored = filled<unsigned>(2, 0);
  };

  static cuda::Launch launch_of(const Rank& rank, std::int64_t rows_of_a, T* c) {
    const Gemm<T, T> gemm{rows_of_a, n, k, 1, {rank.a, k, 1}, {rank.b, n, 1}, 0, {c, n, 1}};
    return cuda::tile_signal_gemm.rung->launches.of<T, T>()(gemm, {});
  }

  /// The other rank's block comes first, because it is sent; then this rank's block, to which the
  /// received one is added.
  static cuda::TileSignalArgs<T> arguments(const Rank& rank) {
    cuda::TileSignalArgs<T> args = {
        .problem = {rows, n, k, 1, {rank.a, k, 1}, {rank.b, n, 1}, 0, {rank.c, n, 1}},
        .matrix_of_other_c = {rank.outgoing, n, 1},
        .next_tile = rank.next_tile,
        .stored = rank.stored,
        .count = 2};
    encode(launch_of(rank, 2 * rows, rank.c).a, args.maps.a);
    const cuda::Launch own = launch_of(rank, rows, rank.c);
    encode(own.b, args.maps.b);
    encode(own.c, args.maps.c);
    encode(launch_of(rank, rows, rank.outgoing).c, args.other_c);
    encode(launch_of(rank, rows, rank.incoming).c, args.addend);
    const auto first_row = [](std::int64_t block) {
      return static_cast<std::int32_t>(block * rows);
    };
    args.parts[0] = {.tiles_end = 2,
                     .a_row = first_row(1 - rank.number),
                     .c_end = rows,
                     .c_is_other = true,
                     .finished = rank.departure};
    args.parts[1] = {.tiles_end = 4,
                     .a_row = first_row(rank.number),
                     .c_end = rows,
                     .has_addend = true,
                     .awaited = rank.arrival};
    return args;
  }

  static vgpu::LaunchReport run(Rank& rank, const std::string& text) {
    const cuda::TileSignalArgs<T> args = arguments(rank);
    const cuda::Launch launch = launch_of(rank, rows, rank.c);
    vgpu::LaunchOptions options;
    options.grid.x = 2;
    options.block.x = static_cast<std::uint32_t>(launch.block.x);
    options.dynamic_shared = launch.shared_bytes;
    options.starts_early = launch.starts_early;
    options.threads = 1;
    const auto module = vgpu::Module::load(text, "tile_signal_gemm", rank.memory);
    const vgpu::Kernel& kernel =
        *module->kernel(cuda::kernel_of(cuda::tile_signal_gemm, Dtype::bf16_bf16).text());
    return vgpu::launch(kernel, options, std::as_bytes(std::span(&args, 1)), rank.memory,
                        vgpu::parse_device("h200"));
  }

  static void expect_right(const Rank& rank) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        ASSERT_EQ(static_cast<float>(rank.c[i * n + j]), sum_of_ranks(rank.number * rows + i, j))
            << "rank " << rank.number << ", row " << i << ", column " << j;
      }
    }
  }
};

TEST_F(TileSignalRanksTest, KernelsOfTwoRanksMeet) {
  vgpu::let_host_access_device_memory();  // CPU threads replace copy engines
  for (const cuda::Image& image : cuda::images()) {
    if (image.id != cuda::tile_signal_gemm.id || image.code != cuda::Code::clang_ptx) continue;
    const std::string text(cuda::unpacked(image.unit(Dtype::bf16_bf16)));
    std::array<Rank, 2> ranks = {Rank(0), Rank(1)};
    std::array<vgpu::LaunchReport, 2> reports;
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < 2; ++i) {
        Rank& other = ranks[1 - i];
        threads.emplace_back([&, i] { reports[i] = run(ranks[i], text); });
        threads.emplace_back([&, i] {
          EXPECT_TRUE(is_set_soon(ranks[i].departure)) << "rank " << i << " reports nothing";
          std::memcpy(static_cast<void*>(other.incoming), ranks[i].outgoing, rows * n * sizeof(T));
          std::atomic_ref(*other.arrival).store(1, std::memory_order_release);
        });
      }
    }
    for (std::size_t i = 0; i < 2; ++i) {
      for (const vgpu::Hazard& hazard : reports[i].hazards) ADD_FAILURE() << hazard.message;
      expect_right(ranks[i]);
    }
  }
}

}  // namespace
}  // namespace rung
