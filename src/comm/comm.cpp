#include "weft/comm.hpp"

#include "comm/comm_impl.hpp"
#include "weft/error.hpp"

namespace weft {

CommImpl& Comm::impl() const {
  if (!impl_) throw Error("comm", "a communicator that has been moved away", "the one it was moved to");
  return *impl_;
}

int Comm::rank() const {
  return impl().rank();
}
int Comm::size() const {
  return impl().size();
}
const char* Comm::medium() const {
  return impl().medium();
}
void Comm::barrier() const {
  impl().check_alive("barrier");
  impl().barrier();
}

}  // namespace weft
