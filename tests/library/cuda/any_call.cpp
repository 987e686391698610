#include "any_call.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "../with_element.hpp"
#include "core/random.hpp"
#include "product.hpp"
#include "rung/error.hpp"
#include "rung/tile_signal_gemm.hpp"
#include "rung/types.hpp"

namespace rung::cuda {
namespace {

constexpr std::byte gap_byte{0xFF};  // NaN, or -1
constexpr std::int64_t block = 128;  // of one scale
constexpr std::int64_t weights_in_group = 64;

std::int64_t ceil_of(std::int64_t x, std::int64_t divisor) { return (x + divisor - 1) / divisor; }

std::size_t bytes_of(rung_dtype dtype) {
  return with_element(dtype, [](auto x) { return sizeof x; });
}

/// Device memory of exactly this size, with a copy on the host.
class Allocation {
 public:
  Allocation(const DriverApi& api, std::vector<std::byte> bytes)
      : api_(api), host_(std::move(bytes)) {
    if (host_.empty()) return;
    demand(api, api.cuMemAlloc(&device_, host_.size()), "cuMemAlloc");
    demand(api, api.cuMemcpyHtoD(device_, host_.data(), host_.size()), "cuMemcpyHtoD");
  }
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  ~Allocation() {
    if (device_ != 0) api_.cuMemFree(device_);
  }

  void* data(std::size_t offset = 0) const { return reinterpret_cast<void*>(device_ + offset); }
  std::vector<std::byte> read() const {
    std::vector<std::byte> now(host_.size());
    if (!now.empty()) {
      demand(api_, api_.cuMemcpyDtoH(now.data(), device_, now.size()), "cuMemcpyDtoH");
    }
    return now;
  }
  const std::vector<std::byte>& host() const { return host_; }

 private:
  const DriverApi& api_;
  std::vector<std::byte> host_;
  DevicePointer device_ = 0;
};

template <class T>
std::vector<std::byte> as_bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Matrices of one operand in host memory, and their location in an allocation.
struct Matrices {
  rung_dtype dtype;
  std::int64_t rows, cols, count;
  Layout layout;
  std::int64_t ld = 0, apart = 0;
  std::vector<std::byte> bytes = {};
  std::int64_t shape[3] = {}, strides[3] = {};

  Matrices(rung_dtype type, std::int64_t row_count, std::int64_t col_count, const Layout& where,
           std::int64_t matrices = 1)
      : dtype(type), rows(row_count), cols(col_count), count(matrices), layout(where) {
    const std::int64_t lines = layout.by_columns ? cols : rows;
    const std::int64_t length = layout.by_columns ? rows : cols;
    ld = std::max<std::int64_t>(length, 1) + layout.padding;
    const std::int64_t extent = lines == 0 || length == 0 ? 0 : (lines - 1) * ld + length;
    apart = extent + layout.gap;
    const std::int64_t all =
        extent == 0 || count == 0 ? 0 : layout.shift + (count - 1) * apart + extent;
    bytes.assign(static_cast<std::size_t>(all) * bytes_of(dtype), gap_byte);
  }

  std::int64_t at(std::int64_t matrix, std::int64_t row, std::int64_t col) const {
    const std::int64_t inside = layout.by_columns ? col * ld + row : row * ld + col;
    return layout.shift + matrix * apart + inside;
  }
  double get(const std::vector<std::byte>& from, std::int64_t index) const {
    return with_element(dtype, [&](auto x) {
      std::memcpy(&x, from.data() + static_cast<std::size_t>(index) * sizeof x, sizeof x);
      return value_of(x);
    });
  }
  double get(std::int64_t matrix, std::int64_t row, std::int64_t col) const {
    return get(bytes, at(matrix, row, col));
  }
  void set(std::int64_t matrix, std::int64_t row, std::int64_t col, double value) {
    with_element(dtype, [&](auto x) {
      x = static_cast<decltype(x)>(static_cast<float>(value));
      std::memcpy(bytes.data() + static_cast<std::size_t>(at(matrix, row, col)) * sizeof x, &x,
                  sizeof x);
    });
  }
  /// Small integers, some of them zero.
  void fill(std::uint64_t seed) {
    for (std::int64_t i = 0; i < count * rows * cols; ++i) {
      set(i / (rows * cols), i / cols % rows, i % cols,
          static_cast<double>(random_below(5, seed, static_cast<std::uint64_t>(i)) - 2));
    }
  }

