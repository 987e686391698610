#pragma once
// PTX in the form that packs best. Compilers give every value a register of its own, so that an unrolled
// loop is a long text without repetitions: the numbers all differ. Their differences repeat.

#include <string>
#include <string_view>

namespace rung::cuda {

/// Whether the code is ASCII throughout: machine code is not, nor is PTX that names a file in other letters.
bool can_have_differences(std::string_view code);

/// Each number of an operand (%r17, [%rd3+128], $L_7) as its difference to the number in the same place of
/// the last line that was the same up to its first number. Differences are bytes from 0x80 on.
std::string with_differences(std::string_view ptx);

/// The PTX again.
std::string without_differences(std::string_view coded);

}  // namespace rung::cuda
