// Whether the program wants trials to end; see weft/interruption.hpp.
#pragma once

namespace weft {

/// What the program's function says; false if there is none.
bool interruption_asked();

}  // namespace weft
