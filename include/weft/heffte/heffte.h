/* For programs that include "heffte.h": this folder is the one to name to the compiler. */
#include "../heffte.h"
