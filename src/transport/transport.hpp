// What moves the bytes of a reshape. An exchange is one algorithm on one medium: one file, one row of the
// table. There are two interfaces. A carrier sends the parts of a tile in messages: packed parts, or strided
// boxes straight from and to their places. A window lets ranks store into each other's workspace; it moves
// nothing itself, and keeps order by two flags per peer and tile. Both work on a queue, which is the host or
// a stream of a device. An exchange waits only if its caller allows it, so that an execution can be left and
// taken up again.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/arithmetic.hpp"
#include "comm/comm_impl.hpp"
#include "device/device.hpp"
#include "traffic/messages.hpp"
#include "traffic/rail_settings.hpp"
#include "traffic/traits.hpp"

namespace weft {

/// What `next_arrival` returns other than a position.
inline constexpr int no_more_arrivals = -1, no_arrival_yet = -2;

/// Whether a call may wait, or only looks.
enum class Patience { look, wait };

/// Where an exchange works on the memory of tiles: on the host, at once, or on a stream, behind what has been
/// enqueued there. What an exchange has done on a stream holds for all that is enqueued there afterwards.
struct Queue {
  DeviceStream* stream = nullptr;  ///< null: the host
  /// Of a stream: flags that it is to store and to wait for with what is enqueued next, in this order; and
  /// the count of the window that they belong to (`DeviceSignals`).
  std::vector<DeviceFlag> flags = {};
  std::byte* count = nullptr;
};

/// Carries tiles in messages. Between `post` and the calls that complete it, a tile's buffers belong to the
/// carrier. One that works on the host alone does not look at the queue.
class Carrier {
 public:
  virtual ~Carrier() = default;
  /// Meets the other ranks, once, after all of them have made theirs. Collective.
  virtual void connect() {}
  /// Starts sends and receives of a tile, at the messages' offsets from the workspace or, for boxes, at the
  /// offsets of their parts. Blocking exchanges complete them. False if it would have to wait for the queue
  /// and must not: then to be called again.
  virtual bool post(int tile, const Memory& memory, Queue& queue, Patience patience) = 0;
  /// Of a tile that has been posted: the bytes of its messages that need not travel, as their lengths vary.
  virtual Index bytes_saved(int /*tile*/) const { return 0; }
  /// Whether what the tile sends may be overwritten; with `wait`, returns when it may.
  virtual bool sent(int tile, Patience patience) = 0;
  /// The position, among the tile's receives, of a part that has arrived and was not returned before;
  /// `no_more_arrivals` when all are there and have been returned (boxes need not be returned);
  /// `no_arrival_yet` if it would have to wait and must not.
  virtual int next_arrival(int tile, Queue& queue, Patience patience) = 0;
  /// Gives the medium a chance to move posted tiles.
  virtual void progress() {}
  /// Throws if another rank has failed meanwhile, after it has let go of the streams that wait for that rank.
  virtual void check() {}
  /// Execution has failed on this rank: other threads touch nothing of it once this returns.
  virtual void cancel() noexcept {}
};

/// A carrier whose tiles arrive as a whole: it returns their parts in order, all of them once the tile is
/// there. Here `carry` completes the tile, or enqueues all of it; who only starts it there overrides `sent`
/// and `next_arrival`.
class WholeTiles : public Carrier {
 public:
  explicit WholeTiles(const ReshapeMessages& reshape)
      : messages_(reshape.tiles), returned_(messages_.size()) {}

  bool post(int tile, const Memory& memory, Queue& queue, Patience /*patience*/) final {
    carry(tile, memory, queue);
    at(returned_, tile) = 0;
    return true;
  }
  bool sent(int /*tile*/, Patience /*patience*/) override { return true; }
  int next_arrival(int tile, Queue& /*queue*/, Patience /*patience*/) override {
    std::size_t& returned = at(returned_, tile);
    return returned < messages(tile).receives.size() ? static_cast<int>(returned++) : no_more_arrivals;
  }

 protected:
  virtual void carry(int tile, const Memory& memory, Queue& queue) = 0;
  const TileMessages& messages(int tile) const { return at(messages_, tile); }

