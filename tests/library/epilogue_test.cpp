// Products with an epilogue on the CPU: every part and every type; rejected arguments.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "epilogue_case.hpp"
#include "rung/rung.h"

namespace rung {
namespace {

using enum ElementType;

void check(const EpilogueSpec& spec, unsigned seed = 1) {
  EpilogueCase problem(spec, seed);
  const auto call = [](double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                       const OutputMatrix& c,
                       const Epilogue& epilogue) { gemm_epilogue(alpha, a, b, beta, c, epilogue); };
  EXPECT_EQ(problem.verdict(host(), call), "");
}

/// A call with one error.
struct Mutant {
  const char* bug;
  EpilogueSpec spec;
  void (*change)(double& alpha, double& beta, OutputMatrix& c, Epilogue& epilogue);
};
using E = Epilogue;
const Mutant mutants[] = {
    {"alpha dropped", {.alpha = 0.5}, [](double& alpha, double&, OutputMatrix&, E&) { alpha = 1; }},
    {"beta dropped", {.beta = -0.5}, [](double&, double& beta, OutputMatrix&, E&) { beta = 0; }},
    {"row scale dropped",
     {.row_scale = true},
     [](double&, double&, OutputMatrix&, E& e) { e.row_scale = {}; }},
    {"row and column scales exchanged",
     {.m = 6, .row_scale = true, .column_scale = true},
     [](double&, double&, OutputMatrix&, E& e) { std::swap(e.row_scale, e.column_scale); }},
    {"row and column biases exchanged",
     {.m = 6, .row_bias = true, .column_bias = true},
     [](double&, double&, OutputMatrix&, E& e) { std::swap(e.row_bias, e.column_bias); }},
    {"activation dropped",
     {.activation = Activation::relu},
     [](double&, double&, OutputMatrix&, E& e) { e.activation = Activation::none; }},
    {"the other gelu",
     {.activation = Activation::gelu_erf},
     [](double&, double&, OutputMatrix&, E& e) { e.activation = Activation::gelu_tanh; }},
    {"gelu instead of silu",
     {.activation = Activation::silu},
     [](double&, double&, OutputMatrix&, E& e) { e.activation = Activation::gelu_erf; }},
    {"aux not written", {.aux = true}, [](double&, double&, OutputMatrix&, E& e) { e.aux = {}; }},
    {"residual dropped",
     {.residual = true},
     [](double&, double&, OutputMatrix&, E& e) { e.residual = {}; }},
    {"scale of A dropped",
     {.tensor_scales = true},
     [](double&, double&, OutputMatrix&, E& e) { e.scale_a = nullptr; }},
    {"scale of the result dropped",
     {.tensor_scales = true},
     [](double&, double&, OutputMatrix&, E& e) { e.result_scale = nullptr; }},
    {"amax not written",
     {.amax = true},
     [](double&, double&, OutputMatrix&, E& e) { e.amax = nullptr; }},
    {"amax of the scaled result",
     {.result_factor = 0.25, .amax = true},
     [](double& alpha, double&, OutputMatrix&, E& e) {
       alpha *= e.result_factor;
       e.result_factor = 1;
     }},
    {"columns stored as rows",
     {.m = 6},
     [](double&, double&, OutputMatrix& c, E&) { c.order = Order::col_major; }},
    {"stored in the padding",
     {.padding = 2},
     [](double&, double&, OutputMatrix& c, E&) { c.ld -= 1; }},
};

TEST(Epilogue, MutantsAreCaught) {
  for (const Mutant& mutant : mutants) {
    EpilogueCase problem(mutant.spec);
    const auto call = [&](double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                          OutputMatrix c, Epilogue epilogue) {
      mutant.change(alpha, beta, c, epilogue);
      gemm_epilogue(alpha, a, b, beta, c, epilogue);
    };
    EXPECT_NE(problem.verdict(host(), call), "") << mutant.bug;
  }
}

TEST(Epilogue, OfNothingIsAProduct) { check({}); }

TEST(Epilogue, HasEachPartAlone) {
  check({.beta = -0.5});
  check({.row_scale = true});
  check({.column_scale = true});
  check({.row_bias = true});
  check({.column_bias = true});
  check({.aux = true});
  check({.residual = true});
  check({.tensor_scales = true});
  check({.amax = true});
  check({.result_factor = 0.25});
  check({.gated = true});
  for (const auto activation :
       {Activation::relu, Activation::gelu_tanh, Activation::gelu_erf, Activation::silu}) {
    check({.activation = activation});
    check({.in = f64, .out = f64, .activation = activation, .extra = f64});
  }
}

TEST(Epilogue, HasRandomParts) {
  std::mt19937 random(7);
  for (unsigned i = 0; i < 400 && !HasFailure(); ++i) {
    check(random_spec(random, {f32, f64, i32, bf16, f16, i8}, 40), i);
  }
}

// Several chunks of columns, several panels of rows, and several threads.
TEST(Epilogue, OfManyElements) {
  check({.m = 35,
         .n = 1100,
         .k = 3,
         .activation = Activation::silu,
         .gated = true,
         .aux = true,
         .amax = true});
  check({.m = 70,
         .n = 33000,
         .k = 1,
         .activation = Activation::relu,
         .row_bias = true,
         .amax = true});
}

TEST(Epilogue, Saturates) {
  for (const ElementType out : {e4m3, e5m2, i8}) {
    check({.out = out, .k = 30, .result_factor = out == e5m2 ? 1e4 : 100});
  }
  const float inf = std::numeric_limits<float>::infinity();
  const float one[] = {inf, -inf, std::nanf("")}, scale[] = {1};
  const auto result = [&](auto type) {
    std::array<decltype(type), 3> c;
    gemm_epilogue(1, row_major(one, 3, 1), row_major(scale, 1, 1), 0, row_major(c.data(), 3, 1),
                  {});
    return c;
  };
  EXPECT_EQ(static_cast<float>(result(float8_e4m3{})[0]), 448);
  EXPECT_EQ(static_cast<float>(result(float8_e5m2{})[1]), -57344);
  EXPECT_TRUE(std::isnan(static_cast<float>(result(float8_e5m2{})[2])));
  EXPECT_EQ(result(std::int8_t{}), (std::array<std::int8_t, 3>{127, -128, 0}));
}

TEST(Epilogue, OfNoProductDoesNotReadAAndB) {
  std::vector<float> c(6, std::nanf(""));
  const float bias[] = {1, -2, 3};
  const InputMatrix a = {nullptr, f32, 2, 4, 4}, b = {nullptr, f32, 4, 3, 3};
  gemm_epilogue(0, a, b, 0, row_major(c.data(), 2, 3),
                {.column_bias = {bias, 3}, .activation = Activation::relu});
  EXPECT_EQ(c, (std::vector<float>{1, 0, 3, 1, 0, 3}));
}

TEST(Epilogue, AmaxRisesAndTellsOfNan) {
  const float a[] = {-3, 2}, b[] = {1};
  float c[2], amax = 7;
  const auto run = [&](const float* of) {
    gemm_epilogue(1, row_major(of, 2, 1), row_major(b, 1, 1), 0, row_major(c, 2, 1),
                  {.amax = &amax});
  };
  run(a);
  EXPECT_EQ(amax, 7);
  amax = 0;
  run(a);
  EXPECT_EQ(amax, 3);
  const float nan[] = {1, std::nanf("")};
  run(nan);
  EXPECT_TRUE(std::isnan(amax));
}

// Every 1024th float between 2^-20 and 2^7, with both signs.
template <class T>
struct ActivationAccuracy : testing::Test {
  static constexpr double promised = sizeof(T) == 4 ? 0x1p-20 : 0x1p-48;

