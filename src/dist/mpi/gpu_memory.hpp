#pragma once
// Local parts in the memory of a GPU, and their products there. Messages travel by memory of the CPU, which
// any MPI sends: while a product runs, the panels before and after it are copied in both directions.

#include <array>
#include <vector>

#include "cuda_driver/api.hpp"
#include "dist/mpi/cpu_memory.hpp"
#include "rung/cuda.hpp"

namespace rung::dist {

/// NVIDIA's, or what use_gpu_driver() set. Throws Error (Status::unavailable).
const cuda::DriverApi& gpu_driver();
/// For tests; null restores NVIDIA's.
void use_gpu_driver(const cuda::DriverApi* other);

class GpuMemory {
 public:
  /// Of the current context. Its work follows that of the caller's stream.
  GpuMemory(Transfers& transfers, CudaStream stream);
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  ~GpuMemory();

  /// Makes the CUDA runtime's context current if none is. Throws Error where there is no GPU.
  static void check();
  /// Bytes for copies: half of what the GPU has left.
  static std::int64_t available();

  template <class T>
  T* for_messages(std::int64_t elements) {
    return reinterpret_cast<T*>(pinned(elements * std::int64_t{sizeof(T)}));
  }
  template <class T>
  MatrixView<T> allocate(std::int64_t rows, std::int64_t cols) {
    return tight(on_device<T>(rows * cols), rows, cols);
  }
  template <class T>
  MatrixView<T> on_cpu(const MatrixView<T>& local) {
    using Element = std::remove_const_t<T>;
    const MatrixView<Element> copy = like(local, for_messages<Element>(local.rows * local.cols));
    const Event copied = start_download(rectangle(local, copy.data));
    wait(copied);
    return {copy.data, copy.rows, copy.cols, copy.ld, copy.order};
  }
  template <class T>
  MatrixView<T> from_cpu(const MatrixView<T>& view) {
    using Element = std::remove_const_t<T>;
    const MatrixView<Element> copy = like(view, on_device<Element>(view.rows * view.cols));
    upload(rectangle(view, copy.data));
    return {copy.data, copy.rows, copy.cols, copy.ld, copy.order};
  }
  template <class T>
  void write_back(const MatrixView<T>& from, const MatrixView<T>& local) {
    Rectangle copy = rectangle(from, local.data);
    copy.to_pitch = static_cast<std::size_t>(local.ld) * sizeof(T);
    upload(copy);
  }

  /// Columns of a view by columns travel as they are; of one by rows, the CPU transposes.
  template <class T>
  struct Copying {
    bool done() {
      if (memory == nullptr || !memory->is_done(copied)) return memory == nullptr;
      if (room.data != nullptr) copy_columns(room, to);
      memory = nullptr;
      return true;
    }
    GpuMemory* memory = nullptr;  // null: done
    cuda::Event copied = nullptr;
    MatrixView<const T> room = {nullptr, 0, 0, 1};
    T* to = nullptr;
  };
  template <class T>
  Copying<T> copy_out(const MatrixView<const T>& from, T* to, T* room) {
    if (room == nullptr) return {this, start_download(rectangle(from, to)), {nullptr, 0, 0, 1}, to};
    return {this, start_download(rectangle(from, room)),
            row_major<const T>(room, from.rows, from.cols), to};
  }
  template <class T>
  static bool needs_room(const MatrixView<const T>& from) {
    return from.order == Order::row_major;
  }

  template <class T>
  class Arrived {
   public:
    MatrixView<const T> view(GpuMemory& memory, std::int64_t panel, const T* data,
                             std::int64_t rows, std::int64_t cols) {
      memory_ = &memory;
      if (on_gpu_ == nullptr)
        on_gpu_ = memory.on_device<T>(rows * cols);  // the first is the longest
      uploaded_ = memory.upload_panel(panel, data, on_gpu_, rows * cols * std::int64_t{sizeof(T)});
      return tight<const T>(on_gpu_, rows, cols);
    }
    bool is_free() const { return uploaded_ == nullptr || memory_->is_done(uploaded_); }

   private:
    GpuMemory* memory_ = nullptr;
    T* on_gpu_ = nullptr;
    cuda::Event uploaded_ = nullptr;
  };

  template <class In, class Out, class Progress>
  void multiply(std::int64_t panel, Out alpha, const MatrixView<const In>& a,
                const MatrixView<const In>& b, Out beta, const MatrixView<Out>& c,
                std::int64_t /*looks*/, const Progress& progress) {
    gemm(alpha, a, b, beta, c, CudaStream(stream_));
    multiplied(panel);
    progress();
  }
  /// Waits for all of it.
  void finish();

 private:
  using Event = cuda::Event;
  /// Lines of a view, and where the first one is copied to.
  struct Rectangle {
    const void* from;
    std::size_t from_pitch;
    void* to;
    std::size_t to_pitch;
    std::size_t width, lines;
  };
  template <class T, class U>
  static Rectangle rectangle(const MatrixView<T>& view, U* to) {
    const bool by_rows = view.order == Order::row_major;
    const auto width = static_cast<std::size_t>(by_rows ? view.cols : view.rows) * sizeof(T);
    const auto lines = static_cast<std::size_t>(by_rows ? view.rows : view.cols);
    return {view.data, static_cast<std::size_t>(view.ld) * sizeof(T), to, width, width, lines};
  }
  /// Tight, in the same order.
  template <class T, class U>
  static MatrixView<U> like(const MatrixView<T>& view, U* data) {
    if (view.order == Order::row_major) {
      return row_major(data, view.rows, view.cols, std::max<std::int64_t>(view.cols, 1));
    }
    return tight(data, view.rows, view.cols);
  }
  template <class T>
  T* on_device(std::int64_t elements) {
    return reinterpret_cast<T*>(device_memory(elements * std::int64_t{sizeof(T)}));
  }

  std::byte* pinned(std::int64_t bytes);
  cuda::DevicePointer device_memory(std::int64_t bytes);
  /// After the stream's work so far.
  Event start_download(const Rectangle& copy);
  void upload(const Rectangle& copy);
  /// Once the product that read the panel two before is done. Later work of the stream waits for it.
  Event upload_panel(std::int64_t panel, const void* from, void* to, std::int64_t bytes);
  void multiplied(std::int64_t panel);
  bool is_done(Event event) const;
  void wait(Event event) const;
  Event new_event();
  void record(Event event, cuda::Stream stream) const;
  void order(cuda::Stream first, cuda::Stream second);

  Transfers& transfers_;
  const cuda::DriverApi& driver_;
  cuda::Stream stream_;
  cuda::Stream in_ = nullptr, out_ = nullptr;  // of copies to the GPU and from it
  std::array<Event, 2> multiplied_ = {};       // of even and odd panels; null: none yet
  std::vector<Event> events_;
  std::vector<cuda::DevicePointer> memory_;
  std::vector<void*> pinned_;
};

}  // namespace rung::dist
