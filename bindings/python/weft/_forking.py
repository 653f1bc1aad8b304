"""Making plans, and fork: a child has the locks of libraries as they are then, and no thread that would open them."""

from __future__ import annotations

import os
import threading

# Held while one rank alone makes a plan, or `weft.fftn` and its like do, and while the process forks. Where several
# ranks make a plan, it is not: they wait for each other.
planning = threading.RLock()
os.register_at_fork(before=planning.acquire, after_in_parent=planning.release, after_in_child=planning.release)
