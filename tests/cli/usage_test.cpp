// Bad arguments: one line that names the argument, the value and what is allowed; exit code 2, or 3
// for what is not here; nothing on standard output.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <ostream>

#include "folder.hpp"
#include "program.hpp"

namespace rung {
namespace {

struct Bad {
  const char* arguments;
  const char* message;  // all of the line after "rung: "
  int exit_code = 2;
};

std::ostream& operator<<(std::ostream& stream, const Bad& bad) { return stream << bad.arguments; }

class BadArguments : public testing::TestWithParam<Bad> {};

TEST_P(BadArguments, GetOneLine) {
  const Output output = run_rung(GetParam().arguments);
  EXPECT_EQ(output.exit_code, GetParam().exit_code);
  EXPECT_EQ(output.out, "");
  EXPECT_EQ(output.err, std::string("rung: ") + GetParam().message + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Usage, BadArguments,
    testing::Values(
        Bad{"climb",
            "'climb' is not one of list, verify, bench, new, check, referee, run, tune, trace, "
            "explain, diff, emu, layout, python, learn, report, dist, doctor"},
        Bad{"chekc",
            "'chekc' is not one of list, verify, bench, new, check, referee, run, tune, trace, "
            "explain, diff, emu, layout, python, learn, report, dist, doctor; did you mean "
            "'check'?"},
        Bad{"--fast", "--fast: unknown argument; see --help"},
        Bad{"dist run --ranks 4 --n 8", "ACTION: 'run' is not plan"},
        Bad{"dist plan --n 8", "--ranks: expected a number of ranks; see --help"},
        Bad{"dist plan --ranks 0 --n 8 --rate 1",
            "--ranks: '0' is not an integer from 1 to 1048576"},
        Bad{"dist plan --ranks 4 --n 8",
            "--gpu or --rate: one is needed, for the rate of a rank's "
            "products"},
        Bad{"dist plan --ranks 4 --rate 1", "--m, --n, --k: at least one is needed"},
        Bad{"dist plan --ranks 4 --n 8 --gpu t4", "--gpu: 't4' is not one of h200, h100"},
        Bad{"dist plan --ranks 4 --n 8 --rate 0", "--rate: '0' is not above 0"},
        Bad{"dist plan --ranks 4 --n 8 --dtype i8 --rate 1",
            "--dtype: 'i8' is not one of f32, f64, bf16"},
        Bad{"dist plan --ranks 4 --n 8 --rate 1 --grid 4", "--grid: '4' is not PxQ"},
        Bad{"dist plan --ranks 4 --n 8 --rate 1 --grid 3x2",
            "the grid of 3 x 2 has more processes than there are ranks, 4"},
        Bad{"dist plan --ranks 4 --n 8 --rate 1 --into 2x2x2",
            "a decomposition into 2 x 2 x 2 needs more ranks than there are, 4"},
        Bad{"list --fast", "--fast: unknown argument; see --help"},
        Bad{"bench gemm/cpu --dtyp f32",
            "--dtyp: unknown argument; did you mean '--dtype'? See --help"},
        Bad{"trace gemm/cuda/04 --jsn=x",
            "--jsn=x: unknown argument; did you mean '--json'? See --help"},
        Bad{"verify gemm/cuda/04 --dtype fp32",
            "--dtype: 'fp32' is not one of f32, f64, i32, bf16, f16, tf32, i8, e4m3, e5m2, "
            "bf16-bf16, f16-f16; did you mean 'f32'?"},
        Bad{"bench gem/cuda",
            "'gem/cuda' selects no rung; it should be an op, op/backend or op/backend/NN of: "
            "gemm/cpu, gemm/cuda, gemm/metal, dot/cpu, dot/cuda, dot/metal, sum/cuda; did you mean "
            "'gemm/cuda'?"},
        Bad{"verify gemm/cuda/04_thread_tle",
            "'gemm/cuda/04_thread_tle' selects no rung; it should be an op, op/backend or "
            "op/backend/NN of: gemm/cpu, gemm/cuda, gemm/metal, dot/cpu, dot/cuda, dot/metal, "
            "sum/cuda; did you mean 'gemm/cuda/04_thread_tile'?"},
        Bad{"trace gemm/cuda/00 --gpu rtx409",
            "--gpu: 'rtx409' is not one of h200, h100, a100, t4, rtx3090, rtx4090, b200, "
            "rtx5090, m1, m1pro, m2max, m3, m4max, custom, each with overrides such as "
            "'h200,multiprocessors=4'; did you mean "
            "'rtx4090'?"},
        Bad{"bench gemm/cpu --math splitt",
            "--math: 'splitt' is not one of standard, split, reproducible, batch_invariant; did "
            "you mean 'split'?"},
        Bad{"list --json", "--json: expected a value; see --help"},
        Bad{"learn 77", "EXERCISE: '77' is not one of 01 to 27; 'rung learn' lists them"},
        Bad{"learn --check", "EXERCISE: --check needs one: rung learn 01 --check"},
        Bad{"learn 04 --check --hint 0", "--hint: '0' is not an integer from 1 to 10"},
        Bad{"learn 04 /nonexistent/04.cu --check",
            "FILE: '/nonexistent/04.cu' is not a readable file; 'rung learn 04' writes one"},
        Bad{"learn 04 /nonexistent/04.cu", "FILE: '/nonexistent/04.cu' cannot be written"},
        Bad{"verify", "SELECTOR: expected at least one, such as gemm/cpu; see --help"},
        Bad{"bench", "SELECTOR: expected at least one, such as gemm/cpu; see --help"},
        Bad{"bench gemm --dtype f23",
            "--dtype: 'f23' is not one of f32, f64, i32, bf16, f16, "
            "tf32, i8, e4m3, e5m2, bf16-bf16, f16-f16; did you mean 'f32'?"},
        Bad{"verify gemm --dtype F32",
            "--dtype: 'F32' is not one of f32, f64, i32, bf16, f16, "
            "tf32, i8, e4m3, e5m2, bf16-bf16, f16-f16; did you mean 'f32'?"},
        Bad{"bench gemm --device tpu",
            "--device: 'tpu' is not one of cpu, gpu, virtual; did you mean 'cpu'?"},
        Bad{"bench gemm --threads 0", "--threads: '0' is not an integer from 1 to 1024"},
        Bad{"bench gemm --threads two", "--threads: 'two' is not an integer from 1 to 1024"},
        Bad{"bench gemm --m -3", "--m: '-3' is not an integer from 1 to 1099511627776"},
        Bad{"bench dot --n 0", "--n: '0' is not an integer from 1 to 1099511627776"},
        Bad{"bench dot --n 1.5", "--n: '1.5' is not an integer from 1 to 1099511627776"},
        Bad{"bench dot --n 1e30", "--n: '1e30' is not an integer from 1 to 1099511627776"},
        Bad{"bench dot --n 12q", "--n: '12q' is not an integer from 1 to 1099511627776"},
        Bad{"bench gemm --sizes 3x4", "--sizes: '3x4' is not N or MxNxK"},
        Bad{"bench gemm --sizes 64,12x", "--sizes: '12x' is not N or MxNxK"},
        Bad{"bench gemm --sizes 3x4x", "--sizes: '3x4x' is not N or MxNxK"},
        Bad{"bench gemm --sizes 3,,4", "--sizes: '' is not N or MxNxK"},
        Bad{"bench dot --sizes 3x4x5", "dot takes only n: --n N or --sizes N"},
        Bad{"bench dot --m 3 --n 4", "dot takes only n: --n N or --sizes N"},
        Bad{"trace sum/cuda/06 --m 3 --n 4", "sum takes only n: --n N"},
        Bad{"bench gemm --sizes 3 --n 4", "--sizes: cannot be combined with --m, --n or --k"},
        Bad{"bench gemm --layout ab", "--layout: 'ab' is not one of nn, nt, tn, tt"},
        Bad{"bench gemm/cuda --random 0", "--random: '0' is not an integer from 1 to 1000000"},
        Bad{"bench gemm/cuda --random ''", "--random: '' is empty; a value is needed"},
        Bad{"bench gemm/cuda --random 1 --seed -1",
            "--seed: '-1' is not an integer from 0 to 9007199254740992"},
        Bad{"bench gemm/cuda --random 1 --max-size 0",
            "--max-size: '0' is not an integer from 1 to 1048576"},
        Bad{"bench gemm/cuda --random 1 --dtype f32,f31",
            "--dtype: 'f31' is not one of f32, f64, i32, bf16, f16, "
            "tf32, i8, e4m3, e5m2, bf16-bf16, f16-f16; did you mean 'f32'?"},
        Bad{"bench gemm/cuda --random 1 --layout nn,all",
            "--layout: 'all' is not one of nn, nt, tn, tt, or all alone"},
        Bad{"bench gemm/cuda --random 1 --layout nn,",
            "--layout: '' is not one of nn, nt, tn, tt, or all alone"},
        Bad{"bench gemm/cuda --random 1 --sizes 5", "--random: cannot be combined with --sizes"},
        Bad{"bench gemm/cuda --random 1 --k 5",
            "--random: cannot be combined with --m, --n or --k"},
        Bad{"bench gemm/cuda --random 1 --alpha 2", "--random: cannot be combined with --alpha"},
        Bad{"bench gemm/cuda --random 1 --beta x", "--beta: 'x' is not a finite number"},
        Bad{"bench gemm/cuda --random 1 --cold", "--random: cannot be combined with --cold"},
        Bad{"bench gemm/cuda --random 1 --remeasure-ceilings",
            "--random: cannot be combined with --remeasure-ceilings"},
        Bad{"bench gemm/cuda --random 1 --html x.html",
            "--random: cannot be combined with --html; see rung report"},
        Bad{"bench gemm/cuda --seed 1", "--seed: needs --random"},
        Bad{"bench gemm/cuda --max-size 1", "--max-size: needs --random"},
        Bad{"bench gemm/cuda --regret", "--regret: needs --random or --sizes"},
        Bad{"bench gemm --random 1", "--random: 'gemm/cuda/00_naive' is not one of gemm/cpu"},
        Bad{"bench dot/cpu --random 1",
            "--random: 'dot/cpu/00_one_accumulator' is not one of gemm/cpu or gemm/cuda"},
        Bad{"bench gemm/cpu --random 1 --device virtual",
            "gemm/cpu/00_triple_loop does not run on the virtual; see --device", 3},
        Bad{"bench gemm/cuda --random 1 --device cpu",
            "gemm/cuda/00_naive does not run on the cpu; see --device", 3},
        Bad{"bench gemm --alpha nan", "--alpha: 'nan' is not a finite number"},
        Bad{"bench gemm --math fast",
            "--math: 'fast' is not one of standard, split, reproducible, batch_invariant"},
        Bad{"bench gemm/cuda --random 1 --math reproducible",
            "--random: cannot be combined with --math reproducible"},
        Bad{"bench gemm --family odd",
            "--family: 'odd' is not one of symmetric, uniform, normal, wide, cancelling, spread, "
            "mixed"},
        Bad{"bench gemm/cpu --dtype bf16 --family wide", "--family: bf16 has no 'wide'"},
        Bad{"bench gemm/cpu --family normal --batch 2",
            "--family: cannot be combined with --batch, --groups, --epilogue, --scales or "
            "--weights"},
        Bad{"bench dot/cpu --family normal", "--family: only gemm has families, dot has none"},
        Bad{"bench gemm/cuda --random 1 --csv x.csv",
            "--random: cannot be combined with --csv; see --json"},
        Bad{"bench gemm/cuda --random 1 --family normal",
            "--random: cannot be combined with --family"},
        Bad{"bench gemm --beta 1,0", "--beta: '1,0' is not a finite number"},
        Bad{"bench gemm --json - --html -",
            "--json and --html: both are written to standard output"},
        Bad{"bench gemm --json /tmp/x --html /tmp/../tmp/x",
            "--json and --html: both are written to '/tmp/../tmp/x'"},
        Bad{"bench gemm --dtype ''", "--dtype: '' is empty; a value is needed"},
        Bad{"bench gemm --json ''", "--json: '' is empty; a value is needed"},
        Bad{"bench gemm --html ''", "--html: '' is empty; a value is needed"},
        Bad{"bench gemm --threads ''", "--threads: '' is empty; a value is needed"},
        Bad{"bench gemm --n ''", "--n: '' is empty; a value is needed"},
        Bad{"bench gemm --sizes ''", "--sizes: '' is empty; a value is needed"},
        Bad{"bench gemm --device ''", "--device: '' is empty; a value is needed"},
        Bad{"bench gemm --vs ''", "--vs: '' is empty; a value is needed"},
        Bad{"bench ''", "SELECTOR: '' is empty; a value is needed"},
        Bad{"trace gemm/cuda/00 --gpu ''", "--gpu: '' is empty; a value is needed"},
        Bad{"report x.json -o ''", "--output: '' is empty; a value is needed"},
        Bad{"report x.json --pictures ''", "--pictures: '' is empty; a value is needed"},
        Bad{"tune gemm/cuda/11 -o ''", "--output: '' is empty; a value is needed"},
        Bad{"bench gemm --seconds 0",
            "--seconds: '0' is not a number of seconds above 0, at most 3600"},
        Bad{"bench gemm --vs goto",
            "--vs: 'goto' is not one of openblas, blis, aocl, onednn, mkl, cublas, cublaslt, cub, "
            "or none alone"},
        Bad{"bench gemm --vs none,blis",
            "--vs: 'none' is not one of openblas, blis, aocl, onednn, mkl, cublas, cublaslt, cub, "
            "or none alone"},
        Bad{"list --json /nowhere/rungs.json",
            "--json: '/nowhere/rungs.json' cannot be written: No such file or directory"},
        Bad{"verify gemm --random -1", "--random: '-1' is not an integer from 0 to 1000000"},
        Bad{"verify dot/cpu/00 --json /", "--json: '/' cannot be written: Is a directory"},
        Bad{"tune gemm/cuda --quick --sizes 8", "--quick: cannot be combined with --sizes"},
        Bad{"tune gemm/cpu --quick", "--quick: 'gemm/cpu/00_triple_loop' is not one of gemm/cuda"},
        Bad{"tune gemm/cuda --quick -o /", "-o: '/' cannot be written: Is a directory"},
        Bad{"trace", "RUNG: expected one, such as gemm/cuda/02; see --help"},
        Bad{"bench gemm/cpu/00 --batch 0", "--batch: '0' is not an integer from 1 to 10000000"},
        Bad{"bench gemm/cpu/00 --batch 4,2,3 --sizes 8,9",
            "--batch: 3 numbers for 2 sizes; give one for each, or one"},
        Bad{"bench gemm/cpu/00 --batch 4,2",
            "--batch: 2 numbers for 1 size; give one for each, or one"},
        Bad{"bench dot/cpu/00 --batch 2", "--batch: only gemm has batches, dot has none"},
        Bad{"bench gemm/cuda --random 3 --batch 2", "--batch: cannot be combined with --random"},
        Bad{"bench gemm/cuda/grouped --groups 2", "--groups and --tokens: each needs the other"},
        Bad{"bench gemm/cuda/grouped --skew zipf", "--skew: needs --groups"},
        Bad{"bench gemm/cuda/grouped --groups 2 --tokens 9 --sizes 8",
            "--sizes: '8' is not NxK, as --groups needs it"},
        Bad{"bench gemm/cuda/grouped --groups 2 --tokens 9 --sizes 8x8 --skew x",
            "--skew: 'x' is not one of none, zipf"},
        Bad{"bench gemm/cuda --random 3 --groups 2", "--groups: cannot be combined with --random"},
        Bad{"bench gemm/cpu/00 --epilogue bias,gelu,relu",
            "--epilogue: 'relu' is not one more of bias, aux, residual and one of relu, gelu, "
            "gelu-erf, silu"},
        Bad{"bench gemm/cpu/00 --epilogue bias --batch 2",
            "--epilogue: cannot be combined with --batch, --groups, --cold, --alpha or --beta"},
        Bad{"bench gemm/cpu/00 --epilogue bias --dtype i32",
            "--epilogue: needs a --dtype of floating-point numbers"},
        Bad{"bench gemm/cpu/00 --scales row", "--scales: 'row' is not block"},
        Bad{"bench gemm/cpu/00 --scales block", "--scales: block needs --dtype e4m3"},
        Bad{"bench gemm/cpu/00 --scales block --dtype e4m3 --beta 1",
            "--scales: cannot be combined with --batch, --epilogue, --cold, --alpha or --beta"},
        Bad{"bench gemm/cuda --random 3 --scales block",
            "--scales: cannot be combined with --random"},
        Bad{"trace gemm/cuda/00 --device virtual", "--device: unknown argument; see --help"},
        Bad{"trace gemm/cuda/00 virtual", "RUNG: expected one, such as gemm/cuda/02; see --help"},
        Bad{"trace gemm/cuda", "RUNG: 'gemm/cuda' selects 60 rungs; trace takes one"},
        Bad{"trace gemm/cuda/00 --layout ab", "--layout: 'ab' is not one of nn, nt, tn, tt"},
        Bad{"trace gemm/cpu/00",
            "gemm/cpu/00_triple_loop is a cpu rung; the virtual GPU runs only cuda and metal rungs",
            3},
        Bad{"trace gemm/cuda/00 --map - --warp 32", "--warp: '32' is not an integer from 0 to 31"},
        Bad{"trace gemm/cuda/00 --warp 32", "--warp: '32' is not an integer from 0 to 31"},
        Bad{"trace gemm/cuda/00 --warp 3", "--warp: chooses what --map draws, and needs it"},
        Bad{"trace gemm/cuda/00 --at 3", "--at: chooses what --map draws, and needs it"},
        Bad{"trace gemm/cuda/00 --at", "--at: expected a value; see --help"},
        Bad{"trace gemm/cuda/00 --line", "--line: expected a value; see --help"},
        Bad{"trace gemm/cuda/00 --line 3", "--line: chooses what --map draws, and needs it"},
        Bad{"trace gemm/cuda/00 --line x.cu:", "--line: 'x.cu:' is neither LINE nor FILE:LINE"},
        Bad{"trace gemm/cuda/00 --map - --line two", "--line: 'two' is neither LINE nor FILE:LINE"},
        Bad{"trace gemm/cuda/00 --map - --json -",
            "--json and --map: both are written to standard output"},
        Bad{"trace gemm/cuda/00 --map /", "--map: '/' cannot be written: Is a directory"},
        Bad{"report", "FILE: expected one, such as gemm.json; see --help"},
        Bad{"layout", "INSTRUCTION: expected one, such as wgmma; see --help"},
        Bad{"layout wgmma --operand Q",
            "--operand: 'Q' is not one of A, B, C, D; SA and SB are for block scales of tcgen05 "
            "and "
            "mma, E for mma --sparse"},
        Bad{"referee", "TASK: expected a task and a candidate, such as gemm mine.cu; see --help"},
        Bad{"report /dev/null",
            "-o: expected an output file, such as report.html, or --pictures FOLDER"},
        Bad{"report nowhere.json -o -",
            "FILE: 'nowhere.json' cannot be read: No such file or directory"},
        Bad{"report / -o -", "FILE: '/' cannot be read: Is a directory"},
        Bad{"report x.json --markdown plot",
            "--markdown: 'plot' is not one of machine, ladder, library, reading, summary, "
            "products, headline, random"},
        Bad{"report x.json y.json --markdown ladder",
            "--markdown: the table 'ladder' is of one file, not of 2"},
        Bad{"report x.json --markdown ladder --pictures x",
            "--markdown: cannot be combined with --pictures"},
        Bad{"report /dev/null -o -", "FILE: /dev/null: not JSON: line 1, column 1"},
        Bad{"explain", "RUNG: expected one, such as gemm/cuda/02; see --help"},
        Bad{"explain gemm/cuda", "RUNG: 'gemm/cuda' selects 60 rungs; explain takes one"},
        Bad{"explain gemm/cuda/02 --gpu h20",
            "--gpu: 'h20' is not one of h200, h100, a100, t4, rtx3090, rtx4090, b200, rtx5090, "
            "m1, m1pro, m2max, m3, m4max, custom, "
            "each with "
            "overrides such as 'h200,multiprocessors=4'; did you mean 'h200'?"},
        Bad{"explain gemm/cuda/02 --launch-time 0",
            "--launch-time: '0' is not a number of microseconds above 0, at most 1000"},
        Bad{"explain gemm/cuda/02 --launch=0",
            "--launch: '0' is not a number of microseconds above 0, at most 1000"},
        Bad{"explain gemm/cuda/02 --compiler cubin",
            "--compiler: 'cubin' is not one of clang, nvcc: counting needs PTX"},
        Bad{"explain gemm/cuda/02 --code cubin",
            "--code: 'cubin' is not one of clang, nvcc: counting needs PTX"},
        Bad{"explain gemm/cuda/02 --results /nowhere.json",
            "--results: '/nowhere.json' cannot be read: No such file or directory"},
        Bad{"explain gemm/cuda/02 --results /", "--results: '/' cannot be read: Is a directory"},
        Bad{"explain gemm/cuda/02 --json - --html -",
            "--json and --html: both are written to standard output"},
        Bad{"explain nowhere.cu:kernel", "FILE: 'nowhere.cu' is not a readable file"},
        Bad{"explain gemm/cuda/09 --gpu t4", "gemm/cuda/09_async_copies has no PTX for sm_75", 3},
        Bad{"explain gemm/cuda/09 --dtype f16", "gemm/cuda/09_async_copies: no f16", 3},
        Bad{"explain gemm/metal/00 --gpu t4",
            "gemm/metal/00_naive is for Apple GPUs, such as m1pro; Tesla T4 is not one", 3},
        Bad{"explain gemm/metal/01 --n 100",
            "gemm/metal/01_shared_tile: m, n and k must be multiples of 16; they are 100, 100 and "
            "100",
            3},
        Bad{"explain dot/cuda/10 --m 3 --n 4", "dot takes only n: --n N"},
        Bad{"diff", "RUNG: expected two, such as gemm/cuda/02 gemm/cuda/03; see --help"},
        Bad{"diff gemm/cuda/02",
            "RUNG: expected two, such as gemm/cuda/02 gemm/cuda/03; see --help"},
        Bad{"diff gemm/cuda gemm/cuda/02",
            "RUNG: 'gemm/cuda' selects 60 rungs; diff takes two rungs, each selected by one "
            "argument"},
        Bad{"tune", "SELECTOR: expected at least one, such as gemm/cuda/11; see --help"},
        Bad{"tune gemm/cuda/02", "gemm/cuda/02_shared_tile has one tile size; nothing to tune"},
        Bad{"tune gemm/cpu/00",
            "gemm/cpu/00_triple_loop is a cpu rung; tune supports cuda rungs, and gemm/cpu as a "
            "whole"},
        Bad{"tune gemm/cpu --dtype bf16",
            "--dtype: 'bf16' has rules on the CPU and no costs; tune gemm/cpu takes f32 and f64"},
        Bad{"tune gemm/cpu -o -", "-o: '-' is not a file"},
        Bad{"tune gemm/cpu --seconds 0",
            "--seconds: '0' is not a number of seconds above 0, at most 3600"},
        Bad{"tune gemm/cuda/11 --device cpu",
            "gemm/cuda/11_split_k does not run on the cpu; see --device", 3},
        Bad{"tune gemm/cuda/11 --device virtual --dtype f16", "gemm/cuda/11_split_k: no f16", 3},
        Bad{"tune gemm/cuda/11 --device virtual --sizes 3x4", "--sizes: '3x4' is not N or MxNxK"},
        Bad{"tune gemm/cuda/11 --seconds 0",
            "--seconds: '0' is not a number of seconds above 0, at most 3600"},
        Bad{"tune gemm/cuda/11 --device virtual -o /", "-o: '/' cannot be written: Is a directory"},
        Bad{"tune gemm/cuda/11 --device virtual -o -", "-o: '-' is not a file"},
        Bad{"verify gemm/cuda --code ptx", "--code: 'ptx' is not one of clang, nvcc, cubin"},
        Bad{"bench gemm/cuda --vs openblas --device virtual",
            "--vs: 'openblas' runs on the cpu; it cannot be compared with rungs on virtual", 3}));

TEST(Usage, UnknownSelectorIsNamed) {
  for (const char* selector : {"fft", "gemm/tpu", "gemm/cpu/99", "list"}) {
    const Output output = run_rung(std::string("list ") + selector);
    EXPECT_EQ(output.exit_code, 2);
    EXPECT_EQ(output.out, "");
    ASSERT_EQ(lines(output.err).size(), 1u) << output.err;
    EXPECT_EQ(output.err.find("rung: '" + std::string(selector) + "'"), 0u) << output.err;
  }
}

TEST(Usage, OperandsBeyondMemoryAreRefused) {
  for (const char* arguments :
       {"bench gemm --sizes 2147483648", "verify gemm/cpu/00 --sizes 2147483648",
        "verify dot/cpu/00 --sizes 1e12", "verify gemm/cuda/02 --sizes 2147483648",
        "trace gemm/cuda/02 --n 2147483648", "trace dot/cuda/06 --n 1e12"}) {
    const Output output = run_rung(arguments);
    EXPECT_EQ(output.exit_code, 2) << arguments;
    EXPECT_EQ(output.out, "");
    ASSERT_EQ(lines(output.err).size(), 1u) << output.err;
    EXPECT_NE(output.err.find("the operands take "), std::string::npos) << output.err;
  }
}

TEST(Usage, AMessageIsOneLine) {
  const Output output = run_rung("list \"$(printf 'gemm\\n\\033[31m')\"");
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_EQ(lines(output.err).size(), 1u) << output.err;
  EXPECT_EQ(output.err.find('\033'), std::string::npos);
}

TEST(Usage, MissingPeerIsUnavailableIfAskedFor) {
  const Output output =
      run_shell("RUNG_OPENBLAS=/nowhere/libblas.so \"$RUNG\" bench gemm --vs openblas");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_EQ(output.out, "");
  EXPECT_NE(output.err.find("--vs: 'openblas' is not available: RUNG_OPENBLAS: "),
            std::string::npos)
      << output.err;
}

TEST(Usage, APeerThatCannotBeOpenedIsNamedWithItsFile) {
  const Folder folder;
  std::filesystem::create_directory(folder / "peers");
  std::ofstream(folder / "peers/libmkl_rt.so") << "no library";
  const std::string peers = "RUNG_PEERS=" + (folder / "").string();
  const Output asked = run_shell(peers + " \"$RUNG\" bench gemm/cpu/00 --n 4 --vs mkl");
  EXPECT_EQ(asked.exit_code, 3);
  EXPECT_NE(asked.err.find("--vs: 'mkl' is not available: "), std::string::npos) << asked.err;
  EXPECT_NE(asked.err.find("peers/libmkl_rt.so"), std::string::npos) << asked.err;
  const Output unasked =
      run_shell(peers + " \"$RUNG\" bench gemm/cpu/00 --n 4 --seconds 0.001 2>&1");
  EXPECT_EQ(unasked.exit_code, 0) << unasked.out;
  EXPECT_NE(unasked.out.find("peer mkl is not available: "), std::string::npos) << unasked.out;
}

// Each option has one spelling in the help; earlier spellings stay valid.
TEST(Usage, EarlierSpellingsAreHidden) {
  struct Renamed {
    const char *command, *old, *name;
  };
  for (const Renamed& each :
       {Renamed{"emu", "--compiler", "--code"}, Renamed{"emu", "--devices", "--device-count"},
        Renamed{"verify", "--compiler", "--code"}, Renamed{"trace", "--line", "--at"},
        Renamed{"explain", "--launch", "--launch-time"}, Renamed{"bench", "--against", "--vs"}}) {
    const Output help = run_rung(std::string(each.command) + " --help");
    EXPECT_NE(help.out.find(std::string(each.name) + " "), std::string::npos) << each.name;
    EXPECT_EQ(help.out.find(std::string(each.old) + " "), std::string::npos) << each.old;
    if (each.old == std::string("--against")) continue;  // takes any number of values
    const Output old = run_rung(std::string(each.command) + " " + each.old);
    EXPECT_EQ(old.err, std::string("rung: ") + each.old + ": expected a value; see --help\n");
  }
}

TEST(Usage, HelpFitsTheTerminal) {
  for (const char* command :
       {"", "list", "verify", "bench", "tune", "trace", "explain", "diff", "report", "new", "check",
        "run", "emu", "python", "learn", "dist", "doctor"}) {
    const Output wide = run_rung(std::string(command) + " --help");
    EXPECT_EQ(wide.exit_code, 0);
    for (const std::string& line : lines(wide.out)) EXPECT_LE(line.size(), 80u) << line;
  }
  setenv("COLUMNS", "60", 1);
  const Output narrow = run_rung("verify --help");
  unsetenv("COLUMNS");
  EXPECT_NE(narrow.out.find("\n                              "), std::string::npos);
  EXPECT_NE(narrow.out, run_rung("verify --help").out);
}

// Without a command: what there is to do, in one screen, as bad usage.
TEST(Usage, NoCommandPrintsTheShortHelp) {
  const Output output = run_rung("");
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_EQ(output.out, "");
  const std::vector<std::string> said = lines(output.err);
  EXPECT_LE(said.size(), 24u);
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said.back(), "rung: expected a command; see rung --help");
  for (const std::string& line : said) EXPECT_LE(line.size(), 80u) << line;
  for (const char* command : {"learn", "emu", "explain", "check", "bench", "--help"}) {
    EXPECT_NE(output.err.find(std::string("rung ") + command), std::string::npos) << command;
  }
}

TEST(Usage, HelpAndVersionSucceed) {
  EXPECT_EQ(run_rung("--version").out, "rung " RUNG_PROJECT_VERSION "\n");
  for (const char* arguments : {"--help", "list --help", "verify --help", "bench --help",
                                "tune --help", "explain --help", "diff --help"}) {
    const Output output = run_rung(arguments);
    EXPECT_EQ(output.exit_code, 0);
    EXPECT_EQ(output.err, "");
    EXPECT_NE(output.out.find("Examples:"), std::string::npos);
  }
}

}  // namespace
}  // namespace rung
