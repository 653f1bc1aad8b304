#include "transport/nvshmem/workspace.hpp"

#include <cstdint>
#include <exception>

#include "base/arithmetic.hpp"
#include "comm/agree.hpp"
#include "transport/nvshmem/heap.hpp"
#include "transport/nvshmem/library.hpp"

namespace weft::nvshmem {

HeapWorkspace::HeapWorkspace(const WorkspaceRequest& r)
    : rank_(r.comm.rank()), ranks_(r.comm.size()), pes_(nvshmem::start(r.comm, r.device)), device_(r.device) {
  Index zeros = 0;
  for (const ReshapeMessages* reshape : r.reshapes) {
    signals_.push_back(zeros);
    zeros += reshape->most_tiles * Signals{nullptr, ranks_}.tile_bytes();
  }
  const Index greetings = zeros;
  zeros += 2 * Signals{nullptr, ranks_}.tile_bytes();
  start_ = rounded_up(zeros, static_cast<Index>(page_bytes));
  agree(r.comm, "plan: workspace", [&] {
    rescue_ = device_->make_stream();
    done_ = device_->make_event(false);
  });
  failures_ = FailureWords(r.comm);
  memory_ = nvshmem::allocate(r.comm, *device_, static_cast<std::size_t>(start_ + r.bytes));
  // Once all have agreed, others may set signals.
  agree(r.comm, "plan: workspace", [&] {
    rescue_->fill(memory_.get(), 0, static_cast<std::size_t>(zeros));
    finish();
  });
  greet(r.comm, {memory_.get() + greetings, ranks_});
}

/// A put and a signal from every rank to every other. NVSHMEM may connect two ranks at their first message,
/// and CUDA may load a kernel when it is first launched and wait for the device, on which a stream may wait
/// for a rank that has failed: all that happens while planning. The first tile of `greetings` has the
/// signals, the second what is put.
void HeapWorkspace::greet(CommImpl& comm, const Signals& greetings) const {
  agree(comm, "plan: exchange nvshmem", [&] {
    const Functions& f = functions();
    void* const on = rescue_->native();
    const auto held = lock();
    for (int r = 0; r < ranks_; ++r) {
      if (r == rank_) continue;
      f.signal(greetings.ready(0, rank_), 1, set_signal, pe(r), on);
      f.put_and_signal(greetings.full(1, rank_), greetings.ready(1, rank_), sizeof(std::uint64_t),
                       greetings.full(0, rank_), 1, set_signal, pe(r), on);
    }
    f.quiet(on);
    for (int r = 0; r < ranks_; ++r)
      for (std::uint64_t* signal : {greetings.ready(0, r), greetings.full(0, r)})
        if (r != rank_) f.wait_for_signal(signal, at_least, 1, on);
  });
  finish();
}

HeapWorkspace::~HeapWorkspace() {
  try {
    const DeviceScope scope(*device_);
    done_.reset();
    rescue_.reset();
  } catch (const std::exception&) {
    // The device is lost; its driver has freed what there was.
  }
}

void HeapWorkspace::finish() const {
  rescue_->record(*done_);
  device_->wait_for(*done_);
}

void HeapWorkspace::fail(std::size_t reshape, int tiles) const {
  if (has_ended()) return;
  failures_.tell();
  const Signals all = signals(reshape);
  {
    const Functions& f = functions();
    const auto held = lock();
    for (int r = 0; r < ranks_; ++r)
      for (int k = 0; k < tiles && r != rank_; ++k)
        for (std::uint64_t* signal : {all.ready(k, rank_), all.full(k, rank_)})
          f.signal(signal, Signals::failed, set_signal, pe(r), rescue_->native());
    f.quiet(rescue_->native());
  }
  rescue_->fill(all.first, Signals::failed_byte, static_cast<std::size_t>(tiles * all.tile_bytes()));
  finish();
}

}  // namespace weft::nvshmem
