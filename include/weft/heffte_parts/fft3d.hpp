// heFFTe's transforms: fft3d with its other names fft2d and rtransform, and fft3d_r2c with fft2d_r2c.
#pragma once

#include "geometry.hpp"
#include "options.hpp"

// NOLINTBEGIN(readability-identifier-naming): the names are heFFTe's
namespace heffte {

/// The factor of a result: scale::none, full (one over the number of points) or symmetric (its square root).
/// What full is for cosine and sine transforms says `get_scale_factor`.
using scale = weft::HeffteScale;

/// The elements of the transform of an array of `Scalar`.
template <typename Scalar>
struct fft_output {
  using type = Scalar;
};
template <>
struct fft_output<float> {
  using type = std::complex<float>;
};
template <>
struct fft_output<double> {
  using type = std::complex<double>;
};
/// The same for any backend: cosines and sines stay real.
template <typename Scalar, typename backend_tag, typename = void>
struct transform_output {
  using type = Scalar;
};
template <typename Scalar, typename backend_tag>
struct transform_output<Scalar, backend_tag,
                        typename std::enable_if<backend::uses_fft_types<backend_tag>::value>::type> {
  using type = typename fft_output<Scalar>::type;
};
/// The real numbers that belong to elements.
template <typename Scalar, typename backend_tag, typename = void>
struct transform_real_type {
  using type = Scalar;
};
template <typename Scalar, typename backend_tag>
struct transform_real_type<Scalar, backend_tag,
                           typename std::enable_if<backend::uses_fft_types<backend_tag>::value>::type> {
  using type = typename define_standard_type<Scalar>::type::value_type;
};

/// What fft3d and fft3d_r2c have in common. `halves`: whether an axis is r2c. Making and destroying are
/// collective: several are destroyed in the same order on all ranks.
template <typename backend_tag, typename index, bool halves>
class transform3d : public backend::device_instance<typename backend::facts<backend_tag>::location> {
  static_assert(
      backend::is_enabled<backend_tag>::value,
      "this backend is not there: Weft has stock, fftw, mkl and their _cos and _sin on the host, and "
      "cufft if it was built with CUDA (weft::weft or weft.pc then define WEFT_WITH_CUDA) and "
      "cuda_runtime_api.h is found; rocfft and onemkl have no counterpart");
  static_assert(!halves || backend::uses_fft_types<backend_tag>::value,
                "cosine and sine transforms have no r2c");
  static_assert(std::is_same<index, int>::value || std::is_same<index, long long>::value,
                "indices are int or long long");

 public:
  using location_tag = typename backend::facts<backend_tag>::location;
  using stream_type = typename backend::device_instance<location_tag>::stream_type;
  /// Containers for arrays: std::vector on the host.
  template <typename T>
  using buffer_container = typename backend::buffer_traits<backend_tag>::template container<T>;
  template <typename T>
  using real_buffer_container = buffer_container<typename transform_real_type<T, backend_tag>::type>;
  template <typename T>
  using output_buffer_container = buffer_container<typename transform_output<T, backend_tag>::type>;

  /// Number of points of this rank before and after forward, and its boxes.
  long long size_inbox() const { return boxes_->in.count(); }
  long long size_outbox() const { return boxes_->out.count(); }
  box3d<index> inbox() const { return boxes_->in; }
  box3d<index> outbox() const { return boxes_->out; }
  /// 0: Weft's plans have workspace of their own, and one that is given is left as it is.
  std::size_t size_workspace() const { return 0; }
  std::size_t size_comm_buffers() const { return 0; }
  /// What scale::full, or scale::symmetric, multiplies by.
  double get_scale_factor(scale scaling) const {
    return scaling == scale::symmetric ? std::sqrt(engine_.full_scale()) : engine_.full_scale();
  }

  /// Transforms this rank's array of `inbox()` into that of `outbox()`. Collective. All ranks give the same
  /// but for the arrays; in and out are the same on all ranks that have points or on none. The first call of
  /// a kind (types, in or out of place, batch, scale) plans, which takes longer. Throws weft::Error, a
  /// std::runtime_error.
  template <typename Input, typename Output>
  void forward(Input const input[], Output output[], scale scaling = scale::none) const {
    forward(1, input, output, scaling);
  }
  template <typename Input, typename Output>
  void forward(Input const input[], Output output[], Output workspace[], scale scaling = scale::none) const {
    forward(1, input, output, workspace, scaling);
  }
  /// The same for several arrays, which follow each other in memory.
  template <typename Input, typename Output>
  void forward(int batch_size, Input const input[], Output output[], Output[],
               scale scaling = scale::none) const {
    forward(batch_size, input, output, scaling);
  }
  template <typename Input, typename Output>
  void forward(int batch_size, Input const input[], Output output[], scale scaling = scale::none) const {
    execute<Input, Output>(true, batch_size, input, output, scaling);
  }
  /// The same into a new container. Throws std::invalid_argument if the given one is too small.
  template <typename Input>
  output_buffer_container<Input> forward(buffer_container<Input> const& input,
                                         scale scaling = scale::none) const {
    check_size(input.size(), size_inbox(), "forward", "size_inbox()");
    auto output = make_buffer_container<typename transform_output<Input, backend_tag>::type>(
        this->stream(), static_cast<std::size_t>(size_outbox()));
    forward(input.data(), output.data(), scaling);
    return output;
  }

