#include "apps/rung_nvcc/nvcc.hpp"

int main(int argc, char** argv) { return rung::emu::run_nvcc(argc, argv); }
