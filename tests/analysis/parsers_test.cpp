// Parsers of the output of other programs: ncu, nvdisasm, rung bench.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "ladder.hpp"
#include "tools/analysis/callgrind.hpp"
#include "tools/analysis/instruction_mix.hpp"
#include "tools/analysis/measured_runs.hpp"
#include "tools/analysis/ncu.hpp"
#include "tools/analysis/toolkit.hpp"

namespace rung::analysis {
namespace {

/// Not a recording, but a text in the form of `ncu --csv --page raw`, version 2025.3. Its traffic
/// and multiply-adds are those that ncu counted on an H200 for gemm/cuda/02 at 1024 x 1024 x 1024
/// (the medians of results/nvidia-h200/counters/gemm-f32.jsonl). Stalls, registers and time are made
/// up to test the parser.
std::string sample_of_ncu() {
  std::ifstream file(RUNG_NCU_SAMPLE);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Ncu, CountersAreNamedAsOurs) {
  const HardwareCounters hardware = parse_ncu(sample_of_ncu());
  EXPECT_EQ(hardware.kernel, "gemm_cuda_02_shared_tile_f32");
  EXPECT_EQ(hardware.counters.at("global_load_requests"), 2129920);
  EXPECT_EQ(hardware.counters.at("global_load_sectors"), 8519680);
  EXPECT_EQ(hardware.counters.at("global_store_sectors"), 131072);
  EXPECT_EQ(hardware.counters.at("issued_shared_load_requests"), 41943040);
  EXPECT_EQ(hardware.counters.at("issued_shared_load_wavefronts"), 50363814);
  EXPECT_EQ(hardware.counters.at("ffma"), 1074790400);
  EXPECT_EQ(hardware.counters.count("instructions"), 0u);
  EXPECT_EQ(hardware.registers, 32);
  EXPECT_DOUBLE_EQ(hardware.seconds, 279136e-9);
}

TEST(Ncu, StallsAreSharesTheLongestFirst) {
  const auto stalls = parse_ncu(sample_of_ncu()).stalls;
  ASSERT_EQ(stalls.size(), 4u);
  EXPECT_EQ(stalls[0].first, "mio throttle");
  EXPECT_DOUBLE_EQ(stalls[0].second, 0.5);
  EXPECT_EQ(stalls[3].first, "barrier");
  EXPECT_DOUBLE_EQ(stalls[3].second, 0.0625);
}

TEST(Ncu, LimitsOfOccupancyAreRead) {
  const HardwareCounters hardware = parse_ncu(
      "\"ID\",\"Kernel Name\",\"launch__occupancy_limit_registers\","
      "\"launch__occupancy_limit_shared_mem\",\"launch__registers_per_thread\"\n"
      "\"\",\"\",\"block\",\"block\",\"register/thread\"\n"
      "\"0\",\"gemm_cuda_24_tma_bf16\",\"2\",\"2\",\"90\"\n");
  const std::map<std::string, double> expected = {{"registers", 2}, {"shared_memory", 2}};
  EXPECT_EQ(hardware.limits, expected);
  EXPECT_EQ(hardware.registers, 90);
}

TEST(Callgrind, CountsOfCalledFunctionsAreTheirOwn) {
  const CallgrindProfile profile = parse_callgrind(
      "# callgrind format\nversion: 1\npositions: instr line\n"
      "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n\n"
      "ob=/bin/rung\nfl=a.cpp\nfn=outer()\n0x10 7 4 2\n0x14 7 4 0 4 0 0 3 0 0 1\n"
      "cfn=inner()\ncalls=1 0x40 9\n0x18 7 100 50\n0x18 7 1\n"
      "fn=inner()\n0x40 9 100 50 0 0 6 0 0 2\n");
  EXPECT_EQ(profile.all.instructions, 109);
  EXPECT_EQ(profile.all.loads, 52);
  EXPECT_EQ(profile.all.stores, 4);
  EXPECT_EQ(profile.all.l1_misses, 9);
  EXPECT_EQ(profile.all.l2_misses, 3);
  ASSERT_EQ(profile.functions.size(), 2u);
  EXPECT_EQ(profile.functions[0].first, "inner()");
  EXPECT_EQ(profile.functions[1].second.instructions, 9);
  ASSERT_EQ(profile.instructions.size(), 4u);
  EXPECT_EQ(profile.instructions[0].object, "/bin/rung");
  EXPECT_EQ(profile.instructions[0].address, 0x10u);
  EXPECT_THROW(parse_callgrind("nothing\n"), std::runtime_error);
}

TEST(Callgrind, CachesHaveAPowerOfTwoOfSets) {
  const std::vector<std::string> command =
      callgrind_command("valgrind", {48 << 10, 1280 << 10}, "f", "out", {"rung", "list"});
  EXPECT_NE(std::ranges::find(command, "--D1=49152,12,64"), command.end());
  EXPECT_NE(std::ranges::find(command, "--LL=1310720,20,64"), command.end());
  EXPECT_EQ(command.back(), "list");
}

TEST(Callgrind, InstructionsHaveKinds) {
  EXPECT_EQ(x86_kind("vfmadd231ps", "(%rax),%ymm1,%ymm2"), "multiply-add");
  EXPECT_EQ(x86_kind("vmovups", "(%rax,%rbx,4),%ymm1"), "load");
  EXPECT_EQ(x86_kind("vbroadcastss", "0x4(%rax),%ymm1"), "load");
  EXPECT_EQ(x86_kind("vmovups", "%ymm1,(%rax,%rbx,4)"), "store");
  EXPECT_EQ(x86_kind("vmovaps", "%ymm1,%ymm2"), "move or broadcast in registers");
  EXPECT_EQ(x86_kind("mulss", "(%rax),%xmm0"), "floating-point add or multiply");
  EXPECT_EQ(x86_kind("vpermps", "%ymm1,%ymm2,%ymm3"), "shuffle or conversion");
  EXPECT_EQ(x86_kind("prefetcht0", "0x40(%rax)"), "prefetch");
  EXPECT_EQ(x86_kind("jne", "4b2d10 <f+0x10>"), "branch");
  EXPECT_EQ(x86_kind("lea", "0x4(%rax),%rbx"), "integers and addresses");
  EXPECT_EQ(x86_kind("add", "$0x20,%rax"), "integers and addresses");
}

TEST(Ncu, NoLaunchIsAnError) {
  EXPECT_THROW(parse_ncu("==ERROR== ERR_NVGPUCTRPERM\n"), std::runtime_error);
  EXPECT_THROW(parse_ncu(""), std::runtime_error);
  const std::string sample = sample_of_ncu();
  EXPECT_THROW(parse_ncu(sample.substr(0, sample.rfind("\"0\",\"4711\""))), std::runtime_error);
}

TEST(Ncu, TheCommandAsksForWhatIsParsed) {
  const auto command = ncu_command("/opt/ncu", "gemm_cuda_02", {"rung", "bench"});
  EXPECT_EQ(command.front(), "/opt/ncu");
  EXPECT_EQ(command.back(), "bench");
  std::string all;
  for (const std::string& word : command) all += word + " ";
  EXPECT_NE(all.find("--page raw"), std::string::npos);
  EXPECT_NE(all.find("--kernel-name regex:gemm_cuda_02 "), std::string::npos);
  for (const char* metric :
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "launch__occupancy_limit_shared_mem",
        "regex:smsp__average_warps_issue_stalled_"}) {
    EXPECT_NE(all.find(metric), std::string::npos) << metric;
  }
}

TEST(InstructionMix, IsReadFromAListing) {
  const InstructionMix mix = parse_listing(R"(
.text.kernel:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   LDS.128 R4, [R2] ;
        /*0020*/              @!P0 LDG.E R8, desc[UR4][R2.64] ;
        /*0030*/                   FFMA R0, R4, R8, R0 ;
        /*0040*/                   FFMA R0, R5, R8, R0 ;
        /*0050*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0060*/              @P1  BRA `(.L_x_0) ;
        /*0070*/                   EXIT ;
.L_x_1:
        /*0080*/                   BRA `(.L_x_1);
        /*0090*/                   NOP;
)");
  EXPECT_EQ(mix.all, 8);
  EXPECT_EQ(mix.multiply_adds, 2);
  EXPECT_EQ(mix.loads, 2);
  EXPECT_EQ(mix.barriers, 1);
  EXPECT_EQ(mix.parts.front().name, "control");
  for (const MixPart& part : mix.parts) EXPECT_GT(part.count, 0) << part.name;
}

TEST(InstructionMix, OtherLinesOfAListingAreNone) {
  const InstructionMix mix = parse_listing(R"(
        /*0000*/                   FFMA R0, R4, R8, R0 ;  /* 0x0000000804007223 */
                                                          /* 0x000fe20000000000 */
        /*010*/                    FFMA R0, R4, R8, R0 ;
        /*0020*/                   lower R0 ;
        /**/                       FFMA R0, R4, R8, R0 ;
        /*0030*/
)");
  EXPECT_EQ(mix.all, 1);
}

TEST(InstructionMix, OfPtxIsAsItRan) {
  const Step& tile = ladder("clang")[2];  // 2 loads per multiply-add, 2 barriers per 32
  const InstructionMix mix = ptx_mix(tile.samples.trace2, parsed(tile.setting));
  EXPECT_NEAR(mix.loads / mix.multiply_adds, 2 + 2.0 / 32, 0.01);
  EXPECT_NEAR(mix.barriers / mix.multiply_adds, 2.0 / 32, 0.001);
  EXPECT_EQ(mix.all, static_cast<double>(tile.samples.trace2.counters.instructions));
}

TEST(InstructionMix, OfMachineCodeWhereTheToolkitIs) {
  const std::string ptxas = find_tool("ptxas");
  if (ptxas.empty() || run_tool({ptxas, "--version"}).exit_code != 0 ||
      (find_tool("nvdisasm").empty() && find_tool("cuobjdump").empty())) {
    GTEST_SKIP() << "no ptxas, nvdisasm or cuobjdump";
  }
  const Step& warp_tile = ladder("clang")[7];
  const auto mix = machine_mix(warp_tile.setting.ptx(), warp_tile.setting.entry(), 90);
  ASSERT_TRUE(mix.has_value());
  EXPECT_GT(mix->multiply_add_share(), 0.5);
  EXPECT_GE(mix->multiply_adds, 64);  // a step of k has 8 x 8
}

TEST(Results, TimesAndCeilingsAreRead) {
  const Results results = parse_results(
      R"json({"machine": {"gpu": {"name": "GPU", "ceilings": {"multiply_add": {"f32": 100},
                                                          "memory_read": 10}}},
          "results": [{"rung": "gemm/cuda/02", "dtype": "f32", "m": 1, "n": 2, "k": 3,
                       "device": "gpu GPU (sm_90)", "seconds": {"median": 0.5}},
                      {"rung": "gemm/cuda/03", "dtype": "f32", "device": "gpu", "n": 1,
                       "seconds": null}]})json",
      "file.json");
  ASSERT_NE(results.find("gemm/cuda/02", Dtype::f32, 1, 2, 3, "GPU"), nullptr);
  EXPECT_EQ(results.find("gemm/cuda/02", Dtype::f32, 1, 2, 3, "GPU")->seconds, 0.5);
  EXPECT_EQ(results.find("gemm/cuda/02", Dtype::f64, 1, 2, 3, "GPU"), nullptr);
  EXPECT_EQ(results.find("gemm/cuda/02", Dtype::f32, 1, 2, 3, "H200"), nullptr);
  ASSERT_NE(results.find_gpu("GPU"), nullptr);
  EXPECT_EQ(results.find_gpu("GPU")->multiply_add.at("f32"), 1e11);
  EXPECT_EQ(results.find_gpu("GPU")->memory_read, 1e10);
  const Results lines = parse_results(
      R"json({"machine": {}, "common": {"dtype": "f32", "m": 1, "n": 2, "k": 3, "device": "gpu GPU (sm_90)"}}
{"rung": "gemm/cuda/02", "seconds": {"median": 0.5}}
)json",
      "file.jsonl");
  ASSERT_NE(lines.find("gemm/cuda/02", Dtype::f32, 1, 2, 3, "GPU"), nullptr);
  const auto gpu = [](const std::string& f32, const std::string& read) {
    return parse_results(
        R"({"machine": {"gpu": {"name": "GPU", "ceilings": {"multiply_add": {"f32": )" + f32 +
            R"(}, "memory_read": )" + read + "}}}, \"results\": []}",
        "file.json");
  };
  Results all = gpu("100", "12");
  all.add(gpu("110", "11"));
  EXPECT_EQ(all.find_gpu("GPU")->multiply_add.at("f32"), 1.1e11);  // the highest of each figure
  EXPECT_EQ(all.find_gpu("GPU")->memory_read, 1.2e10);
  EXPECT_THROW(parse_results("[]", "x"), std::runtime_error);
  EXPECT_THROW(read_results("/nowhere.json"), std::runtime_error);
  EXPECT_NE(built_in_results().find_gpu("NVIDIA H200"), nullptr);
}

}  // namespace
}  // namespace rung::analysis
