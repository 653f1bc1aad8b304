// Machine descriptions as JSON, whose keys are the names of the fields. All times are in seconds, sizes in
// bytes, speeds in bytes per second.
#pragma once

#include <string>

#include "model/machine_description.hpp"

namespace weft {

/// Throws `weft::Error` that names the field if the text is no machine description of this version, is not
/// complete, or has a value that makes no sense.
MachineDescription read_machine(const std::string& text);

std::string to_json(const MachineDescription& machine);

}  // namespace weft
