// rung run, and check, trace and explain with a grid, called as from scripts.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "program.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// $HERE is a folder of the test's own; $CU and $METAL are files with kernels.
class AnyKernel : public ::testing::Test {
 protected:
  AnyKernel() {
    fs::create_directories(folder_);
    setenv("HERE", folder_.c_str(), 1);
    setenv("CU", RUNG_KERNELS "/products.cu", 1);
    setenv("METAL", RUNG_KERNELS "/products.metal", 1);
    setenv("TEXTURES", RUNG_KERNELS "/textures.metal", 1);
    setenv("ARGUMENTS", RUNG_KERNELS "/argument_buffers.metal", 1);
  }
  ~AnyKernel() override { fs::remove_all(folder_); }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("rung_any_kernel_" + std::to_string(getpid()));
};

constexpr const char* product =
    "$CU:product --grid 3x2 --block 16x16 A=rand:24x33 B=rand:33x40 sizes=M:40,N:24,K:33";
constexpr const char* metal_product =
    "$METAL:product --grid 40x24 --group 16x16 A=rand:24x33 B=rand:33x40 "
    "sizes=M:40,N:24,K:33";

Json run_json(const std::string& arguments, int exit_code) {
  const Output output = run_rung("run " + arguments + " --json -");
  EXPECT_EQ(output.exit_code, exit_code) << output.err << output.out;
  return output.out.empty() ? Json() : Json::parse(output.out);
}

void expect_error(const std::string& arguments, const std::string& message) {
  const Output output = run_rung(arguments);
  EXPECT_EQ(output.exit_code, 2) << arguments << output.err;
  EXPECT_EQ(output.err, "rung: " + message + "\n") << arguments;
}

bool has(const std::string& text, const std::string& what) { return text.find(what) != text.npos; }

std::string messages(const Json& json) {
  std::string all;
  for (const Json& hazard : json.at("kernels").at(0).at("hazards")) {
    all += hazard.at("message").get<std::string>() + "\n";
  }
  return all;
}

TEST_F(AnyKernel, TakeMacrosOfOneLetter) {
  std::ofstream(std::string(getenv("HERE")) + "/macro.cu")
      << "__global__ void fill(float* a) { a[threadIdx.x] = K; }\n";
  const Json json = run_json("$HERE/macro.cu:fill -D K=64 --grid 1 --block 4 a=out:4", 0);
  EXPECT_EQ(json.at("kernels").at(0).at("hazards"), Json::array());
}

/// `rung run` of a kernel of orders.cu, in 9 orders.
Json run_in_orders(const std::string& kernel) {
  return run_json("$HERE/orders.cu:" + kernel + " --grid 32 --block 1 to=zeros:1 --schedule 8", 0);
}

TEST_F(AnyKernel, RunInRandomOrders) {
  std::ofstream(std::string(getenv("HERE")) + "/orders.cu")
      << "__global__ void last(int* to) { atomicExch(to, blockIdx.x); }\n"
         "__global__ void count(int* to) { atomicAdd(to, 1); }\n";
  const Json last = run_in_orders("last");
  EXPECT_EQ(last.at("schedule").at("orders"), 9);
  EXPECT_EQ(last.at("schedule").at("same"), false) << "a result may differ without a hazard";
  EXPECT_FALSE(last.at("schedule").at("differences").at(0).at("orders").empty());
  const Json count = run_in_orders("count");
  EXPECT_EQ(count.at("schedule").at("same"), true);
  EXPECT_EQ(count.at("schedule").at("differences"), Json::array());
  EXPECT_EQ(
      run_rung("run $HERE/orders.cu:count --grid 2 --block 1 to=zeros:1 --schedule 0").exit_code,
      2);
}

