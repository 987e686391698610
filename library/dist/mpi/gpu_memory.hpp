#pragma once
// Local parts in GPU memory, and products of them on the GPU. Messages are staged in host memory,
// so that any MPI works: while a product runs, the next panels are uploaded and earlier ones
// downloaded.

#include <array>
#include <vector>

#include "core/cuda_driver/api.hpp"
#include "library/dist/mpi/cpu_memory.hpp"
#include "rung/cuda_stream.hpp"

namespace rung::dist {

/// NVIDIA's driver, or the one set by use_gpu_driver(). Throws Error (Status::unavailable).
const cuda::DriverApi& gpu_driver();
/// Replaces the driver, for tests; null restores NVIDIA's.
void use_gpu_driver(const cuda::DriverApi* other);

class GpuMemory {
 public:
  /// For the current context. Work is ordered after that of the caller's stream.
  GpuMemory(Transfers& transfers, CudaStream stream);
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  ~GpuMemory();

  /// Makes the CUDA runtime's context current if none is. Throws Error if there is no GPU.
  static void check();
  /// Bytes available for copies: half of the GPU's free memory.
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

  /// Columns of a column-major view are copied directly; the CPU transposes those of a row-major
  /// view.
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
        on_gpu_ = memory.on_device<T>(rows * cols);  // the first panel is the largest
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
  /// Waits for all work.
  void finish();

 private:
  using Event = cuda::Event;
  /// Lines of a view and their destination.
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
  /// A contiguous view of `data` with the shape and order of `view`.
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
  /// Starts after the stream's current work.
  Event start_download(const Rectangle& copy);
  void upload(const Rectangle& copy);
  /// Starts when the product that read the panel before the previous one is done. Later work of the
  /// stream waits for the upload.
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
  cuda::Stream in_ = nullptr, out_ = nullptr;  // copies to the GPU and from it
  std::array<Event, 2> multiplied_ = {};       // products of even and odd panels; null: none yet
  std::vector<Event> events_;
  std::vector<cuda::DevicePointer> memory_;
  std::vector<void*> pinned_;
};

}  // namespace rung::dist
