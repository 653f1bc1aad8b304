// What the makers of GPUs have in different ways: how a thread takes a device, what tells devices and
// pointers apart, and how streams store flags and wait for them. device/cuda and device/hip implement it, and
// a build has one of them; everything else of the device interface is common (device.cpp, stream.cpp).
#pragma once

#include <compare>
#include <span>
#include <string>

#include "device/device.hpp"
#include "kernels/gpu/runtime.hpp"

namespace weft::gpus {

/// Throws `weft::Error` with the runtime's message unless the call succeeded.
void check(Status status, const char* call);

/// Calls the runtime: WEFT_GPU_CALL(EventRecord, event, stream). Throws as `check` does.
#define WEFT_GPU_CALL(name, ...) ::weft::gpus::check(WEFT_GPU(name)(__VA_ARGS__), WEFT_GPU_NAME(name))

/// The row's name: "cuda".
extern const char* const name;
/// What "multiprocessors" of a device are called in its model.
extern const char* const multiprocessors;

/// Why this process has no device that can be used; empty if it has one. The first call initialises the
/// runtime.
const std::string& missing();

/// What a thread has to make current to use a device.
struct Place {
  void* context = nullptr;  ///< null where devices have none
  int ordinal = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};
/// That of the calling thread; of the runtime's default device if it has not chosen one.
Place current_place();
void enter(const Place& place);
/// False, and nothing changed, if that fails, as after the runtime has shut down.
bool try_enter(const Place& place) noexcept;
/// Restores what was current before the last entry of this thread.
void leave() noexcept;

/// Alike in every process.
DeviceId id_of(int ordinal);

struct Pointer {
  bool on_device = false;
  bool managed = false;
  int ordinal = -1;
};
/// Of memory that the runtime knows. Allocates nothing.
Pointer look_at(const void* pointer);
/// Finds out whether this process already uses devices, without initialising them. `look_at_noticed` is
/// `look_at` if so, and else nothing.
void notice();
Pointer look_at_noticed(const void* pointer);

/// Enqueues flags, one after the other (`DeviceStream::flags`).
void enqueue_flags(std::span<const DeviceFlag> flags, StreamHandle stream);

/// Pinned memory, for all devices.
Status allocate_pinned(void** memory, std::size_t bytes);
void free_pinned(void* memory);

/// The executable graph takes over the work of `captured`.
Status update_graph(WEFT_GPU(GraphExec_t) executable, WEFT_GPU(Graph_t) captured);

/// Whether `enqueue_flags` can be captured in graphs, and whether a kernel may store flags itself: its stores
/// to other devices are visible before the flag that it stores after them is, also while it runs.
extern const bool captures_flags, kernels_store_flags;

void begin_range(const char* text);
void end_range();

}  // namespace weft::gpus
