// The memory of this machine, as the operating system reports it.
#pragma once

namespace weft {

/// Bytes that this process could still allocate: what is free on the machine, or in the control group (a
/// container, a batch job) if that is less. Infinity if the system does not report it.
double available_bytes();

}  // namespace weft
