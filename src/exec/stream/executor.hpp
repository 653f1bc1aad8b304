// Runs a program on the streams of a device: operations are enqueued in their order, each on its stream, and
// what has to wait across streams waits for events. With a direct exchange among all ranks the host waits for
// nothing and the call returns at once; messages that the host carries make it wait for what it is to send.
// Without such messages an execution can be captured as a graph, and then is one call.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/stream_copy.hpp"
#include "exec/interpreter.hpp"
#include "exec/stream/graphs.hpp"
#include "exec/stream/times.hpp"
#include "fft/stream_fft.hpp"
#include "program/stream_plan.hpp"

namespace weft {

class StreamExecutor final : public Interpreter {
 public:
  /// Plans local FFTs, copies and streams on the device of `settings`. Local to the rank; throws
  /// `weft::Error`.
  StreamExecutor(Program program, const ExecutorSettings& settings);
  /// Waits for what has been enqueued.
  ~StreamExecutor() override;

  Index fft_work_bytes() const override { return fft_work_bytes_; }
  Index bytes_in_turn() const override;
  bool ffts_can_put_all() const override { return with_room_.size() == program_.reshapes.size(); }
  void link(const LinkRequest& request) override;
  void start(const void* in, void* out, std::byte* work) override;
  bool advance(Patience patience) override;
  bool settled(Patience patience) override;
  void use_stream(void* native) override;
  void record_times(bool on) override;
  double began() const override;
  std::size_t count_of_times() const override { return times_.any() ? program_.ops.size() : 0; }
  std::optional<OperationTime> time(std::size_t i) const override;
  void cancel() noexcept override;
  void tell_failure() noexcept override;

 private:
  /// Positions in the program.
  using Positions = std::span<const int>;

  /// The stream that the user gave computes; what moves between ranks has one of its own, so that it walks
  /// the peers in the order of the program while the other computes.
  Queue& queue(Lane lane) { return at(queues_, lane); }
  DeviceStream& stream(Lane lane) { return *queue(lane).stream; }
  void compute_on(DeviceStream& stream) { queue(Lane::compute).stream = &stream; }

  void take_turn();
  void spoil(std::byte* work);
  bool enqueue_all(Patience patience);
  void launch(StreamGraphs::Execution& execution);
  void capture(StreamGraphs::Execution& execution);
  Positions launch_at(std::size_t position) const;
  void await_others(Positions ops);
  void record_for_others(int position, DeviceStream& stream);
  /// Whether the launch at the current position is enqueued; `false` only without patience.
  bool enqueue(Positions ops, Queue& on, Patience patience);
  bool receive(Positions ops, Queue& on, Patience patience);
  void fft(const Op& op, DeviceStream& on, const DeviceSignals* signals);
  void copy(const Op& op, DeviceStream& on);
  void enqueue_collected(Queue& on);
  void reserve();
  void fork();
  void join();
  void conclude();
  void let_finish();
  struct StoredElsewhere {
    int reshape;  ///< for which
    std::vector<Diversion::Piece> pieces;
  };
  /// What executes a call, and the library behind it.
  struct BoundFft {
    std::shared_ptr<StreamFft> fft;
    const FftRow* row = nullptr;
  };
  /// Most calls of a program ask for the same.
  struct KnownFfts {
    std::map<FftProblem, BoundFft> plain;
    std::map<ResizedProblem, BoundFft> resized;
  };
  BoundFft bind(KnownFfts& known, const FftCall& call, const Diversion::Part* diverted,
                const ExecutorSettings& settings);
  void bind_ffts(const ExecutorSettings& settings);
  /// A diversion and, for each of its parts, what executes it.
  struct BoundDiversion {
    Diversion diversion;
    std::vector<BoundFft> ffts;
  };
  std::vector<BoundDiversion> bind_diversions(KnownFfts& known, Diverted what,
                                              const ExecutorSettings& settings, int reshapes);
  void divert(const BoundDiversion& bound);
  void join_launches();
  void use(std::size_t call, const BoundFft& bound, const Diversion::Part* part);
  void reserve_work(const StreamFft& fft);
  std::size_t call_of(const Diversion::Part& part) const;
  TurnLine twiddles_of(const FftCall& call) const;
  DeviceCopy coding_copy(std::size_t call);
  std::uint32_t* fault() const { return reinterpret_cast<std::uint32_t*>(fault_.get()); }
  void check_coding();

  std::shared_ptr<Device> device_;
  StreamPlan plan_;
  std::vector<std::shared_ptr<StreamFft>> ffts_;             ///< per call
  std::vector<std::pair<std::string, LinesElsewise>> used_;  ///< per call: by which library, and how
  std::map<std::size_t, TurnLine> twiddles_;  ///< that follow some of them, by the number of the call
  /// What some of them store elsewhere, by the number of the call.
  std::map<std::size_t, StoredElsewhere> diverted_;
  std::vector<bool> left_out_;  ///< per operation: copies for which they do so
  /// Takes the place of that of the same calls if peers always have room.
  std::vector<BoundDiversion> with_room_;
  std::vector<StreamCopy> copies_;
  /// What copies that code tell a failure in: `outcomes` times the number of the call, plus the outcome;
  /// null: none does. Pinned memory.
  std::shared_ptr<std::byte> fault_;
  static constexpr std::uint32_t outcomes = 8;
  Index fft_work_bytes_ = 0, fft_work_offset_ = 0;
  bool carried_on_streams_ = false;  ///< whether an exchange is, that a failure of another rank would stop
  std::byte* workspace_ = nullptr;   ///< the plan's own
  Index spoilt_from_ = 0, spoilt_to_ = 0;  ///< by a test: see `spoil`
  Index second_ = 0;  ///< where in it executions in turn have theirs; 0: all have the same
  std::unique_ptr<DeviceStream> compute_, transfer_;
  std::unique_ptr<DeviceStream> captures_;  ///< in the place of the user's stream while that is captured
  std::optional<StreamGraphs> graphs_;      ///< none: every execution is enqueued anew
  std::vector<std::unique_ptr<DeviceEvent>> events_;
  std::unique_ptr<DeviceEvent> forked_, arrived_, joined_, done_;
  StreamTimes times_;

  // Of the execution that is under way.
  std::array<std::uint32_t, 2> bits_{1, 1};  ///< of the last turn with each workspace
  int turn_ = 0;
  StreamGraphs::Execution* as_graph_ = nullptr;
  bool waited_ = false;  ///< whether the launch at the position has waited for others
  bool begun_ = false, complete_ = false;
  // What goes in one launch; they have room for all that can.
  std::array<Queue, 2> queues_;  ///< by lane
  std::vector<DeviceCopyJob> jobs_;
  const Op* fft_ = nullptr;
};

}  // namespace weft
