/* heFFTe's interface (version 2.4) over Weft: a program that includes "heffte.h" is compiled with this one
   instead, and linked with Weft. C++11 is enough. docs/from-heffte.md says what is there and what is
   different. A C program gets heFFTe's C interface. */
#ifndef WEFT_HEFFTE_H
#define WEFT_HEFFTE_H

#ifdef __cplusplus
#include "heffte_parts/fft3d.hpp"
#else
#include "heffte_c.h"
#endif

#endif