  rung_tensor tensor(const Allocation& memory, bool is_batch) {
    return at_address(bytes.empty()
                          ? nullptr
                          : memory.data(static_cast<std::size_t>(layout.shift) * bytes_of(dtype)),
                      is_batch);
  }
  rung_tensor at_address(void* data, bool is_batch) {
    const int first = is_batch ? 1 : 0;
    shape[0] = count;
    strides[0] = count == 1 ? 0 : apart;
    shape[first] = rows;
    shape[first + 1] = cols;
    strides[first] = layout.by_columns ? 1 : ld;
    strides[first + 1] = layout.by_columns ? ld : 1;
    return {data, RUNG_DEVICE_CUDA, 0, first + 2, dtype, shape, strides};
  }
};

/// Ascending offsets, with empty groups, and rows outside every group.
std::vector<std::int32_t> offsets_of(const AnyCall& call) {
  const std::int64_t all = call.entry == Entry::groups_of_k ? call.k : call.m;
  std::vector<std::int32_t> offsets;
  for (std::int64_t i = 0; i <= call.count; ++i) {
    offsets.push_back(static_cast<std::int32_t>(
        random_below(all + 1, call.seed + 77, static_cast<std::uint64_t>(i))));
  }
  std::ranges::sort(offsets);
  if (call.seed % 2 == 0) offsets.back() = static_cast<std::int32_t>(all);
  return offsets;
}

bool has_groups_of_rows(Entry entry) {
  return entry == Entry::groups_of_rows || entry == Entry::block_scaled_groups;
}
bool is_block_scaled(Entry entry) {
  return entry == Entry::block_scaled || entry == Entry::block_scaled_groups;
}

/// Converts a dot product to a product: vectors become matrices of one row or column, with gaps.
AnyCall as_product(AnyCall call) {
  if (call.entry == Entry::parts) call.beta = 0;
  if (call.entry != Entry::dot) return call;
  call.m = call.n = 1;
  call.alpha = 1;
  call.beta = 0;
  call.of_a.by_columns = true;
  call.of_b.by_columns = false;
  return call;
}

/// The state of one call.
class Call {
 public:
  Call(const DriverApi& api, const AnyCall& call)
      : api_(api),
        call_(as_product(call)),
        offsets_(offsets_of(call)),
        a_(call.a, call_.m, call.k, call_.of_a, has_batch_of_ab() ? call.count : 1),
        b_(call.b, call.k, call_.n, call_.of_b, matrices_of_b()),
        c_(call.c, call_.m, call_.n, call.of_c,
           has_batch_of_ab() || call.entry == Entry::groups_of_k ? call.count : 1),
        a_scales_(RUNG_DTYPE_F32, call.m, ceil_of(call.k, block), {}),
        b_scales_(RUNG_DTYPE_F32, ceil_of(call.k, block), ceil_of(call.n, block), {},
                  matrices_of_b()) {
    fill();
  }

  Outcome run() {
    Outcome outcome;
    const std::vector<std::byte> expected = expected_c();
    const Allocation a(api_, a_.bytes), b(api_, b_.bytes), c(api_, c_.bytes);
    const Allocation offsets(api_, as_bytes(offsets_)), status(api_, as_bytes(std::vector{0}));
    const Allocation workspace(api_, std::vector<std::byte>(static_cast<std::size_t>(
                                         std::max<std::int64_t>(call_.workspace_bytes, 0))));
    rung_tensor_options options = RUNG_TENSOR_OPTIONS_INIT;
    options.compute_mode = call_.compute_mode;
    options.multiprocessors = call_.multiprocessors;
    options.workspace = workspace.data();
    options.workspace_bytes = workspace.host().size();
    options.batch_status = static_cast<std::int32_t*>(status.data());
    outcome.status = enqueue(a, b, c, static_cast<const std::int32_t*>(offsets.data()), options);
    if (outcome.status != RUNG_OK)
      outcome.message = message_.empty() ? rung_last_error() : message_;
    if (const Result result = api_.cuCtxSynchronize(); result != Result::success) {
      const char* error = "?";
      api_.cuGetErrorName(result, &error);
      outcome.wrong = std::string("the context is lost: ") + error;
      return outcome;
    }
    outcome.wrong = difference(c, outcome.status == RUNG_OK ? expected : c_.bytes);
    for (const Allocation* const input : {&a, &b, &offsets, &status}) {
      if (input->read() != input->host()) outcome.wrong += " an input or the status changed";
    }
    return outcome;
  }

