// All public headers that do not need MPI, nor mdspan. For these include <weft/mpi.hpp> and <weft/mdspan.hpp>
// as well.
#pragma once

#include "weft/accuracy.hpp"
#include "weft/block.hpp"
#include "weft/box.hpp"
#include "weft/buffer.hpp"
#include "weft/comm.hpp"
#include "weft/error.hpp"
#include "weft/explanation.hpp"
#include "weft/gradient.hpp"
#include "weft/information.hpp"
#include "weft/interruption.hpp"
#include "weft/modes.hpp"
#include "weft/operators.hpp"
#include "weft/options.hpp"
#include "weft/plan.hpp"
#include "weft/problem.hpp"
#include "weft/thread_team.hpp"
#include "weft/trial_progress.hpp"
#include "weft/version.hpp"
#include "weft/wisdom.hpp"
