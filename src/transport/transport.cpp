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
  const char* operation = "plan: option exchange";
  std::string serving;  // what would do here
  const ExchangeRow* named = nullptr;
  for (const ExchangeRow& row : exchange_table()) {
    if (name == row.name) named = &row;
    if (!row.applicable(comm) || (row.direct && !own_workspace)) continue;
    if (name == "auto" || name == row.name) return row;
    serving += std::string(serving.empty() ? "" : ", ") + row.name;
  }
  if (named == nullptr) throw Error(operation, "\"" + name + "\"", "auto or one of " + serving);
  if (named->applicable(comm))
    throw Error(operation, "\"" + name + "\" with workspace given by the user",
                "workspace of the plan, or one of " + serving);
  throw Error(operation, "\"" + name + "\" among ranks of medium " + comm.medium(),
              "auto or one of " + serving);
}

}  // namespace weft