  /// The activation of each number, computed as a row of C.
  static std::vector<T> activations(Activation activation, const std::vector<T>& x) {
    std::vector<T> c(x.size());
    const T one[] = {1};
    const auto count = static_cast<std::int64_t>(x.size());
    gemm_epilogue(1, row_major(one, 1, 1), row_major(x.data(), 1, count), 0,
                  row_major(c.data(), 1, count), {.activation = activation});
    return c;
  }
};
using RealTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(ActivationAccuracy, RealTypes);

constexpr Activation all_activations[] = {Activation::relu, Activation::gelu_tanh,
                                          Activation::gelu_erf, Activation::silu};

TYPED_TEST(ActivationAccuracy, IsAsPromised) {
  std::vector<TypeParam> x;
  for (double at = 0x1p-20; at < 0x1p7; at *= 1.0003) {
    for (const double signed_at : {at, -at}) x.push_back(static_cast<TypeParam>(signed_at));
  }
  x.push_back(0);  // an odd number of elements, so the last vector is incomplete
  for (const Activation activation : all_activations) {
    const std::vector<TypeParam> c = this->activations(activation, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = c[i] - activated(activation, x[i]);
      const double allowed = TestFixture::promised * std::fabs(static_cast<double>(x[i]));
      ASSERT_LE(std::fabs(error), allowed + 0x1p-149) << x[i];
    }
  }
}

TYPED_TEST(ActivationAccuracy, OfLargeNumbersAndNan) {
  using Limits = std::numeric_limits<TypeParam>;
  const std::vector<TypeParam> x(37, Limits::infinity());
  for (const Activation activation : all_activations) {
    EXPECT_EQ(this->activations(activation, x), x);
    const std::vector<TypeParam> large(37, Limits::max());
    EXPECT_EQ(this->activations(activation, large), large);
    const std::vector<TypeParam> nan(37, Limits::quiet_NaN());
    for (const TypeParam y : this->activations(activation, nan)) EXPECT_TRUE(std::isnan(y));
  }
}

struct EpilogueError : testing::Test {
  std::vector<float> memory = std::vector<float>(128, 7.0f);
  InputMatrix a = row_major(memory.data(), 2, 3);
  InputMatrix b = row_major(memory.data() + 16, 3, 4);
  OutputMatrix c = row_major(memory.data() + 32, 2, 4);
  double beta = 0;
  Epilogue parts;

