#include "bench_arguments.hpp"

namespace rung {

void RandomArguments::add_random(Options& app) {
  app.add_option("--random", count,
                 "Draw N random shapes and compare the library with its peers on them; for "
                 "gemm/cpu or gemm/cuda. --dtype and --layout then take several, and --layout all")
      ->type_name("N");
  app.add_option("--seed", seed, "Seed of the random shapes (default: 1)")->type_name("S");
  app.add_option("--max-size", max_size,
                 "Largest m, n and k of the random shapes (default: 16384; on the CPU 4096, on the "
                 "virtual GPU 64)")
      ->type_name("N");
  app.add_flag("--regret", regret,
               "Also time every tile and split of the rungs that the library uses, or of the "
               "selected ones if they are selected by number, for each random shape or each of "
               "--sizes");
}

void BenchArguments::add_all(Options& app) {
  add_selectors(app, true);
  add_extents(app);
  app.add_option("--sizes", sizes,
                 "Comma-separated sizes, each N or MxNxK, instead of --m, --n and --k")
      ->type_name("N|MxNxK,...");
  app.add_option(
         "--batch", batch,
         "Products of that size in one call, each with matrices of its own (default: 1); or "
         "a number for each of --sizes")
      ->type_name("N,...");
  app.add_option("--groups", groups,
                 "Ragged groups: that many matrices B, each for a part of the rows of A; with "
                 "--tokens, and --sizes as NxK")
      ->type_name("N");
  app.add_option("--tokens", tokens, "Rows of all groups together")->type_name("M");
  app.add_option("--skew", skew, "How the rows are divided: none (evenly) or zipf (default: none)")
      ->type_name("SKEW");
  app.add_option(
         "--epilogue", epilogue,
         "Epilogue that the library and cublaslt compute in the same call: bias, relu, gelu, "
         "gelu-erf, silu, aux, residual; rungs compute the product alone")
      ->type_name("PART,...");
  app.add_option(
         "--scales", scales,
         "block: with --dtype e4m3, the library and cublaslt multiply by a scale for each 128 "
         "elements of a row of A and each 128 x 128 of B; rungs compute the product alone. With "
         "--groups, the library does")
      ->type_name("SCALES");
  app.add_option("--weights", weights,
                 "int4 or int8: the library multiplies by packed weights in the place of B, with a "
                 "dtype of 16 bits; rungs and peers multiply by the same numbers in 16 bits")
      ->type_name("TYPE");
  app.add_option("--weight-group", weight_group,
                 "Elements of a row of the weights that share a scale: 64 or 128 (default: 128)")
      ->type_name("N");
  add_device_dtype_threads(app);
  app.add_option(
         "--vs", peers,
         "Libraries to compare with: openblas, blis, aocl, onednn, mkl; on a GPU cublas, cublaslt, "
         "cub; or none (default: all that are installed). A file of yours is also compared with "
         "rungs, and with Rung's own choice by library")
      ->type_name("PEER")
      ->delimiter(',')
      ->take_all();
  app.add_option("--against", against, "--vs for a file of yours")
      ->hidden()
      ->delimiter(',')
      ->take_all();
  add_kernel_file(app);
  add_form(app);
  app.add_option(
         "--math", math,
         "Compute mode of the library's gemm: standard, split (f32 by halves, f64 by residues) or, "
         "for f32, reproducible (the same bits everywhere), or batch_invariant (a row's bits do "
         "not "
         "depend on m)")
      ->type_name("MODE")
      ->capture_default_str();
  app.add_option(
         "--family", family,
         "How the elements of A and B are drawn: symmetric (uniform in [-1, 1]), uniform "
         "(in [0, 1)), normal or, for f32 and f64, wide (normal; rows of A and columns of "
         "B times 10^-12 to 10^12), cancelling (sums to 2^-18 of their terms), spread (each "
         "element times exp(4 X), X normal) or, for f32, mixed (normal; A of bf16, in which the "
         "library takes it)")
      ->type_name("FAMILY")
      ->capture_default_str();
  app.add_option("--seconds", seconds,
                 "Time budget per measurement, in seconds (default: 0.5; with --random 0.05)")
      ->type_name("S");
  app.add_flag("--cold", cold, "Use new operands, not in any cache, for each call");
  app.add_flag("--remeasure-ceilings", remeasure_ceilings,
               "Measure the ceilings for the JSON again instead of reading them from the cache");
  random.add_random(app);
  add_json(app);
  app.add_option("--html", html,
                 "Write an HTML page, like rung report, to FILE; - for standard output")
      ->type_name("FILE");
  app.add_option(
         "--baseline", baseline,
         "Compare with FILE, the --json of an earlier run: what changed by more than the noise")
      ->type_name("FILE");
  app.add_option("--csv", csv,
                 "Write times and errors as comma-separated values to FILE; - for standard output")
      ->type_name("FILE");
}

}  // namespace rung