TEST_F(AnyKernel, AreListedWithTheirParameters) {
  const Json json = run_json("$CU", 0);
  const Json& kernels = json.at("kernels");
  ASSERT_EQ(kernels.size(), 5u);
  EXPECT_EQ(kernels[0].at("name"), "product");
  const Json& sizes = kernels[0].at("parameters").at(3);
  EXPECT_EQ(sizes.at("name"), "sizes");
  EXPECT_EQ(sizes.at("kind"), "value");
  EXPECT_EQ(sizes.at("bytes"), 12);
  EXPECT_EQ(sizes.at("fields"), Json({"uint M", "uint N", "uint K"}));
  EXPECT_EQ(kernels[0].at("parameters").at(0).at("kind"), "input");
  EXPECT_EQ(kernels[0].at("parameters").at(2).at("kind"), "buffer");
  EXPECT_EQ(kernels[4].at("name"), "inner::half_of");
  EXPECT_EQ(json.at("templates"), Json({"reversed"}));
  EXPECT_TRUE(has(run_rung("run $CU").out, "product, line 8 of products.cu\n"));
}

TEST_F(AnyKernel, OfMetalAreListedWithTheirBuffers) {
  const Json json = run_json("$METAL", 0);
  ASSERT_EQ(json.at("kernels").size(), 6u);  // two have names that a macro makes
  EXPECT_EQ(json.at("kernels")[1].at("name"), "scaled_sums");
  EXPECT_EQ(json.at("kernels")[1].at("parameters").size(), 3u);
  EXPECT_EQ(json.at("kernels")[1].at("parameters").at(2).at("kind"), "threadgroup memory");
}

TEST_F(AnyKernel, ComputeWhatIsExpected) {
  const Json json = run_json(std::string(product) + " C=out --expect 'C = A B'", 0);
  EXPECT_TRUE(json.at("right"));
  const Json& c = json.at("results").at(0);
  EXPECT_EQ(c.at("name"), "C");
  EXPECT_EQ(c.at("shape"), Json({24, 40}));
  EXPECT_EQ(c.at("unwritten"), 0);
  EXPECT_EQ(json.at("kernels").at(0).at("counters").at("ffma"), 24 * 40 * 33);
  EXPECT_TRUE(json.at("kernels").at(0).at("hazards").empty());
}

TEST_F(AnyKernel, OfMetalComputeWhatIsExpectedInPartialThreadgroups) {
  const Json json = run_json(std::string(metal_product) + " C=out --expect 'C = A B'", 0);
  EXPECT_TRUE(json.at("right"));
  EXPECT_EQ(json.at("kernels").at(0).at("counters").at("ffma"), 24 * 40 * 33);
}

TEST_F(AnyKernel, OfMetalTakeConstantsAndThreadgroupMemory) {
  const std::string arguments =
      "$METAL:scaled_sums --groups 2 --group 32 x=ones:64 sums=out:2 part=shared:128 scale=3";
  const Json json = run_json(arguments + " --expect 'sum(sums) = 3 sum(x)'", 0);
  EXPECT_EQ(json.at("results").at(0).at("values"), Json({96.0, 96.0}));
}

TEST_F(AnyKernel, OfMetalListHazardsOnceInMetalsWordsWithWhatToDo) {
  // The words of CUDA in names are kept.
  std::ofstream(std::string(getenv("HERE")) + "/block.metal")
      << "#include <metal_stdlib>\nusing namespace metal;\n"
         "kernel void swap(device float* launch, threadgroup float* t [[threadgroup(0)]],\n"
         "                 uint i [[thread_position_in_threadgroup]]) {\n"
         "  t[i] = launch[i];\n"
         "  launch[i] = t[63 - i];\n"
         "  launch[i + 64] = 1;\n"
         "}\n";
  const std::string arguments =
      "$HERE/block.metal --groups 1 --group 64 launch=iota:64 t=shared:256";
  const std::string text = run_rung("run " + arguments).out;
  const auto count = [&](const std::string& word) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("threadgroup-memory race: "), 1) << text;
  EXPECT_EQ(count("of threadgroup (0,0,0) at block.metal:5"), 1) << text;
  EXPECT_EQ(count("out of bounds: "), 1) << text;
  EXPECT_TRUE(has(text, "launch[64], parameter launch of 64 float")) << text;
  EXPECT_TRUE(has(text, " times)\n  to do: put threadgroup_barrier(mem_flags::mem_threadgroup)"))
      << text;
  EXPECT_FALSE(has(text, "__syncthreads") || has(text, "shared-memory")) << text;
  const Json json = run_json(arguments, 1);
  const Json& hazards = json.at("kernels").at(0).at("hazards");
  EXPECT_EQ(hazards.at(0).at("kind"), "shared-memory race");  // for scripts, as before
  EXPECT_TRUE(has(messages(json), "threadgroup-memory race: "));
}

