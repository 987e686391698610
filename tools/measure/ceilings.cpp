#include "tools/measure/ceilings.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "core/dtype.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/parallel.hpp"
#include "tools/measure/timing.hpp"

namespace rung {
namespace {

// A duration that amortizes waking the threads, which takes microseconds.
constexpr std::int64_t fma_iterations = 100'000;

// Stores results, so that the compiler does not remove the computation.
std::atomic<double> float_sink;
std::atomic<std::uint64_t> bits_sink;

FmaKernel kernel_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64: return fma_kernel<double>();
    case Dtype::i32: return fma_kernel<std::int32_t>();
    case Dtype::bf16: return dot_kernel<bfloat16>();
    case Dtype::i8: return dot_kernel<std::int8_t>();
    default: return fma_kernel<float>();
  }
}

std::int64_t align_down(std::int64_t bytes) { return bytes / 64 * 64; }

// Splits regions into pieces, small enough to balance threads of unequal speed.
std::vector<Region> split(const std::vector<Region>& regions, int threads) {
  constexpr std::int64_t max_piece = 8 << 20;
  if (threads == 1) return regions;
  std::vector<Region> pieces;
  for (const auto& [data, bytes] : regions) {
    const std::int64_t share = (bytes + threads - 1) / threads;
    const std::int64_t piece =
        std::max<std::int64_t>(64, align_down(std::min(share + 63, max_piece)));
    for (std::int64_t start = 0; start < bytes; start += piece) {
      pieces.push_back(
          {static_cast<const std::byte*>(data) + start, std::min(piece, bytes - start)});
    }
  }
  return pieces;
}

// The best of several samples, because noise only increases times.
double best_rate(const CeilingBatch& ceiling) {
  constexpr double budget = 0.12;
  TimingOptions options;
  options.seconds = budget;
  const Timing timing = time_interleaved({{ceiling.batch}}, options).front();
  return ceiling.work / *std::min_element(timing.seconds.begin(), timing.seconds.end()) * 1e-9;
}

Ceiling measure_multiply_add(Dtype dtype) {
  const int all = cpu::available_threads();
  const double one = best_rate(fma_ceiling(dtype, 1));
  return {std::string(name(dtype)), one, all == 1 ? one : best_rate(fma_ceiling(dtype, all))};
}

class Pages {
 public:
  explicit Pages(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)),
        data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    madvise(data_, bytes_, MADV_HUGEPAGE);
#endif
    // Pages that were never written would all map to the zero page.
    std::fill_n(static_cast<unsigned char*>(data_), bytes_, static_cast<unsigned char>(1));
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(data_, bytes_); }

  const void* data() const { return data_; }

 private:
  std::size_t bytes_;
  void* data_;
};

// Each thread reads its own `bytes` bytes.
Ceiling measure_read(std::string level, const Pages& pages, std::int64_t bytes) {
  const int all = cpu::available_threads();
  const double one = best_rate(read_ceiling({{pages.data(), bytes}}, 1));
  if (all == 1) return {std::move(level), one, one};
  return {std::move(level), one, best_rate(read_ceiling({{pages.data(), bytes * all}}, all))};
}

}  // namespace

Dtype ceiling_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
    case Dtype::i32:
    case Dtype::i8: return dtype;
    case Dtype::bf16: return dot_kernel<bfloat16>().run != nullptr ? dtype : Dtype::f32;
    default: return Dtype::f32;
  }
}

CeilingBatch fma_ceiling(Dtype dtype, int threads) {
  const FmaKernel kernel = kernel_of(ceiling_type(dtype));
  const auto batch = [run = kernel.run, threads](std::int64_t calls) {
    cpu::parallel_for(threads, threads, [&](std::int64_t) {
      float_sink.store(run(calls * fma_iterations), std::memory_order_relaxed);
    });
  };
  return {batch, kernel.flops_per_iteration * static_cast<double>(fma_iterations * threads)};
}

CeilingBatch read_ceiling(const std::vector<Region>& regions, int threads) {
  std::int64_t bytes = 0;
  for (const Region& region : regions) bytes += region.bytes;
  const bool prefetch = bytes / threads > cpu::machine().caches.l2;
  const auto batch = [=, kernel = read_kernel(),
                      pieces = split(regions, threads)](std::int64_t calls) {
    if (threads == 1) {
      bits_sink.store(kernel(pieces, calls, prefetch), std::memory_order_relaxed);
      return;
    }
    for (std::int64_t call = 0; call < calls; ++call) {
      cpu::parallel_for(std::ssize(pieces), threads, [&](std::int64_t i) {
        const std::span piece(&pieces[static_cast<std::size_t>(i)], 1);
        bits_sink.store(kernel(piece, 1, prefetch), std::memory_order_relaxed);
      });
    }
  };
  return {batch, static_cast<double>(bytes)};
}

Ceilings measure_ceilings() {
  Ceilings ceilings;
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::bf16, Dtype::i8}) {
    if (ceiling_type(dtype) == dtype) ceilings.multiply_add.push_back(measure_multiply_add(dtype));
  }
  const cpu::Caches& caches = cpu::machine().caches;
  const int threads = cpu::available_threads();
  constexpr std::int64_t gib = 1 << 30;
  const std::int64_t memory = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  const std::int64_t dram = std::min({2 * caches.l3, gib, memory / 4});
  // A share of the outer cache, which other users may also occupy: an L3 cache may serve a whole
  // socket.
  const std::int64_t l3 = std::min(4 * caches.l2, caches.l3 / (2 * threads));
  const Pages pages(std::max(dram, std::max(l3, caches.l2) * threads));
  ceilings.read.push_back(measure_read("L1", pages, align_down(caches.l1 / 2)));
  ceilings.read.push_back(measure_read("L2", pages, align_down(caches.l2 / 2)));
  if (l3 > caches.l2) ceilings.read.push_back(measure_read("L3", pages, align_down(l3)));
  ceilings.read.push_back(measure_read("DRAM", pages, align_down(dram / threads)));
  return ceilings;
}

}  // namespace rung
