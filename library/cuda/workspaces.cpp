#include "library/cuda/workspaces.hpp"

#include <memory>
#include <mutex>

#include "device/cuda/entry/launch.hpp"
#include "library/cuda/driver.hpp"

namespace rung::cuda {
namespace {

void allocate(const DriverApi& api, Workspace& workspace) {
  const AllowedDuringCapture allowed(api);
  DevicePointer data = 0;
  constexpr std::int64_t all = Workspaces::bytes + result_slots * result_slot_bytes;
  require(api, api.cuMemAlloc(&data, static_cast<std::size_t>(all)), "cuMemAlloc");
  workspace.data = data;
}

void free(const DriverApi& api, Workspace& workspace) {
  if (workspace.data == 0) return;
  const AllowedDuringCapture allowed(api);
  // cuMemFree waits for all work that uses the memory.
  require(api, api.cuMemFree(workspace.data), "cuMemFree");
  workspace.data = 0;
}

/// Zeros the semaphores. Rungs count arriving blocks in them and reset them to zero.
void set_counters_to_zero(const DriverApi& api, const Workspace& workspace, Stream stream) {
  require(api, api.cuMemsetD8Async(workspace.data, 0, semaphores_bytes, stream), "cuMemsetD8Async");
}

/// Makes the graph, and everything instantiated from it, share ownership of the workspace.
template <class T>
void retain(const DriverApi& api, Graph graph, const std::shared_ptr<T>& workspace) {
  using Owner = std::shared_ptr<T>;
  auto owner = std::make_unique<Owner>(workspace);
  UserObject object = nullptr;
  // Called in a thread of the driver, where driver calls are not allowed.
  const auto destroy = [](void* pointer) { delete static_cast<Owner*>(pointer); };
  require(api,
          api.cuUserObjectCreate(&object, owner.get(), destroy, 1, user_object_no_destructor_sync),
          "cuUserObjectCreate");
  owner.release();
  const Result retained = api.cuGraphRetainUserObject(graph, object, 1, graph_user_object_move);
  if (retained != Result::success) api.cuUserObjectRelease(object, 1);
  require(api, retained, "cuGraphRetainUserObject");
}

/// True if no graph and no call uses the workspace.
template <class T>
bool is_unused(const std::shared_ptr<T>& workspace) {
  return workspace.use_count() == 1;
}

}  // namespace

Workspaces::Key Workspaces::key_of(Stream stream) {
  thread_local const char this_thread = 0;
  if (stream == per_thread_stream()) return {stream, &this_thread};
  return {stream == legacy_stream() ? nullptr : stream, nullptr};
}

std::shared_ptr<Workspace> Workspaces::get(const DriverApi& api, Stream stream) {
  const StreamCapture capture = capture_of(api, stream);
  return capture.is_active ? of_graph(api, stream, capture) : of_stream(api, stream);
}

std::shared_ptr<Workspace> Workspaces::of_stream(const DriverApi& api, Stream stream) {
  unsigned long long id = 0;
  require(api, api.cuStreamGetId(stream, &id), "cuStreamGetId");
  const Key key = key_of(stream);
  {
    const std::shared_lock lock(mutex_);
    const auto found = of_streams_.find(key);
    const bool is_its = found != of_streams_.end() && found->second.id == id;
    if (is_its && found->second.workspace != nullptr) return found->second.workspace;
  }
  const std::unique_lock lock(mutex_);
  OfStream& entry = of_streams_[key];
  if (entry.workspace != nullptr && entry.id == id) return entry.workspace;
  if (entry.workspace != nullptr) free(api, *entry.workspace);
  entry.workspace = nullptr;
  const auto made = std::make_shared<Workspace>();
  allocate(api, *made);
  try {
    set_counters_to_zero(api, *made, stream);
  } catch (...) {
    api.cuMemFree(made->data);
    throw;
  }
  entry = {id, made};
  return made;
}

std::shared_ptr<Workspace> Workspaces::of_graph(const DriverApi& api, Stream stream,
                                                const StreamCapture& capture) {
  const std::unique_lock lock(mutex_);
  for (const auto& workspace : of_graphs_) {
    if (workspace->capture == capture.id && workspace->stream == stream) return workspace;
  }
  const std::shared_ptr<OfGraph> workspace = unused(api);
  retain(api, capture.graph, workspace);
  // Becomes the first node of the graph that uses the workspace.
  set_counters_to_zero(api, *workspace, stream);
  workspace->capture = capture.id;
  workspace->stream = stream;
  return workspace;
}

/// A workspace of graphs that no longer exist, or a new one.
std::shared_ptr<Workspaces::OfGraph> Workspaces::unused(const DriverApi& api) {
  for (const auto& workspace : of_graphs_) {
    if (is_unused(workspace)) return workspace;
  }
  const auto made = std::make_shared<OfGraph>();
  of_graphs_.push_back(made);
  try {
    allocate(api, *made);
  } catch (...) {
    of_graphs_.pop_back();
    throw;
  }
  return made;
}

void Workspaces::release(const DriverApi& api, Stream stream) {
  const std::unique_lock lock(mutex_);
  if (const auto found = of_streams_.find(key_of(stream)); found != of_streams_.end()) {
    if (found->second.workspace != nullptr) free(api, *found->second.workspace);
    of_streams_.erase(found);
  }
  for (const auto& workspace : of_graphs_) {
    if (is_unused(workspace)) free(api, *workspace);
  }
  std::erase_if(of_graphs_, [](const auto& workspace) { return workspace->data == 0; });
}

}  // namespace rung::cuda
