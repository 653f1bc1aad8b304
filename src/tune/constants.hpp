// The constants of the planner's rules that differ between machines. They come from a few short trials of the
// very programs that the rules are about, and are kept in wisdom under `Machine::fingerprint`: they are
// measured once for a machine with so many ranks.
#pragma once

#include "design/machine_constants.hpp"

namespace weft {

/// Measures `subtile` and `two_passes_from` on the calling thread, in about 150 ms of its time. A constant
/// leaves its default only for a clear gain, so that two calls nearly always agree; it stays there without a
/// local FFT library. Local.
///
/// `store_past_from` stays as it is: what one thread stores past its cache it reads again itself, and loses
/// (64^3 to 120^3 with a cache of 2 MiB: 10 to 35%), where two ranks that exchange the same boxes gain (10 to
/// 40%).
MachineConstants measure_constants();

}  // namespace weft
