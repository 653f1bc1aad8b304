// The values of weft-bench's `--transport`, for GPUs. Each stands for an exchange and a value of option
// staging.
#pragma once

#include <span>

#include "comm/comm_impl.hpp"
#include "weft/options.hpp"

namespace weft::bench {

struct TransportRow {
  const char* name;
  const char* meaning;
  /// The exchange among these ranks.
  const char* (*exchange)(CommImpl& comm);
  const char* staging;
};

std::span<const TransportRow> transport_table();

/// Sets the options of the named transport. Throws `weft::Error` for unknown names.
void choose_transport(const std::string& name, CommImpl& comm, Options& options);

}  // namespace weft::bench