TEST_F(AnyKernel, OfMetalNeedTheirFunctionConstants) {
  const Output output =
      run_rung("run $METAL:scaled_sums --groups 2 --group 32 x=ones:64 sums=out:2 part=shared:128");
  EXPECT_EQ(output.exit_code, 1) << output.err;
  EXPECT_TRUE(has(output.err,
                  "products.metal:9: error: kernel 'scaled_sums' depends on function "
                  "constant 0 'scale', which has no value: give it one"))
      << output.err;
}

TEST_F(AnyKernel, OfMetalWithFunctionConstantsAreListed) {
  std::ofstream(std::string(getenv("HERE")) + "/constant.metal")
      << "constant int scale [[function_constant(0)]];\n"
         "kernel void fill(device int* a) { a[0] = scale; }\n";
  const Output output = run_rung("run $HERE/constant.metal");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_TRUE(has(output.out, "function constants, given by name: scale\n")) << output.out;
  const Output launched = run_rung("run $HERE/constant.metal --grid 1 --group 1 a=out:1 scale=3");
  EXPECT_TRUE(has(launched.out, "grid of 1 thread in 1 threadgroup of 1\n")) << launched.out;
}

TEST_F(AnyKernel, OfMetalNeedNoValueForWhatAFunctionConstantLeavesOut) {
  std::ofstream(std::string(getenv("HERE")) + "/optional.metal")
      << "constant bool more [[function_constant(0)]];\n"
         "struct S { int a, b; };\n"
         "kernel void fill(device int* a, constant S& s [[buffer(1), function_constant(more)]],\n"
         "                 device int* b [[buffer(2), function_constant(more)]]) {\n"
         "  a[0] = more ? s.a + b[0] : 5; }\n";
  const Output output = run_rung("run $HERE/optional.metal --grid 1 --group 1 a=out:1 more=false");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_TRUE(has(output.out, "a  1 int  5\n")) << output.out;
}

TEST_F(AnyKernel, OfMetalReadAndWriteTextures) {
  const Output output = run_rung(
      "run $TEXTURES:mirrored --grid 3x2 --group 3x2 in=iota:2x3 out=out:2x3 "
      "--save out=$HERE/mirrored.npy");
  EXPECT_EQ(output.exit_code, 0) << output.err << output.out;
  EXPECT_TRUE(has(output.out, "out  2x3 float4  8 9 10 11 4 5 6 7")) << output.out;
  // Twice mirrored, from a file.
  const Json json =
      run_json("$TEXTURES:mirrored --grid 3x2 --group 3x2 in=$HERE/mirrored.npy out=out:2x3", 0);
  EXPECT_EQ(json.at("results").at(0).at("values"), Json({0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}));
  EXPECT_EQ(json.at("results").at(0).at("unwritten"), 0);
}

