// Makes the program of one rank for pipelines *planes* and *two-front*: every stage passes over its data
// once, in sub-tiles that stay in the cache from the moment they are read to the moment they are stored: in
// the workspace of their receiver, where they wait for their departure, or in the user's array. For streams
// of a device the parts are whole tiles, and one travels while the next is transformed.
#pragma once

#include <vector>

#include "program/builder.hpp"

namespace weft {

/// As `build_program`; all `choices` have a `subtile`.
Program build_planes(const Schedule& schedule, const std::vector<ReshapeChoice>& choices,
                     const ProgramRequest& request);

}  // namespace weft
