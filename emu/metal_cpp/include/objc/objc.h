#pragma once
// The names of Objective-C that metal-cpp's headers include.

using BOOL = bool;
using id = void*;
using SEL = const char*;
#define YES true
#define NO false
#ifndef nil
#define nil nullptr
#endif
#ifndef Nil
#define Nil nullptr
#endif
