#include "command.hpp"

namespace weft::bench {

const std::vector<CommandRow>& command_table() {
  static const std::vector<CommandRow> table{
      {"messages", "messages of each reshape: formulas of the papers beside Weft's own schedule",
       make_messages},
      {"phase", "slabs or pencils: which are predicted to be faster, over ranks and sizes", make_phase},
      {"roofline", "what the network and the processors of some nodes allow at best", make_roofline},
  };
  return table;
}

}  // namespace weft::bench