TEST_F(AnyKernel, OfMetalSampleTextures) {
  // The first components are 0, 4, 8 and 12; the points are between texels 1 and 2, and past the end.
  std::ofstream(std::string(getenv("HERE")) + "/points.metal")
      << "#include <metal_stdlib>\nusing namespace metal;\n"
         "kernel void points(texture2d<half> in [[texture(3)]], sampler s [[sampler(1)]],\n"
         "                   device float2* out, uint i [[thread_position_in_grid]]) {\n"
         "  out[i] = float2(in.sample(s, float2(i == 0 ? 0.5f : 1.125f, 0.5f)).xw);\n"
         "}\n";
  const auto sampled = [](const std::string& sampler) {
    return run_json("$HERE/points.metal --grid 2 --group 2 in=iota:1x4 out=out:2 s=" + sampler, 0)
        .at("results")
        .at(0)
        .at("values");
  };
  EXPECT_EQ(sampled("linear"), Json({6.0, 9.0, 12.0, 15.0}));
  EXPECT_EQ(sampled("linear,repeat"), Json({6.0, 9.0, 0.0, 3.0}));
  EXPECT_EQ(sampled("nearest,clamp_to_zero"), Json({8.0, 11.0, 0.0, 0.0}));
}

TEST_F(AnyKernel, OfMetalHaveTexturesOfEachDimension) {
  const auto values = [](const std::string& arguments) {
    return run_json("$TEXTURES:" + arguments, 0).at("results").at(0).at("values");
  };
  EXPECT_EQ(values("slices --grid 2x3 --group 2x3 volume=2:5x3x2 sums=out:3x2"),
            Json({10, 3, 0, 1, 10, 3, 0, 1}));
  EXPECT_EQ(values("faces --grid 6 --group 6 cube=iota:6x1x1 out=out:6"),
            Json({0.0, 4.0, 8.0, 12.0, 16.0, 20.0}));
  EXPECT_EQ(values("counted --grid 8 --group 8 counts=zeros:1x2"), Json({7, 0, 0, 0, 8, 0, 0, 0}));
  // The fourth components of the texels around, and 100 times the second of the first texel.
  EXPECT_EQ(values("gathered --grid 2 --group 2 in=iota:2x2x2 out=out:2"),
            Json({11.0, 15.0, 7.0, 103.0, 27.0, 31.0, 23.0, 1719.0}));
}

TEST_F(AnyKernel, OfMetalHaveThreadgroupsOfAnyShape) {
  std::ofstream(std::string(getenv("HERE")) + "/deep.metal")
      << "#include <metal_stdlib>\n"
         "kernel void deep(device int* out, metal::uint3 at [[thread_position_in_grid]]) {\n"
         "  out[at.z + at.y] = at.z + at.y;\n"
         "}\n";
  EXPECT_EQ(run_json("$HERE/deep.metal --grid 1x1x128 --group 1x1x128 out=out:128", 0)
                .at("results")
                .at(0)
                .at("unwritten"),
            0);
  EXPECT_EQ(run_json("$HERE/deep.metal --groups 1x65536 --group 1 out=out:65536", 0)
                .at("results")
                .at(0)
                .at("unwritten"),
            0);
  expect_error("run $HERE/deep.metal --groups 1 --group 1x1x2048 out=out:2048",
               "deep: threads of a block: 2048: at most 1024");
}

