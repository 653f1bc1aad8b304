// heFFTe's C interface. Plans are of the C++ one, of which a backend is a few facts.
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "weft/error.hpp"
#include "weft/heffte.h"
#include "weft/heffte_c.h"

namespace weft {

namespace {

thread_local std::string last_error;

/// What a plan in C points to.
struct Transform3d {
  Transform3d(MPI_Comm c, const HeffteRequest& request, long long in_points, long long out_points)
      : comm(c), engine(c, request), size_inbox(in_points), size_outbox(out_points) {}
  MPI_Comm comm;
  HeffteEngine engine;
  long long size_inbox, size_outbox;
};

Transform3d& behind(heffte_plan plan) {
  return *static_cast<Transform3d*>(plan->fft);
}

int failed(int status, std::string why) {
  last_error = std::move(why);
  return status;
}

/// Calls f with the tag of a backend; false if it is not there.
template <class F>
bool with_backend(int backend, const F& f) {
  switch (backend) {
    case Heffte_BACKEND_STOCK:
      f(heffte::backend::stock());
      return true;
    case Heffte_BACKEND_FFTW:
      f(heffte::backend::fftw());
      return true;
    case Heffte_BACKEND_MKL:
      f(heffte::backend::mkl());
      return true;
#ifdef Heffte_ENABLE_CUDA
    case Heffte_BACKEND_CUFFT:
      f(heffte::backend::cufft());
      return true;
#endif
    default:
      return false;
  }
}

heffte_plan_options of(const heffte::plan_options& o) {
  return {o.use_reorder, static_cast<int>(o.algorithm), o.use_pencils, o.use_gpu_aware};
}

HeffteBox box(const int* low, const int* high, const int* order) {
  HeffteBox b{};
  for (int a = 0; a < 3; ++a) {
    b.low[a] = low[a];
    b.high[a] = high[a];
    b.order[a] = order != nullptr ? order[a] : a;
  }
  return b;
}

long long points(const HeffteBox& b) {
  return heffte::box3d<long long>({b.low[0], b.low[1], b.low[2]}, {b.high[0], b.high[1], b.high[2]}).count();
}

int create(int backend, const HeffteBox& inbox, const HeffteBox& outbox, int r2c_axis, MPI_Comm comm,
           const heffte_plan_options* options, heffte_plan* plan) {
  *plan = nullptr;
  int status = Heffte_SUCCESS;
  const auto make = [&](auto tag) {
    using Tag = decltype(tag);
    heffte::plan_options chosen = heffte::default_options<Tag>();
    if (options != nullptr) {
      if (options->algorithm < 0 || options->algorithm > Heffte_RESHAPE_ALGORITHM_ALLTOALL) {
        status = failed(2, "heffte_plan_create: algorithm " + std::to_string(options->algorithm) +
                               " of the options is not known");
        return;
      }
      chosen = heffte::plan_options(options->use_reorder != 0,
                                    static_cast<heffte::reshape_algorithm>(options->algorithm),
                                    options->use_pencils != 0);
      chosen.use_gpu_aware = options->use_gpu_aware != 0;
    }
    HeffteRequest request = heffte::request_of<Tag>(chosen);
    request.inbox = inbox;
    request.outbox = outbox;
    request.r2c_axis = r2c_axis;
    try {
      auto made = std::make_unique<Transform3d>(comm, request, points(inbox), points(outbox));
      *plan = new heffte_fft_plan{backend, r2c_axis >= 0 ? 1 : 0, made.release()};
    } catch (const std::exception& e) {
      status = failed(2, e.what());
    }
  };
  if (!with_backend(backend, make))
    return failed(1, "heffte: backend " + std::to_string(backend) + " is not there");
  return status;
}

/// The plan of a call is r2c exactly if `real` numbers meet complex ones; a plan that is not takes both.
void execute(heffte_plan plan, bool forward, int real_bytes, bool real, const void* in, void* out,
             int scale) {
  MPI_Comm comm = MPI_COMM_WORLD;
  try {
    if (plan == nullptr) throw Error("heffte", "a plan that is NULL", "one that heffte_plan_create made");
    Transform3d& transform = behind(plan);
    comm = transform.comm;
    const bool r2c = plan->using_r2c != 0;
    if (r2c && !real)
      throw Error("heffte", "complex arrays for an r2c plan", "real numbers on the side of the inbox");
    HeffteCall call;
    call.forward = forward;
    call.real_bytes = real_bytes;
    call.real_inbox = real && !r2c;
    call.batch = 1;
    call.scale = scale == Heffte_SCALE_FULL        ? HeffteScale::full
                 : scale == Heffte_SCALE_SYMMETRIC ? HeffteScale::symmetric
                                                   : HeffteScale::none;
    call.in = in;
    call.out = out;
    if (call.real_inbox && plan->backend_type == Heffte_BACKEND_CUFFT)
      throw Error("heffte", "real arrays on a GPU for a plan that is not r2c",
                  "a plan of heffte_plan_create_r2c");
    transform.engine.execute(call);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(comm, 1);
  }
}

}  // namespace

}  // namespace weft