 private:
  bool has_batch_of_ab() const {
    return call_.entry == Entry::batched || call_.entry == Entry::pointers;
  }
  std::int64_t matrices_of_b() const {
    if (has_groups_of_rows(call_.entry)) return call_.count;
    return has_batch_of_ab() ? (call_.shares_b ? 1 : call_.count) : 1;
  }

  void fill() {
    a_.fill(call_.seed);
    b_.fill(call_.seed + 1);
    if (call_.beta != 0) c_.fill(call_.seed + 2);  // otherwise NaN, which must not be read
    const auto fill_scales = [&](Matrices& scales, std::uint64_t seed) {
      for (std::int64_t i = 0; i < scales.count * scales.rows * scales.cols; ++i) {
        scales.set(i / (scales.rows * scales.cols), i / scales.cols % scales.rows, i % scales.cols,
                   std::ldexp(1.0, static_cast<int>(
                                       random_below(3, seed, static_cast<std::uint64_t>(i)))));
      }
    };
    fill_scales(a_scales_, call_.seed + 3);
    fill_scales(b_scales_, call_.seed + 4);
    // Rows and k-steps outside every group must not affect the result.
    for (std::int64_t i = 0; i < (has_groups_of_rows(call_.entry) ? call_.m : 0); ++i) {
      for (std::int64_t x = 0; x < call_.k && group_of(i) < 0; ++x) a_.set(0, i, x, poison());
    }
    for (std::int64_t x = 0; x < (call_.entry == Entry::groups_of_k ? call_.k : 0); ++x) {
      for (std::int64_t i = 0; i < call_.m && group_of(x) < 0; ++i) a_.set(0, i, x, poison());
      for (std::int64_t j = 0; j < call_.n && group_of(x) < 0; ++j) b_.set(0, x, j, poison());
    }
  }
  double poison() const {
    return call_.a == RUNG_DTYPE_I8 || call_.a == RUNG_DTYPE_I32 ? 101 : std::nan("");
  }
  std::int64_t group_of(std::int64_t index) const {
    for (std::int64_t g = 0; g < call_.count; ++g) {
      const auto at = static_cast<std::size_t>(g);
      if (offsets_[at] <= index && index < offsets_[at + 1]) return g;
    }
    return -1;
  }

  /// Scales of W = B^T. W is dense, of int8 or int4, with powers of two as scales.
  double weight_scale(std::int64_t j, std::int64_t x) const {
    return std::ldexp(1.0, static_cast<int>((j + x / weights_in_group) % 3));
  }

  double sum(std::int64_t matrix, std::int64_t i, std::int64_t j) const {
    const bool cuts_k = call_.entry == Entry::groups_of_k;
    const auto at = static_cast<std::size_t>(matrix);
    const std::int64_t begin = cuts_k ? offsets_[at] : 0, end = cuts_k ? offsets_[at + 1] : call_.k;
    const std::int64_t of_a = has_batch_of_ab() ? matrix : 0;
    const std::int64_t of_b = has_groups_of_rows(call_.entry)        ? group_of(i)
                              : has_batch_of_ab() && !call_.shares_b ? matrix
                                                                     : 0;
    double total = 0;
    for (std::int64_t x = begin; x < end; ++x) {
      double product = a_.get(of_a, i, x) * b_.get(of_b, x, j);
      if (is_block_scaled(call_.entry)) {
        product *= a_scales_.get(0, i, x / block) * b_scales_.get(of_b, x / block, j / block);
      }
      if (call_.entry == Entry::weight_only) product *= weight_scale(j, x);
      total += product;
    }
    return total;
  }
  /// The epilogue is relu(sum + bias of the column).
  static double bias(std::int64_t j) { return static_cast<double>(j % 5 - 2); }

