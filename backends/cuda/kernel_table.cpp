#include "backends/cuda/kernel_table.hpp"

#include <string>

#include "core/dtype.hpp"

namespace rung::cuda {
namespace {

/// True if the driver rejected this form of the code, so that another form of the same kernel may
/// load.
bool is_about_form(Result result) {
  switch (result) {
    case Result::invalid_image:
    case Result::no_binary_for_gpu:
    case Result::invalid_ptx:
    case Result::jit_compiler_not_found:
    case Result::unsupported_ptx_version:
    case Result::invalid_source: return true;
    default: return false;
  }
}

}  // namespace

std::string KernelName::text() const {
  std::string name(entry);
  name.append("_").append(identifier(dtype));
  if (tile != no_tile) name.append("_").append(std::to_string(tile));
  return name;
}

Module KernelTable::module_of(const KernelName& kernel) {
  const Image* const image = select_image(kernel.id, target_, refused_);
  if (image == nullptr) errors_.no_image(kernel.id, target_);
  const Unit& unit = image->unit(kernel.dtype);
  Module& module = modules_[&unit];
  if (module != nullptr) return module;
  Module loaded = nullptr;
  const Result result = api_.cuModuleLoadData(&loaded, unpack(unit).c_str());
  if (is_about_form(result)) {
    RefusedCodes more = refused_;
    more.set(static_cast<std::size_t>(image->code));
    if (select_image(kernel.id, target_, more) != nullptr) {
      refused_ = more;
      return module_of(kernel);
    }
  }
  errors_.check(api_, result, "cuModuleLoadData");
  return module = loaded;
}

Function KernelTable::load(const KernelName& kernel, std::int64_t shared_bytes) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_.at(kernel.index);
  Function function = entry.function.load(std::memory_order_relaxed);
  if (function == nullptr) {
    const std::string name = kernel.text();
    const Module module = module_of(kernel);
    errors_.check(api_, api_.cuModuleGetFunction(&function, module, name.c_str()), name);
  }
  if (shared_bytes > entry.shared_bytes.load(std::memory_order_relaxed)) {
    const Result result = api_.cuFuncSetAttribute(
        function, FunctionAttribute::max_dynamic_shared_size_bytes, static_cast<int>(shared_bytes));
    errors_.check(api_, result, kernel.id);
    entry.shared_bytes.store(shared_bytes, std::memory_order_release);
  }
  entry.function.store(function, std::memory_order_release);
  return function;
}

void KernelTable::unload() {
  for (const auto& [unit, module] : modules_) {
    if (module != nullptr) api_.cuModuleUnload(module);
  }
  forget();
}

void KernelTable::forget() {
  const std::lock_guard lock(mutex_);
  modules_.clear();
  for (Entry& entry : entries_) {
    entry.function.store(nullptr, std::memory_order_release);
    entry.shared_bytes.store(plain_shared_bytes, std::memory_order_release);
  }
}

}  // namespace rung::cuda
