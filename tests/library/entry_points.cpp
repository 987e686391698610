#include "entry_points.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <memory>

#include "core/random.hpp"
#include "rung/types.hpp"
#include "with_element.hpp"

namespace rung::entry {
namespace {

constexpr std::array dtype_names = {"f32",  "f64", "i32",  "bf16", "f16",
                                    "tf32", "i8",  "e4m3", "e5m2"};

/// A tensor with 2 or 3 dimensions in its own memory.
class Operand {
 public:
  struct Form {
    int dtype;
    std::int64_t count, rows, cols;
    int ndim = 2;
    bool by_columns = false;
    std::int64_t padding = 0;
  };
  Operand(const Form& form, const Allocate& allocate) : shape_{form.count, form.rows, form.cols} {
    const std::int64_t lines = form.by_columns ? form.cols : form.rows;
    const std::int64_t length = form.by_columns ? form.rows : form.cols;
    const std::int64_t ld = length + form.padding;
    strides_ = {lines * ld, form.by_columns ? 1 : ld, form.by_columns ? ld : 1};
    size_ = with_element(form.dtype, [](auto element) { return sizeof element; });
    const bool is_empty = form.count == 0 || lines == 0 || length == 0;
    const std::int64_t elements =
        is_empty ? 0 : (form.count - 1) * strides_[0] + (lines - 1) * ld + length;
    bytes_ = {allocate(static_cast<std::size_t>(elements) * size_),
              static_cast<std::size_t>(elements) * size_};
    const int skipped = 3 - form.ndim;
    tensor_ = {bytes_.data(),           RUNG_DEVICE_CPU,          0, form.ndim, form.dtype,
               shape_.data() + skipped, strides_.data() + skipped};
  }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;

  const rung_tensor* tensor() const { return &tensor_; }
  std::span<std::byte> bytes() const { return bytes_; }
  std::int64_t ld() const { return std::max(strides_[1], strides_[2]); }
  bool by_columns() const { return strides_[2] != 1; }
  std::byte* matrix(std::int64_t index) const {
    return bytes_.data() + static_cast<std::size_t>(index * strides_[0]) * size_;
  }

  template <class Value>
  void fill(const Value& value) {
    each([&](std::byte* at, std::int64_t i, std::int64_t row, std::int64_t col) {
      with_element(tensor_.dtype, [&]<class T>(T element) {
        if constexpr (std::is_integral_v<T>) {
          element = static_cast<T>(std::lround(value(i, row, col)));
        } else if constexpr (std::is_same_v<T, double>) {
          element = value(i, row, col);
        } else {
          element = T(static_cast<float>(value(i, row, col)));
        }
        std::memcpy(at, &element, sizeof element);
      });
    });
  }
  std::vector<double> values() const {
    std::vector<double> all;
    each([&](const std::byte* at, std::int64_t, std::int64_t, std::int64_t) {
      with_element(tensor_.dtype, [&]<class T>(T element) {
        std::memcpy(&element, at, sizeof element);
        if constexpr (std::is_arithmetic_v<T>) {
          all.push_back(static_cast<double>(element));
        } else {
          all.push_back(static_cast<double>(static_cast<float>(element)));
        }
      });
    });
    return all;
  }

 private:
  template <class F>
  void each(const F& f) const {
    for (std::int64_t i = 0; i < shape_[0]; ++i) {
      for (std::int64_t row = 0; row < shape_[1]; ++row) {
        for (std::int64_t col = 0; col < shape_[2]; ++col) {
          const std::int64_t at = i * strides_[0] + row * strides_[1] + col * strides_[2];
          f(bytes_.data() + static_cast<std::size_t>(at) * size_, i, row, col);
        }
      }
    }
  }

  std::array<std::int64_t, 3> shape_, strides_;
  std::size_t size_;
  std::span<std::byte> bytes_;
  rung_tensor tensor_;
};

/// The elements of a problem, independent of layouts and types.
class Numbers {
 public:
  explicit Numbers(const Problem& problem) : problem_(problem) {}
  double a(std::int64_t i, std::int64_t row, std::int64_t step) const {
    return at(1, (i * problem_.m + row) * problem_.k + step);
  }
  double b(std::int64_t i, std::int64_t step, std::int64_t col) const {
    return at(2, (i * problem_.k + step) * problem_.n + col);
  }
  double c(std::int64_t i, std::int64_t row, std::int64_t col) const {
    return at(3, (i * problem_.m + row) * problem_.n + col);
  }

