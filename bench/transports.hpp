// What `--transport` of weft-bench calls the ways between GPUs: each is an exchange and whether it goes
// through pinned memory of the host.
#pragma once

#include <span>

#include "comm/comm_impl.hpp"
#include "weft/options.hpp"

namespace weft::bench {

struct TransportRow {
  const char* name;
  const char* meaning;
  /// The exchange that it means among these ranks.
  const char* (*exchange)(CommImpl& comm);
  const char* staging;
};

std::span<const TransportRow> transport_table();

/// Sets what the named transport stands for. Throws `weft::Error` for names that do not exist.
void choose_transport(const std::string& name, CommImpl& comm, Options& options);

}  // namespace weft::bench
