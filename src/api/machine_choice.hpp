// The description of the machine that a plan is made on, from a file or from wisdom.
#pragma once

#include <optional>
#include <string>

#include "design/setting.hpp"
#include "model/machine_description.hpp"
#include "tune/machine.hpp"
#include "tune/wisdom.hpp"

namespace weft {

/// Throws `weft::Error` that names the file and what is wrong with it.
MachineDescription described_in(const std::string& file);

/// The description that wisdom has of this hardware with the links that these ranks need: of the same
/// placement, or else of another one. One that cannot be read is left out, with a warning if `warns`.
std::optional<MachineDescription> described_by(const Wisdom& wisdom, const Machine& machine,
                                               const Setting& setting, bool warns);

}  // namespace weft