  std::vector<std::byte> expected_c() const {
    Matrices c = c_;
    for (std::int64_t g = 0; g < c.count; ++g) {
      for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.cols; ++j) {
          if (has_groups_of_rows(call_.entry) && group_of(i) < 0) continue;
          double value = call_.alpha == 0 ? 0 : call_.alpha * sum(g, i, j);
          if (call_.beta != 0) value += call_.beta * c_.get(g, i, j);
          if (call_.entry == Entry::epilogue) value = std::max(value + bias(j), 0.0);
          c.set(g, i, j, value);
        }
      }
    }
    return c.bytes;
  }

  std::string difference(const Allocation& c, const std::vector<std::byte>& expected) const {
    const std::vector<std::byte> got = c.read();
    if (got == expected) return "";
    const std::size_t size = bytes_of(c_.dtype);
    for (std::size_t at = 0; at < got.size() / size; ++at) {
      if (std::memcmp(&got[at * size], &expected[at * size], size) == 0) continue;
      const auto index = static_cast<std::int64_t>(at);
      const double is = c_.get(got, index), should = c_.get(expected, index);
      if (is == should) continue;  // equal, or zeros of different signs
      return "element " + std::to_string(index) + " of C's memory is " + std::to_string(is) +
             ", not " + std::to_string(should);
    }
    return "";
  }

  rung_status enqueue(const Allocation& a, const Allocation& b, const Allocation& c,
                      const std::int32_t* offsets, const rung_tensor_options& options) {
    const bool is_batch = has_batch_of_ab();
    if (call_.entry == Entry::pointers) return enqueue_pointers(a, b, c, options);
    rung_tensor of_a = a_.tensor(a, is_batch);
    rung_tensor of_b = b_.tensor(b, is_batch || has_groups_of_rows(call_.entry));
    rung_tensor of_c = c_.tensor(c, is_batch || call_.entry == Entry::groups_of_k);
    for (rung_tensor* const tensor : {&of_a, &of_b, &of_c}) {
      const char name = tensor == &of_a ? 'a' : tensor == &of_b ? 'b' : 'c';
      if (name == call_.skewed) tensor->data = static_cast<char*>(tensor->data) + 1;
    }
    if (is_batch) b_.shape[0] = call_.count;  // may be a single matrix, with stride 0
    const double alpha = call_.alpha, beta = call_.beta;
    switch (call_.entry) {
      case Entry::groups_of_rows:
      case Entry::groups_of_k:
        return rung_gemm_grouped(&of_a, &of_b, &of_c, offsets, alpha, beta, &options);
      case Entry::block_scaled:
      case Entry::block_scaled_groups: {
        const bool in_groups = call_.entry == Entry::block_scaled_groups;
        const Allocation scales_a(api_, a_scales_.bytes), scales_b(api_, b_scales_.bytes);
        const rung_tensor of_scales_a = a_scales_.tensor(scales_a, false);
        const rung_tensor of_scales_b = b_scales_.tensor(scales_b, in_groups);
        const rung_status status =
            rung_gemm_block_scaled(&of_a, &of_scales_a, &of_b, &of_scales_b, &of_c,
                                   in_groups ? offsets : nullptr, alpha, beta, &options);
        api_.cuCtxSynchronize();
        return status;
      }
      case Entry::parts: return enqueue_parts(of_a, of_b, of_c, options);
      case Entry::dot: return enqueue_dot(of_a.data, of_b.data, of_c.data, options);
      case Entry::weight_only: return enqueue_weight_only(of_a, of_c, options);
      case Entry::epilogue: return enqueue_epilogue(of_a, of_b, of_c, options);
      default: return rung_gemm(&of_a, &of_b, &of_c, alpha, beta, &options);
    }
  }