  std::string refusal() const {
    try {
      gemm_epilogue(1, a, b, beta, c, parts);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Status::invalid_argument);
      return error.what();
    }
    return "no error";
  }
  ~EpilogueError() override { EXPECT_EQ(memory, std::vector<float>(128, 7.0f)) << "written to"; }
};

TEST_F(EpilogueError, NamesThePart) {
  parts.column_bias = {memory.data(), 3};
  EXPECT_EQ(refusal(), "rung: gemm_epilogue: column_bias has 3 elements; it must have 4");
  parts.column_bias = {nullptr, f32, 4};
  EXPECT_EQ(refusal(), "rung: gemm_epilogue: column_bias is null; it must point to 4 elements");
  parts.column_bias = {memory.data(), e4m3, 4};
  EXPECT_EQ(refusal(),
            "rung: gemm_epilogue: column_bias is e4m3; with A of this type it must be "
            "f32, bf16 or f16");
  parts = {.row_scale = {memory.data(), bf16, 2}};
  EXPECT_EQ(refusal(),
            "rung: gemm_epilogue: row_scale is bf16; with A of this type it must be f32");
  parts = {.aux = row_major(memory.data(), 2, 3)};
  EXPECT_EQ(refusal(), "rung: gemm_epilogue: aux is 2 x 3; it must be 2 x 4");
  parts = {.residual = {nullptr, f32, 2, 4, 4}};
  EXPECT_EQ(refusal(), "rung: gemm_epilogue: residual is null; it must point to 2 x 4 elements");
  parts = {.activation = static_cast<Activation>(9)};
  EXPECT_EQ(refusal(),
            "rung: gemm_epilogue: activation is 9; it must be 0 (none), 1 (relu), 2 "
            "(gelu_tanh), 3 (gelu_erf) or 4 (silu)");
}

TEST_F(EpilogueError, OfGatedProducts) {
  parts.gated = true;
  EXPECT_EQ(refusal(),
            "rung: gemm_epilogue: A is 2 x 3, B is 3 x 4, C is 2 x 4; they must be m x "
            "k, k x n and m x n / 2 (gated)");
  c.cols = 2;
  beta = 1;
  EXPECT_EQ(refusal(), "rung: gemm_epilogue: beta is 1.000000; with gated it must be 0");
  beta = 0;
  parts.residual = row_major(memory.data() + 32, 2, 2);
  EXPECT_EQ(refusal(), "rung: gemm_epilogue: C overlaps residual; it must have memory of its own");
}

TEST_F(EpilogueError, OfTypes) {
  b.type = bf16;
  EXPECT_EQ(refusal(), "rung: gemm_epilogue: A is f32, B is bf16; they must have the same type");
  b.type = f32;
  c.type = tf32;
  EXPECT_EQ(refusal(), "rung: gemm_epilogue: C is tf32, A is f32; C must be another type but tf32");
  a.type = b.type = f64;
  c.type = f32;
  EXPECT_EQ(refusal(), "rung: gemm_epilogue: C is f32, A is f64; C must be f64");
  a.type = static_cast<ElementType>(12);
  EXPECT_EQ(refusal(), "rung: gemm_epilogue: A: the element type is 12; it must be 0 to 8");
}

TEST_F(EpilogueError, OfMatrices) {
  b.ld = 3;
  EXPECT_EQ(refusal(),
            "rung: gemm_epilogue: B: the leading dimension is 3; it must be at least 4, "
            "the columns (row-major)");
  b.ld = 4;
  a.data = nullptr;
  EXPECT_EQ(refusal(), "rung: gemm_epilogue: A is null; it must point to 2 x 3 elements");
}

TEST(EpilogueC, ComputesAsTheCppInterface) {
  const float a[] = {1, 2, 3, 4}, bias[] = {1, -20};
  float c[4], aux[4];
  const std::int64_t extents[] = {2, 2};
  const auto tensor = [&](const float* data, int ndim) {
    return rung_tensor{const_cast<float*>(data), RUNG_DEVICE_CPU, 0,      ndim,
                       RUNG_DTYPE_F32,           extents,         nullptr};
  };
  const rung_tensor ta = tensor(a, 2), tc = tensor(c, 2), tbias = tensor(bias, 1),
                    taux = tensor(aux, 2);
  rung_epilogue epilogue = RUNG_EPILOGUE_INIT;
  epilogue.column_bias = &tbias;
  epilogue.aux = &taux;
  epilogue.activation = RUNG_ACTIVATION_RELU;
  ASSERT_EQ(rung_gemm_epilogue(&ta, &ta, &tc, 1, 0, &epilogue, nullptr), RUNG_OK)
      << rung_last_error();
  EXPECT_EQ(std::vector<float>(aux, aux + 4), (std::vector<float>{8, -10, 16, 2}));
  EXPECT_EQ(std::vector<float>(c, c + 4), (std::vector<float>{8, 0, 16, 2}));
  epilogue.gated = 2;
  EXPECT_EQ(rung_gemm_epilogue(&ta, &ta, &tc, 1, 0, &epilogue, nullptr), RUNG_INVALID_ARGUMENT);
  EXPECT_STREQ(rung_last_error(), "rung: gated of the epilogue is 2; it must be 0 or 1");
  epilogue.gated = 0;
  const std::int64_t apart[] = {2};
  rung_tensor strided = tbias;
  strided.strides = apart;
  epilogue.row_bias = &strided;
  EXPECT_EQ(rung_gemm_epilogue(&ta, &ta, &tc, 1, 0, &epilogue, nullptr), RUNG_INVALID_ARGUMENT);
  EXPECT_STREQ(rung_last_error(), "rung: gemm: row_bias: stride is 2; it must be 1");
}

}  // namespace
}  // namespace rung
