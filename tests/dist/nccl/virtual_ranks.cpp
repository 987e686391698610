#include "virtual_ranks.hpp"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "rung/types.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung::nccl {

namespace {

struct Message {
  const void* from;
  std::size_t bytes;
  bool is_taken = false;
};

std::chrono::milliseconds limit = patience;
std::atomic<Result> async_error = Result::success;
std::atomic<std::int64_t> bytes_sent = 0;
std::atomic<int> comms_aborted = 0;
std::atomic<int> gathered_in_windows = 0;
std::atomic<bool> windows_are_refused = false;

/// The state that the ranks of a communicator share.
struct World {
  explicit World(int count)
      : ranks(count),
        offered(static_cast<std::size_t>(count)),
        splits(static_cast<std::size_t>(count)) {}

  /// Waits until every rank has called this as often as the caller; false if that takes too long.
  bool meet() {
    std::unique_lock lock(mutex);
    const auto count = static_cast<std::uint64_t>(ranks);
    const std::uint64_t all = (arrived / count + 1) * count;
    ++arrived;
    changed.notify_all();
    return changed.wait_for(lock, limit, [&] { return arrived >= all; });
  }

  const int ranks;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Message>>> in_flight;  // from, to
  std::vector<const void*> offered;  // by each rank, to a reduction
  std::uint64_t arrived = 0;         // at all meetings
  std::vector<std::size_t> splits;   // of each rank
  std::vector<std::shared_ptr<World>> children;
};

struct Operation {
  bool is_send;
  const void* from;
  void* to;
  std::size_t bytes;
  int peer;
  Comm comm;
};
thread_local int depth = 0;
thread_local std::vector<Operation> group;

}  // namespace

struct NcclCommHandle {
  std::shared_ptr<World> world;
  int rank;
  void* window = nullptr;  // registered memory
};

