#include "c/handles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <string>

#include "c/failure.hpp"

namespace weft::c {

namespace {

constexpr int kind_bits = 4, slot_bits = 24, generation_bits = 64 - kind_bits - slot_bits;
constexpr std::uint64_t last_generation = (std::uint64_t{1} << generation_bits) - 1;
constexpr std::uint32_t no_slot = ~std::uint32_t{0};

}  // namespace

struct Slot {
  std::atomic<std::uint64_t> handle{0};  ///< that of the object; 0: none
  std::atomic<std::uint64_t> generation{0};
  void* object = nullptr;
  std::uint32_t next_free = no_slot;
};

namespace {

// Chunk c has first_chunk * 2^c slots. Chunks are never freed, so that any number can be looked up at any
// time; and nothing here has a destructor, so that handles can be used and freed while the process ends.
constexpr int first_chunk_bits = 6;
constexpr std::uint32_t first_chunk = 1 << first_chunk_bits;
constexpr int chunk_count = slot_bits - first_chunk_bits;
constexpr std::uint32_t most_slots = (std::uint32_t{1} << slot_bits) - first_chunk;

constinit std::array<std::atomic<Slot*>, chunk_count> chunks{};
constinit std::mutex mutex;  // of what follows
constinit std::uint32_t slots_made = 0;
constinit std::uint32_t first_free = no_slot;

int chunk_of(std::uint32_t index) {
  return std::max(0, static_cast<int>(std::bit_width(index + first_chunk)) - 1 - first_chunk_bits);
}

/// Null if there is no such slot.
Slot* slot_at(std::uint32_t index) {
  if (index >= most_slots) return nullptr;
  const int chunk = chunk_of(index);
  Slot* const slots = chunks[static_cast<std::size_t>(chunk)].load(std::memory_order_acquire);
  return slots != nullptr ? slots + (index + first_chunk - (first_chunk << chunk)) : nullptr;
}

std::uint32_t index_of(std::uint64_t handle) {
  return static_cast<std::uint32_t>(handle >> kind_bits) & ((1U << slot_bits) - 1);
}
HandleKind kind_of(std::uint64_t handle) {
  return static_cast<HandleKind>(handle & ((1U << kind_bits) - 1));
}
std::uint64_t generation_of(std::uint64_t handle) {
  return handle >> (kind_bits + slot_bits);
}

std::uint32_t reserve_slot() {
  const std::lock_guard lock(mutex);
  if (first_free != no_slot) {
    const std::uint32_t index = first_free;
    first_free = slot_at(index)->next_free;
    return index;
  }
  if (slots_made == most_slots)
    throw Error("handles", std::to_string(most_slots) + " in use", "freed handles, by weft_..._free");
  if (slot_at(slots_made) == nullptr) {
    const int chunk = chunk_of(slots_made);
    chunks[static_cast<std::size_t>(chunk)].store(new Slot[first_chunk << chunk], std::memory_order_release);
  }
  return slots_made++;
}

/// A slot whose generations are used up is not used again.
void release_slot(std::uint32_t index) noexcept {
  const std::lock_guard lock(mutex);
  Slot& slot = *slot_at(index);
  if (slot.generation == last_generation) return;
  slot.next_free = first_free;
  first_free = index;
}

const char* name_of(HandleKind kind) {
  constexpr const char* names[] = {"",       "a communicator",       "a team",    "options",
                                   "a plan", "an operator on modes", "a gradient"};
  return names[static_cast<std::size_t>(kind)];
}

std::string description(std::uint64_t handle) {
  if (handle == 0) return "NULL";
  const Slot* const slot = slot_at(index_of(handle));
  const HandleKind kind = kind_of(handle);
  const std::uint64_t generation = generation_of(handle);
  if (slot == nullptr || kind == HandleKind::none || kind > HandleKind::gradient || generation == 0 ||
      generation > slot->generation)
    return "a value that is no handle of Weft";
  if (slot->handle == handle) return name_of(kind);
  if (slot->generation == generation && slot->handle != 0) return "a value that is no handle of Weft";
  return std::string(name_of(kind)) + " that was freed";
}

[[noreturn]] void throw_bad_handle(HandleKind kind, std::uint64_t handle, const char* operation) {
  throw Failure(WEFT_BAD_HANDLE,
                Error(operation, description(handle), std::string(name_of(kind)) + " that is not freed"));
}

/// The slot of a handle; throws unless the handle is valid and of that kind.
Slot& valid_slot(HandleKind kind, std::uint64_t handle, const char* operation) {
  Slot* const slot = handle != 0 ? slot_at(index_of(handle)) : nullptr;
  if (slot == nullptr || kind_of(handle) != kind || slot->handle.load(std::memory_order_acquire) != handle)
    throw_bad_handle(kind, handle, operation);
  return *slot;
}

}  // namespace

Place::Place() : slot_(nullptr), index_(reserve_slot()) {
  slot_ = slot_at(index_);
}

Place::~Place() {
  if (slot_ != nullptr) release_slot(index_);
}

std::uintptr_t Place::hold(HandleKind kind, void* object) noexcept {
  Slot& slot = *std::exchange(slot_, nullptr);
  const std::uint64_t generation = slot.generation + 1;
  const std::uint64_t handle = (generation << (kind_bits + slot_bits)) |
                               (std::uint64_t{index_} << kind_bits) | static_cast<std::uint64_t>(kind);
  slot.object = object;
  slot.generation = generation;
  slot.handle.store(handle, std::memory_order_release);
  return handle;
}

void* find_object(HandleKind kind, std::uintptr_t handle, const char* operation) {
  return valid_slot(kind, handle, operation).object;
}

void* take_object(HandleKind kind, std::uintptr_t handle, const char* operation) {
  Slot& slot = valid_slot(kind, handle, operation);
  std::uint64_t expected = handle;
  if (!slot.handle.compare_exchange_strong(expected, 0)) throw_bad_handle(kind, handle, operation);
  void* const object = slot.object;  // of this call alone from here on
  release_slot(index_of(handle));
  return object;
}

}  // namespace weft::c