 private:
  double at(std::uint64_t operand, std::int64_t index) const {
    const std::uint64_t bits =
        random_bits(problem_.seed * 4 + operand, static_cast<std::uint64_t>(index));
    if (problem_.integers) return static_cast<double>(bits % 7) - 3;
    return static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-63;
  }
  Problem problem_;
};

rung_tensor_options options_of(int threads, int mode) {
  rung_tensor_options options = RUNG_TENSOR_OPTIONS_INIT;
  options.threads = threads;
  options.compute_mode = mode;
  return options;
}

struct Types {
  int in, out;
  std::string name() const { return std::string(dtype_names[in]) + " to " + dtype_names[out]; }
};

constexpr Types all_types[] = {
    {RUNG_DTYPE_F32, RUNG_DTYPE_F32},   {RUNG_DTYPE_F64, RUNG_DTYPE_F64},
    {RUNG_DTYPE_I32, RUNG_DTYPE_I32},   {RUNG_DTYPE_BF16, RUNG_DTYPE_F32},
    {RUNG_DTYPE_F16, RUNG_DTYPE_F32},   {RUNG_DTYPE_I8, RUNG_DTYPE_I32},
    {RUNG_DTYPE_E4M3, RUNG_DTYPE_F32},  {RUNG_DTYPE_E5M2, RUNG_DTYPE_F32},
    {RUNG_DTYPE_BF16, RUNG_DTYPE_BF16}, {RUNG_DTYPE_F16, RUNG_DTYPE_F16}};

/// Operands of products, each in its own matrix or all in one batch.
struct Operands {
  std::shared_ptr<Operand> a, b, c;