namespace {

const cuda::DriverApi& driver() { return vgpu::virtual_driver(); }

std::size_t bytes_of(DataType type) { return type == DataType::bytes ? 1 : 0; }

/// Offers all sends before receiving anything, as a group of NCCL does.
Result run_group() {
  const std::vector<Operation> operations = std::move(group);
  group.clear();
  std::vector<std::pair<World*, std::shared_ptr<Message>>> offered;
  for (const Operation& op : operations) {
    if (!op.is_send) continue;
    World& world = *op.comm->world;
    const std::lock_guard lock(world.mutex);
    auto message = std::make_shared<Message>(Message{op.from, op.bytes});
    world.in_flight[{op.comm->rank, op.peer}].push_back(message);
    world.changed.notify_all();
    offered.emplace_back(&world, message);
    bytes_sent += static_cast<std::int64_t>(op.bytes);
  }
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (const Operation& op : operations) {
    if (op.is_send) continue;
    World& world = *op.comm->world;
    std::unique_lock lock(world.mutex);
    auto& queue = world.in_flight[{op.peer, op.comm->rank}];
    if (!world.changed.wait_until(lock, deadline, [&] { return !queue.empty(); })) {
      return Result::remote_error;
    }
    const std::shared_ptr<Message> message = queue.front();
    queue.pop_front();
    lock.unlock();
    if (message->bytes != op.bytes) return Result::remote_error;
    const auto from = reinterpret_cast<cuda::DevicePointer>(message->from);
    const auto to = reinterpret_cast<cuda::DevicePointer>(op.to);
    if (driver().cuMemcpyDtoD(to, from, op.bytes) != cuda::Result::success) {
      return Result::remote_error;
    }
    lock.lock();
    message->is_taken = true;
    world.changed.notify_all();
  }
  for (const auto& [world, message] : offered) {
    std::unique_lock lock(world->mutex);
    const auto& offer = message;
    if (!world->changed.wait_until(lock, deadline, [&] { return offer->is_taken; })) {
      return Result::remote_error;
    }
  }
  return Result::success;
}

Result enqueue(const Operation& operation) {
  group.push_back(operation);
  return depth > 0 ? Result::success : run_group();
}

Result get_version(int* version) {
  *version = 21800;
  return Result::success;
}
const char* get_error_string(Result result) {
  return result == Result::remote_error ? "remote process exited or there was a network error"
                                        : "another error";
}
Result comm_count(Comm comm, int* count) {
  *count = comm->world->ranks;
  return Result::success;
}
Result comm_rank(Comm comm, int* rank) {
  *rank = comm->rank;
  return Result::success;
}
Result comm_split(Comm comm, int, int, Comm* created, Config* config) {
  if (config->size != sizeof(Config) || config->magic != 0xcafebeef) return Result::remote_error;
  World& world = *comm->world;
  const std::lock_guard lock(world.mutex);
  const std::size_t number = world.splits[static_cast<std::size_t>(comm->rank)]++;
  if (world.children.size() <= number) {
    world.children.push_back(std::make_shared<World>(world.ranks));
  }
  *created = new NcclCommHandle{world.children[number], comm->rank, nullptr};
  return Result::success;
}
Result comm_destroy(Comm comm) {
  delete comm;
  return Result::success;
}
Result comm_abort(Comm comm) {
  ++comms_aborted;
  delete comm;
  return Result::success;
}
Result comm_get_async_error(Comm, Result* error) {
  *error = async_error;
  return Result::success;
}
Result group_start() {
  ++depth;
  return Result::success;
}
Result group_end() { return --depth == 0 ? run_group() : Result::success; }
Result send(const void* from, std::size_t count, DataType type, int peer, Comm comm, cuda::Stream) {
  return enqueue({true, from, nullptr, count * bytes_of(type), peer, comm});
}
Result recv(void* to, std::size_t count, DataType type, int peer, Comm comm, cuda::Stream) {
  return enqueue({false, nullptr, to, count * bytes_of(type), peer, comm});
}
Result all_gather(const void* from, void* to, std::size_t count, DataType type, Comm comm,
                  cuda::Stream stream) {
  if (comm->window != nullptr && to == comm->window) ++gathered_in_windows;
  group_start();
  for (int rank = 0; rank < comm->world->ranks; ++rank) {
    send(from, count, type, rank, comm, stream);
    auto* const place = static_cast<char*>(to) + static_cast<std::size_t>(rank) * count;
    recv(place, count, type, rank, comm, stream);
  }
  return group_end();
}

/// Sums the elements from `first` on over all ranks. Addresses of the virtual GPU are addresses of
/// the process.
template <class T>
Result sum(const void* from, void* to, std::size_t first, std::size_t count, Comm comm) {
  World& world = *comm->world;
  world.offered[static_cast<std::size_t>(comm->rank)] = from;
  if (!world.meet()) return Result::remote_error;
  std::vector<T> sums;
  for (std::size_t i = first; i < first + count; ++i) {
    double total = 0;
    for (const void* const elements : world.offered) {
      const T element = static_cast<const T*>(elements)[i];
      if constexpr (std::is_arithmetic_v<T>) {
        total += element;
      } else {
        total += static_cast<double>(static_cast<float>(element));
      }
    }
    if constexpr (std::is_arithmetic_v<T>) {
      sums.push_back(static_cast<T>(total));
    } else {
      sums.push_back(T(static_cast<float>(total)));
    }
  }
  if (!world.meet()) return Result::remote_error;  // all have read
  if (sums.empty()) return Result::success;
  const auto target = reinterpret_cast<cuda::DevicePointer>(to);
  return driver().cuMemcpyHtoD(target, sums.data(), count * sizeof(T)) == cuda::Result::success
             ? Result::success
             : Result::remote_error;
}
Result sum_of_type(const void* from, void* to, std::size_t first, std::size_t count, DataType type,
                   Comm comm) {
  switch (type) {
    case DataType::f64: return sum<double>(from, to, first, count, comm);
    case DataType::f32: return sum<float>(from, to, first, count, comm);
    case DataType::f16: return sum<float16>(from, to, first, count, comm);
    case DataType::bf16: return sum<bfloat16>(from, to, first, count, comm);
    default: return Result::remote_error;
  }
}
Result reduce_scatter(const void* from, void* to, std::size_t count, DataType type, Reduction,
                      Comm comm, cuda::Stream) {
  return sum_of_type(from, to, static_cast<std::size_t>(comm->rank) * count, count, type, comm);
}
Result all_reduce(const void* from, void* to, std::size_t count, DataType type, Reduction,
                  Comm comm, cuda::Stream) {
  return sum_of_type(from, to, 0, count, type, comm);
}

Result memory_allocate(void** memory, std::size_t bytes) {
  cuda::DevicePointer pointer = 0;
  if (driver().cuMemAlloc(&pointer, bytes) != cuda::Result::success) return Result::remote_error;
  *memory = reinterpret_cast<void*>(pointer);
  return Result::success;
}
Result memory_free(void* memory) {
  const auto pointer = reinterpret_cast<cuda::DevicePointer>(memory);
  return driver().cuMemFree(pointer) == cuda::Result::success ? Result::success
                                                              : Result::remote_error;
}
Result window_register(Comm comm, void* memory, std::size_t, Window* window, int flags) {
  if (!comm->world->meet() || flags != window_is_symmetric) return Result::remote_error;
  if (windows_are_refused && comm->rank == 0) return Result::remote_error;
  *window = static_cast<Window>(memory);
  comm->window = memory;
  return Result::success;
}
Result window_deregister(Comm comm, Window) {
  comm->window = nullptr;
  return Result::success;
}

cuda::Result wait(cuda::DevicePointer at, std::uint32_t value) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (std::uint32_t now = ~value; std::chrono::steady_clock::now() < deadline;) {
    const cuda::Result read = driver().cuMemcpyDtoH(&now, at, sizeof now);
    if (read != cuda::Result::success || now == value) return read;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return cuda::Result::launch_timeout;
}
cuda::Result batch(cuda::Stream, unsigned count, WordOperation* operations, unsigned) {
  for (unsigned i = 0; i < count; ++i) {
    const auto value = static_cast<std::uint32_t>(operations[i].value);
    const cuda::Result result = operations[i].type == WordOperation::Type::wait
                                    ? wait(operations[i].at, value)
                                    : driver().cuMemcpyHtoD(operations[i].at, &value, sizeof value);
    if (result != cuda::Result::success) return result;
  }
  return cuda::Result::success;
}
cuda::Result no_handle(IpcHandle*, cuda::DevicePointer) { return cuda::Result::not_supported; }
cuda::Result no_mapping(cuda::DevicePointer*, IpcHandle, unsigned) {
  return cuda::Result::not_supported;
}
cuda::Result close_nothing(cuda::DevicePointer) { return cuda::Result::not_supported; }
cuda::Result enable_nothing(cuda::Context, unsigned) { return cuda::Result::not_supported; }

}  // namespace

