// Calls every function of rung.h with each argument wrong: null pointers, unknown values of enums,
// sizes at the limits of int64, options of other sizes. A call returns a status; one other than
// RUNG_OK has a one-line message.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <limits>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "rung/rung.h"

namespace rung {
namespace {

constexpr std::int64_t least_size = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t largest_size = std::numeric_limits<std::int64_t>::max();
constexpr std::array<std::int64_t, 4> wrong_sizes = {-1, least_size, largest_size,
                                                     std::int64_t{1} << 62};
constexpr std::array<std::int32_t, 4> wrong_enums = {-1, 9, 1 << 30,
                                                     std::numeric_limits<std::int32_t>::min()};

/// Stores a value at a stable address.
template <class T>
T* kept(const T& value) {
  static std::deque<T> all;
  return &all.emplace_back(value);
}

/// Variants of a struct with one field changed.
template <class Struct>
class Variants {
 public:
  explicit Variants(const Struct& good) : good_(good) {}

  template <class Field, class Values>
  Variants& with(Field Struct::* field, const Values& values) {
    for (const auto& value : values) {
      Struct& changed = *all_.emplace_back(kept(good_));
      changed.*field = static_cast<Field>(value);
    }
    return *this;
  }
  template <class Field>
  Variants& with(Field Struct::* field, std::initializer_list<Field> values) {
    return with(field, std::vector<Field>(values));
  }
  std::vector<Struct*> all() const { return all_; }

 private:
  Struct good_;
  std::vector<Struct*> all_;
};

constexpr std::array<std::size_t, 6> wrong_struct_sizes = {0, 1, 4, 7, 4100, ~std::size_t{0}};

template <class Options>
Variants<Options> of_options(const Options& good) {
  return std::move(Variants(good).with(&Options::struct_size, wrong_struct_sizes));
}

// Wrong values of an argument, by its type; none for scalars.
template <class T>
std::vector<T> wrong_values(T good) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return {wrong_sizes.begin(), wrong_sizes.end()};
  } else if constexpr (std::is_enum_v<T>) {
    std::vector<T> all;
    for (const std::int32_t value : wrong_enums) all.push_back(static_cast<T>(value));
    return all;
  } else if constexpr (std::is_pointer_v<T>) {
    return {nullptr};
  } else {
    return {good};
  }
}

/// Wrong values of a pointer to a struct, starting with null.
template <class Struct, class Pointer>
std::vector<Pointer> with_null(const Variants<Struct>& variants) {
  std::vector<Pointer> all = {nullptr};
  for (Struct* const variant : variants.all()) all.push_back(variant);
  return all;
}

template <>
std::vector<const rung_gemm_options*> wrong_values(const rung_gemm_options* good) {
  return with_null<rung_gemm_options, const rung_gemm_options*>(
      of_options(*good)
          .with(&rung_gemm_options::threads, wrong_enums)
          .with(&rung_gemm_options::compute_mode, wrong_enums));
}
template <>
std::vector<const rung_dot_options*> wrong_values(const rung_dot_options* good) {
  return with_null<rung_dot_options, const rung_dot_options*>(
      of_options(*good)
          .with(&rung_dot_options::threads, wrong_enums)
          .with(&rung_dot_options::mode, wrong_enums));
}
template <>
std::vector<const rung_cuda_options*> wrong_values(const rung_cuda_options* good) {
  return with_null<rung_cuda_options, const rung_cuda_options*>(
      of_options(*good)
          .with(&rung_cuda_options::workspace_bytes, wrong_struct_sizes)
          .with(&rung_cuda_options::multiprocessors, wrong_enums)
          .with(&rung_cuda_options::compute_mode, wrong_enums));
}
template <>
std::vector<const rung_cuda_dot_options*> wrong_values(const rung_cuda_dot_options* good) {
  return with_null<rung_cuda_dot_options, const rung_cuda_dot_options*>(
      of_options(*good)
          .with(&rung_cuda_dot_options::mode, wrong_enums)
          .with(&rung_cuda_dot_options::result_on_host, wrong_enums)
          .with(&rung_cuda_dot_options::workspace_bytes, wrong_struct_sizes));
}
template <>
std::vector<const rung_tensor_options*> wrong_values(const rung_tensor_options* good) {
  return with_null<rung_tensor_options, const rung_tensor_options*>(
      of_options(*good)
          .with(&rung_tensor_options::workspace_bytes, wrong_struct_sizes)
          .with(&rung_tensor_options::multiprocessors, wrong_enums)
          .with(&rung_tensor_options::threads, wrong_enums)
          .with(&rung_tensor_options::compute_mode, wrong_enums)
          .with(&rung_tensor_options::reserved, wrong_enums));
}