  Operands(const Problem& p, const Types& types, int ndim, const Allocate& allocate,
           int b_dtype = -1)
      : a(std::make_shared<Operand>(
            Operand::Form{types.in, p.count, p.m, p.k, ndim, p.a_by_columns, p.padding}, allocate)),
        b(std::make_shared<Operand>(Operand::Form{b_dtype < 0 ? types.in : b_dtype, p.count, p.k,
                                                  p.n, ndim, p.b_by_columns, p.padding},
                                    allocate)),
        c(std::make_shared<Operand>(
            Operand::Form{types.out, p.count, p.m, p.n, ndim, p.c_by_columns, p.padding},
            allocate)) {
    const Numbers numbers(p);
    a->fill([&](auto... at) { return numbers.a(at...); });
    b->fill([&](auto... at) { return numbers.b(at...); });
    c->fill([&](auto... at) { return numbers.c(at...); });
  }
};

Call call_of(const std::vector<std::shared_ptr<Operand>>& inputs, std::shared_ptr<Operand> result,
             std::function<rung_status(int threads, int mode)> run) {
  Call call = {std::move(run), {}, result->bytes(), [result] { return result->values(); }};
  for (const auto& input : inputs) call.inputs.push_back(input->bytes());
  return call;
}

/// Calls rung_gemm for each product.
Call products(const Types& types, const Problem& p, const Allocate& allocate) {
  const Operands of(p, types, 3, allocate);
  return call_of({of.a, of.b}, of.c, [=](int threads, int mode) {
    const rung_tensor_options options = options_of(threads, mode);
    for (std::int64_t i = 0; i < p.count; ++i) {
      const auto matrix = [i](const Operand& operand) {
        rung_tensor tensor = *operand.tensor();
        tensor.data = operand.matrix(i);
        tensor.ndim = 2;
        ++tensor.shape;
        ++tensor.strides;
        return tensor;
      };
      const rung_tensor a = matrix(*of.a), b = matrix(*of.b), c = matrix(*of.c);
      const rung_status status = rung_gemm(&a, &b, &c, p.alpha, p.beta, &options);
      if (status != RUNG_OK) return status;
    }
    return RUNG_OK;
  });
}

Call batch(const Types& types, const Problem& p, const Allocate& allocate) {
  const Operands of(p, types, 3, allocate);
  return call_of({of.a, of.b}, of.c, [=](int threads, int mode) {
    const rung_tensor_options options = options_of(threads, mode);
    return rung_gemm(of.a->tensor(), of.b->tensor(), of.c->tensor(), p.alpha, p.beta, &options);
  });
}

Call pointers(const Types& types, const Problem& p, const Allocate& allocate) {
  const Operands of(p, types, 3, allocate);
  std::array<std::vector<void*>, 3> addresses;
  for (std::int64_t i = 0; i < p.count; ++i) {
    addresses[0].push_back(of.a->matrix(i));
    addresses[1].push_back(of.b->matrix(i));
    addresses[2].push_back(of.c->matrix(i));
  }
  return call_of({of.a, of.b}, of.c, [of, p, addresses](int threads, int mode) mutable {
    const rung_tensor_options options = options_of(threads, mode);
    const auto at = [](const Operand& operand, std::vector<void*>& list) {
      rung_tensor tensor = *operand.tensor();
      tensor.data = list.data();
      tensor.ndim = 2;
      ++tensor.shape;
      ++tensor.strides;
      return tensor;
    };
    const rung_tensor a = at(*of.a, addresses[0]), b = at(*of.b, addresses[1]),
                      c = at(*of.c, addresses[2]);
    return rung_gemm_pointers(p.count, &a, &b, &c, p.alpha, p.beta, &options);
  });
}

std::vector<std::int32_t> offsets_of(std::int64_t count, std::int64_t size) {
  std::vector<std::int32_t> offsets;
  for (std::int64_t i = 0; i <= count; ++i) offsets.push_back(static_cast<std::int32_t>(i * size));
  return offsets;
}

/// Groups of rows. C is row-major.
Call row_groups(const Types& types, const Problem& p, const Allocate& allocate) {
  const auto a = std::make_shared<Operand>(
      Operand::Form{types.in, 1, p.count * p.m, p.k, 2, p.a_by_columns, p.padding}, allocate);
  const auto b = std::make_shared<Operand>(
      Operand::Form{types.in, p.count, p.k, p.n, 3, p.b_by_columns, p.padding}, allocate);
  const auto c = std::make_shared<Operand>(
      Operand::Form{types.out, 1, p.count * p.m, p.n, 2, false, p.padding}, allocate);
  const Numbers numbers(p);
  a->fill([&](auto, auto row, auto step) { return numbers.a(row / p.m, row % p.m, step); });
  b->fill([&](auto... at) { return numbers.b(at...); });
  c->fill([&](auto, auto row, auto col) { return numbers.c(row / p.m, row % p.m, col); });
  return call_of({a, b}, c, [=, offsets = offsets_of(p.count, p.m)](int threads, int mode) {
    const rung_tensor_options options = options_of(threads, mode);
    return rung_gemm_grouped(a->tensor(), b->tensor(), c->tensor(), offsets.data(), p.alpha, p.beta,
                             &options);
  });
}

/// Groups along k.
Call step_groups(const Types& types, const Problem& p, const Allocate& allocate) {
  const auto a = std::make_shared<Operand>(
      Operand::Form{types.in, 1, p.m, p.count * p.k, 2, p.a_by_columns, p.padding}, allocate);
  const auto b = std::make_shared<Operand>(
      Operand::Form{types.in, 1, p.count * p.k, p.n, 2, p.b_by_columns, p.padding}, allocate);
  const auto c = std::make_shared<Operand>(
      Operand::Form{types.out, p.count, p.m, p.n, 3, p.c_by_columns, p.padding}, allocate);
  const Numbers numbers(p);
  a->fill([&](auto, auto row, auto step) { return numbers.a(step / p.k, row, step % p.k); });
  b->fill([&](auto, auto step, auto col) { return numbers.b(step / p.k, step % p.k, col); });
  c->fill([&](auto... at) { return numbers.c(at...); });
  return call_of({a, b}, c, [=, offsets = offsets_of(p.count, p.k)](int threads, int mode) {
    const rung_tensor_options options = options_of(threads, mode);
    return rung_gemm_grouped(a->tensor(), b->tensor(), c->tensor(), offsets.data(), p.alpha, p.beta,
                             &options);
  });
}

/// One product with an epilogue that leaves each sum unchanged.
Call epilogue(const Types& types, Problem p, const Allocate& allocate) {
  p.count = 1;
  const Operands of(p, types, 2, allocate);
  const bool is_double = types.in == RUNG_DTYPE_F64;
  const int scalar = is_double ? RUNG_DTYPE_F64 : RUNG_DTYPE_F32;
  const auto part = [&](std::int64_t rows, std::int64_t cols, double value) {
    const auto operand = std::make_shared<Operand>(Operand::Form{scalar, 1, rows, cols}, allocate);
    operand->fill([=](auto...) { return value; });
    return operand;
  };
  const auto row_scale = part(1, p.m, 1), column_scale = part(1, p.n, 1),
             row_bias = part(1, p.m, 0), column_bias = part(1, p.n, 0),
             residual = part(p.m, p.n, 0), aux = part(p.m, p.n, 0);
  const auto run = [=](int threads, int mode) {
    const auto vector = [](const Operand& operand) {
      rung_tensor tensor = *operand.tensor();
      tensor.ndim = 1;
      ++tensor.shape;
      ++tensor.strides;
      return tensor;
    };
    const rung_tensor vectors[] = {vector(*row_scale), vector(*column_scale), vector(*row_bias),
                                   vector(*column_bias)};
    rung_epilogue parts = RUNG_EPILOGUE_INIT;
    parts.row_scale = &vectors[0];
    parts.column_scale = &vectors[1];
    parts.row_bias = &vectors[2];
    parts.column_bias = &vectors[3];
    parts.residual = residual->tensor();
    parts.aux = aux->tensor();
    const rung_tensor_options options = options_of(threads, mode);
    return rung_gemm_epilogue(of.a->tensor(), of.b->tensor(), of.c->tensor(), p.alpha, p.beta,
                              &parts, &options);
  };
  return call_of({of.a, of.b, row_scale, column_scale, row_bias, column_bias, residual}, of.c, run);
}

/// One product of bfloat16 and float.
Call mixed(bool a_is_narrow, Problem p, const Allocate& allocate) {
  p.count = 1;
  const Types types = {a_is_narrow ? RUNG_DTYPE_BF16 : RUNG_DTYPE_F32, RUNG_DTYPE_F32};
  const Operands of(p, types, 2, allocate, a_is_narrow ? RUNG_DTYPE_F32 : RUNG_DTYPE_BF16);
  return call_of({of.a, of.b}, of.c, [=](int threads, int mode) {
    const rung_tensor_options options = options_of(threads, mode);
    return rung_gemm(of.a->tensor(), of.b->tensor(), of.c->tensor(), p.alpha, p.beta, &options);
  });
}

/// One product with scales of 1, or groups of rows of such products.
Call block_scaled(int out, bool in_groups, Problem p, const Allocate& allocate) {
  if (!in_groups) p.count = 1;
  const auto blocks = [](std::int64_t extent) { return (extent + 127) / 128; };
  const int ndim = in_groups ? 3 : 2;
  const auto a = std::make_shared<Operand>(
      Operand::Form{RUNG_DTYPE_E4M3, 1, p.count * p.m, p.k, 2, p.a_by_columns, p.padding},
      allocate);
  const auto b = std::make_shared<Operand>(
      Operand::Form{RUNG_DTYPE_E4M3, p.count, p.k, p.n, ndim, p.b_by_columns, p.padding}, allocate);
  const auto a_scales = std::make_shared<Operand>(
      Operand::Form{RUNG_DTYPE_F32, 1, p.count * p.m, blocks(p.k), 2, p.a_by_columns}, allocate);
  const auto b_scales = std::make_shared<Operand>(
      Operand::Form{RUNG_DTYPE_F32, p.count, blocks(p.k), blocks(p.n), ndim, p.b_by_columns},
      allocate);
  const auto c = std::make_shared<Operand>(
      Operand::Form{out, 1, p.count * p.m, p.n, 2, false, p.padding}, allocate);
  const Numbers numbers(p);
  a->fill([&](auto, auto row, auto step) { return numbers.a(row / p.m, row % p.m, step); });
  b->fill([&](auto... at) { return numbers.b(at...); });
  c->fill([&](auto, auto row, auto col) { return numbers.c(row / p.m, row % p.m, col); });
  a_scales->fill([](auto...) { return 1.0; });
  b_scales->fill([](auto...) { return 1.0; });
  const auto run = [=, offsets = offsets_of(p.count, p.m)](int threads, int mode) {
    const rung_tensor_options options = options_of(threads, mode);
    return rung_gemm_block_scaled(a->tensor(), a_scales->tensor(), b->tensor(), b_scales->tensor(),
                                  c->tensor(), in_groups ? offsets.data() : nullptr, p.alpha,
                                  p.beta, &options);
  };
  return call_of({a, a_scales, b, b_scales}, c, run);
}

/// 8-bit weights B^T, padded along k to whole groups, and their scales of 1.
struct Weights {
  std::shared_ptr<Operand> elements, scales;
  rung_quantized_weights weights;

