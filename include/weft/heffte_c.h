/* heFFTe's C interface (version 2.4) over Weft: a C program that includes "heffte.h" or "heffte_c.h" is
   compiled with this one instead, and linked with Weft. docs/from-heffte.md says what is different. */
#ifndef WEFT_HEFFTE_C_H
#define WEFT_HEFFTE_C_H

#include "heffte_parts/c_interface.h"

#endif
