// Whether an exchange can be used here that depends on a library which not every system has.
#pragma once

#include "comm/comm_impl.hpp"
#include "transport/transport.hpp"
#include "weft/comm.hpp"

namespace weft::test {

/// Why not; or nothing. Only of exchanges that need a library of their own. Collective.
inline std::string why_no_exchange(const Comm& comm, const std::string& name) {
  const ExchangeRow& row = exchange_row(name);
  return row.traits.on_rails ? row.missing(comm.impl()) : "";
}

inline bool has_exchange(const Comm& comm, const std::string& name) {
  return why_no_exchange(comm, name).empty();
}

}  // namespace weft::test