  Weights(const Problem& p, const Allocate& allocate) {
    const std::int64_t k = whole_groups(p.k);
    elements = std::make_shared<Operand>(Operand::Form{RUNG_DTYPE_I8, 1, p.n, k}, allocate);
    scales = std::make_shared<Operand>(Operand::Form{RUNG_DTYPE_F32, 1, p.n, k / 64}, allocate);
    const Numbers numbers(p);
    elements->fill([&](auto, auto row, auto step) {
      return step < p.k ? std::round(numbers.b(0, step, row)) : 0.0;
    });
    scales->fill([](auto...) { return 1.0; });
    weights = {elements->bytes().data(), 8, p.n, k, 64, scales->tensor(), nullptr};
  }
  static std::int64_t whole_groups(std::int64_t k) { return (k + 63) / 64 * 64; }
  std::shared_ptr<Operand> packed_memory(const Allocate& allocate) const {
    std::size_t bytes = 0;
    rung_packed_weights_bytes(&weights, &bytes);
    return std::make_shared<Operand>(
        Operand::Form{RUNG_DTYPE_I8, 1, 1, static_cast<std::int64_t>(bytes)}, allocate);
  }
};

Call pack_weights(const Problem& p, const Allocate& allocate) {
  const auto of = std::make_shared<Weights>(p, allocate);
  const auto memory = of->packed_memory(allocate);
  return call_of({of->elements, of->scales}, memory, [=](int threads, int mode) {
    const rung_tensor_options options = options_of(threads, mode);
    rung_packed_weights packed;
    return rung_pack_weights(&of->weights, memory->bytes().data(), &packed, &options);
  });
}

Call weight_only(const Types& types, Problem p, const Allocate& allocate) {
  p.count = 1;
  const auto of = std::make_shared<Weights>(p, allocate);
  const auto memory = of->packed_memory(allocate);
  rung_packed_weights packed;
  rung_pack_weights(&of->weights, memory->bytes().data(), &packed, nullptr);
  const auto a = std::make_shared<Operand>(
      Operand::Form{types.in, 1, p.m, of->weights.k, 2, p.a_by_columns, p.padding}, allocate);
  const auto c = std::make_shared<Operand>(
      Operand::Form{types.out, 1, p.m, p.n, 2, p.c_by_columns, p.padding}, allocate);
  const Numbers numbers(p);
  a->fill([&](auto, auto row, auto step) { return step < p.k ? numbers.a(0, row, step) : 0.0; });
  c->fill([&](auto... at) { return numbers.c(at...); });
  return call_of({a, memory}, c, [=](int threads, int mode) {
    const rung_tensor_options options = options_of(threads, mode);
    return rung_gemm_weight_only(a->tensor(), &packed, c->tensor(), p.alpha, p.beta, &options);
  });
}

/// Functions of rung.h with types in their names.
template <class In, class Out, class Scalar>
using Gemm = rung_status(rung_order, rung_transpose, rung_transpose, std::int64_t, std::int64_t,
                         std::int64_t, Scalar, const In*, std::int64_t, const In*, std::int64_t,
                         Scalar, Out*, std::int64_t, const rung_gemm_options*);

template <class In, class Out, class Scalar>
Call typed(Gemm<In, Out, Scalar>* function, const Types& types, Problem p,
           const Allocate& allocate) {
  p.count = 1;
  const Operands of(p, types, 2, allocate);
  return call_of({of.a, of.b}, of.c, [=](int threads, int mode) {
    const bool columns = of.c->by_columns();
    const auto trans = [&](const Operand& operand) {
      return operand.by_columns() == columns ? RUNG_NO_TRANS : RUNG_TRANS;
    };
    const rung_gemm_options options = {sizeof options, threads, mode};
    return function(
        columns ? RUNG_COL_MAJOR : RUNG_ROW_MAJOR, trans(*of.a), trans(*of.b), p.m, p.n, p.k,
        static_cast<Scalar>(p.alpha), reinterpret_cast<const In*>(of.a->bytes().data()), of.a->ld(),
        reinterpret_cast<const In*>(of.b->bytes().data()), of.b->ld(), static_cast<Scalar>(p.beta),
        reinterpret_cast<Out*>(of.c->bytes().data()), of.c->ld(), &options);
  });
}

template <class In, class Out>
Call dot(rung_status (*function)(std::int64_t, const In*, std::int64_t, const In*, std::int64_t,
                                 Out*, const rung_dot_options*),
         const Types& types, Problem p, const Allocate& allocate) {
  p.count = p.m = p.n = 1;
  p.padding = 0;
  const Operands of(p, types, 2, allocate);
  return call_of({of.a, of.b}, of.c, [=](int threads, int mode) {
    const rung_dot_options options = {sizeof options, threads, mode};
    return function(p.k, reinterpret_cast<const In*>(of.a->bytes().data()), 1,
                    reinterpret_cast<const In*>(of.b->bytes().data()), 1,
                    reinterpret_cast<Out*>(of.c->bytes().data()), &options);
  });
}

std::function<Call(const Problem&, const Allocate&)> bound(auto make, auto... first) {
  return [=](const Problem& p, const Allocate& memory) { return make(first..., p, memory); };
}

/// Adds the functions with types as arguments, for each combination of types.
void add_tensors(std::vector<EntryPoint>& all) {
  for (const Types& types : all_types) {
    all.push_back({"rung_gemm", types.name(), nullptr, bound(products, types)});
  }
  for (std::size_t i = 0; i < std::size(all_types); ++i) {
    const Types& types = all_types[i];
    const auto add = [&](const char* function, const char* way, auto make) {
      all.push_back({function, types.name() + way, &all[i], bound(make, types)});
    };
    add("rung_gemm", ", batch", batch);
    add("rung_gemm_pointers", "", pointers);
    add("rung_gemm_grouped", ", rows", row_groups);
    add("rung_gemm_grouped", ", steps", step_groups);
    add("rung_gemm_epilogue", "", epilogue);
  }
}

/// Adds the functions with separate rules for options.
void add_others(std::vector<EntryPoint>& all) {
  const auto add = [&](const char* function, const char* variant, auto make) {
    all.push_back({function, variant, nullptr, make});
  };
  add("rung_gemm", "bf16 by f32", bound(mixed, true));
  add("rung_gemm", "f32 by bf16", bound(mixed, false));
  add("rung_gemm_block_scaled", "to f32", bound(block_scaled, RUNG_DTYPE_F32, false));
  add("rung_gemm_block_scaled", "to bf16", bound(block_scaled, RUNG_DTYPE_BF16, false));
  add("rung_gemm_block_scaled", "groups", bound(block_scaled, RUNG_DTYPE_F32, true));
  add("rung_pack_weights", "", pack_weights);
  for (const Types& types : all_types) {
    const bool is_half = types.in == RUNG_DTYPE_BF16 || types.in == RUNG_DTYPE_F16;
    if (is_half)
      all.push_back({"rung_gemm_weight_only", types.name(), nullptr, bound(weight_only, types)});
  }
  add("rung_dot_f32", "", bound(dot<float, float>, rung_dot_f32, all_types[0]));
  add("rung_dot_f64", "", bound(dot<double, double>, rung_dot_f64, all_types[1]));
  add("rung_dot_bf16", "", bound(dot<rung_bfloat16, float>, rung_dot_bf16, all_types[3]));
  add("rung_dot_f16", "", bound(dot<rung_float16, float>, rung_dot_f16, all_types[4]));
}

std::vector<EntryPoint> make_all() {
  std::vector<EntryPoint> all;
  all.reserve(200);  // keeps references valid
  add_tensors(all);
  const auto add = [&]<class In, class Out, class Scalar>(const char* name, std::size_t types,
                                                          Gemm<In, Out, Scalar>* function) {
    all.push_back(
        {name, "", &all[types], bound(typed<In, Out, Scalar>, function, all_types[types])});
  };
  add("rung_gemm_f32", 0, rung_gemm_f32);
  add("rung_gemm_f64", 1, rung_gemm_f64);
  add("rung_gemm_i32", 2, rung_gemm_i32);
  add("rung_gemm_bf16", 3, rung_gemm_bf16);
  add("rung_gemm_f16", 4, rung_gemm_f16);
  add("rung_gemm_i8", 5, rung_gemm_i8);
  add_others(all);
  return all;
}

}  // namespace

std::span<const EntryPoint> entry_points() {
  static const std::vector<EntryPoint> all = make_all();
  return all;
}

std::byte* allocate(std::size_t bytes) {
  static std::deque<std::unique_ptr<std::byte[]>> kept;
  return kept.emplace_back(std::make_unique<std::byte[]>(bytes)).get();
}

}  // namespace rung::entry