 private:
  const std::vector<TileMessages>& messages_;
  std::vector<std::size_t> returned_;  ///< per tile
};

/// Keeps order among ranks that store into each other's workspace.
class Window {
 public:
  virtual ~Window() = default;
  /// The start of a peer's workspace.
  virtual std::byte* of(int peer) const = 0;
  /// A new execution begins; flags are numbered by execution. `turn` is 0 and 1 in turn; or, if ranks may be
  /// an execution apart, 0 and 2 for some and 1 and 3 for others, none of which are neighbours. Executions of
  /// the same turn do the same on streams. Throws `weft::Error` if a rank has failed in an earlier one.
  virtual void begin(int turn) = 0;
  /// `raise_free` tells the senders of a tile that they may store their parts in this rank's workspace;
  /// `raise_full` tells a receiver that this rank's part of the tile has been stored in its workspace. Both
  /// are called for tiles in ascending order, the second only for parts that are not empty.
  virtual void raise_free(int tile, Queue& queue) = 0;
  virtual void raise_full(int tile, int peer, Queue& queue) = 0;
  /// Whether the peer has raised the flag; with `wait`, returns when it has. On a stream always true: the
  /// stream waits.
  virtual bool is_free(int tile, int peer, Queue& queue, Patience patience) = 0;
  virtual bool is_full(int tile, int peer, Queue& queue, Patience patience) = 0;
  /// Throws if another rank has failed meanwhile. For windows on streams, whose waits cannot throw.
  virtual void check() {}
  /// Execution has failed on this rank: waits of other ranks for it fail, too, and streams that wait for it
  /// go on. Flags that are enqueued already may overwrite that when their turn comes, so the caller repeats
  /// this until the streams are done.
  virtual void cancel() noexcept = 0;
};

/// The workspace of a plan, made by the row of an exchange that lays it into memory of its own: with the
/// flags of the exchange in front, alike on all ranks.
class Workspace {
 public:
  virtual ~Workspace() = default;
  /// Where a rank's workspace begins; null: ranks store nothing there from here.
  virtual std::byte* of(int rank) const = 0;
  /// What keeps order in a reshape, by its number in the request; null: ranks store nothing.
  virtual std::unique_ptr<Window> window(std::size_t /*reshape*/) const { return nullptr; }
};

/// What a workspace is made for.
struct WorkspaceRequest {
  CommImpl& comm;
  Index bytes = 0;                                    ///< on this rank
  std::vector<const ReshapeMessages*> reshapes = {};  ///< of all directions; they outlive the windows
  // In memory of devices:
  std::shared_ptr<Device> device = {};  ///< that of this rank, entered; null: memory of the host
  std::vector<DeviceId> ids = {};       ///< the device of every rank
  std::vector<int> islands = {};        ///< per rank, the number of its island
  bool apart = false;                   ///< ranks may be an execution apart
};

/// What a carrier is made from.
struct CarrierRequest {
  CommImpl& comm;
  const ReshapeMessages& reshape;
  std::vector<int> groups;  ///< per rank, the number of its exchange group
  /// That of this rank, entered, if what `post` is given is memory of devices; null: memory of the host.
  std::shared_ptr<Device> device = {};
  std::shared_ptr<const void> exposed = {};         ///< what `expose` of the row has made
  RailSettings rails = {};                          ///< of exchanges on rails
  std::shared_ptr<const Workspace> workspace = {};  ///< what `memory` of the row has made
  std::size_t number = 0;                           ///< of the reshape in the request for it
};

struct ExchangeRow {
  const char* name;
  const char* meaning;
  ExchangeTraits traits;
  /// Makes the carrier of a reshape; null for exchanges that store, but for those that gather. Local; throws
  /// `weft::Error`, also for counts beyond what the medium can express. In memory of devices what does not
  /// work on streams is given parts in pinned memory (`make_staged`), but for `takes_devices`.
  std::unique_ptr<Carrier> (*carrier)(const CarrierRequest& request) = nullptr;
  /// Makes the workspace of plans that use it, if its traits say that it lays it; else null. Collective;
  /// throws the same `weft::Error` on all ranks.
  std::shared_ptr<Workspace> (*memory)(const WorkspaceRequest& request) = nullptr;
  /// Whether what it makes for these ranks takes memory of devices, which the medium has to say; null: it
  /// does not. Asked where arrays are there and the traits say that these ranks are served. Collective; the
  /// same on all ranks.
  bool (*takes_devices)(CommImpl& comm) = nullptr;
  /// Why it cannot be used here, or nothing, where that depends on a library that is not Weft's; null: it
  /// does not. Asked only where the traits say that these ranks are served. Collective; ranks may give
  /// different answers.
  std::string (*missing)(CommImpl& comm) = nullptr;
  /// Meets the other ranks, before carriers are made from the row. Collective; throws the same `weft::Error`
  /// on all ranks.
  void (*prepare)(CommImpl& comm, const std::shared_ptr<Device>& device, const RailSettings& rails) = nullptr;
  /// Makes the workspace of plans on a device, which is entered, of memory that it serves best; null: any
  /// does. Local; the error names `operation`.
  std::shared_ptr<std::byte> (*allocate)(const std::shared_ptr<Device>& device, std::size_t bytes,
                                         const char* operation) = nullptr;
  /// Lets peers reach the memory that all parts of a plan lie in, of devices or of the host, for its carriers
  /// to use; null: they need no such thing. The memory is null if the user gives it. Collective; throws the
  /// same `weft::Error` on all ranks.
  std::shared_ptr<const void> (*expose)(CommImpl& comm, const std::shared_ptr<std::byte>& memory, Index bytes,
                                        bool of_devices, const RailSettings& rails) = nullptr;
  /// How many rails there may be, by their names, of which none is opened; null for exchanges that are not on
  /// rails. Collective; throws the same `weft::Error` on all ranks.
  int (*networks)(CommImpl& comm, const RailSettings& rails) = nullptr;
  /// How many rails `prepare` has made; null for exchanges that are not on rails. Local.
  int (*rails)(CommImpl& comm, const RailSettings& rails) = nullptr;
  /// What `prepare` and `expose` have made, for printed plans; null: nothing. Local.
  std::string (*describe)(CommImpl& comm, const RailSettings& rails,
                          const std::shared_ptr<const void>& exposed) = nullptr;
};

/// The maker of a row: `make_carrier<MpiP2p>`.
template <class Exchange>
std::unique_ptr<Carrier> make_carrier(const CarrierRequest& request) {
  return std::make_unique<Exchange>(request);
}

/// All exchanges of this build, the preferred ones first.
const std::deque<ExchangeRow>& exchange_table();

/// A row that is in the table, behind all others, as long as this lives; for tests. Neither is to change
/// while plans are made, and plans that use the row are to be gone before.
class ScopedExchange {
 public:
  explicit ScopedExchange(const ExchangeRow& row);
  ~ScopedExchange();
  ScopedExchange(const ScopedExchange&) = delete;
  ScopedExchange& operator=(const ScopedExchange&) = delete;
};

/// That of a name in the table.
const ExchangeRow& exchange_row(const std::string& name);

// The rows; each is defined in the file of its algorithm.
ExchangeRow direct_row();
std::shared_ptr<Workspace> share_device_memory(const WorkspaceRequest& request);
ExchangeRow nccl_row();
ExchangeRow threads_copy_row();
ExchangeRow mpi_p2p_row();
ExchangeRow mpi_p2pw_row();
ExchangeRow mpi_alltoallv_row();
ExchangeRow mpi_pairwise_row();
ExchangeRow mpi_alltoall_row();
ExchangeRow mpi_alltoallw_row();
ExchangeRow mpi_ialltoallv_row();
ExchangeRow mpi_one_sided_ring_row();
ExchangeRow mpi_node_row();
ExchangeRow ucx_row();
ExchangeRow ucx_node_row();
ExchangeRow nvshmem_row();

}  // namespace weft
