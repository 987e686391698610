// Streams that share nothing, threads that share a stream, captures, and graphs that outlive the
// objects they were made with.

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "fixture.hpp"
#include "library/cuda/stream_pool.hpp"
#include "product.hpp"

namespace rung {
namespace {

using cuda::CaptureMode, cuda::CaptureStatus, cuda::ProductShape;
using Parts = cuda::Product<float, float>;
using Copies = cuda::Product<bfloat16, float>;
using Sum = cuda::DotProduct<float, float>;

constexpr CaptureMode capture_modes[] = {CaptureMode::global, CaptureMode::thread_local_only,
                                         CaptureMode::relaxed};

/// A product whose blocks share sums in a workspace.
ProductShape split(int seed = 0) {
  return {4, 4, 2048, Order::row_major, Order::row_major, {}, seed};
}
/// A product whose operands are copied to a workspace.
ProductShape copied(int seed = 0) {
  return {.m = 9, .n = 10, .k = 11, .placement = {1, 1}, .seed = seed};
}

class CudaStreams : public CudaLibrary {
 protected:
  struct Recorded {
    cuda::Graph graph = nullptr;
    cuda::GraphExec exec = nullptr;
  };

  void use(const cuda::DriverApi& table) {
    static cuda::Driver other;
    other = {.api = &table, .takes_cubin = cuda::on_real_gpu()};
    cuda::use_driver(&other);
  }
  template <class F>
  Recorded record(cuda::Stream stream, CaptureMode mode, const F& f) {
    Recorded recorded;
    EXPECT_EQ(api.cuStreamBeginCapture(stream, mode), cuda::Result::success);
    f();
    EXPECT_EQ(api.cuStreamEndCapture(stream, &recorded.graph), cuda::Result::success);
    EXPECT_EQ(api.cuGraphInstantiate(&recorded.exec, recorded.graph, 0), cuda::Result::success);
    return recorded;
  }
  void replay(const Recorded& recorded, cuda::Stream stream) {
    EXPECT_EQ(api.cuGraphLaunch(recorded.exec, stream), cuda::Result::success);
    EXPECT_EQ(api.cuCtxSynchronize(), cuda::Result::success);
  }
  void destroy(const Recorded& recorded) {
    EXPECT_EQ(api.cuGraphExecDestroy(recorded.exec), cuda::Result::success);
    EXPECT_EQ(api.cuGraphDestroy(recorded.graph), cuda::Result::success);
  }
  template <class F>
  void in_threads(int count, const F& f) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        EXPECT_EQ(api.cuCtxSetCurrent(context), cuda::Result::success);
        f(i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  static int calls(const char* name) { return cuda::driver_calls()[name]; }
};

unsigned long long id_of_stream = 1;

// The driver may give the handle of a destroyed stream to the next one while work of the old one
// still runs. The virtual driver does not, so this test changes the stream's id instead.
TEST_F(CudaStreams, ANewStreamWithAnOldHandleTakesNoWorkspaceOver) {
  static cuda::DriverApi table = cuda::counting_driver();
  table.cuStreamGetId = [](cuda::Stream, unsigned long long* id) {
    *id = id_of_stream;
    return cuda::Result::success;
  };
  use(table);
  const CudaStream stream(new_stream());
  Parts product(api, split());
  product.run(stream);
  cuda::driver_calls().clear();
  product.run(stream);
  EXPECT_EQ(calls("cuMemAlloc"), 0);
  ++id_of_stream;
  product.poison();
  product.run(stream);
  EXPECT_EQ(calls("cuMemFree"), 1);  // waits for the old stream's work
  EXPECT_EQ(calls("cuMemAlloc"), 1);
  EXPECT_TRUE(product.is_right());
}

/// A driver that lets other threads run after each launch.
const cuda::DriverApi& yielding_driver() {
  static const cuda::DriverApi table = [] {
    cuda::DriverApi made = cuda::tested_driver();
    made.cuLaunchKernel = [](cuda::Function function, unsigned grid_x, unsigned grid_y,
                             unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned shared_bytes, cuda::Stream stream, void** parameters,
                             void** extra) {
      const cuda::Result result =
          cuda::tested_driver().cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y,
                                               block_z, shared_bytes, stream, parameters, extra);
      for (int i = 0; i < 20; ++i) std::this_thread::yield();
      return result;
    };
    return made;
  }();
  return table;
}

TEST_F(CudaStreams, ThreadsOnOneStreamDoNotOverwriteEachOthersCopies) {
  use(yielding_driver());
  const CudaStream stream(new_stream());
  in_threads(4, [&](int thread) {
    Copies product(api, copied(thread));
    for (int round = 0; round < 10; ++round) {
      product.poison();
      product.run(stream);
      EXPECT_TRUE(product.is_right());
    }
  });
}

TEST_F(CudaStreams, ThreadsOnOneStreamDoNotReadEachOthersDots) {
  use(yielding_driver());
  const CudaStream stream(new_stream());
  in_threads(4, [&](int thread) {
    const Sum sum(api, 1000 + 100 * thread, thread);
    for (int round = 0; round < 20; ++round) EXPECT_EQ(sum.returned(stream), sum.expected());
  });
}

TEST_F(CudaStreams, FirstCallsDoNotInvalidateCapturesOfOthers) {
  for (const CaptureMode mode : capture_modes) {
    ASSERT_EQ(api.cuCtxCreate(&context, 0, 0), cuda::Result::success);
    Parts captured(api, {5, 6, 7}), parts(api, split());
    Copies copies(api, copied());
    const Sum sum(api, 1000);
    const cuda::Stream capturing = new_stream(), beside = new_stream();
    const Recorded graph = record(capturing, mode, [&] {
      captured.run(CudaStream(capturing));
      in_threads(1, [&](int) {
        parts.run(CudaStream(beside));
        copies.run(CudaStream(beside));
        EXPECT_EQ(sum.returned(CudaStream(beside)), sum.expected());
        cuda::StreamPool pool(0);
        cuda::StreamPool::free(api, pool.allocate(api, 1 << 20, beside), beside);
        release_cuda_workspace(CudaStream(beside));
      });
    });
    replay(graph, capturing);
    EXPECT_TRUE(captured.is_right() && parts.is_right() && copies.is_right());
    destroy(graph);
    ASSERT_EQ(api.cuCtxDestroy(context), cuda::Result::success);
  }
}

TEST_F(CudaStreams, TheFirstCallMayBeCaptured) {
  for (const CaptureMode mode : capture_modes) {
    ASSERT_EQ(api.cuCtxCreate(&context, 0, 0), cuda::Result::success);
    Parts parts(api, split());
    Copies copies(api, copied());
    const cuda::Stream stream = new_stream();
    const Recorded graph = record(stream, mode, [&] {
      parts.run(CudaStream(stream));
      copies.run(CudaStream(stream));
    });
    for (int i = 0; i < 2; ++i) {
      parts.poison();
      copies.poison();
      replay(graph, stream);
      EXPECT_TRUE(parts.is_right() && copies.is_right());
    }
    destroy(graph);
    ASSERT_EQ(api.cuCtxDestroy(context), cuda::Result::success);
  }
}

TEST_F(CudaStreams, AReturnedDotIsRefusedBeforeItInvalidatesTheCapture) {
  const cuda::Stream stream = new_stream();
  Sum sum(api, 1000);
  const Recorded graph = record(stream, CaptureMode::global, [&] {
    sum.run(CudaStream(stream));
    EXPECT_EQ(refusal([&] { sum.returned(CudaStream(stream)); }),
              (std::pair<Status, std::string>(Status::invalid_argument,
                                              "rung: dot: the stream is capturing a graph; the "
                                              "result must go to device memory")));
  });
  sum.poison();
  replay(graph, stream);
  EXPECT_TRUE(sum.is_right());
  destroy(graph);
}

TEST_F(CudaStreams, AGraphOutlivesTheWorkspaceOfItsStream) {
  const cuda::Stream stream = new_stream();
  Parts parts(api, split());
  parts.run(CudaStream(stream));
  const Recorded graph =
      record(stream, CaptureMode::global, [&] { parts.run(CudaStream(stream)); });
  release_cuda_workspace(CudaStream(stream));
  EXPECT_EQ(api.cuStreamDestroy(stream), cuda::Result::success);
  parts.poison();
  replay(graph, nullptr);
  EXPECT_TRUE(parts.is_right());
  destroy(graph);
}

TEST_F(CudaStreams, AGraphHasAWorkspaceOfItsOwnWhileItLives) {
  const cuda::Stream stream = new_stream();
  Parts parts(api, split());
  const auto make = [&] {
    return record(stream, CaptureMode::global, [&] {
      parts.run(CudaStream(stream));
      parts.run(CudaStream(stream));
    });
  };
  parts.run(CudaStream(stream));
  cuda::driver_calls().clear();
  const Recorded first = make(), second = make();
  EXPECT_EQ(calls("cuMemAlloc"), 2);
  destroy(first);
  const Recorded third = make();
  EXPECT_EQ(calls("cuMemAlloc"), 2);
  destroy(second);
  destroy(third);
  release_cuda_workspace(CudaStream(stream));
  EXPECT_EQ(calls("cuMemFree"), 3);
}

}  // namespace
}  // namespace rung
