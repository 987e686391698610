// Tries to break the library with streams, threads, captures and graphs.

#include <atomic>
#include <memory>
#include <thread>

#include "attack.hpp"

namespace rung::cuda {
namespace {

constexpr ProductShape split = {40, 24, 8192};

ProductShape copied(int seed) {
  return {.m = 300, .n = 200, .k = 129, .placement = {1, 1}, .seed = seed};
}

using Parts = Product<float, float>;
using Copies = Product<bfloat16, float>;
using Sum = DotProduct<float, float>;

struct Recorded {
  Graph graph = nullptr;
  GraphExec exec = nullptr;
};

template <class F>
Recorded record(Stream stream, CaptureMode mode, const F& f) {
  Recorded recorded;
  RUNG_OK(cuStreamBeginCapture, stream, mode);
  f();
  RUNG_OK(cuStreamEndCapture, stream, &recorded.graph);
  RUNG_OK(cuGraphInstantiate, &recorded.exec, recorded.graph, 0);
  return recorded;
}

/// Runs f(thread) in `count` threads. Throws Failure with the first error, if there is one.
template <class F>
void in_threads(int count, Context context, const F& f) {
  std::vector<std::thread> threads;
  std::vector<std::string> errors(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      try {
        RUNG_OK(cuCtxSetCurrent, context);
        f(i);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(i)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) expect(error.empty(), error);
}

}  // namespace

void stream_handles_reused() {
  use_primary();
  Parts first(driver_api(), split),
      second(driver_api(), {40, 24, 8192, Order::row_major, Order::row_major, {}, 1});
  int reused = 0;
  for (int round = 0; round < 100; ++round) {
    first.poison();
    second.poison();
    const Stream one = new_stream();
    for (int i = 0; i < 20; ++i) first.run(CudaStream(one));
    RUNG_OK(cuStreamDestroy, one);
    const Stream other = new_stream();
    reused += other == one;
    for (int i = 0; i < 20; ++i) second.run(CudaStream(other));
    RUNG_OK(cuStreamDestroy, other);
    synchronise();
    expect(first.is_right() && second.is_right(), "a wrong result");
  }
  std::printf("(%d of 100 handles reused at once) ", reused);
}

void threads_on_one_stream() {
  const Context context = use_primary();
  const Stream stream = new_stream();
  in_threads(8, context, [&](int thread) {
    Copies copies(driver_api(), copied(thread));
    Parts parts(driver_api(), {40, 24, 8192, Order::row_major, Order::row_major, {}, thread});
    Sum sum(driver_api(), 10'000 + 1000 * thread, thread);
    for (int round = 0; round < 300; ++round) {
      copies.poison();
      parts.poison();
      copies.run(CudaStream(stream));
      parts.run(CudaStream(stream));
      expect(sum.returned(CudaStream(stream)) == sum.expected(), "another thread's dot");
      RUNG_OK(cuStreamSynchronize, stream);
      expect(copies.is_right(), "another thread's copies");
      expect(parts.is_right(), "another thread's partial sums");
    }
  });
}

void threads_with_two_contexts() {
  Context contexts[2] = {use_primary(), nullptr};
  RUNG_OK(cuCtxCreate, &contexts[1], 0, 0);
  in_threads(4, contexts[0], [&](int thread) {
    for (int round = 0; round < 50; ++round) {
      RUNG_OK(cuCtxSetCurrent, contexts[(thread + round) % 2]);
      Copies copies(driver_api(), copied(thread));
      Sum sum(driver_api(), 10'000, thread);
      copies.run(CudaStream(nullptr));
      expect(sum.returned(CudaStream(nullptr)) == sum.expected(), "a wrong dot");
      synchronise();
      expect(copies.is_right(), "a wrong result");
    }
  });
}

void captures_of_others() {
  use_primary();
  for (const CaptureMode mode :
       {CaptureMode::global, CaptureMode::thread_local_only, CaptureMode::relaxed}) {
    // A fresh context, in which every first call loads modules and allocates memory.
    Context context = nullptr;
    RUNG_OK(cuCtxCreate, &context, 0, 0);
    Parts captured(driver_api(), {5, 6, 7}), other(driver_api(), split);
    Copies copies(driver_api(), copied(0));
    Copies large(driver_api(), {.m = 33 * 8192, .n = 8, .k = 1, .placement = {0, 1}});
    const Sum sum(driver_api(), 1000);
    const Stream capturing = new_stream(), beside = new_stream();
    captured.run(CudaStream(capturing));
    synchronise();
    captured.poison();
    const Recorded graph = record(capturing, mode, [&] {
      captured.run(CudaStream(capturing));
      in_threads(1, context, [&](int) {
        other.run(CudaStream(beside));
        copies.run(CudaStream(beside));
        large.run(CudaStream(beside));
        expect(sum.returned(CudaStream(beside)) == sum.expected(), "a wrong dot");
        release_cuda_workspace(CudaStream(beside));
        other.run(CudaStream(beside));
      });
    });
    RUNG_OK(cuGraphLaunch, graph.exec, capturing);
    synchronise();
    expect(captured.is_right() && other.is_right() && copies.is_right() && large.is_right(),
           "a wrong result");
  }
}

void first_call_is_captured() {
  use_primary();
  for (const CaptureMode mode :
       {CaptureMode::global, CaptureMode::thread_local_only, CaptureMode::relaxed}) {
    Context context = nullptr;
    RUNG_OK(cuCtxCreate, &context, 0, 0);
    Parts parts(driver_api(), split);
    Copies copies(driver_api(), copied(0));
    Sum sum(driver_api(), 100'000);
    const Stream stream = new_stream();
    const Recorded graph = record(stream, mode, [&] {
      parts.run(CudaStream(stream));
      copies.run(CudaStream(stream));
      sum.run(CudaStream(stream));
      const std::string error = error_of([&] { sum.returned(CudaStream(stream)); });
      expect(error.find("capturing") != error.npos, "a returned dot was not refused: " + error);
    });
    for (int i = 0; i < 3; ++i) {
      parts.poison();
      copies.poison();
      sum.poison();
      RUNG_OK(cuGraphLaunch, graph.exec, stream);
      synchronise();
      expect(parts.is_right() && copies.is_right() && sum.is_right(), "a wrong result");
    }
  }
}

void graph_after_release() {
  use_primary();
  const Stream stream = new_stream();
  Parts parts(driver_api(), split);
  Copies copies(driver_api(), copied(0));
  parts.run(CudaStream(stream));
  const Recorded graph = record(stream, CaptureMode::global, [&] {
    parts.run(CudaStream(stream));
    copies.run(CudaStream(stream));
  });
  synchronise();
  release_cuda_workspace(CudaStream(stream));
  RUNG_OK(cuStreamDestroy, stream);
  std::vector<DevicePointer> taken(64);
  for (DevicePointer& pointer : taken) {
    RUNG_OK(cuMemAlloc, &pointer, std::size_t{32} << 20);
    RUNG_OK(cuMemsetD8, pointer, 0x5A, std::size_t{32} << 20);
  }
  const Stream other = new_stream();
  parts.poison();
  copies.poison();
  RUNG_OK(cuGraphLaunch, graph.exec, other);
  synchronise();
  expect(parts.is_right() && copies.is_right(), "a wrong result");
  std::vector<unsigned char> block(std::size_t{32} << 20);
  for (const DevicePointer pointer : taken) {
    RUNG_OK(cuMemcpyDtoH, block.data(), pointer, block.size());
    for (const unsigned char byte : block) expect(byte == 0x5A, "somebody else's memory written");
  }
  // Workspaces of destroyed graphs are reused.
  const std::int64_t before = free_device_bytes();
  for (int i = 0; i < 40; ++i) {
    const Recorded another =
        record(other, CaptureMode::global, [&] { parts.run(CudaStream(other)); });
    RUNG_OK(cuGraphLaunch, another.exec, other);
    RUNG_OK(cuGraphExecDestroy, another.exec);
    RUNG_OK(cuGraphDestroy, another.graph);
    synchronise();
  }
  const std::int64_t grown = before - free_device_bytes();
  std::printf("(40 graphs: %+lld bytes) ", static_cast<long long>(grown));
  expect(grown < 200 << 20, "workspaces of dead graphs stay");
}

void graphs_in_parallel() {
  use_primary();
  const Stream stream = new_stream(), other = new_stream();
  std::vector<std::unique_ptr<Parts>> products;
  for (int seed = 0; seed < 3; ++seed) {
    products.push_back(std::make_unique<Parts>(
        driver_api(), ProductShape{40, 24, 8192, Order::row_major, Order::row_major, {}, seed}));
  }
  const auto graph_of = [&](Parts& product) {
    return record(stream, CaptureMode::global, [&] { product.run(CudaStream(stream)); });
  };
  const Recorded first = graph_of(*products[0]), second = graph_of(*products[1]);
  const Stream third = new_stream();
  for (int round = 0; round < 300; ++round) {
    for (const auto& product : products) product->poison();
    RUNG_OK(cuGraphLaunch, first.exec, other);
    RUNG_OK(cuGraphLaunch, second.exec, third);
    products[2]->run(CudaStream(stream));
    synchronise();
    for (const auto& product : products) expect(product->is_right(), "a wrong result");
  }
}

}  // namespace rung::cuda
