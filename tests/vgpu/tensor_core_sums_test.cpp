// The sums of tensor cores, against those that an H200 gave (tests/vgpu/tensor_cores/check.cu).

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/tensor_cores/instructions.hpp"

namespace rung::tensor_cores {
namespace {

class TensorCoreSums : public testing::TestWithParam<Instruction> {};

TEST_P(TensorCoreSums, AreThoseOfTheHardware) {
  const Instruction& instruction = GetParam();
  std::vector<std::uint32_t> results;
  for (int fragment = 0; fragment < recorded_rows / instruction.rows(); ++fragment) {
    append_results(instruction, static_cast<std::uint64_t>(fragment), results);
  }
  EXPECT_EQ(hash_of(results), instruction.recorded);
}

INSTANTIATE_TEST_SUITE_P(H200, TensorCoreSums, testing::ValuesIn(instructions),
                         [](const auto& parameter) {
                           std::string name(parameter.param.name);
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace rung::tensor_cores