TEST_F(AnyKernel, HaveArraysInStructs) {
  const std::string added =
      "$ARGUMENTS:added --grid 3 --group 3 args=x:iota:3,count:3,sums[0]:out:3,sums[1]:out:";
  const Json json = run_json(added + "3,image:out:1x3", 0);
  std::map<std::string, Json> values;
  for (const Json& result : json.at("results")) values[result.at("name")] = result.at("values");
  EXPECT_EQ(values.at("args.sums[0]"), Json({1, 2, 3}));
  EXPECT_EQ(values.at("args.sums[1]"), Json({0, 10, 20}));
  EXPECT_EQ(values.at("args.image").at(4), 1.0);
  EXPECT_TRUE(has(messages(run_json(added + "2,image:out:1x3", 1)),
                  "args.sums[1][2], parameter args.sums[1] of 2 int"));
  EXPECT_EQ(run_json("$ARGUMENTS:first --grid 2 --group 2 nodes=next:null,values:out:2", 0)
                .at("results")
                .at(0)
                .at("values"),
            Json({5.0, 5.0}));
  std::ofstream(std::string(getenv("HERE")) + "/pointers.cu")
      << "struct Args { const float* x; float* sum; int n; };\n"
         "__global__ void total(Args args) {\n"
         "  *args.sum = 0;\n"
         "  for (int i = 0; i < args.n; ++i) *args.sum += args.x[i];\n"
         "}\n";
  const Output output = run_rung(
      "run $HERE/pointers.cu:total --grid 1 --block 1 args=x:rand:20,sum:out:1,n:20 "
      "--expect 'args.sum = sum(args.x)' --save args.sum=$HERE/sum.npy");
  EXPECT_EQ(output.exit_code, 0) << output.err << output.out;
  EXPECT_TRUE(fs::exists(std::string(getenv("HERE")) + "/sum.npy"));
}

TEST_F(AnyKernel, SetEachElementOfAUnionOnce) {
  const std::string arguments = "$METAL:shifted --grid 2 --group 2 x=iota:2 y=out:2 ";
  for (const std::string shift : {"shift=by.y:5,*:0", "shift=0,5,0"}) {
    EXPECT_EQ(run_json(arguments + shift, 0).at("results").at(0).at("values"), Json({5.0, 8.0}));
  }
}

TEST_F(AnyKernel, WithoutAnEndAreStopped) {
  const Json json = run_json("$METAL:waits --grid 1 --group 1 flag=0 --limit 10000", 1);
  EXPECT_TRUE(has(messages(json), "instruction limit")) << messages(json);
}

TEST_F(AnyKernel, WhoseOutputHasNoShapeSaySo) {
  const Json json = run_json("$METAL:filled_with_int --grid 3 --group 32 out=out", 1);
  EXPECT_TRUE(has(messages(json), "('out' gives no shape: write it, as in out:1024)"))
      << messages(json);
}

TEST_F(AnyKernel, OfMetalMayHaveNamesThatMacrosMake) {
  const Json json = run_json("$METAL:filled_with_half --grid 3 --group 32 out=out:3", 0);
  EXPECT_EQ(json.at("results").at(0).at("values"), Json({0.0, 1.0, 2.0}));
}

TEST_F(AnyKernel, ThatAreWrongAreExitOne) {
  const std::string arguments = "$CU:square --grid 1 --block 8x8 A=rand:8x8 B=iota:8x8 C=out n=8";
  EXPECT_TRUE(run_json(arguments + " --expect 'C = A B'", 0).at("right"));
  const Json json = run_json(arguments + " --expect 'C = A^T B'", 1);
  EXPECT_FALSE(json.at("right"));
  EXPECT_TRUE(has(json.at("expect").at(0).at("message"), "of 64 elements, first: C[0, 0] is "));
}

TEST_F(AnyKernel, NameParameterAndIndexOutOfBounds) {
  const Json json = run_json("$CU:past_the_end --grid 2 --block 32 x=rand:40 y=out:41 n=40", 1);
  EXPECT_TRUE(has(messages(json),
                  "out of bounds: read by thread (8,0,0) of block (1,0,0) at "
                  "products.cu:28, x[40], parameter x of 40 float"))
      << messages(json);
}

TEST_F(AnyKernel, ThatLeaveElementsOutSaySo) {
  const Json json = run_json("$CU:past_the_end --grid 1 --block 32 x=rand:40 y=out:41 n=40", 0);
  EXPECT_EQ(json.at("results").at(0).at("unwritten"), 9);
}

TEST_F(AnyKernel, ReadNoOutput) {
  const Json json = run_json("$CU:accumulates --grid 1 --block 32 x=ones:32 sum=out", 1);
  EXPECT_TRUE(has(messages(json), "uninitialised")) << messages(json);
  EXPECT_TRUE(has(messages(json), "sum[0]")) << messages(json);
  const Json right = run_json(
      "$CU:accumulates --grid 1 --block 32 x=ones:32 sum=zeros --expect 'sum = sum(x)'", 0);
  EXPECT_EQ(right.at("results").at(0).at("values"), Json({32.0}));
}

