// What moves the bytes of a reshape. An exchange is one algorithm on one medium: one file, one row of the
// table. There are two kinds. A buffered exchange carries packed tiles (post, wait, unpack); a direct one
// lets ranks store into each other's workspace and only has to keep order, by two flags per peer and tile.
// Exec drives both through this seam.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/comm_impl.hpp"
#include "program/messages.hpp"

namespace weft {

/// Carries packed tiles. Between `post` and the calls that complete it, a tile's buffers belong to the
/// exchange.
class BufferedExchange {
 public:
  virtual ~BufferedExchange() = default;
  /// Meets the other ranks, once, after all of them have made theirs. Collective.
  virtual void connect() {}
  /// Starts sends and receives of a tile, at the messages' offsets from `work`.
  virtual void post(int tile, std::byte* work) = 0;
  /// Returns when the tile's send buffers may be overwritten.
  virtual void wait_sent(int tile) = 0;
  /// The position, among the tile's receives, of a part that has arrived and was not returned before; waits
  /// for one if need be. -1 when all have been returned.
  virtual int next_arrival(int tile) = 0;
  /// Gives the medium a chance to move posted tiles.
  virtual void progress() {}
  /// Execution has failed on this rank: other threads touch nothing of it once this returns.
  virtual void cancel() noexcept {}
};

/// Keeps order among ranks that store into each other's workspace.
class DirectExchange {
 public:
  virtual ~DirectExchange() = default;
  /// Meets the other ranks, once, after all of them have made theirs. Collective.
  virtual void connect() = 0;
  /// A new execution begins; flags are numbered by execution.
  virtual void begin() = 0;
  /// The start of a peer's workspace.
  virtual std::byte* workspace_of(int peer) const = 0;
  virtual void signal_free(int tile) = 0;
  virtual void await_free(int tile, int peer) = 0;
  virtual void signal_full(int tile, int peer) = 0;
  virtual void await_full(int tile, int peer) = 0;
};

/// What an exchange is made from.
struct ExchangeContext {
  CommImpl& comm;
  const ReshapeMessages& reshape;
  std::vector<int> groups;               ///< per rank, the number of its exchange group
  std::shared_ptr<std::byte> workspace;  ///< the plan's own; null if the user gives one at execution
};

struct ExchangeRow {
  const char* name;
  const char* meaning;
  bool direct;
  /// Whether posted tiles move on while these ranks compute, so that pipelining pays.
  bool (*overlaps)(CommImpl& comm);
  /// Whether the ranks of `comm` can be served at all.
  bool (*applicable)(CommImpl& comm);
  /// Exactly one of the two makers is set, by kind. Local; throw `weft::Error`, also for counts beyond what
  /// the medium can express.
  std::unique_ptr<BufferedExchange> (*make_buffered)(const ExchangeContext& context);
  std::unique_ptr<DirectExchange> (*make_direct)(const ExchangeContext& context);
};

/// The maker of a row: `make_exchange<BufferedExchange, MpiP2p>`.
template <class Kind, class Exchange>
std::unique_ptr<Kind> make_exchange(const ExchangeContext& context) {
  return std::make_unique<Exchange>(context);
}

/// All exchanges of this build, the preferred ones first.
std::span<const ExchangeRow> exchange_table();

/// The named exchange, or with "auto" the first of the table that applies and, if `own_workspace` is false,
/// is buffered. Throws `weft::Error` that lists the names, or says why the named one cannot serve.
const ExchangeRow& find_exchange(const std::string& name, CommImpl& comm, bool own_workspace);

// The rows; each is defined in the file of its algorithm.
ExchangeRow threads_direct_row();
ExchangeRow threads_copy_row();
ExchangeRow mpi_p2p_row();
ExchangeRow mpi_alltoallv_row();
ExchangeRow mpi_pairwise_row();

}  // namespace weft
