// The form of a kernel that is loaded if a driver refuses another one. The test has its own images,
// because a build without nvcc has only one form.

#include "backends/cuda/kernel_table.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "backends/cuda/images.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung::cuda {
namespace {

constexpr std::string_view machine_code =
    "\x7f"
    "ELF";
constexpr std::string_view text =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f_f32()\n{\n ret;\n}\n";
constexpr std::string_view text_of_later_gpus =
    ".version 8.0\n.target sm_120\n.address_size 64\n.visible .entry f_f32()\n{\n ret;\n}\n";

constexpr Unit cubin[] = {{{}, machine_code}};
constexpr Unit refused_ptx[] = {{{}, text_of_later_gpus}};
constexpr Unit ptx[] = {{{}, text}};

constexpr Image all[] = {{"three", Code::cubin, 90, cubin},
                         {"three", Code::nvcc_ptx, 80, refused_ptx},
                         {"three", Code::clang_ptx, 80, ptx},
                         {"machine code", Code::cubin, 90, cubin}};

/// The virtual driver, with a count of the modules that it loads.
int loads = 0;
const DriverApi& counting_driver() {
  static const DriverApi api = [] {
    DriverApi table = vgpu::virtual_driver();
    table.cuModuleLoadData = [](Module* module, const void* image) {
      ++loads;
      return vgpu::virtual_driver().cuModuleLoadData(module, image);
    };
    return table;
  }();
  return api;
}

struct Refused : std::runtime_error {
  using runtime_error::runtime_error;
};

class KernelTableTest : public testing::Test {
 protected:
  void SetUp() override {
    Context context = nullptr;
    ASSERT_EQ(api_.cuInit(0), Result::success);
    ASSERT_EQ(api_.cuDevicePrimaryCtxRetain(&context, 0), Result::success);
    ASSERT_EQ(api_.cuCtxSetCurrent(context), Result::success);
    loads = 0;
  }

  Function load(std::string_view id, Dtype dtype = Dtype::f32) {
    return table_.load({static_cast<std::size_t>(dtype), id, "f", dtype}, 0);
  }

  const DriverApi& api_ = counting_driver();
  Target target_ = {.arch = 90, .driver_version = 99000};
  KernelTable table_{
      api_,
      target_,
      {.check =
           [](const DriverApi&, Result result, std::string_view what) {
             if (result != Result::success) throw Refused(std::string(what));
           },
       .no_image = [](std::string_view id, const Target&) { throw Refused(std::string(id)); }}};
};

TEST_F(KernelTableTest, TakesPtxWhereTheDriverRefusesMachineCodeAndOtherPtx) {
  EXPECT_NE(load("three"), nullptr);
  EXPECT_EQ(loads, 3);
}

TEST_F(KernelTableTest, DoesNotOfferARefusedFormAgain) {
  load("three");
  table_.unload();
  load("three");
  EXPECT_EQ(loads, 4);
}

TEST_F(KernelTableTest, FailsAsTheDriverDoesWhereNoOtherFormIsThere) {
  EXPECT_THROW(load("machine code"), Refused);
  target_.wanted = Code::cubin;
  EXPECT_THROW(load("three"), Refused);
}

}  // namespace

std::span<const Image> images() { return all; }
std::string_view clang_version() { return "19.0"; }
std::string_view nvcc_version() { return "13.0"; }

}  // namespace rung::cuda
