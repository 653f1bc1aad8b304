#include "comm/agree.hpp"

namespace weft {

void agree_on(CommImpl& comm, const std::optional<Error>& failure) {
  comm.complete_collectives();
  int first = 0;
  try {
    first = comm.least(failure ? comm.rank() : comm.size());
  } catch (const Error&) {  // this rank has left the others, or one of them has
    if (failure) throw *failure;
    throw;
  }
  if (first == comm.size()) return;
  // An error may already name a rank: the one whose input is at fault, not the one that has noticed it.
  const auto from_first = [&](const std::string& mine) { return comm.broadcast(mine, first); };
  try {
    const std::string operation = from_first(failure ? failure->operation() : "");
    const std::string got = from_first(failure ? failure->got() : "");
    const std::string expected = from_first(failure ? failure->expected() : "");
    const std::string named =
        from_first(std::to_string(failure && failure->rank() >= 0 ? failure->rank() : first));
    throw Error(operation, got, expected, std::stoi(named));
  } catch (const std::bad_alloc&) {  // for these texts
    comm.leave_collectives(std::current_exception());
    throw;
  }
}

}  // namespace weft
