#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "backends/cuda/select_image.hpp"
#include "choices.hpp"
#include "command.hpp"
#include "devices.hpp"
#include "vgpu/model/device.hpp"

namespace rung {
namespace {

template <class Parse>
void check(const char* option, const std::string& text, const Parse& parse) {
  try {
    parse(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
}

void check_gpu(const std::string& text) {
  std::vector<std::string_view> known = {"custom"};
  for (const vgpu::DeviceDescription& device : vgpu::known_devices()) known.push_back(device.key);
  try {
    vgpu::parse_device(text);
  } catch (const std::invalid_argument& error) {
    const std::string key = text.substr(0, text.find(','));
    const bool is_known = std::ranges::find(known, key) != known.end();
    throw UsageError(
        fmt::format("--gpu: {}{}", error.what(), is_known ? "" : did_you_mean(key, known)));
  }
}

}  // namespace

DeviceOptions read_device_options(const DeviceArguments& arguments) {
  if (!arguments.gpu.empty()) check_gpu(arguments.gpu);
  if (!arguments.code.empty()) check("--code", arguments.code, cuda::parse_code);
  return {arguments.gpu, arguments.code, arguments.observe};
}

}  // namespace rung