  rung_status enqueue_parts(const rung_tensor& a, const rung_tensor& b, const rung_tensor& c,
                            const rung_tensor_options& options) {
    const auto view = [](const Matrices& matrices, void* data) {
      return OutputMatrix(data, static_cast<ElementType>(matrices.dtype), matrices.rows,
                          matrices.cols, matrices.ld,
                          matrices.layout.by_columns ? Order::col_major : Order::row_major);
    };
    const auto input = [](const OutputMatrix& m) {
      return InputMatrix(m.data, m.type, m.rows, m.cols, m.ld, m.order);
    };
    const std::int64_t first = call_.m / 2;
    try {
      const bool is_enqueued = gemm_parts(
          {.alpha = static_cast<double>(call_.alpha),
           .a = {input(view(a_, a.data))},
           .b = input(view(b_, b.data)),
           .c = {view(c_, c.data)},
           .parts = {{.rows = first}, {.rows = call_.m - first, .a_row = first, .c_row = first}}},
          CudaStream(nullptr),
          {.workspace = options.workspace,
           .workspace_bytes = options.workspace_bytes,
           .multiprocessors = options.multiprocessors,
           .compute_mode = static_cast<ComputeMode>(options.compute_mode)});
      message_ = is_enqueued ? "" : "rung: gemm_parts: no kernel";
      return is_enqueued ? RUNG_OK : RUNG_UNAVAILABLE;
    } catch (const std::bad_alloc&) {
      message_ = "no memory";
      return RUNG_OUT_OF_MEMORY;
    } catch (const Error& error) {
      message_ = error.what();
      return static_cast<rung_status>(error.code());
    }
  }

  rung_status enqueue_dot(const void* x, const void* y, void* result,
                          const rung_tensor_options& options) {
    rung_cuda_dot_options of_dot = RUNG_CUDA_DOT_OPTIONS_INIT;
    of_dot.mode = options.compute_mode;
    of_dot.workspace = options.workspace;
    of_dot.workspace_bytes = options.workspace_bytes;
    const auto call = [&]<class T, class Out>(const T* elements, Out*, auto* function) {
      return function(call_.k, elements, a_.ld, static_cast<const T*>(y), b_.ld,
                      static_cast<Out*>(result), nullptr, &of_dot);
    };
    const auto* const bits = static_cast<const std::uint16_t*>(x);
    float* const to_float = nullptr;
    switch (call_.a) {
      case RUNG_DTYPE_F64:
        return call(static_cast<const double*>(x), static_cast<double*>(result), rung_cuda_dot_f64);
      case RUNG_DTYPE_BF16: return call(bits, to_float, rung_cuda_dot_bf16);
      case RUNG_DTYPE_F16: return call(bits, to_float, rung_cuda_dot_f16);
      default: return call(static_cast<const float*>(x), to_float, rung_cuda_dot_f32);
    }
  }

  rung_status enqueue_epilogue(const rung_tensor& a, const rung_tensor& b, const rung_tensor& c,
                               const rung_tensor_options& options) {
    Matrices vector(call_.a == RUNG_DTYPE_F64 ? RUNG_DTYPE_F64 : RUNG_DTYPE_F32, 1, call_.n, {});
    for (std::int64_t j = 0; j < call_.n; ++j) vector.set(0, 0, j, bias(j));
    const Allocation memory(api_, vector.bytes);
    const std::int64_t shape[] = {call_.n};
    const rung_tensor of_bias = {memory.data(), RUNG_DEVICE_CUDA, 0, 1, vector.dtype,
                                 shape,         nullptr};
    rung_epilogue epilogue = RUNG_EPILOGUE_INIT;
    epilogue.column_bias = &of_bias;
    epilogue.activation = RUNG_ACTIVATION_RELU;
    const rung_status status =
        rung_gemm_epilogue(&a, &b, &c, call_.alpha, call_.beta, &epilogue, &options);
    api_.cuCtxSynchronize();
    return status;
  }

  rung_status enqueue_pointers(const Allocation& a, const Allocation& b, const Allocation& c,
                               const rung_tensor_options& options) {
    const auto addresses = [&](const Matrices& matrices, const Allocation& memory) {
      std::vector<void*> pointers;
      for (std::int64_t g = 0; g < call_.count; ++g) {
        const std::int64_t at = matrices.at(matrices.count == 1 ? 0 : g, 0, 0);
        pointers.push_back(matrices.bytes.empty() ? nullptr
                                                  : memory.data(static_cast<std::size_t>(at) *
                                                                bytes_of(matrices.dtype)));
      }
      return as_bytes(pointers);
    };
    const Allocation to_a(api_, addresses(a_, a)), to_b(api_, addresses(b_, b)),
        to_c(api_, addresses(c_, c));
    const rung_tensor of_a = a_.at_address(to_a.data(), false),
                      of_b = b_.at_address(to_b.data(), false),
                      of_c = c_.at_address(to_c.data(), false);
    const rung_status status =
        rung_gemm_pointers(call_.count, &of_a, &of_b, &of_c, call_.alpha, call_.beta, &options);
    api_.cuCtxSynchronize();
    return status;
  }