using weft::execute;

int weft_heffte_set_default_options(int backend, heffte_plan_options* options) {
  const bool there = weft::with_backend(
      backend, [&](auto tag) { *options = weft::of(heffte::default_options<decltype(tag)>()); });
  if (there) return Heffte_SUCCESS;
  return weft::failed(1, "heffte: backend " + std::to_string(backend) + " is not there");
}

int weft_heffte_plan_create(int backend, const int inbox_low[3], const int inbox_high[3],
                            const int* inbox_order, const int outbox_low[3], const int outbox_high[3],
                            const int* outbox_order, MPI_Comm comm, const heffte_plan_options* options,
                            heffte_plan* plan) {
  return weft::create(backend, weft::box(inbox_low, inbox_high, inbox_order),
                      weft::box(outbox_low, outbox_high, outbox_order), -1, comm, options, plan);
}

int weft_heffte_plan_create_r2c(int backend, const int inbox_low[3], const int inbox_high[3],
                                const int* inbox_order, const int outbox_low[3], const int outbox_high[3],
                                const int* outbox_order, int r2c_direction, MPI_Comm comm,
                                const heffte_plan_options* options, heffte_plan* plan) {
  if (r2c_direction < 0) {
    *plan = nullptr;
    return weft::failed(2, "heffte: r2c_direction " + std::to_string(r2c_direction) + "; it is 0, 1 or 2");
  }
  return weft::create(backend, weft::box(inbox_low, inbox_high, inbox_order),
                      weft::box(outbox_low, outbox_high, outbox_order), r2c_direction, comm, options, plan);
}

int weft_heffte_plan_destroy(heffte_plan plan) {
  if (plan == nullptr) return Heffte_SUCCESS;
  delete static_cast<weft::Transform3d*>(plan->fft);
  delete plan;
  return Heffte_SUCCESS;
}

int weft_heffte_size_inbox(heffte_plan plan) {
  return static_cast<int>(weft::behind(plan).size_inbox);
}
int weft_heffte_size_outbox(heffte_plan plan) {
  return static_cast<int>(weft::behind(plan).size_outbox);
}
int weft_heffte_size_workspace(heffte_plan) {
  return 0;
}
int weft_heffte_get_backend(heffte_plan plan) {
  return plan->backend_type;
}
int weft_heffte_is_r2c(heffte_plan plan) {
  return plan->using_r2c;
}

const char* weft_heffte_error() {
  return weft::last_error.c_str();
}

// The transforms, with a workspace and without.
// NOLINTBEGIN(bugprone-macro-parentheses): types
#define WEFT_HEFFTE_CALL(name, forward, bytes, real, In, Out)                              \
  void name(heffte_plan plan, const In* input, Out* output, int scale) {                   \
    execute(plan, forward, bytes, real, input, output, scale);                             \
  }                                                                                        \
  void name##_buffered(heffte_plan plan, const In* input, Out* output, void*, int scale) { \
    execute(plan, forward, bytes, real, input, output, scale);                             \
  }
WEFT_HEFFTE_CALL(weft_heffte_forward_s2c, true, 4, true, float, void)
WEFT_HEFFTE_CALL(weft_heffte_forward_c2c, true, 4, false, void, void)
WEFT_HEFFTE_CALL(weft_heffte_forward_d2z, true, 8, true, double, void)
WEFT_HEFFTE_CALL(weft_heffte_forward_z2z, true, 8, false, void, void)
WEFT_HEFFTE_CALL(weft_heffte_backward_c2s, false, 4, true, void, float)
WEFT_HEFFTE_CALL(weft_heffte_backward_c2c, false, 4, false, void, void)
WEFT_HEFFTE_CALL(weft_heffte_backward_z2d, false, 8, true, void, double)
WEFT_HEFFTE_CALL(weft_heffte_backward_z2z, false, 8, false, void, void)
#undef WEFT_HEFFTE_CALL
// NOLINTEND(bugprone-macro-parentheses)
