/* For C programs that include "heffte_c.h": this folder is the one to name to the compiler. */
#include "../heffte_c.h"
