// Constants of the planner's rules that differ between machines. They are measured by short trials of the
// programs that the rules choose between, and kept in wisdom under `Machine::fingerprint`, so that they are
// measured once per machine and number of ranks.
#pragma once

#include "design/machine_constants.hpp"

namespace weft {

/// Measures `subtile` and `two_passes_from` on the calling thread in about 150 ms. A constant changes only
/// for a clear gain, so that two calls nearly always agree. Without a local FFT library all stay at their
/// defaults. Local.
///
/// `store_past_from` is not measured: a single thread reads again what it has stored past its cache, and
/// loses 10 to 35% (64^3 to 120^3, cache of 2 MiB), where two ranks that exchange such boxes gain 10 to 40%.
MachineConstants measure_constants();

}  // namespace weft
