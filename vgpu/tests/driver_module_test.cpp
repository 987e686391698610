// Modules, their functions and variables.

#include <cstring>
#include <string>

#include "vgpu/tests/driver_fixture.hpp"
#include "vgpu/tests/driver_kernels.hpp"

namespace rung::vgpu {
namespace {

using cuda::DevicePointer;
using cuda::Function;
using cuda::FunctionAttribute;
using cuda::Module;

class DriverModule : public DriverTest {
 protected:
  Result load_text(const char* text) {
    Module module = nullptr;
    return api.cuModuleLoadData(&module, text);
  }
  int attribute(Function of, FunctionAttribute which) {
    int value = -99;
    EXPECT_OK(api.cuFuncGetAttribute(&value, which, of));
    return value;
  }
};

TEST_F(DriverModule, BadImages) {
  EXPECT_EQ(load_text("garbage"), Result::invalid_image);
  EXPECT_EQ(load_text("\x7f"
                      "ELF\x02\x01"),
            Result::no_binary_for_gpu);
  EXPECT_EQ(load_text("\x50\xed\x55\xba"), Result::no_binary_for_gpu);
  EXPECT_EQ(load_text(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry a() {"),
            Result::invalid_ptx);
  EXPECT_EQ(virtual_driver_message().rfind("PTX text:4: ", 0), 0u) << virtual_driver_message();
  EXPECT_EQ(load_text(".version 8.8\n.target sm_100\n.address_size 64\n"), Result::invalid_ptx);
  EXPECT_EQ(virtual_driver_message(), "the text is for sm_100, and the device is an sm_90");
  EXPECT_EQ(load_text(".version 8.0\n.target sm_80a\n.address_size 64\n"), Result::invalid_ptx);
  EXPECT_OK(load_text(".version 8.0\n.target sm_90a\n.address_size 64\n"));
  EXPECT_EQ(load_text(nullptr), Result::invalid_value);
  EXPECT_EQ(api.cuModuleLoadData(nullptr, "x"), Result::invalid_value);
}

TEST_F(DriverModule, MessagesNameTheSourceOfTheText) {
  const auto message = [&](const std::string& files) {
    EXPECT_EQ(load_text((".version 7.0\n.target sm_75\n.address_size 64\n" + files + "}").c_str()),
              Result::invalid_ptx);
    return virtual_driver_message().substr(0, virtual_driver_message().find(": "));
  };
  EXPECT_EQ(message(".file 1 \"include/types.cuh\"\n.file\t2 \"/a/b/tile.cu\"\n"),
            "PTX of tile.cu:6");
  EXPECT_EQ(message(".file 1 \"include/types.cuh\", 1, 2\n"), "PTX of types.cuh:5");
  EXPECT_EQ(message(".file 1 \"unclosed\n"), "PTX text:4");
}

TEST_F(DriverModule, LogsGoToTheCallersBuffers) {
  char log[24];
  cuda::JitOption options[] = {cuda::JitOption::error_log_buffer,
                               cuda::JitOption::error_log_buffer_size_bytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  Module module = nullptr;
  EXPECT_EQ(api.cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_75\n}", 2, options, values),
            Result::invalid_ptx);
  EXPECT_EQ(std::string(log).rfind("PTX text:3: ", 0), 0u) << log;
  EXPECT_EQ(reinterpret_cast<std::size_t>(values[1]), std::strlen(log));
  EXPECT_EQ(std::strlen(log), sizeof log - 1);  // truncated
  EXPECT_EQ(api.cuModuleLoadDataEx(&module, "", 2, nullptr, nullptr), Result::invalid_value);
}

TEST_F(DriverModule, FunctionsAndVariables) {
  const Module module = load(kernels);
  Function found = nullptr;
  EXPECT_EQ(api.cuModuleGetFunction(&found, module, "nothing"), Result::not_found);
  EXPECT_EQ(virtual_driver_message(), "the module has no kernel 'nothing'");
  EXPECT_EQ(function(module, "empty"), function(module, "empty"));
  DevicePointer pointer = 0;
  std::size_t bytes = 0;
  EXPECT_OK(api.cuModuleGetGlobal(&pointer, &bytes, module, "counter"));
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(read(pointer), 5u);
  EXPECT_EQ(api.cuMemFree(pointer), Result::invalid_value);
  EXPECT_EQ(api.cuModuleGetGlobal(&pointer, &bytes, module, "nothing"), Result::not_found);
  EXPECT_EQ(api.cuModuleGetGlobal(nullptr, nullptr, module, "counter"), Result::invalid_value);
  found = function(module, "empty");
  EXPECT_OK(api.cuModuleUnload(module));
  EXPECT_EQ(launch(found), Result::invalid_handle);
  EXPECT_EQ(api.cuModuleUnload(module), Result::invalid_handle);
  EXPECT_TRUE(find_leaks().empty());
}

TEST_F(DriverModule, FunctionAttributes) {
  const Module module = load(kernels);
  const Function shared = function(module, "shared");
  EXPECT_EQ(attribute(shared, FunctionAttribute::shared_size_bytes), 16384);
  EXPECT_EQ(attribute(shared, FunctionAttribute::max_dynamic_shared_size_bytes), 32768);
  EXPECT_EQ(attribute(shared, FunctionAttribute::ptx_version), 75);
  EXPECT_EQ(attribute(shared, FunctionAttribute::binary_version), 90);
  EXPECT_EQ(attribute(shared, FunctionAttribute::max_threads_per_block), 1024);
  EXPECT_EQ(attribute(function(module, "bounded"), FunctionAttribute::max_threads_per_block), 128);
  const auto dynamic = FunctionAttribute::max_dynamic_shared_size_bytes;
  EXPECT_OK(api.cuFuncSetAttribute(shared, dynamic, 232448 - 16384));
  EXPECT_EQ(attribute(shared, dynamic), 232448 - 16384);
  EXPECT_EQ(api.cuFuncSetAttribute(shared, dynamic, 232448 - 16383), Result::invalid_value);
  EXPECT_EQ(virtual_driver_message(),
            "shared: 216065 bytes of dynamic shared memory: at most 216064");
  EXPECT_EQ(api.cuFuncSetAttribute(shared, dynamic, -1), Result::invalid_value);
  EXPECT_EQ(api.cuFuncSetAttribute(shared, FunctionAttribute::num_regs, 1), Result::invalid_value);
  const auto carveout = FunctionAttribute::preferred_shared_memory_carveout;
  EXPECT_EQ(api.cuFuncSetAttribute(shared, carveout, 101), Result::invalid_value);
  EXPECT_OK(api.cuFuncSetAttribute(shared, carveout, 50));
  EXPECT_EQ(attribute(shared, carveout), 50);
  int value = 0;
  EXPECT_EQ(api.cuFuncGetAttribute(&value, static_cast<FunctionAttribute>(99), shared),
            Result::invalid_value);
}

}  // namespace
}  // namespace rung::vgpu
