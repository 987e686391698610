// Streams, events, capture and graphs.

#include <thread>

#include "vgpu/tests/driver_fixture.hpp"
#include "vgpu/tests/driver_kernels.hpp"

namespace rung::vgpu {
namespace {

using cuda::CaptureMode;
using cuda::CaptureStatus;
using cuda::DevicePointer;
using cuda::Event;
using cuda::Graph;
using cuda::GraphExec;
using cuda::Stream;

class DriverStream : public DriverTest {
 protected:
  Stream stream(unsigned flags = 0) {
    Stream made = nullptr;
    EXPECT_OK(api.cuStreamCreate(&made, flags));
    return made;
  }
  Event event(unsigned flags = 0) {
    Event made = nullptr;
    EXPECT_OK(api.cuEventCreate(&made, flags));
    return made;
  }
};

TEST_F(DriverStream, Streams) {
  Stream made = nullptr;
  EXPECT_EQ(api.cuStreamCreate(&made, 99), Result::invalid_value);
  EXPECT_OK(api.cuStreamCreateWithPriority(&made, cuda::stream_non_blocking, -99));
  int priority = 0;
  unsigned flags = 0;
  EXPECT_OK(api.cuStreamGetPriority(made, &priority));
  EXPECT_EQ(priority, -5);
  EXPECT_OK(api.cuStreamGetFlags(made, &flags));
  EXPECT_EQ(flags, cuda::stream_non_blocking);
  EXPECT_OK(api.cuStreamQuery(made));
  EXPECT_OK(api.cuStreamSynchronize(nullptr));
  EXPECT_OK(api.cuStreamSynchronize(cuda::legacy_stream()));
  EXPECT_OK(api.cuStreamSynchronize(cuda::per_thread_stream()));
  EXPECT_OK(api.cuStreamDestroy(made));
  EXPECT_EQ(api.cuStreamDestroy(made), Result::invalid_handle);
  EXPECT_EQ(api.cuStreamSynchronize(made), Result::invalid_handle);
  EXPECT_EQ(api.cuStreamDestroy(nullptr), Result::invalid_handle);
}

TEST_F(DriverStream, HostFunctionsRunInOrder) {
  int value = 1;
  const auto twice = [](void* data) { *static_cast<int*>(data) *= 2; };
  const auto more = [](void* data) { *static_cast<int*>(data) += 1; };
  const Stream made = stream();
  EXPECT_OK(api.cuLaunchHostFunc(made, twice, &value));
  EXPECT_OK(api.cuLaunchHostFunc(made, more, &value));
  EXPECT_OK(api.cuStreamSynchronize(made));
  EXPECT_EQ(value, 3);
  EXPECT_EQ(api.cuLaunchHostFunc(made, nullptr, nullptr), Result::invalid_value);
}

TEST_F(DriverStream, Events) {
  Event bad = nullptr;
  EXPECT_EQ(api.cuEventCreate(&bad, cuda::event_interprocess), Result::invalid_value);
  const Event begin = event();
  const Event end = event();
  const Event untimed = event(cuda::event_disable_timing);
  float milliseconds = -1;
  EXPECT_OK(api.cuEventQuery(begin));  // never recorded, so it is complete
  EXPECT_EQ(api.cuEventElapsedTime(&milliseconds, begin, end), Result::invalid_handle);
  EXPECT_OK(api.cuEventRecord(begin, nullptr));
  EXPECT_OK(api.cuEventRecord(untimed, nullptr));
  EXPECT_OK(api.cuEventRecord(end, nullptr));
  EXPECT_OK(api.cuEventSynchronize(end));
  EXPECT_OK(api.cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(api.cuEventElapsedTime(&milliseconds, begin, untimed), Result::invalid_handle);
  EXPECT_OK(api.cuStreamWaitEvent(stream(), begin, 0));
  EXPECT_EQ(api.cuStreamWaitEvent(nullptr, begin, 9), Result::invalid_value);
  EXPECT_OK(api.cuEventDestroy(begin));
  EXPECT_EQ(api.cuEventQuery(begin), Result::invalid_handle);
}

class DriverCapture : public DriverStream {
 protected:
  void SetUp() override {
    DriverStream::SetUp();
    main = stream();
    pointer = allocate(64);
    ASSERT_OK(api.cuMemsetD32(pointer, 0, 16));
    store = function(load(store_kernel), "store");
  }
  Result store_value(unsigned value, Stream where) {
    return launch(store, {&pointer, &value}, where);
  }
  CaptureStatus status(Stream of) {
    CaptureStatus found{};
    EXPECT_OK(api.cuStreamIsCapturing(of, &found));
    return found;
  }
  void begin(CaptureMode mode = CaptureMode::global) {
    EXPECT_OK(api.cuStreamBeginCapture(main, mode));
  }
  Result end() {
    const Result result = api.cuStreamEndCapture(main, &graph);
    EXPECT_EQ(graph == nullptr, result != Result::success);
    EXPECT_EQ(status(main), CaptureStatus::none);
    return result;
  }
  void run_graph() {
    GraphExec exec = nullptr;
    ASSERT_OK(api.cuGraphInstantiate(&exec, graph, 0));
    EXPECT_OK(api.cuGraphLaunch(exec, nullptr));
    EXPECT_OK(api.cuGraphExecDestroy(exec));
  }

  Stream main = nullptr;
  DevicePointer pointer = 0;
  cuda::Function store = nullptr;
  Graph graph = nullptr;
};

TEST_F(DriverCapture, RecordsAndReplays) {
  begin();
  EXPECT_EQ(status(main), CaptureStatus::active);
  EXPECT_OK(store_value(5, main));
  EXPECT_OK(api.cuMemcpyDtoDAsync(pointer + 4, pointer, 4, main));
  EXPECT_OK(api.cuMemsetD32Async(pointer, 9, 1, main));
  EXPECT_OK(end());
  EXPECT_EQ(read(pointer), 0u);  // the kernel has not run
  GraphExec exec = nullptr;
  EXPECT_OK(api.cuGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(api.cuGraphDestroy(graph));
  EXPECT_EQ(api.cuGraphInstantiate(&exec, graph, 0), Result::invalid_value);
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(api.cuMemsetD32(pointer, 0, 16));
    EXPECT_OK(api.cuGraphLaunch(exec, main));
    EXPECT_EQ(read(pointer), 9u);
    EXPECT_EQ(read(pointer + 4), 5u);
  }
  EXPECT_OK(api.cuGraphExecDestroy(exec));
  EXPECT_EQ(api.cuGraphLaunch(exec, main), Result::invalid_handle);
}

TEST_F(DriverCapture, KeepsTheModuleOfItsKernels) {
  begin();
  EXPECT_OK(store_value(5, main));
  EXPECT_OK(end());
  cuda::Module module = nullptr;
  EXPECT_OK(api.cuFuncGetModule(&module, store));
  EXPECT_OK(api.cuModuleUnload(module));
  run_graph();
  EXPECT_EQ(read(pointer), 5u);
}

TEST_F(DriverCapture, OtherStreamsJoinByEvents) {
  const Stream side = stream();
  const Event forked = event();
  const Event joined = event();
  begin();
  EXPECT_OK(api.cuEventRecord(forked, main));
  EXPECT_OK(api.cuStreamWaitEvent(side, forked, 0));
  EXPECT_OK(store_value(6, side));
  EXPECT_EQ(status(side), CaptureStatus::active);
  EXPECT_OK(api.cuEventRecord(joined, side));
  EXPECT_OK(api.cuStreamWaitEvent(main, joined, 0));
  EXPECT_OK(end());
  EXPECT_EQ(status(side), CaptureStatus::none);
  run_graph();
  EXPECT_EQ(read(pointer), 6u);
  EXPECT_EQ(api.cuEventQuery(joined), Result::invalid_value);

  begin();
  EXPECT_OK(api.cuEventRecord(forked, main));
  EXPECT_OK(api.cuStreamWaitEvent(side, forked, 0));
  EXPECT_OK(store_value(6, side));
  EXPECT_EQ(end(), Result::stream_capture_unjoined);

  begin();
  EXPECT_OK(api.cuEventRecord(forked, main));
  EXPECT_OK(api.cuStreamWaitEvent(side, forked, 0));
  EXPECT_EQ(api.cuStreamEndCapture(side, &graph), Result::stream_capture_unmatched);
  EXPECT_EQ(end(), Result::stream_capture_invalidated);
}

TEST_F(DriverCapture, DestroyedStreamsLeaveTheirWork) {
  const Event forked = event(), joined = event();
  begin();
  EXPECT_OK(api.cuEventRecord(forked, main));
  Stream side = stream();
  EXPECT_OK(api.cuStreamWaitEvent(side, forked, 0));
  EXPECT_OK(store_value(6, side));
  EXPECT_OK(api.cuStreamDestroy(side));
  side = stream();  // probably at the first one's address
  EXPECT_OK(api.cuStreamWaitEvent(side, forked, 0));
  EXPECT_OK(store_value(7, side));
  EXPECT_OK(api.cuEventRecord(joined, side));
  EXPECT_OK(api.cuStreamWaitEvent(main, joined, 0));
  EXPECT_EQ(end(), Result::stream_capture_unjoined);
}

TEST_F(DriverCapture, WaitingInvalidatesIt) {
  const Event captured = event();
  const Event outside = event();
  EXPECT_OK(api.cuEventRecord(outside, nullptr));
  const auto refused = [&](Result expected, auto call) {
    begin();
    EXPECT_OK(api.cuEventRecord(captured, main));
    EXPECT_EQ(call(), expected);
    EXPECT_EQ(status(main), CaptureStatus::invalidated);
    EXPECT_EQ(store_value(1, main), Result::stream_capture_invalidated);
    EXPECT_EQ(end(), Result::stream_capture_invalidated);
  };
  const Stream other = stream();
  unsigned value = 0;
  DevicePointer more = 0;
  const Result unsupported = Result::stream_capture_unsupported;
  refused(unsupported, [&] { return api.cuStreamSynchronize(main); });
  refused(unsupported, [&] { return api.cuStreamQuery(main); });
  refused(unsupported, [&] { return api.cuStreamSynchronize(other); });
  refused(unsupported, [&] { return api.cuCtxSynchronize(); });
  refused(unsupported, [&] { return api.cuMemAlloc(&more, 4); });
  refused(unsupported, [&] { return api.cuEventQuery(outside); });
  refused(Result::captured_event, [&] { return api.cuEventSynchronize(captured); });
  refused(Result::stream_capture_isolation,
          [&] { return api.cuStreamWaitEvent(main, outside, 0); });
  refused(Result::stream_capture_implicit, [&] { return api.cuMemcpyDtoH(&value, pointer, 4); });
  refused(Result::stream_capture_implicit, [&] { return store_value(1, nullptr); });
  refused(Result::invalid_value,
          [&] { return api.cuLaunchKernel(store, 0, 1, 1, 1, 1, 1, 0, main, nullptr, nullptr); });
}

TEST_F(DriverCapture, ARelaxedOneAllowsAllocations) {
  begin(CaptureMode::relaxed);
  allocate(4);
  EXPECT_OK(end());
  begin(CaptureMode::thread_local_only);
  std::jthread([this] {
    EXPECT_OK(api.cuCtxSetCurrent(context));
    allocate(4);
  }).join();
  EXPECT_OK(end());
}

TEST_F(DriverCapture, AThreadMayAllowItselfAllocations) {
  CaptureMode mode = CaptureMode::relaxed;
  EXPECT_OK(api.cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CaptureMode::global);
  begin();
  allocate(4);
  EXPECT_OK(end());
  EXPECT_OK(api.cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CaptureMode::relaxed);
}

TEST_F(DriverCapture, TellsItsIdAndItsGraph) {
  CaptureStatus found{};
  std::uint64_t id = 0, again = 0;
  Graph known = nullptr;
  EXPECT_OK(api.cuStreamGetCaptureInfo(main, &found, &id, &known, nullptr, nullptr));
  EXPECT_EQ(found, CaptureStatus::none);
  for (int i = 0; i < 2; ++i) {
    begin();
    EXPECT_OK(api.cuStreamGetCaptureInfo(main, &found, &id, &known, nullptr, nullptr));
    EXPECT_EQ(found, CaptureStatus::active);
    EXPECT_NE(id, again);
    again = id;
    EXPECT_OK(end());
    EXPECT_EQ(graph, known);
  }
  begin();
  EXPECT_EQ(api.cuStreamGetCaptureInfo(nullptr, &found, &id, &known, nullptr, nullptr),
            Result::stream_capture_implicit);
  EXPECT_OK(end());
}

TEST_F(DriverCapture, UserObjectsLiveAsLongAsTheirGraphs) {
  bool is_destroyed = false;
  cuda::UserObject object = nullptr;
  EXPECT_OK(api.cuUserObjectCreate(
      &object, &is_destroyed, [](void* flag) { *static_cast<bool*>(flag) = true; }, 1,
      cuda::user_object_no_destructor_sync));
  begin();
  EXPECT_OK(end());
  GraphExec exec = nullptr;
  EXPECT_OK(api.cuGraphRetainUserObject(graph, object, 1, cuda::graph_user_object_move));
  EXPECT_EQ(api.cuUserObjectRelease(object, 1), Result::invalid_value);
  EXPECT_OK(api.cuGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(api.cuGraphDestroy(graph));
  EXPECT_FALSE(is_destroyed);
  EXPECT_OK(api.cuGraphExecDestroy(exec));
  EXPECT_TRUE(is_destroyed);
}

TEST_F(DriverStream, IdsAreNotThoseOfOtherStreams) {
  unsigned long long one = 0, other = 0, legacy = 0, null = 0;
  EXPECT_OK(api.cuStreamGetId(stream(), &one));
  EXPECT_OK(api.cuStreamGetId(stream(), &other));
  EXPECT_OK(api.cuStreamGetId(cuda::legacy_stream(), &legacy));
  EXPECT_OK(api.cuStreamGetId(nullptr, &null));
  EXPECT_NE(one, other);
  EXPECT_EQ(legacy, null);
}

TEST_F(DriverCapture, NonBlockingStreamsDoNotMindTheLegacyOne) {
  const Stream apart = stream(cuda::stream_non_blocking);
  EXPECT_OK(api.cuStreamBeginCapture(apart, CaptureMode::global));
  EXPECT_OK(store_value(3, nullptr));
  EXPECT_OK(api.cuStreamEndCapture(apart, &graph));
  EXPECT_EQ(read(pointer), 3u);
}

TEST_F(DriverCapture, WrongUse) {
  EXPECT_EQ(api.cuStreamBeginCapture(nullptr, CaptureMode::global),
            Result::stream_capture_unsupported);
  EXPECT_EQ(api.cuStreamBeginCapture(main, static_cast<CaptureMode>(9)), Result::invalid_value);
  EXPECT_EQ(api.cuStreamEndCapture(main, &graph), Result::illegal_state);
  begin();
  EXPECT_EQ(api.cuStreamBeginCapture(main, CaptureMode::global), Result::illegal_state);
  std::jthread([this] {
    Graph other = nullptr;
    EXPECT_OK(api.cuCtxSetCurrent(context));
    EXPECT_EQ(api.cuStreamEndCapture(main, &other), Result::stream_capture_wrong_thread);
  }).join();
  EXPECT_EQ(end(), Result::illegal_state);
}

TEST_F(DriverCapture, EndsWithItsStream) {
  begin();
  EXPECT_OK(api.cuStreamDestroy(main));
  EXPECT_OK(api.cuCtxSynchronize());
}

}  // namespace
}  // namespace rung::vgpu
