// Two exchanges between thread ranks that are no part of Weft: what an exchange takes is one file and one
// row.
#pragma once

#include "transport/transport.hpp"

namespace weft::test {

/// "mailbox": packed parts are copied into a mailbox of the receiver, and from there.
ExchangeRow mailbox_row();
/// "shelf": ranks store into a workspace that the row makes, with flags of its own.
ExchangeRow shelf_row();

}  // namespace weft::test
