#pragma once
/* The CUDA whose interface these headers promise; what a program may ask for with #if. Code for Blackwell needs 12.9, the
 * first that compiles for sm_100a, sm_103a and sm_120a; what 12.9 has and these headers lack is missing by its name. */

#ifdef RUNG_EMU_BLACKWELL
#define RUNG_EMU_CUDA_MINOR 9
#define RUNG_EMU_CUDA_VERSION 12090
#else
#define RUNG_EMU_CUDA_MINOR 4
#define RUNG_EMU_CUDA_VERSION 12040
#endif
#ifndef CUDA_VERSION
#define CUDA_VERSION RUNG_EMU_CUDA_VERSION
#endif
