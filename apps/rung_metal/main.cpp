#include "apps/rung_metal/metal.hpp"

int main(int argc, char** argv) { return rung::emu::run_metal(argc, argv); }
