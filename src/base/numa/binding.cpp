#include "base/numa/binding.hpp"

#ifdef __linux__
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <array>
#include <climits>

namespace weft::numa {

#ifdef __linux__

namespace {

/// As many as Linux has room for.
constexpr int most_processors = 8192;
constexpr unsigned long most_nodes = 1024, word_bits = CHAR_BIT * sizeof(unsigned long);
using NodeMask = std::array<unsigned long, most_nodes / word_bits>;

/// A set of processors of the system's own kind.
class ProcessorMask {
 public:
  ProcessorMask() : set_(CPU_ALLOC(most_processors)), bytes_(CPU_ALLOC_SIZE(most_processors)) {
    if (set_ != nullptr) CPU_ZERO_S(bytes_, set_);
  }
  ~ProcessorMask() { CPU_FREE(set_); }
  ProcessorMask(const ProcessorMask&) = delete;
  ProcessorMask& operator=(const ProcessorMask&) = delete;

  cpu_set_t* get() const { return set_; }
  std::size_t bytes() const { return bytes_; }

 private:
  cpu_set_t* set_;
  std::size_t bytes_;
};

}  // namespace

Processors of_thread() {
  Processors processors;
  const ProcessorMask mask;
  if (mask.get() == nullptr || sched_getaffinity(0, mask.bytes(), mask.get()) != 0) return processors;
  for (int p = 0; p < most_processors; ++p)
    if (CPU_ISSET_S(p, mask.bytes(), mask.get())) processors.push_back(p);
  return processors;
}

void bind(std::thread& thread, const Processors& processors) {
  const ProcessorMask mask;
  if (processors.empty() || !thread.joinable() || mask.get() == nullptr) return;
  for (const int p : processors) CPU_SET_S(p, mask.bytes(), mask.get());
  pthread_setaffinity_np(thread.native_handle(), mask.bytes(), mask.get());
}

MemoryFrom::MemoryFrom(int node) {
  if (node < 0 || static_cast<unsigned long>(node) >= most_nodes) return;
  int now = 0;
  if (syscall(SYS_get_mempolicy, &now, nullptr, 0UL, nullptr, 0UL) != 0 || now != MPOL_DEFAULT) return;
  NodeMask mask{};
  mask[static_cast<unsigned long>(node) / word_bits] = 1UL << (static_cast<unsigned long>(node) % word_bits);
  set_ = syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask.data(), most_nodes) == 0;
}

MemoryFrom::~MemoryFrom() {
  if (set_) syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0UL);
}

#else

Processors of_thread() {
  return {};
}
void bind(std::thread& /*thread*/, const Processors& /*processors*/) {}
MemoryFrom::MemoryFrom(int /*node*/) {}
MemoryFrom::~MemoryFrom() = default;

#endif

}  // namespace weft::numa
