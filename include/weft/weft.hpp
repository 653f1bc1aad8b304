// All public headers that do not need MPI. For MPI include <weft/mpi.hpp> as well.
#pragma once

#include "weft/accuracy.hpp"
#include "weft/box.hpp"
#include "weft/buffer.hpp"
#include "weft/comm.hpp"
#include "weft/error.hpp"
#include "weft/explanation.hpp"
#include "weft/information.hpp"
#include "weft/interruption.hpp"
#include "weft/modes.hpp"
#include "weft/options.hpp"
#include "weft/plan.hpp"
#include "weft/problem.hpp"
#include "weft/thread_team.hpp"
#include "weft/trial_progress.hpp"
#include "weft/version.hpp"
#include "weft/wisdom.hpp"
