// How an execution has ended on a rank.
#pragma once

#include <cstdint>
#include <exception>

namespace weft {

/// What says more of why it has failed comes first.
enum class Ending : std::uint8_t {
  failed,
  lost_network,  ///< by a `LostNetwork`
  aftermath,     ///< by an `Aftermath`: most likely another rank has failed
  well
};

/// By what it has thrown; null: nothing.
Ending ending_of(const std::exception_ptr& failure);

}  // namespace weft
