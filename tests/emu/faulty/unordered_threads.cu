// As unordered.cu, for threads of the host, and for functions that run there.
//   unordered_threads right|wrong [FUNCTION]
#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>

constexpr int n = 2048, bytes = n * sizeof(int), threads = 256, blocks = n / threads;
int *x, *y, *pinned;

__global__ void fill(int* to, int value) { to[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void add(int* to, const int* from) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i] + 1;
}

struct Stream {
  cudaStream_t own;
  Stream() { cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking); }
  ~Stream() { cudaStreamDestroy(own); }
};

// One thread fills x, waits for that and tells the other one, unless `tell` does nothing. It has launched before the
// other one is past its `start`.
void write_and_read(const std::function<void()>& tell, const std::function<void()>& wait) {
  Stream a, b;
  std::atomic<bool> start = false;
  std::thread writer([&] {
    fill<<<blocks, threads, 0, a.own>>>(x, 1);
    start = true;
    cudaStreamSynchronize(a.own);
    tell();
  });
  std::thread reader([&] {
    while (!start) {
    }
    wait();
    add<<<blocks, threads, 0, b.own>>>(y, x);  // unordered
    cudaStreamSynchronize(b.own);
  });
  writer.join();
  reader.join();
}

void nothing() {}

void no_order(bool right) {
  std::promise<void> done;
  std::future<void> is_done = done.get_future();
  if (right) write_and_read([&] { done.set_value(); }, [&] { is_done.get(); });
  if (!right) write_and_read(nothing, nothing);
}

void atomic_flag(bool right) {
  std::atomic<bool> done = false;
  const auto wait = [&] {
    while (!done.load(std::memory_order_acquire)) {
    }
  };
  if (right) write_and_read([&] { done.store(true, std::memory_order_release); }, wait);
}

void condition(bool right) {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  const auto tell = [&] {
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_one();
  };
  const auto wait = [&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done; });
  };
  if (right) write_and_read(tell, wait);
}

// A sleep orders nothing, even if it is long enough on most days.
void sleep(bool right) {
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); };
  const auto launch = [] {
    add<<<blocks, threads, 0, cudaStreamPerThread>>>(y, x);  // unordered
    cudaStreamSynchronize(cudaStreamPerThread);
  };
  std::promise<void> done;
  std::thread reader([&] {
    if (right) done.get_future().get();
    if (!right) pause();
    launch();
  });
  fill<<<blocks, threads, 0, cudaStreamPerThread>>>(x, 1);
  cudaStreamSynchronize(cudaStreamPerThread);
  done.set_value();
  reader.join();
}

// The host reads what another thread waits for.
void host_reads(bool right) {
  Stream a;
  std::atomic<bool> start = false, done = false;
  std::thread writer([&] {
    cudaMemcpyAsync(pinned, x, bytes, cudaMemcpyDeviceToHost, a.own);
    start = true;
    cudaStreamSynchronize(a.own);
    done = true;
  });
  const std::atomic<bool>& ready = right ? done : start;
  while (!ready) {
  }
  if (pinned[7] == -1) std::printf("wrong\n");  // unordered
  writer.join();
}

// Two functions of a graph, in two branches.
void functions_of_a_graph(bool right) {
  const auto write = [](void* to) {
    for (int i = 0; i < n; ++i) static_cast<int*>(to)[i] = i;
  };
  const auto read = [](void* from) {
    if (static_cast<int*>(from)[n - 1] == -1) std::printf("wrong\n");  // unordered
  };
  const auto read_other = [](void* from) {
    if (static_cast<int*>(from)[n] == -1) std::printf("wrong\n");
  };
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t first, copied, second, third;
  cudaHostNodeParams node = {write, pinned};
  cudaGraphAddHostNode(&first, graph, nullptr, 0, &node);
  cudaGraphAddMemcpyNode1D(&copied, graph, &first, 1, x, pinned, bytes, cudaMemcpyHostToDevice);
  node.fn = read;
  cudaGraphAddHostNode(&second, graph, &first, right ? 1 : 0, &node);
  node.fn = read_other;
  cudaGraphAddHostNode(&third, graph, nullptr, 0, &node);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  const Stream a;
  cudaGraphLaunch(executable, a.own);
  cudaStreamSynchronize(a.own);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

// Calls of one line, whose callers differ.
void launch_fill(cudaStream_t stream, int value) {
  fill<<<blocks, threads, 0, stream>>>(x, value);  // unordered
}
void helper(bool right) {
  const Stream a, b;
  launch_fill(a.own, 1);
  launch_fill(right ? a.own : b.own, 2);
  cudaDeviceSynchronize();
}

// Unordered with --default-stream per-thread alone.
void null_streams(bool right) {
  std::thread other([] { fill<<<blocks, threads>>>(x, 1); });
  fill<<<blocks, threads>>>(right ? y : x, 2);
  other.join();
}

struct Case {
  const char* name;
  void (*run)(bool right);
};
#define CASE(name) \
  Case { #name, name }
const Case cases[] = {CASE(no_order),   CASE(atomic_flag),          CASE(condition), CASE(sleep),
                      CASE(host_reads), CASE(functions_of_a_graph), CASE(helper)};

int main(int count, char** arguments) {
  const bool right = count > 1 && std::string(arguments[1]) == "right";
  const std::string only = count > 2 ? arguments[2] : "";
  cudaMalloc(&x, bytes);
  cudaMalloc(&y, bytes);
  cudaMallocHost(&pinned, 2 * bytes);
  std::memset(pinned, 0, 2 * bytes);
  cudaMemset(x, 0, bytes);
  for (const Case& each : cases) {
    if (!only.empty() && only != each.name) continue;
    cudaDeviceSynchronize();
    each.run(right);
    if (cudaDeviceSynchronize() != cudaSuccess) std::printf("%s failed\n", each.name);
  }
  if (only == "null_streams") null_streams(right);
  cudaDeviceSynchronize();
  for (int* memory : {x, y}) cudaFree(memory);
  cudaFreeHost(pinned);
}
