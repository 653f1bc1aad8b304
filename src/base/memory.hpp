// The memory of this machine, as far as the system tells.
#pragma once

namespace weft {

/// Bytes that a process could still get: of the machine, or of the control group (a container, a batch job)
/// that limits it further. Infinity if the system does not say.
double available_bytes();

}  // namespace weft