  /// The inverse, but for the scale, from the array of `outbox()` to that of `inbox()`. As forward.
  template <typename Input, typename Output>
  void backward(Input const input[], Output output[], scale scaling = scale::none) const {
    backward(1, input, output, scaling);
  }
  template <typename Input, typename Output>
  void backward(Input const input[], Output output[], Input workspace[], scale scaling = scale::none) const {
    backward(1, input, output, workspace, scaling);
  }
  template <typename Input, typename Output>
  void backward(int batch_size, Input const input[], Output output[], Input[],
                scale scaling = scale::none) const {
    backward(batch_size, input, output, scaling);
  }
  template <typename Input, typename Output>
  void backward(int batch_size, Input const input[], Output output[], scale scaling = scale::none) const {
    execute<Output, Input>(false, batch_size, input, output, scaling);
  }

 protected:
  transform3d(stream_type stream, box3d<index> const& inbox, box3d<index> const& outbox, int r2c_direction,
              MPI_Comm comm, plan_options const& options)
      : backend::device_instance<location_tag>(stream),
        boxes_(new Boxes{inbox, outbox}),
        engine_(comm, request(stream, inbox, outbox, r2c_direction, options)) {}

  template <typename Result, typename Input>
  buffer_container<Result> backward_into(buffer_container<Input> const& input, scale scaling) const {
    check_size(input.size(), size_outbox(), "backward", "size_outbox()");
    auto result = make_buffer_container<Result>(this->stream(), static_cast<std::size_t>(size_inbox()));
    backward(input.data(), result.data(), scaling);
    return result;
  }

 private:
  static weft::HeffteRequest request(stream_type stream, box3d<index> const& inbox,
                                     box3d<index> const& outbox, int r2c_direction,
                                     plan_options const& options) {
    weft::HeffteRequest r = request_of<backend_tag>(options);
    for (std::size_t a = 0; a < 3; ++a) {
      r.inbox.low[a] = inbox.low[a];
      r.inbox.high[a] = inbox.high[a];
      r.inbox.order[a] = inbox.order[a];
      r.outbox.low[a] = outbox.low[a];
      r.outbox.high[a] = outbox.high[a];
      r.outbox.order[a] = outbox.order[a];
    }
    r.r2c_axis = r2c_direction;
    r.stream = stream;
    return r;
  }

  static void check_size(std::size_t size, long long needed, const char* call, const char* what) {
    if (static_cast<long long>(size) < needed)
      throw std::invalid_argument(std::string("heffte: ") + call + " of a container of " +
                                  std::to_string(size) + " elements, fewer than the " +
                                  std::to_string(needed) + " of " + what);
  }

  template <typename In, typename Out>
  static void check_types() {
    static_assert(
        backend::check_types<backend_tag, In, Out>::value,
        "these types do not go together, or are no numbers that heFFTe knows: inbox and outbox are float "
        "or double and std::complex of the same precision, or both complex; cosine and sine transforms "
        "are real on both sides. Specialise heffte::is_ccomplex or is_zcomplex for types of your own");
    static_assert(!halves || std::is_arithmetic<In>::value,
                  "the inbox of fft3d_r2c is float or double; fft3d is for complex arrays");
    static_assert(
        halves || !backend::uses_gpu<backend_tag>::value || std::is_same<In, Out>::value ||
            !std::is_arithmetic<In>::value,
        "fft3d of real arrays on GPUs is not there: use fft3d_r2c, which also computes half as much");
  }

  /// `In` and `Out` are the elements of the inbox and of the outbox.
  template <typename In, typename Out>
  void execute(bool forward, int batch, void const* input, void* output, scale scaling) const {
    check_types<In, Out>();
    using Standard = typename define_standard_type<Out>::type;
    weft::HeffteCall call;
    call.forward = forward;
    call.real_bytes = std::is_same<Standard, float>::value || is_ccomplex<Out>::value ? 4 : 8;
    call.real_inbox = !halves && backend::uses_fft_types<backend_tag>::value && std::is_arithmetic<In>::value;
    call.batch = batch;
    call.scale = scaling;
    call.in = input;
    call.out = output;
    engine_.execute(call);
  }

  struct Boxes {
    box3d<index> in, out;
  };
  std::unique_ptr<const Boxes> boxes_;  // a box cannot be assigned, but a transform can
  mutable weft::HeffteEngine engine_;   // makes plans when they are first called for
};

/// A transform of an array of three axes, or of two with boxes of two: c2c with backends of the Fourier
/// transform, and DCTs and DSTs of real data with the others. Can be moved, not copied.
template <typename backend_tag, typename index = int>
class fft3d : public transform3d<backend_tag, index, false> {
  using base = transform3d<backend_tag, index, false>;

