#pragma once
/* The rounding modes of CUDA's conversions to small floats. */

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
