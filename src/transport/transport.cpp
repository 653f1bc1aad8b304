#include "transport/transport.hpp"

#include <array>

#include "weft/error.hpp"

namespace weft {

std::span<const ExchangeRow> exchange_table() {
  static const std::array table{
      threads_direct_row(), threads_copy_row(),
#ifdef WEFT_WITH_MPI
      mpi_p2p_row(),        mpi_alltoallv_row(), mpi_pairwise_row(),
#endif
  };
  return table;
}

const ExchangeRow& find_exchange(const std::string& name, CommImpl& comm, bool own_workspace) {
  std::string names = "auto";
  const char* operation = "plan: option exchange";
  const std::string quoted = "\"" + name + "\"";
  for (const ExchangeRow& row : exchange_table()) {
    names += std::string(", ") + row.name;
    if (name != "auto" && name != row.name) continue;
    const bool usable = row.applicable(comm);
    if (usable && (own_workspace || !row.direct)) return row;
    if (name == "auto") continue;
    if (usable)
      throw Error(operation, quoted + " with workspace given by the user",
                  "workspace of the plan, or an exchange that is not direct");
    throw Error(operation, quoted + " among ranks of medium " + comm.medium(),
                "an exchange that serves this medium");
  }
  throw Error(operation, quoted, "one of " + names);
}

}  // namespace weft