/// Variants of `good` with other dimensions, strides and types. Its memory has room for any type.
template <>
std::vector<const rung_tensor*> wrong_values(const rung_tensor* good) {
  Variants<rung_tensor> variants(*good);
  variants.with(&rung_tensor::data, {static_cast<void*>(nullptr)})
      .with(&rung_tensor::shape, {static_cast<const std::int64_t*>(nullptr)})
      .with(&rung_tensor::dtype, wrong_enums)
      .with(&rung_tensor::dtype, std::array{0, 1, 2, 3, 4, 5, 6, 7, 8})
      .with(&rung_tensor::device_type, wrong_enums)
      .with(&rung_tensor::device_type, std::array{0, 1, 2})
      .with(&rung_tensor::device_id, wrong_enums)
      .with(&rung_tensor::ndim, wrong_enums)
      .with(&rung_tensor::ndim, std::array{0, 1, 2, 3, 4});
  using Three = std::array<std::int64_t, 3>;
  for (const auto field : {&rung_tensor::shape, &rung_tensor::strides}) {
    if (good->*field == nullptr) continue;
    for (int at = 0; at < good->ndim; ++at) {
      for (const std::int64_t size :
           {-1L, 0L, 1L, least_size, largest_size, std::int64_t{1} << 62}) {
        Three changed = {};
        std::copy_n(good->*field, good->ndim, changed.begin());
        changed[static_cast<std::size_t>(at)] = size;
        variants.with(field, {static_cast<const std::int64_t*>(kept(changed)->data())});
      }
    }
  }
  return with_null<rung_tensor, const rung_tensor*>(variants);
}
template <>
std::vector<const rung_epilogue*> wrong_values(const rung_epilogue* good) {
  Variants<rung_epilogue> variants = of_options(*good);
  variants.with(&rung_epilogue::activation, wrong_enums).with(&rung_epilogue::gated, wrong_enums);
  variants.with(&rung_epilogue::gated, std::array{1});
  for (const auto part :
       {&rung_epilogue::row_scale, &rung_epilogue::column_scale, &rung_epilogue::row_bias,
        &rung_epilogue::column_bias, &rung_epilogue::aux, &rung_epilogue::residual}) {
    variants.with(part, wrong_values(good->*part));
  }
  return with_null<rung_epilogue, const rung_epilogue*>(variants);
}
template <>
std::vector<const rung_quantized_weights*> wrong_values(const rung_quantized_weights* good) {
  return with_null<rung_quantized_weights, const rung_quantized_weights*>(
      std::move(Variants(*good)
                    .with(&rung_quantized_weights::elements, {static_cast<const void*>(nullptr)})
                    .with(&rung_quantized_weights::bits, wrong_enums)
                    .with(&rung_quantized_weights::n, wrong_sizes)
                    .with(&rung_quantized_weights::k, wrong_sizes)
                    .with(&rung_quantized_weights::group, wrong_sizes)
                    .with(&rung_quantized_weights::group, std::array{0L, 1L << 32})
                    .with(&rung_quantized_weights::scales, wrong_values(good->scales))));
}
template <>
std::vector<const rung_packed_weights*> wrong_values(const rung_packed_weights* good) {
  return with_null<rung_packed_weights, const rung_packed_weights*>(
      std::move(Variants(*good)
                    .with(&rung_packed_weights::data, {static_cast<const void*>(nullptr)})
                    .with(&rung_packed_weights::n, wrong_sizes)
                    .with(&rung_packed_weights::k, wrong_sizes)
                    .with(&rung_packed_weights::group, wrong_sizes)
                    .with(&rung_packed_weights::group, std::array{0L, 1L << 32})
                    .with(&rung_packed_weights::bits, wrong_enums)
                    .with(&rung_packed_weights::bits, std::array{0, 8})
                    .with(&rung_packed_weights::scales, wrong_enums)
                    .with(&rung_packed_weights::scales, std::array{1, 2, 5, 7})
                    .with(&rung_packed_weights::format, std::array{0u, 1u})));
}

