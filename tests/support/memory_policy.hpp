// Where the memory of the calling thread comes from, as the system has it.
#pragma once

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace weft::test {

/// The policy (MPOL_...) and the first NUMA nodes that it names, a bit for each.
inline std::pair<int, unsigned long> memory_policy() {
  int policy = -1;
  unsigned long nodes[16] = {};
  if (syscall(SYS_get_mempolicy, &policy, nodes, 1024UL, nullptr, 0UL) != 0) return {-1, 0};
  return {policy, nodes[0]};
}

/// Containers may forbid it.
inline bool set_memory_policy(int policy, unsigned long nodes) {
  return syscall(SYS_set_mempolicy, policy, nodes != 0 ? &nodes : nullptr, nodes != 0 ? 64UL : 0UL) == 0;
}
inline bool may_set_memory_policy() {
  return set_memory_policy(MPOL_PREFERRED, 1) && set_memory_policy(MPOL_DEFAULT, 0);
}

}  // namespace weft::test