  /// W is B^T, quantized to 8 bits.
  rung_status enqueue_weight_only(const rung_tensor& a, const rung_tensor& c,
                                  const rung_tensor_options& options) {
    const std::int64_t groups = call_.k / weights_in_group;
    Matrices elements(RUNG_DTYPE_I8, call_.n, call_.k, {}),
        scales(RUNG_DTYPE_F32, call_.n, groups, {});
    for (std::int64_t j = 0; j < call_.n; ++j) {
      for (std::int64_t x = 0; x < call_.k; ++x) elements.set(0, j, x, b_.get(0, x, j));
      for (std::int64_t g = 0; g < groups; ++g) {
        scales.set(0, j, g, weight_scale(j, g * weights_in_group));
      }
    }
    const Allocation of_elements(api_, elements.bytes), of_scales(api_, scales.bytes);
    rung_tensor scales_tensor = scales.tensor(of_scales, false);
    scales_tensor.strides = nullptr;
    const rung_quantized_weights weights = {
        of_elements.data(), 8, call_.n, call_.k, weights_in_group, &scales_tensor, nullptr};
    std::size_t bytes = 0;
    rung_status status = rung_packed_weights_bytes(&weights, &bytes);
    if (status != RUNG_OK) return status;
    const Allocation memory(api_, std::vector<std::byte>(bytes, gap_byte));
    rung_packed_weights packed = {};
    status = rung_pack_weights(&weights, memory.data(), &packed, &options);
    if (status == RUNG_OK) {
      status = rung_gemm_weight_only(&a, &packed, &c, call_.alpha, call_.beta, &options);
    }
    api_.cuCtxSynchronize();
    return status;
  }

  const DriverApi& api_;
  AnyCall call_;
  std::string message_ = {};  // of a C++ function
  std::vector<std::int32_t> offsets_;
  Matrices a_, b_, c_, a_scales_, b_scales_;
};

const char* name(rung_dtype dtype) {
  constexpr const char* names[] = {"f32",  "f64", "i32",  "bf16", "f16",
                                   "tf32", "i8",  "e4m3", "e5m2"};
  return names[dtype];
}

std::string describe(const char* operand, const Layout& layout) {
  return std::string(" ") + operand + (layout.by_columns ? " by columns" : " by rows") + "+" +
         std::to_string(layout.padding) + "@" + std::to_string(layout.shift) + "/" +
         std::to_string(layout.gap);
}

}  // namespace

const char* name(Entry entry) {
  constexpr const char* names[] = {
      "gemm",  "batched",     "pointers",     "groups_of_rows",      "groups_of_k", "epilogue",
      "mixed", "weight_only", "block_scaled", "block_scaled_groups", "parts",       "dot"};
  return names[static_cast<int>(entry)];
}

std::string describe(const AnyCall& call) {
  return std::string(name(call.entry)) + " " + name(call.a) + "*" + name(call.b) + "=" +
         name(call.c) + " " + std::to_string(call.m) + "x" + std::to_string(call.n) + "x" +
         std::to_string(call.k) + " count " + std::to_string(call.count) +
         (call.shares_b ? " one B" : "") + describe("A", call.of_a) + describe("B", call.of_b) +
         describe("C", call.of_c) + " alpha " + std::to_string(call.alpha) + " beta " +
         std::to_string(call.beta) + " mode " + std::to_string(call.compute_mode) + " SMs " +
         std::to_string(call.multiprocessors) + " workspace " +
         std::to_string(call.workspace_bytes) + " seed " + std::to_string(call.seed);
}

Outcome run(const DriverApi& api, const AnyCall& call) { return Call(api, call).run(); }

}  // namespace rung::cuda