class CArguments : public testing::Test {
 protected:
  /// Calls a function with correct arguments, and with each of them wrong.
  template <class... Arguments>
  void try_all(const char* name, rung_status (*function)(Arguments...),
               std::type_identity_t<Arguments>... right) {
    std::tuple<Arguments...> arguments(right...);
    tried_.insert(name);
    const std::function<rung_status()> call = [&] { return std::apply(function, arguments); };
    const rung_status expected =
        std::string(name).starts_with("rung_cuda_") ? RUNG_UNAVAILABLE : RUNG_OK;
    EXPECT_EQ(call(), expected) << name << ": " << rung_last_error();
    int index = 0;
    std::apply([&](Arguments&... each) { (try_argument(name, index++, each, call), ...); },
               arguments);
  }

  /// Makes a call with each wrong value of one of its arguments, which is right again afterwards.
  /// One function for each type of an argument: one for each argument of each function would take
  /// long to compile.
  template <class Argument>
  static void try_argument(const char* name, int index, Argument& argument,
                           const std::function<rung_status()>& call) {
    const Argument right = argument;
    const std::vector<Argument> wrong = wrong_values(right);
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      argument = wrong[i];
      expect_status(call(), name, index, i);
    }
    argument = right;
  }

  static void expect_status(rung_status status, const char* name, int index, std::size_t value) {
    ASSERT_TRUE(RUNG_OK <= status && status <= RUNG_DEVICE_ERROR) << name;
    ASSERT_NE(status, RUNG_INTERNAL_ERROR)
        << name << ", argument " << index << ", value " << value << ": " << rung_last_error();
    if (status == RUNG_OK) return;
    const std::string message = rung_last_error();
    EXPECT_TRUE(message.starts_with("rung: ") && message.find('\n') == std::string::npos)
        << name << message;
  }

  template <class In, class Out, class Scalar>
  void try_gemm(const char* name,
                rung_status (*function)(rung_order, rung_transpose, rung_transpose, std::int64_t,
                                        std::int64_t, std::int64_t, Scalar, const In*, std::int64_t,
                                        const In*, std::int64_t, Scalar, Out*, std::int64_t,
                                        const rung_gemm_options*)) {
    static const rung_gemm_options options = RUNG_GEMM_OPTIONS_INIT;
    try_all(name, function, RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_TRANS, 3, 4, 5, 1, at<In>(0), 8,
            at<In>(1), 8, 1, at<Out>(2), 8, &options);
  }
  template <class In, class Out, class Scalar>
  void try_gemm(const char* name,
                rung_status (*function)(rung_order, rung_transpose, rung_transpose, std::int64_t,
                                        std::int64_t, std::int64_t, Scalar, const In*, std::int64_t,
                                        const In*, std::int64_t, Scalar, Out*, std::int64_t, void*,
                                        const rung_cuda_options*)) {
    static const rung_cuda_options options = RUNG_CUDA_OPTIONS_INIT;
    try_all(name, function, RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_TRANS, 3, 4, 5, 1, at<In>(0), 8,
            at<In>(1), 8, 1, at<Out>(2), 8, nullptr, &options);
  }
  template <class In, class Out>
  void try_dot(const char* name,
               rung_status (*function)(std::int64_t, const In*, std::int64_t, const In*,
                                       std::int64_t, Out*, const rung_dot_options*)) {
    static const rung_dot_options options = RUNG_DOT_OPTIONS_INIT;
    try_all(name, function, 5, at<In>(0), 2, at<In>(1), -1, at<Out>(2), &options);
  }
  template <class In, class Out>
  void try_dot(const char* name,
               rung_status (*function)(std::int64_t, const In*, std::int64_t, const In*,
                                       std::int64_t, Out*, void*, const rung_cuda_dot_options*)) {
    static const rung_cuda_dot_options options = RUNG_CUDA_DOT_OPTIONS_INIT;
    try_all(name, function, 5, at<In>(0), 2, at<In>(1), -1, at<Out>(2), nullptr, &options);
  }

  /// Zeros, enough for each operand in this test.
  template <class T>
  static T* at(std::size_t operand) {
    alignas(64) static std::array<std::array<unsigned char, 1 << 16>, 5> memory = {};
    return reinterpret_cast<T*>(memory[operand].data());
  }
  template <std::size_t ndim>
  static const rung_tensor* tensor(std::size_t operand, int dtype,
                                   const std::array<std::int64_t, ndim>& shape) {
    auto strides = shape;
    std::int64_t stride = 1;
    for (std::size_t i = ndim; i-- > 0; stride *= shape[i]) strides[i] = stride;
    return kept(rung_tensor{at<void>(operand), RUNG_DEVICE_CPU, 0, static_cast<int>(ndim), dtype,
                            kept(shape)->data(), kept(strides)->data()});
  }

  using Shape = std::array<std::int64_t, 2>;
  using Batch = std::array<std::int64_t, 3>;
  static constexpr std::int32_t offsets[] = {0, 1, 3};

  void try_functions_of_one_type();
  void try_products();
  void try_scaled_products();

  std::set<std::string> tried_;
  const rung_tensor_options options_ = RUNG_TENSOR_OPTIONS_INIT;
};

