// Whether an exchange can be used here that depends on a library which not every system has.
#pragma once

#include "comm/comm_impl.hpp"
#include "transport/transport.hpp"
#include "weft/comm.hpp"
#include "weft/options.hpp"

namespace weft::test {

/// Why not; or nothing. Its name may be followed by how it sends. Only of exchanges that need a library of
/// their own. Collective.
inline std::string why_no_exchange(const Comm& comm, const std::string& name) {
  const ExchangeRow& row = exchange_row(name.substr(0, name.find(' ')));
  return row.traits.on_rails ? row.missing(comm.impl()) : "";
}

inline bool has_exchange(const Comm& comm, const std::string& name) {
  return why_no_exchange(comm, name).empty();
}

/// Of an exchange, or "ucx puts": then also how ucx sends. Machines that are pretended have loopback between
/// them.
inline Options by_exchange(const std::string& name) {
  const std::string first = name.substr(0, name.find(' '));
  Options options = Options().set("exchange", first);
  if (first == "node_ucx") options.set("rails", "lo");
  return first == name ? options : options.set("one_sided", "on");
}

}  // namespace weft::test
