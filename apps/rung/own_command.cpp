#include "own_command.hpp"

#include <filesystem>
#include <utility>

#include "core/dtype.hpp"

namespace rung {

std::vector<std::string> own_command(const char* subcommand, const RungInfo& rung, Dtype dtype,
                                     const SizeArgument& size,
                                     const std::vector<std::string>& words) {
  std::vector<std::string> command = {std::filesystem::read_symlink("/proc/self/exe").string(),
                                      subcommand, rung.id, "--dtype", std::string(name(dtype))};
  command.insert(command.end(), words.begin(), words.end());
  const auto add = [&](const char* option, std::int64_t extent) {
    command.emplace_back(option);
    command.push_back(std::to_string(extent));
  };
  add("--n", size.n);
  if (rung.op != "gemm") return command;
  add("--m", size.m);
  add("--k", size.k);
  return command;
}

}  // namespace rung