#define TRY_GEMM(function) try_gemm(#function, function)
#define TRY_DOT(function) try_dot(#function, function)
#define TRY(function, ...) try_all(#function, function, __VA_ARGS__)

void CArguments::try_functions_of_one_type() {
  TRY_GEMM(rung_gemm_f32), TRY_GEMM(rung_gemm_f64), TRY_GEMM(rung_gemm_i32);
  TRY_GEMM(rung_gemm_bf16), TRY_GEMM(rung_gemm_f16), TRY_GEMM(rung_gemm_i8);
  TRY_DOT(rung_dot_f32), TRY_DOT(rung_dot_f64), TRY_DOT(rung_dot_bf16), TRY_DOT(rung_dot_f16);
  TRY_GEMM(rung_cuda_gemm_f32), TRY_GEMM(rung_cuda_gemm_f64), TRY_GEMM(rung_cuda_gemm_i32);
  TRY_GEMM(rung_cuda_gemm_bf16), TRY_GEMM(rung_cuda_gemm_f16), TRY_GEMM(rung_cuda_gemm_bf16_bf16);
  TRY_GEMM(rung_cuda_gemm_f16_f16), TRY_GEMM(rung_cuda_gemm_tf32), TRY_GEMM(rung_cuda_gemm_i8);
  TRY_GEMM(rung_cuda_gemm_e4m3), TRY_GEMM(rung_cuda_gemm_e5m2);
  TRY_DOT(rung_cuda_dot_f32), TRY_DOT(rung_cuda_dot_f64), TRY_DOT(rung_cuda_dot_bf16);
  TRY_DOT(rung_cuda_dot_f16);
  TRY(rung_cuda_release_workspace, nullptr);
}