TEST_F(AnyKernel, OfTemplatesTakeArgumentsAndSharedMemory) {
  const std::string arguments =
      "\"$CU:reversed<float, 4>\" --grid 1 --block 4 x=iota:4 y=out:4 factors=1,2,3,4";
  const Json json = run_json(arguments + " --shared 16", 0);
  EXPECT_EQ(json.at("kernel"), "reversed<float, 4>");
  EXPECT_EQ(json.at("results").at(0).at("values"), Json({6.0, 4.0, 2.0, 0.0}));
  EXPECT_TRUE(has(messages(run_json(arguments + " --shared 12", 1)), "out of bounds"));
}

TEST_F(AnyKernel, ReadAndWriteFiles) {
  const Output first = run_rung(
      "run $CU:half_of --grid 1 --block 4 x=iota:4 negative=true unused=null --out y=$HERE/y.npy "
      "y=out:4");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Json again = run_json(
      "$CU:half_of --grid 1 --block 4 --buffer 0=$HERE/y.npy 2=false unused=null --out "
      "1=$HERE/z.npy "
      "y=out:4 --expect 1=$HERE/y.npy --atol 1",
      0);
  EXPECT_EQ(again.at("results").at(0).at("values"), Json({-0.0, -0.25, -0.5, -0.75}));
  const Json shaped = run_json(
      "$CU:half_of --grid 1 --block 4 x=$HERE/y.npy negative=0 unused=null y=out --expect "
      "y=$HERE/z.npy",
      0);
  EXPECT_TRUE(shaped.at("right"));
  EXPECT_EQ(run_json("$CU:half_of --grid 1 --block 4 x=$HERE/y.npy negative=1 unused=null y=out "
                     "--expect y=$HERE/z.npy",
                     1)
                .at("right"),
            false);
}

TEST_F(AnyKernel, AreCheckedTracedAndExplained) {
  const Output checked = run_rung("check " + std::string(product) + " C=out --expect 'C = A B'");
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_TRUE(has(checked.out, "right: C = A B;")) << checked.out;
  const Output traced = run_rung("trace " + std::string(product) + " C=out:24x40");
  EXPECT_EQ(traced.exit_code, 0) << traced.err;
  EXPECT_TRUE(has(traced.out, "13: for (unsigned k = 0; k <")) << traced.out;
  const Output explained = run_rung("explain " + std::string(product) + " C=out:24x40");
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_TRUE(has(explained.out, "predicted")) << explained.out;
}

TEST_F(AnyKernel, TraceDrawsTheAccessesOfALaunch) {
  const std::string command =
      "trace " + std::string(metal_product) + " C=out:24x40 --warp 1 --map -";
  const Output output = run_rung(command);
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_TRUE(output.out.starts_with("<svg ")) << output.out;
  EXPECT_TRUE(has(output.err, "global loads")) << output.err;
}

TEST_F(AnyKernel, OfMetalAreExplainedWithAWordOnTheRates) {
  const Output explained = run_rung("explain " + std::string(metal_product) + " C=out:24x40");
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  const std::size_t rates = explained.out.find("an NVIDIA multiprocessor's");
  EXPECT_LT(rates, explained.out.find("predicted")) << explained.out;
}

TEST_F(AnyKernel, ThatDoNotCompileAreExitOne) {
  const Output output = run_shell(
      "printf '__global__ void k(int* x) { x[0] = y; }' > $HERE/bad.cu && \"$RUNG\" run "
      "$HERE/bad.cu");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_TRUE(has(output.err, "bad.cu:1:")) << output.err;
  EXPECT_TRUE(has(output.err, "undeclared identifier 'y'")) << output.err;
}

