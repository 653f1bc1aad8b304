// What moves the bytes of a reshape. An exchange is one algorithm on one medium: one file, one row of the
// table. There are two kinds. A buffered exchange carries tiles (post, wait): packed ones, or strided boxes
// from where they lie to where they belong. A direct one lets ranks store into each other's workspace and
// only has to keep order, by two flags per peer and tile. Exec drives both through this seam, and never
// waits inside it unless told to, so that an execution can be left and taken up again.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/comm_impl.hpp"
#include "comm/shared_memory.hpp"
#include "device/device.hpp"
#include "traffic/messages.hpp"
#include "traffic/traits.hpp"

namespace weft {

/// What `next_arrival` returns other than a position.
inline constexpr int no_more_arrivals = -1, no_arrival_yet = -2;

/// Whether a call may wait, or only looks.
enum class Patience { look, wait };

/// Carries tiles. Between `post` and the calls that complete it, a tile's buffers belong to the
/// exchange.
class BufferedExchange {
 public:
  virtual ~BufferedExchange() = default;
  /// Meets the other ranks, once, after all of them have made theirs. Collective.
  virtual void connect() {}
  /// Starts sends and receives of a tile, at the messages' offsets from the workspace or, strided, at the
  /// offsets of their parts. Blocking exchanges complete them.
  virtual void post(int tile, const Memory& memory) = 0;
  /// Whether what the tile sends may be overwritten; with `wait`, returns when it may.
  virtual bool sent(int tile, Patience patience) = 0;
  /// The position, among the tile's receives, of a part that has arrived and was not returned before;
  /// `no_more_arrivals` when all are there and have been returned (strided: parts need not be returned);
  /// `no_arrival_yet` if it would have to wait and must not.
  virtual int next_arrival(int tile, Patience patience) = 0;
  /// Gives the medium a chance to move posted tiles.
  virtual void progress() {}
  /// Execution has failed on this rank: other threads touch nothing of it once this returns.
  virtual void cancel() noexcept {}
};

/// Keeps order among ranks that store into each other's workspace.
class DirectExchange {
 public:
  virtual ~DirectExchange() = default;
  /// A new execution begins; flags are numbered by execution.
  virtual void begin() = 0;
  /// The start of a peer's workspace.
  virtual std::byte* workspace_of(int peer) const = 0;
  /// Tiles are signalled in ascending order, to each peer those that it gets something of.
  virtual void signal_free(int tile) = 0;
  virtual void signal_full(int tile, int peer) = 0;
  /// Whether the peer has freed the tile, or has put its part; with `wait`, returns when it has.
  virtual bool is_free(int tile, int peer, Patience patience) = 0;
  virtual bool is_full(int tile, int peer, Patience patience) = 0;
  /// Execution has failed on this rank: waits for it fail, too.
  virtual void cancel() noexcept = 0;
};

/// Carries tiles of device memory. As `BufferedExchange`, but what it does to that memory it does on a
/// stream, behind what has been enqueued there. One that is made by `make_stream_buffered` does all of it
/// there: what is enqueued behind `post` finds the tile carried, and the other calls do not wait.
class StreamBufferedExchange {
 public:
  virtual ~StreamBufferedExchange() = default;
  virtual void connect() {}
  /// Starts a tile; false if it would have to wait for the stream and must not: then to be called again.
  virtual bool post(int tile, const Memory& memory, DeviceStream& stream, Patience patience) = 0;
  virtual bool sent(int tile, Patience patience) = 0;
  /// The part that it returns is there for what follows on the stream.
  virtual int next_arrival(int tile, DeviceStream& stream, Patience patience) = 0;
  virtual void progress() {}
  /// Throws if another rank has failed meanwhile, after it has let go of the streams that wait for that rank.
  virtual void check() {}
  virtual void cancel() noexcept {}
};

/// Keeps order among ranks that copy into each other's device memory: as `DirectExchange`, but streams store
/// and wait for the flags, which are only named here.
class StreamDirectExchange {
 public:
  virtual ~StreamDirectExchange() = default;
  /// A new execution begins; `turn` is 0 and 1 in turn; or, if ranks may be an execution apart, 0 and 2 for
  /// some and 1 and 3 for others, none of which are neighbours. Those of the same turn enqueue the same.
  /// Throws `weft::Error` if a rank has failed in an earlier one.
  virtual void begin(int turn) = 0;
  virtual std::byte* workspace_of(int peer) const = 0;
  /// Appended to what a stream is to store and to wait for.
  virtual void signal_free(int tile, std::vector<DeviceFlag>& flags) const = 0;
  virtual void signal_full(int tile, int peer, std::vector<DeviceFlag>& flags) const = 0;
  virtual void await_free(int tile, int peer, std::vector<DeviceFlag>& flags) const = 0;
  virtual void await_full(int tile, int peer, std::vector<DeviceFlag>& flags) const = 0;
  /// For flags that are stored at the end of copies (`DeviceSignals`).
  virtual std::byte* count() const = 0;
  /// Throws if another rank has failed meanwhile.
  virtual void check() const = 0;
  /// This rank has failed: lets go of the streams that wait for it, and of its own. What is enqueued already
  /// may take that back as it passes by: to be repeated until it has.
  virtual void cancel() noexcept = 0;
};

class PeerMemory;

/// What an exchange is made from.
struct ExchangeContext {
  CommImpl& comm;
  const ReshapeMessages& reshape;
  std::vector<int> groups;               ///< per rank, the number of its exchange group
  std::shared_ptr<std::byte> workspace;  ///< the plan's own; null if the user gives one at execution
  // For a direct exchange:
  std::shared_ptr<SharedMemory> shared;  ///< of all ranks, zero when it was shared
  Index flags_offset = 0;                ///< in it, alike on all ranks: room of `..._flag_bytes`
  Index workspace_offset = 0;            ///< in it, alike on all ranks
  // In memory of devices:
  std::shared_ptr<Device> device;     ///< that of this rank, entered
  std::shared_ptr<PeerMemory> peers;  ///< in the place of `shared`; zero where the flags are
  bool device_memory = false;         ///< buffered: what `post` is given is memory of devices
  bool apart = false;                 ///< direct: ranks may be an execution apart
};

/// What a direct exchange needs on every rank beside the workspace: on the host, and for a reshape in memory
/// of devices.
Index direct_flag_bytes(int ranks);
Index peer_flag_bytes(const ReshapeMessages& reshape, int ranks);

/// What is asked of exchanges beside the ranks that they serve.
struct ExchangeNeeds {
  bool own_workspace = true;
  bool device = false;       ///< arrays are in memory of devices
  bool peers = false;        ///< some of which reach each other
  bool own_devices = false;  ///< no two ranks share one
};

struct ExchangeRow {
  const char* name;
  const char* meaning;
  ExchangeTraits traits;
  /// Whether posted tiles move on while these ranks compute, so that pipelining pays.
  bool (*overlaps)(CommImpl& comm);
  /// Whether the ranks of `comm` can be served at all.
  bool (*applicable)(CommImpl& comm);
  /// At most one of the two makers is set, none if only devices are served: `make_direct` if tiles are
  /// carried directly. Local; throw `weft::Error`, also for counts beyond what the medium can express.
  std::unique_ptr<BufferedExchange> (*make_buffered)(const ExchangeContext& context);
  std::unique_ptr<DirectExchange> (*make_direct)(const ExchangeContext& context);
  /// For memory of devices, in the place of `make_direct`. What is made by `make_buffered` and packed serves
  /// devices through pinned memory (`make_staged`).
  std::unique_ptr<StreamDirectExchange> (*make_stream_direct)(const ExchangeContext& context) = nullptr;
  /// The same for packed parts that are carried on streams, between ranks that each have a device of their
  /// own.
  std::unique_ptr<StreamBufferedExchange> (*make_stream_buffered)(const ExchangeContext& context) = nullptr;
  /// Whether what it makes for these ranks takes memory of devices, which the medium has to say; null: it
  /// does not.
  bool (*takes_devices)(CommImpl& comm) = nullptr;
  /// Why it cannot be used in this process, or nothing; null: it is part of Weft.
  std::string (*missing)() = nullptr;
  /// Meets the other ranks, before exchanges are made from the row. Collective; throws the same `weft::Error`
  /// on all ranks.
  void (*prepare)(CommImpl& comm, const std::shared_ptr<Device>& device) = nullptr;
};

/// Whether arrays in memory of devices can go through pinned memory of the host.
bool stages(const ExchangeRow& row);

/// Whether it may be given that memory itself.
bool takes_devices(const ExchangeRow& row, CommImpl& comm);

/// The maker of a row: `make_exchange<BufferedExchange, MpiP2p>`.
template <class Kind, class Exchange>
std::unique_ptr<Kind> make_exchange(const ExchangeContext& context) {
  return std::make_unique<Exchange>(context);
}

/// Whether an exchange can be had between these ranks, with what is asked of it.
bool serves(const ExchangeRow& row, CommImpl& comm, const ExchangeNeeds& needs);

/// All exchanges of this build, the preferred ones first.
std::span<const ExchangeRow> exchange_table();

/// The named exchange. With "auto" of those that serve the first that moves on while these ranks compute,
/// else the first that packs nothing, else the first; among devices a direct one before all others. Throws
/// `weft::Error` that lists the names, or says why the named one cannot serve.
const ExchangeRow& find_exchange(const std::string& name, CommImpl& comm, const ExchangeNeeds& needs);

/// What serves the pairs of ranks that a direct exchange leaves out: those of different machines, or, among
/// devices, those that do not reach each other, through pinned memory. Throws `weft::Error` if nothing does.
const ExchangeRow& find_far_exchange(CommImpl& comm, bool device);

/// Among several machines, what carries parts that a pipeline puts together by itself: a direct exchange
/// where any ranks share memory, else what would serve beside one.
const ExchangeRow& find_exchange_of_parts(CommImpl& comm, const ExchangeNeeds& needs);

/// The names of the exchanges that could serve, "p2p, alltoallv"; without those that pad if padding has no
/// room.
std::string serving_exchanges(CommImpl& comm, const ExchangeNeeds& needs, bool padding_fits = true);

// The rows; each is defined in the file of its algorithm.
ExchangeRow direct_row();
std::unique_ptr<StreamDirectExchange> make_peer_exchange(const ExchangeContext& context);
ExchangeRow nccl_row();
ExchangeRow threads_copy_row();
ExchangeRow mpi_p2p_row();
ExchangeRow mpi_p2pw_row();
ExchangeRow mpi_alltoallv_row();
ExchangeRow mpi_pairwise_row();
ExchangeRow mpi_alltoall_row();
ExchangeRow mpi_alltoallw_row();
ExchangeRow mpi_ialltoallv_row();

}  // namespace weft