void CArguments::try_products() {
  const auto* const a = tensor(0, RUNG_DTYPE_F32, Shape{3, 5});
  const auto* const b = tensor(1, RUNG_DTYPE_F32, Shape{5, 4});
  const auto* const c = tensor(2, RUNG_DTYPE_F32, Shape{3, 4});
  const auto* const b_batch = tensor(1, RUNG_DTYPE_F32, Batch{2, 5, 4});
  TRY(rung_gemm, a, b, c, 1, 0, &options_);
  TRY(rung_gemm, tensor(0, RUNG_DTYPE_F32, Batch{2, 3, 5}), b_batch,
      tensor(2, RUNG_DTYPE_F32, Batch{2, 3, 4}), 1, 0, &options_);
  TRY(rung_gemm_grouped, a, b_batch, c, offsets, 1, 0, &options_);
  TRY(rung_gemm_grouped, tensor(0, RUNG_DTYPE_F32, Shape{5, 3}),
      tensor(1, RUNG_DTYPE_F32, Shape{3, 4}), tensor(2, RUNG_DTYPE_F32, Batch{2, 5, 4}), offsets, 1,
      0, &options_);
  static void* addresses[3][2] = {
      {at<void>(0), at<void>(0)}, {at<void>(1), at<void>(1)}, {at<void>(2), at<void>(3)}};
  const auto pointers = [](const rung_tensor* matrix, std::size_t operand) {
    rung_tensor tensor = *matrix;
    tensor.data = addresses[operand];
    return kept(tensor);
  };
  TRY(rung_gemm_pointers, 2, pointers(a, 0), pointers(b, 1), pointers(c, 2), 1, 0, &options_);

  rung_epilogue parts = RUNG_EPILOGUE_INIT;
  parts.row_scale = parts.row_bias = tensor(3, RUNG_DTYPE_F32, std::array<std::int64_t, 1>{3});
  parts.column_scale = parts.column_bias =
      tensor(3, RUNG_DTYPE_F32, std::array<std::int64_t, 1>{4});
  parts.residual = tensor(3, RUNG_DTYPE_F32, Shape{3, 4});
  parts.aux = tensor(4, RUNG_DTYPE_F32, Shape{3, 4});
  TRY(rung_gemm_epilogue, a, b, c, 1, 0, kept(parts), &options_);
}

void CArguments::try_scaled_products() {
  const auto* const c = tensor(2, RUNG_DTYPE_F32, Shape{3, 4});
  const auto* const scales = tensor(3, RUNG_DTYPE_F32, Shape{3, 1});
  TRY(rung_gemm_block_scaled, tensor(0, RUNG_DTYPE_E4M3, Shape{3, 5}), scales,
      tensor(1, RUNG_DTYPE_E4M3, Shape{5, 4}), tensor(4, RUNG_DTYPE_F32, Shape{1, 1}), c,
      static_cast<const std::int32_t*>(nullptr), 1, 0, &options_);
  TRY(rung_gemm_block_scaled, tensor(0, RUNG_DTYPE_E4M3, Shape{3, 5}), scales,
      tensor(1, RUNG_DTYPE_E4M3, Batch{2, 5, 4}), tensor(4, RUNG_DTYPE_F32, Batch{2, 1, 1}), c,
      offsets, 1, 0, &options_);

  const rung_quantized_weights weights = {
      at<void>(0), 4, 4, 128, 64, tensor(3, RUNG_DTYPE_F32, Shape{4, 2}), nullptr};
  static std::size_t bytes;
  static rung_packed_weights packed;
  TRY(rung_packed_weights_bytes, &weights, &bytes);
  TRY(rung_pack_weights, &weights, at<void>(4), &packed, &options_);
  static rung_packed_weights right;
  ASSERT_EQ(rung_pack_weights(&weights, at<void>(4), &right, nullptr), RUNG_OK);
  TRY(rung_gemm_weight_only, tensor(0, RUNG_DTYPE_BF16, Shape{3, 128}),
      static_cast<const rung_packed_weights*>(&right), tensor(2, RUNG_DTYPE_F32, Shape{3, 4}), 1, 0,
      &options_);
  right.has_zeros = 2;
  EXPECT_EQ(rung_gemm_weight_only(tensor(0, RUNG_DTYPE_BF16, Shape{3, 128}), &right,
                                  tensor(2, RUNG_DTYPE_F32, Shape{3, 4}), 1, 0, nullptr),
            RUNG_INVALID_ARGUMENT);
}

TEST_F(CArguments, ReturnAStatus) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);  // the operands are not on a GPU
  try_functions_of_one_type();
  try_products();
  try_scaled_products();
  std::ifstream file(std::string(RUNG_HEADERS) + "/rung.h");
  std::stringstream text;
  text << file.rdbuf();
  const std::string header = text.str();
  // Functions without pointers have no operands.
  const std::regex declaration("RUNG_C_API rung_status (rung_\\w+)\\([^;]*\\*");
  for (std::sregex_iterator found(header.begin(), header.end(), declaration), end; found != end;
       ++found) {
    EXPECT_TRUE(tried_.contains((*found)[1])) << (*found)[1];
  }
}

}  // namespace
}  // namespace rung
