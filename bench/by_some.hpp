// Collective work of some ranks, of which the others hear if it fails.
#pragma once

#include <exception>

#include "comm/agree.hpp"
#include "weft/comm.hpp"

namespace weft::bench {

/// Does what only some of the ranks have a part in; if it fails, all ranks fail. The others wait without
/// keeping a core busy.
template <class Measure>
void by_some(const Comm& comm, bool takes_part, const Measure& measure) {
  std::exception_ptr failure;
  try {
    if (takes_part) measure();
  } catch (...) {
    failure = std::current_exception();
  }
  agree(comm.impl(), "weft-bench --measure-machine", [&] {
    if (failure) std::rethrow_exception(failure);
  });
}

}  // namespace weft::bench