 public:
  template <typename T>
  using buffer_container = typename base::template buffer_container<T>;
  template <typename T>
  using real_buffer_container = typename base::template real_buffer_container<T>;

  /// Collective over `comm`, which must live as long as the transform. The inboxes of all ranks fill an array
  /// that begins at index 0, and the outboxes the same array. Ranks may hold empty boxes. Throws weft::Error
  /// on all ranks.
  fft3d(box3d<index> const inbox, box3d<index> const outbox, MPI_Comm const comm,
        plan_options const options = default_options<backend_tag>())
      : base(typename base::stream_type(), inbox, outbox, -1, comm, options) {}
  /// The same with a stream for arrays on GPUs: executions are enqueued there.
  fft3d(typename base::stream_type gpu_stream, box3d<index> const inbox, box3d<index> const outbox,
        MPI_Comm const comm, plan_options const options = default_options<backend_tag>())
      : base(gpu_stream, inbox, outbox, -1, comm, options) {}

  using base::backward;
  /// Backward into a new container, of the same elements, or of real numbers. Throws std::invalid_argument if
  /// the given one is too small.
  template <typename Scalar>
  buffer_container<Scalar> backward(buffer_container<Scalar> const& input,
                                    scale scaling = scale::none) const {
    return base::template backward_into<Scalar>(input, scaling);
  }
  template <typename Scalar>
  real_buffer_container<Scalar> backward_real(buffer_container<Scalar> const& input,
                                              scale scaling = scale::none) const {
    return base::template backward_into<typename transform_real_type<Scalar, backend_tag>::type>(input,
                                                                                                 scaling);
  }
};

/// A transform of real data to complex, with about half of the points along axis `r2c_direction`. As fft3d.
template <typename backend_tag, typename index = int>
class fft3d_r2c : public transform3d<backend_tag, index, true> {
  using base = transform3d<backend_tag, index, true>;

 public:
  template <typename T>
  using buffer_container = typename base::template buffer_container<T>;
  template <typename T>
  using real_buffer_container = typename base::template real_buffer_container<T>;

  /// As of fft3d; the outboxes fill an array of n/2+1 points along `r2c_direction`, which is 0, 1 or 2.
  fft3d_r2c(box3d<index> const inbox, box3d<index> const outbox, int r2c_direction, MPI_Comm const comm,
            plan_options const options = default_options<backend_tag>())
      : base(typename base::stream_type(), inbox, outbox, direction(r2c_direction), comm, options) {}
  fft3d_r2c(typename base::stream_type gpu_stream, box3d<index> const inbox, box3d<index> const outbox,
            int r2c_direction, MPI_Comm const comm,
            plan_options const options = default_options<backend_tag>())
      : base(gpu_stream, inbox, outbox, direction(r2c_direction), comm, options) {}

  using base::backward;
  /// Backward into a new container of real numbers.
  template <typename Scalar>
  real_buffer_container<Scalar> backward(buffer_container<Scalar> const& input,
                                         scale scaling = scale::none) const {
    return base::template backward_into<typename transform_real_type<Scalar, backend_tag>::type>(input,
                                                                                                 scaling);
  }

 private:
  static int direction(int r2c_direction) {
    if (r2c_direction < 0 || r2c_direction > 2)
      throw std::invalid_argument("heffte: r2c_direction " + std::to_string(r2c_direction) +
                                  "; it is 0, 1 or 2");
    return r2c_direction;
  }
};

/// Other names: an array of two axes is one of three, and the backend says whether it is a cosine or sine
/// transform.
template <typename backend_tag, typename index = int>
using fft2d = fft3d<backend_tag, index>;
template <typename backend_tag, typename index = int>
using fft2d_r2c = fft3d_r2c<backend_tag, index>;
template <typename backend_tag, typename index = int>
using rtransform = fft3d<backend_tag, index>;

/// The constructors as functions.
template <typename backend_tag, typename index>
fft3d<backend_tag, index> make_fft3d(box3d<index> const inbox, box3d<index> const outbox, MPI_Comm const comm,
                                     plan_options const options = default_options<backend_tag>()) {
  return fft3d<backend_tag, index>(inbox, outbox, comm, options);
}
template <typename backend_tag, typename index>
fft3d_r2c<backend_tag, index> make_fft3d_r2c(box3d<index> const inbox, box3d<index> const outbox,
                                             int r2c_direction, MPI_Comm const comm,
                                             plan_options const options = default_options<backend_tag>()) {
  return fft3d_r2c<backend_tag, index>(inbox, outbox, r2c_direction, comm, options);
}

}  // namespace heffte
// NOLINTEND(readability-identifier-naming)
