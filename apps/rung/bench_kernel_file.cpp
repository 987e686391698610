#include "bench_kernel_file.hpp"

#include <fmt/format.h>

#include "bench_run.hpp"
#include "core/dtype.hpp"
#include "devices.hpp"
#include "own_contender.hpp"

namespace rung {

ExitCode run_kernel_file(const BenchArguments& given) {
  if (given.selectors.size() != 1) {
    throw UsageError(
        "SELECTOR: a file of yours takes no other selector; --vs names what to compare it with");
  }
  if (!given.batch.empty()) throw UsageError("--batch: a file of yours computes one product");
  if (!given.groups.empty()) throw UsageError("--groups: a file of yours computes one product");
  if (!given.epilogue.empty()) throw UsageError("--epilogue: a file of yours computes none");
  if (!given.scales.empty()) throw UsageError("--scales: a file of yours takes none");
  if (!given.weights.empty()) throw UsageError("--weights: a file of yours takes none");
  const KernelFile file =
      read_kernel_file(given, given.selectors.front(), given.dtype, given.code, given.layout);
  BenchArguments arguments = given;
  const std::string op = file.signature.op;
  const bool has_old_name = !given.against.empty();
  if (!has_old_name) arguments.against = given.peers;
  const Opponents opponents =
      read_opponents(has_old_name ? "--against" : "--vs", arguments.against, file);
  arguments.peers = opponents.peers;
  arguments.dtype = name(file.signature.dtype);
  if (op == "gemm") arguments.layout = row_major_layout(file);
  return with_loaded_file(file, [&] {
    const BenchSetting setting = read_setting(arguments);
    const Devices devices(arguments);
    const Backend& backend =
        devices.of(*read_selectors({fmt::format("{}/{}", op, file.language())}).front());
    if (backend.name() == "cpu") {
      throw UsageError("--device: 'cpu': a kernel of yours runs on gpu or virtual");
    }
    const OwnContender own(file, backend);
    return run_ladders(arguments,
                       {{op, &backend, opponents.rungs, &own.contender(), opponents.with_library}},
                       setting);
  });
}

}  // namespace rung