TEST_F(AnyKernel, ErrorsSayWhatIsAllowed) {
  const std::string cu = RUNG_KERNELS "/products.cu";
  expect_error("run", "FILE: expected one, such as scan.cu; see --help");
  expect_error("run none.cu", "FILE: 'none.cu' is not a readable file");
  expect_error("run $HERE",
               "FILE: '" + std::string(getenv("HERE")) + "' does not end in .cu or .metal");
  expect_error("run $CU:prodct",
               "products.cu has no kernel 'prodct'; it has product, square, "
               "past_the_end, accumulates, reversed; did you mean 'product'?");
  expect_error("run $CU:reversed --grid 1 --block 1",
               "reversed is a template; write its arguments, as in '" + cu + ":reversed<float>'");
  expect_error("run $CU --grid 1 --block 1",
               "products.cu has 6 kernels; name one as " + cu + ":product");
  expect_error("run $CU:product --block 16 A=rand:4",
               "--grid: expected the blocks of the grid, as in --grid 40x24");
  expect_error("run $CU:product --grid 1 A=rand:4",
               "--group: expected the threads of a block, as in --group 16x16");
  expect_error("run $CU:product --grid 1x1x1x1 --block 1",
               "--grid: '1x1x1x1' has more than three extents; write X, XxY or XxYxZ");
  expect_error(
      "run $CU:product --grid 1 --block 1 A=rand:4x4",
      "product: no value for B (const float*), C (float*), sizes (Sizes); write values such as "
      "sizes=FIELD:1,… B=rand:100");
  expect_error(
      "run $CU:product --grid 1 --block 1 A=rnd:4x4 B=rand:4x4 C=out:4x4 sizes=*:4",
      "A: 'rnd:4x4' is no value of float; write a number, rand, iota, zeros or nan, with a "
      "shape as in rand:24x33");
  expect_error("run $CU:product --grid 1 --block 1 D=rand:4x4",
               "D: kernel product has no parameter of this name; it has A, B, C, sizes");
  expect_error("run $CU:product --grid 1 --block 1 A",
               "NAME=VALUE: 'A' is not of the form NAME=VALUE");
  expect_error("run $CU:product --grid 1 --block 1 A=rand:4x4 B=rand:4x4 C=out:4x4 sizes=M:4,N:4",
               "sizes: no value for K of Sizes; *:0 sets all others to 0");
  expect_error(
      "run $CU:product --grid 1 --block 1 A=rand:4x5 B=rand:4x4 C=out:4x4 sizes=*:4 "
      "--expect 'C = A B'",
      "--expect: 'C = A B': A is 4x5 and B is 4x4; 5 and 4 must be equal");
  expect_error("run $CU:product --grid 1 --block 2048 A=rand:4x4 B=rand:4x4 C=out:4x4 sizes=*:4",
               "product: threads of a block: 2048: at most 1024");
  expect_error(
      "run $TEXTURES:mirrored --grid 3x2 --group 3x2 in=iota:6 out=out:2x3",
      "in: 'iota:6' is not a texture's shape; give its rows and columns, as in rand:48x64");
  expect_error(
      "run $TEXTURES:sampled --grid 1 --group 1 in=iota:1x4 out=out:1 at=0,0 s=cubic",
      "s: 'cubic' is not a property of a sampler; properties are nearest, linear, normalized, "
      "pixel, clamp_to_edge, clamp_to_zero, clamp_to_border, repeat, mirrored_repeat");
  expect_error("run $ARGUMENTS:first --grid 1 --group 1 nodes=values:out:2",
               "nodes: no value for next of Node; *:0 sets all others to 0");
  expect_error("trace gemm/cuda/00 --grid 4 --block 4",
               "RUNG: 'gemm/cuda/00' is not a file of yours, such as scan.cu, whose kernel "
               "NAME=VALUE and --grid launch");
}

}  // namespace
}  // namespace rung
