"""Making plans, and fork: a child has the locks of libraries as they are then, and no thread that would open them."""

from __future__ import annotations

import os
import threading

# Held by whoever makes a plan that is kept for later calls, and while the process forks.
planning = threading.RLock()
os.register_at_fork(before=planning.acquire, after_in_parent=planning.release, after_in_child=planning.release)