void set_patience(std::chrono::milliseconds longest) { limit = longest; }
void set_async_error(Result error) { async_error = error; }
void refuse_windows(bool refuse) { windows_are_refused = refuse; }
StandinCounts take_counts() {
  return {bytes_sent.exchange(0), comms_aborted.exchange(0), gathered_in_windows.exchange(0)};
}

const Api& standin_nccl() {
  static constexpr Api api = {.ncclGetVersion = get_version,
                              .ncclGetErrorString = get_error_string,
                              .ncclCommCount = comm_count,
                              .ncclCommUserRank = comm_rank,
                              .ncclCommSplit = comm_split,
                              .ncclCommDestroy = comm_destroy,
                              .ncclCommAbort = comm_abort,
                              .ncclCommGetAsyncError = comm_get_async_error,
                              .ncclGroupStart = group_start,
                              .ncclGroupEnd = group_end,
                              .ncclSend = send,
                              .ncclRecv = recv,
                              .ncclAllGather = all_gather,
                              .ncclReduceScatter = reduce_scatter,
                              .ncclAllReduce = all_reduce,
                              .ncclMemAlloc = memory_allocate,
                              .ncclMemFree = memory_free,
                              .ncclCommWindowRegister = window_register,
                              .ncclCommWindowDeregister = window_deregister};
  return api;
}

const Api& standin_nccl_2_18() {
  static const Api api = [] {
    Api old = standin_nccl();
    old.ncclMemAlloc = nullptr;
    old.ncclMemFree = nullptr;
    old.ncclCommWindowRegister = nullptr;
    old.ncclCommWindowDeregister = nullptr;
    return old;
  }();
  return api;
}

const PeerApi& standin_peers() {
  static constexpr PeerApi api = {.cuIpcGetMemHandle = no_handle,
                                  .cuIpcOpenMemHandle = no_mapping,
                                  .cuIpcCloseMemHandle = close_nothing,
                                  .cuCtxEnablePeerAccess = enable_nothing,
                                  .cuStreamBatchMemOp = batch};
  return api;
}

std::vector<Comm> make_comms(int ranks) {
  const auto world = std::make_shared<World>(ranks);
  std::vector<Comm> comms;
  for (int rank = 0; rank < ranks; ++rank)
    comms.push_back(new NcclCommHandle{world, rank, nullptr});
  return comms;
}

std::vector<std::string> on_ranks(int ranks, const std::function<void(int, Comm)>& f) {
  cuda::Context context = nullptr;
  driver().cuCtxGetCurrent(&context);
  const std::vector<Comm> comms = make_comms(ranks);
  std::vector<std::string> errors(comms.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      driver().cuCtxSetCurrent(context);
      try {
        f(rank, comms[static_cast<std::size_t>(rank)]);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Comm comm : comms) delete comm;
  return errors;
}

}  // namespace rung::nccl
