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
      mpi_alltoall_row(), mpi_alltoallw_row(), mpi_ialltoallv_row(),
#endif
      nccl_row(),
  };
  return table;
}

int merit(const ExchangeRow& row, CommImpl& comm, const ExchangeNeeds& needs) {
  if (needs.device && row.traits.stores) return 3;
  if (row.overlaps(comm)) return 2;
  return packs_nothing(row.traits) ? 1 : 0;
}

/// Why a row that exists does not serve, as an error says it.
std::string misfit(const ExchangeRow& row, CommImpl& comm, const ExchangeNeeds& needs) {
  if (!row.applicable(comm)) return std::string(" among ranks of medium ") + comm.medium();
  if (row.traits.stores && !needs.own_workspace) return " with workspace given by the user";
  if (!needs.device) return " with arrays on the host";
  if (row.traits.on_streams) return " among ranks that share a GPU";
  return row.traits.stores ? " among GPUs that do not reach each other" : " with arrays in memory of a GPU";
}
const ExchangeRow& present(const ExchangeRow& row) {
  const std::string missing = row.missing != nullptr ? row.missing() : "";
  if (missing.empty()) return row;
  throw Error("plan: option exchange", std::string("\"") + row.name + "\": " + missing, "auto");
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

bool serves(const ExchangeRow& row, CommImpl& comm, const ExchangeNeeds& needs) {
  if (!row.applicable(comm)) return false;
  if (row.traits.stores)
    return needs.own_workspace &&
           (needs.device ? needs.peers && row.takes_devices != nullptr : row.traits.serves_host);
  if (!needs.device) return row.traits.serves_host;
  return row.traits.on_streams ? needs.own_devices : stages(row);
}

bool stages(const ExchangeRow& row) {
  return row.traits.serves_host && !packs_nothing(row.traits);
}

bool takes_devices(const ExchangeRow& row, CommImpl& comm) {
  return stages(row) && row.takes_devices != nullptr && row.takes_devices(comm);
}

std::string serving_exchanges(CommImpl& comm, const ExchangeNeeds& needs, bool padding_fits) {
  std::string names;
  for (const ExchangeRow& row : exchange_table())
    if (serves(row, comm, needs) && (padding_fits || row.traits.form != Form::padded))
      names += std::string(names.empty() ? "" : ", ") + row.name;
  return names;
}

const ExchangeRow& find_far_exchange(CommImpl& comm, bool device) {
  for (const ExchangeRow& row : exchange_table())
    if ((device ? stages(row) && row.traits.concurrent : row.traits.beside_stores) && row.applicable(comm))
      return row;
  throw Error("plan: option exchange", std::string("direct among some ranks of medium ") + comm.medium(),
              "an exchange that serves the others beside it");
}

const ExchangeRow& find_exchange_of_parts(CommImpl& comm, const ExchangeNeeds& needs) {
  if (any_share_memory(comm))
    for (const ExchangeRow& row : exchange_table())
      if (row.traits.stores && serves(row, comm, needs)) return row;
  return find_far_exchange(comm, needs.device);
}

const ExchangeRow& find_exchange(const std::string& name, CommImpl& comm, const ExchangeNeeds& needs) {
  const char* operation = "plan: option exchange";
  const std::string serving = serving_exchanges(comm, needs);
  const ExchangeRow* named = nullptr;
  const ExchangeRow* best = nullptr;
  for (const ExchangeRow& row : exchange_table()) {
    if (name == row.name) named = &row;
    if (!serves(row, comm, needs)) continue;
    if (name == row.name) return present(row);
    if (!row.traits.by_name_only && (best == nullptr || merit(row, comm, needs) > merit(*best, comm, needs)))
      best = &row;
  }
  if (name == "auto" && best != nullptr) return *best;
  if (named == nullptr) throw Error(operation, "\"" + name + "\"", "auto or one of " + serving);
  const bool medium = !named->applicable(comm);
  const bool workspace = !medium && named->traits.stores && !needs.own_workspace;
  throw Error(operation, "\"" + name + "\"" + misfit(*named, comm, needs),
              (workspace ? "workspace of the plan, or one of " : "auto or one of ") + serving);
}

}  // namespace weft
