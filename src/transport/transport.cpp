#include "transport/transport.hpp"

#include "weft/error.hpp"

namespace weft {

namespace {
/// References stay good when a row joins or leaves at the end.
std::deque<ExchangeRow>& all_exchanges() {
  static std::deque<ExchangeRow> table{
      direct_row(),       threads_copy_row(),
#ifdef WEFT_WITH_MPI
      mpi_p2p_row(),      mpi_p2pw_row(),      mpi_alltoallv_row(),  mpi_pairwise_row(),
      mpi_alltoall_row(), mpi_alltoallw_row(), mpi_ialltoallv_row(), mpi_one_sided_ring_row(),
      mpi_node_row(),     ucx_row(),           ucx_node_row(),       nvshmem_row(),
#endif
      nccl_row(),
  };
  return table;
}

}  // namespace

const std::deque<ExchangeRow>& exchange_table() {
  return all_exchanges();
}

ScopedExchange::ScopedExchange(const ExchangeRow& row) {
  all_exchanges().push_back(row);
}

ScopedExchange::~ScopedExchange() {
  all_exchanges().pop_back();
}

const ExchangeRow& exchange_row(const std::string& name) {
  for (const ExchangeRow& row : exchange_table())
    if (name == row.name) return row;
  throw Error("plan: option exchange", "\"" + name + "\"", "an exchange of this build");
}

}  // namespace weft
