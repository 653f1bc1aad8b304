"""Where pip puts Intel MKL: beside the Python interpreter, where no loader looks by itself."""

from __future__ import annotations

import os
import site
import sys


def announce() -> None:
    """Names pip's MKL in WEFT_MKL_LIBRARY, if it is there and the variable is not set."""
    if "WEFT_MKL_LIBRARY" in os.environ:
        return
    for prefix in (sys.prefix, site.getuserbase()):
        if any(os.path.exists(os.path.join(prefix, "lib", f"libmkl_rt.so.{n}")) for n in (2, 3, 1)):
            os.environ["WEFT_MKL_LIBRARY"] = os.path.join(prefix, "lib")
            return
