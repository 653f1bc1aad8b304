! Plans: a problem bound to the resources that carry it out.
module weft_plans_module
  use weft_c_module
  use weft_status_module
  use weft_axes_module
  use weft_problems_module
  use weft_options_module
  use weft_operators_module
  use weft_mode_operators_module
  use weft_ranks_module
  implicit none
  private
  public :: weft_plan, weft_layout, weft_operation_time, weft_accuracy, weft_deallocate
  public :: take_layout
  public :: weft_forward, weft_backward, weft_input, weft_output, weft_nyquist_kept, weft_nyquist_zero

  integer, parameter :: weft_forward = 0, weft_backward = 1
  ! The array before forward, or after it.
  integer, parameter :: weft_input = 0, weft_output = 1
  ! What the mode n/2 of a c2c or r2c dimension of even length n counts as. It stands for n/2 periods and for -n/2 alike,
  ! so that a derivative of odd order has to leave it out.
  integer, parameter :: weft_nyquist_kept = 0, weft_nyquist_zero = 1

  ! This rank's array of one side of a plan.
  type :: weft_layout
    type(weft_box) :: box
    ! The bounds of the array that holds the box, with halo and padding, dimension for dimension in memory order: those
    ! of an array for the executions. A batch is one dimension more. With strides they are those of the box.
    integer(c_int64_t), allocatable :: lo(:), hi(:)
    integer, allocatable :: order(:)               ! dimensions of the problem, from the fastest to the slowest varying
    integer(c_int64_t), allocatable :: strides(:)  ! in elements, per dimension of the problem
    integer(c_int64_t) :: offset = 0               ! elements before the first point of the box
    integer(c_int64_t) :: distance = 0             ! elements from one array of a batch to the next
    integer(c_int64_t) :: count = 0                ! elements, with the whole batch, halo and padding
    integer :: element_bytes = 0                   ! 4, 8 or 16
    logical :: is_complex = .false.
  end type

  ! A period of time in which an operation ran; an operation that was interrupted has several.
  type :: weft_operation_time
    character(:), allocatable :: kind  ! "fft", "copy", "pack", "put", "keep", "exchange", "wait", "unpack"
    integer :: stage = 0               ! number in the printed schedule, from 0
    integer :: reshape = -1            ! number, from 0; -1: none
    integer :: tile = 0                ! number within the reshape
    integer :: stream = 0              ! on GPUs: 0 computes, 1 moves data to other ranks
    integer :: peer = -1               ! the other rank, if the operation is about one, else -1
    real(c_double) :: begin = 0, end = 0  ! seconds since the execution began
    integer(c_int64_t) :: bytes = 0    ! written, or sent to other ranks
    integer(c_int64_t) :: memory_read = 0, memory_written = 0  ! bytes of arrays and workspace
  end type

  ! The error that codecs make in given data, over all points of all ranks.
  type :: weft_accuracy
    real(c_double) :: l2 = 0       ! 2-norm of the difference over that of the exact result
    real(c_double) :: maximum = 0  ! its largest element over that of the exact result
    real(c_double) :: bound = 0    ! what l2 is at most
  end type

  ! A handle to a plan. Copies refer to the same plan, and `free` of one of them ends all: the others are then refused
  ! with status weft_bad_handle. A plan is not freed by itself when its variable goes out of scope.
  !
  ! Arrays are given to executions as they are: of any rank, with any lower bounds, contiguous or not. None is ever
  ! copied. What is required is checked on this rank before any data move:
  !   - the type and kind of the elements: layout%is_complex, layout%element_bytes;
  !   - as many dimensions as the problem (and one more, the last, for a batch), in memory order, with the extents
  !     layout%hi - layout%lo + 1 and the strides of the plan; or rank 1, contiguous, with layout%count elements or more.
  ! Of arrays with assumed size, a(n, *), what the size would tell is not checked. A rank whose box is empty may pass
  ! anything. If the array of one rank is refused, the others learn of it as of other misuse (class Plan of C++).
  type, extends(plan_handle) :: weft_plan
    type(plan_facts), private :: facts
    integer, private :: ndim = 0
  contains
    procedure :: create => plan_create
    procedure :: free => plan_free
    procedure :: forward => plan_forward
    procedure :: backward => plan_backward
    procedure :: execute => plan_execute
    procedure, private :: plan_apply, plan_apply_mode_operator
    generic :: apply => plan_apply, plan_apply_mode_operator
    procedure :: start_forward => plan_start_forward
    procedure :: start_backward => plan_start_backward
    procedure :: start => plan_start
    procedure :: test => plan_test
    procedure :: wait => plan_wait
    procedure :: set_stream => plan_set_stream
    procedure :: layout => plan_layout
    procedure :: input_layout => plan_input_layout
    procedure :: output_layout => plan_output_layout
    procedure :: input_box => plan_input_box
    procedure :: output_box => plan_output_box
    procedure :: between_box => plan_between_box
    procedure :: buffer_bytes => plan_buffer_bytes
    procedure :: workspace_bytes => plan_workspace_bytes
    procedure :: scale_factor => plan_scale_factor
    procedure :: columns => plan_columns
    procedure :: logical_length => plan_logical_length
    procedure :: wavenumbers => plan_wavenumbers
    procedure :: hermitian_weights => plan_hermitian_weights
    procedure :: dealiasing_mask => plan_dealiasing_mask
    procedure :: shell_spectrum => plan_shell_spectrum
    procedure :: record_times => plan_record_times
    procedure :: operation_times => plan_operation_times
    procedure :: measured_error => plan_measured_error
    procedure :: text => plan_text
    procedure :: explain => plan_explain
    procedure :: explain_json => plan_explain_json
    procedure :: program_text => plan_program_text
    procedure, private :: view_real32, view_real64, view_complex32, view_complex64
    generic :: view => view_real32, view_real64, view_complex32, view_complex64
    procedure, private :: allocate_real32, allocate_real64, allocate_complex32, allocate_complex64
    generic :: allocate => allocate_real32, allocate_real64, allocate_complex32, allocate_complex64
  end type

  ! Frees memory of plan%allocate and nullifies the pointer. A pointer that is not associated is left so.
  interface weft_deallocate
    procedure deallocate_real32, deallocate_real64, deallocate_complex32, deallocate_complex64
  end interface

  interface
    integer(c_int) function text_function(plan, text) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
      type(c_ptr), intent(inout) :: text
    end function
  end interface

contains

  ! Makes a plan. Collective over `comm`; all ranks give the same options, and the same problem but for what
  ! weft_problem lets differ. If planning fails on any rank, it fails on every rank. A plan that was made already has to
  ! be freed first.
  subroutine plan_create(self, comm, problem, options, status)
    class(weft_plan), intent(inout) :: self
    type(weft_comm), intent(in) :: comm
    type(weft_problem), intent(in) :: problem
    type(weft_options), intent(in), optional :: options
    integer, intent(out), optional :: status
    type(c_arguments), target :: arguments
    type(c_ptr) :: set, refused
    integer(c_int) :: code
    set = c_null_ptr
    if (present(options)) set = options%handle
    if (c_associated(self%handle)) then
      refused = c_null_ptr  ! lets planning fail on the other ranks; the message is the one that follows
      code = weft_plan_create_c(comm%handle, c_null_ptr, set, refused)
      code = fail("plan%create", "a plan that was made already", "a new one, or plan%free first")
    else
      code = translate(problem, arguments)
      if (code == weft_success) then
        code = weft_plan_create_c(comm%handle, c_loc(arguments%problem), set, self%handle)
        if (code == weft_success) then
          self%facts = arguments%facts
          self%ndim = arguments%problem%ndim
        end if
      else
        refused = c_null_ptr
        code = weft_plan_create_c(comm%handle, c_null_ptr, set, refused)
        code = translate_again(problem)
      end if
    end if
    call report(code, status)
  end subroutine

  ! The message of a problem that was refused, after the library's own of the same failure.
  function translate_again(problem) result(code)
    type(weft_problem), intent(in) :: problem
    integer(c_int) :: code
    type(c_arguments), target :: arguments
    code = translate(problem, arguments)
  end function

  ! Ends the plan. Local. One whose execution is under way must not be freed (class Plan of C++). Freeing a plan that was
  ! never made does nothing.
  subroutine plan_free(self, status)
    class(weft_plan), intent(inout) :: self
    integer, intent(out), optional :: status
    integer(c_int) :: code
    code = weft_plan_free_c(self%handle)
    call forget_if_freed(code, self%handle)
    call report(code, status)
  end subroutine

  ! ---------------------------------------------------------------------------------------------------- executions

  ! Transforms `in`, this rank's array of the input box, into `out`, that of its output box. Collective. Out of place the
  ! arrays must not overlap, and `in` is left as it was. In place there is one array, of the shape of either side and of
  ! buffer_bytes: leave out `out`. `workspace` is given if and only if option workspace is "user": contiguous,
  ! workspace_bytes, on a multiple of 16. The result is scaled as the problem says, by default not at all.
  subroutine plan_forward(self, in, out, workspace, status)
    class(weft_plan), intent(in) :: self
    type(*), dimension(..) :: in  ! written in place only
    type(*), dimension(..), intent(inout), optional :: out, workspace
    integer, intent(out), optional :: status
    call report(weft_fortran_execute(self%handle, self%facts, weft_forward, 0, in, out, workspace), status)
  end subroutine

  ! The same from the output box to the input box. Without scaling, forward and backward multiply by scale_factor.
  subroutine plan_backward(self, in, out, workspace, status)
    class(weft_plan), intent(in) :: self
    type(*), dimension(..) :: in
    type(*), dimension(..), intent(inout), optional :: out, workspace
    integer, intent(out), optional :: status
    call report(weft_fortran_execute(self%handle, self%facts, weft_backward, 0, in, out, workspace), status)
  end subroutine

  ! Of a plan with something between (problem%between): transforms `in`, calls `op` with blocks of the modes, or points,
  ! until it has had all elements of this rank once, and transforms the result into `out`. Collective; all else is as in
  ! forward, which executes such a plan without an operator. weft_backward goes from the output box to the input box, by
  ! the same transforms in the same order. `wavenumbers` of such a plan are those of all modes.
  subroutine plan_apply(self, op, in, out, workspace, direction, status)
    class(weft_plan), intent(in) :: self
    class(weft_operator), intent(in), target :: op
    type(*), dimension(..) :: in
    type(*), dimension(..), intent(inout), optional :: out, workspace
    integer, intent(in), optional :: direction
    integer, intent(out), optional :: status
    type(operator_holder), target :: holder
    integer(c_int) :: way
    way = weft_forward
    if (present(direction)) way = int(direction, c_int)
    holder%op => op
    call report(weft_fortran_apply(self%handle, self%facts, way, c_funloc(operate_from_c), c_loc(holder), in, out, &
      workspace), status)
  end subroutine

  ! The same with a ready-made operator on modes. It fails before any data move for one that is none for the plan: of
  ! another problem's modes, or for another number of fields or results.
  subroutine plan_apply_mode_operator(self, op, in, out, workspace, direction, status)
    class(weft_plan), intent(in) :: self
    class(weft_mode_operator), intent(in) :: op
    type(*), dimension(..) :: in
    type(*), dimension(..), intent(inout), optional :: out, workspace
    integer, intent(in), optional :: direction
    integer, intent(out), optional :: status
    integer(c_int) :: way
    way = weft_forward
    if (present(direction)) way = int(direction, c_int)
    call report(weft_fortran_apply_mode_operator(self%handle, self%facts, way, op%handle, in, out, workspace), status)
  end subroutine

  ! The same by addresses, which are not checked: for memory of C, or of a GPU. `workspace` with its size in bytes, or
  ! c_null_ptr and 0.
  subroutine plan_execute(self, direction, in, out, workspace, workspace_bytes, status)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: direction
    type(c_ptr), intent(in) :: in, out
    type(c_ptr), intent(in), optional :: workspace
    integer(c_size_t), intent(in), optional :: workspace_bytes
    integer, intent(out), optional :: status
    call report(by_addresses(self%handle, .false., direction, in, out, workspace, workspace_bytes), status)
  end subroutine

  ! As forward and backward, but return as soon as the execution would have to wait for another rank. Collective. Until
  ! `test` is true or `wait` returns, the program must not touch the arrays; they need the attribute asynchronous (and
  ! target, or to be variables of the scope that waits) there, so that the compiler knows. No thread runs in the
  ! background.
  subroutine plan_start_forward(self, in, out, workspace, status)
    class(weft_plan), intent(in) :: self
    type(*), dimension(..), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous, optional :: out, workspace
    integer, intent(out), optional :: status
    call report(weft_fortran_execute(self%handle, self%facts, weft_forward, 1, in, out, workspace), status)
  end subroutine
  subroutine plan_start_backward(self, in, out, workspace, status)
    class(weft_plan), intent(in) :: self
    type(*), dimension(..), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous, optional :: out, workspace
    integer, intent(out), optional :: status
    call report(weft_fortran_execute(self%handle, self%facts, weft_backward, 1, in, out, workspace), status)
  end subroutine

  ! The same by addresses, as `execute`.
  subroutine plan_start(self, direction, in, out, workspace, workspace_bytes, status)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: direction
    type(c_ptr), intent(in) :: in, out
    type(c_ptr), intent(in), optional :: workspace
    integer(c_size_t), intent(in), optional :: workspace_bytes
    integer, intent(out), optional :: status
    call report(by_addresses(self%handle, .true., direction, in, out, workspace, workspace_bytes), status)
  end subroutine

  function by_addresses(handle, starts, direction, in, out, workspace, workspace_bytes) result(code)
    type(c_ptr), intent(in) :: handle, in, out
    logical, intent(in) :: starts
    integer, intent(in) :: direction
    type(c_ptr), intent(in), optional :: workspace
    integer(c_size_t), intent(in), optional :: workspace_bytes
    integer(c_int) :: code
    type(c_ptr) :: memory
    integer(c_size_t) :: bytes
    memory = c_null_ptr
    bytes = 0
    if (present(workspace)) memory = workspace
    if (present(workspace_bytes)) bytes = workspace_bytes
    if (starts) then
      code = weft_start_c(handle, int(direction, c_int), in, out, memory, bytes)
    else
      code = weft_execute_c(handle, int(direction, c_int), in, out, memory, bytes)
    end if
  end function

  ! Takes the execution under way as far as possible without waiting. True if it is complete, or if none is under way.
  function plan_test(self, status) result(complete)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    logical :: complete
    integer(c_int) :: code, yes
    yes = 0
    code = weft_test_c(self%handle, yes)
    complete = yes /= 0
    call report(code, status)
  end function

  ! Completes the execution under way, if there is one.
  subroutine plan_wait(self, status)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    call report(weft_wait_c(self%handle), status)
  end subroutine

  ! For arrays in memory of a GPU: later executions are enqueued on this cudaStream_t.
  subroutine plan_set_stream(self, stream, status)
    class(weft_plan), intent(in) :: self
    type(c_ptr), intent(in) :: stream
    integer, intent(out), optional :: status
    call report(weft_plan_set_stream_c(self%handle, stream), status)
  end subroutine

  ! --------------------------------------------------------------------------------------------------------- facts

  ! This rank's array of one side, weft_input or weft_output. Local, as all that follow.
  function plan_layout(self, side, status) result(layout)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: side
    integer, intent(out), optional :: status
    type(weft_layout) :: layout
    type(c_layout) :: c
    integer(c_int) :: code
    c%size = c_sizeof(c)
    code = weft_plan_layout_c(self%handle, int(side, c_int), c)
    if (code == weft_success) call take_layout(c, self%facts, side, layout)
    call report(code, status)
  end function

  ! A layout of C as one of Fortran.
  subroutine take_layout(c, facts, side, layout)
    type(c_layout), intent(in) :: c
    type(plan_facts), intent(in) :: facts
    integer, intent(in) :: side
    type(weft_layout), intent(out) :: layout
    integer(c_int64_t) :: lower(max_axes), upper(max_axes)
    integer(c_int) :: empty
    layout%box = box_from_c(c%box)
    layout%order = order_to_dimensions(c%order, c%box%ndim)
    layout%strides = dimensions_of(c%strides, c%box%ndim)
    empty = weft_fortran_margins(facts, int(side, c_int), c, lower, upper)
    layout%lo = layout%box%lo - dimensions_of(lower, c%box%ndim)
    layout%hi = layout%box%hi + dimensions_of(upper, c%box%ndim)
    layout%lo = layout%lo(layout%order)
    layout%hi = layout%hi(layout%order)
    layout%offset = c%offset
    layout%distance = c%distance
    layout%count = c%count
    layout%element_bytes = int(c%element_bytes)
    layout%is_complex = c%is_complex /= 0
  end subroutine

  function plan_input_layout(self, status) result(layout)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    type(weft_layout) :: layout
    layout = self%layout(weft_input, status)
  end function

  function plan_output_layout(self, status) result(layout)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    type(weft_layout) :: layout
    layout = self%layout(weft_output, status)
  end function

  ! The boxes of this rank before and after forward.
  function plan_input_box(self, status) result(box)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    type(weft_box) :: box
    type(weft_layout) :: layout
    layout = self%layout(weft_input, status)
    box = layout%box
  end function

  function plan_output_box(self, status) result(box)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    type(weft_box) :: box
    type(weft_layout) :: layout
    layout = self%layout(weft_output, status)
    box = layout%box
  end function

  ! What of the modes, or points, between two transforms an operator gets on this rank. A failure for a plan with nothing
  ! between.
  function plan_between_box(self, status) result(box)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    type(weft_box) :: box
    type(c_box) :: c
    integer(c_int) :: code
    code = weft_plan_between_box_c(self%handle, c)
    if (code == weft_success) box = box_from_c(c)
    call report(code, status)
  end function

  ! Bytes of an array that serves in place: the larger of input and output.
  function plan_buffer_bytes(self, status) result(bytes)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    integer(c_size_t) :: bytes
    bytes = 0
    call report(weft_plan_buffer_bytes_c(self%handle, bytes), status)
  end function

  ! Bytes of workspace on this rank.
  function plan_workspace_bytes(self, status) result(bytes)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    integer(c_size_t) :: bytes
    bytes = 0
    call report(weft_plan_workspace_bytes_c(self%handle, bytes), status)
  end function

  ! The product of the logical lengths of the transformed dimensions.
  function plan_scale_factor(self, status) result(factor)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    real(c_double) :: factor
    factor = 0
    call report(weft_plan_scale_factor_c(self%handle, factor), status)
  end function

  ! The columns of this rank (weft_columns, weft_sphere), in the order of its array: the numbers of the first mode of each,
  ! one per dimension, and how many modes it has along the last dimension. Along c2c dimensions the numbers of first modes
  ! are from -n/2 to (n-1)/2; those behind them go on, and may be larger: plan%wavenumbers has those of all. Boxes of such
  ! a side have one dimension: it counts the modes of all ranks, rank after rank. Local; a failure for other plans.
  subroutine plan_columns(self, first, count, status)
    class(weft_plan), intent(in) :: self
    integer(c_int64_t), allocatable, intent(out) :: first(:, :), count(:)
    integer, intent(out), optional :: status
    type(c_mode_column), pointer :: columns(:)
    type(c_ptr) :: memory
    integer(c_size_t) :: columns_there
    integer(c_int) :: code
    integer :: i
    memory = c_null_ptr
    columns_there = 0
    code = weft_plan_columns_c(self%handle, memory, columns_there)
    allocate (first(self%ndim, columns_there), count(columns_there))
    if (columns_there > 0) then
      call c_f_pointer(memory, columns, [columns_there])
      do i = 1, size(columns)
        first(:, i) = dimensions_of(columns(i)%first, int(self%ndim, c_int))
        count(i) = columns(i)%count
      end do
    end if
    call weft_free_c(memory)
    call report(code, status)
  end subroutine

  ! The period of the transform along a dimension, in points, from which wavenumbers are counted: n for c2c and r2c, 2(n-1)
  ! for dct1, 2(n+1) for dst1, 2n for the other DCTs and DSTs; 1 for a dimension that is not transformed.
  function plan_logical_length(self, dimension, status) result(length)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: dimension
    integer, intent(out), optional :: status
    integer(c_int64_t) :: length
    length = 0
    call report(weft_plan_logical_length_c(self%handle, axis_of_plan(self, dimension), length), status)
  end function

  ! The wavenumbers of this rank's modes along a dimension, from the first index of the output's box to the last: how many
  ! periods a mode has in the logical length L. Times 2 pi / (L * spacing) they are angular wavenumbers. Of c2c those from
  ! n/2 on are negative; dct3 and dst3, dct4 and dst4 have halves. Zeros along a dimension that is not transformed. Local.
  function plan_wavenumbers(self, dimension, nyquist, status) result(k)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: dimension
    integer, intent(in), optional :: nyquist
    integer, intent(out), optional :: status
    real(c_double), allocatable :: k(:)
    type(c_ptr) :: memory
    integer(c_size_t) :: count
    integer(c_int) :: code, n
    memory = c_null_ptr
    count = 0
    n = weft_nyquist_kept
    if (present(nyquist)) n = int(nyquist, c_int)
    code = weft_plan_wavenumbers_c(self%handle, axis_of_plan(self, dimension), n, memory, count)
    call take_numbers(memory, count, k)
    call report(code, status)
  end function

  ! How often modes count in a sum over all of them: 2 along an r2c dimension, which leaves out the modes that are
  ! conjugates of others, but 1 for mode 0 and for n/2 of even n; 1 along other dimensions. Local.
  function plan_hermitian_weights(self, dimension, status) result(weights)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: dimension
    integer, intent(out), optional :: status
    real(c_double), allocatable :: weights(:)
    type(c_ptr) :: memory
    integer(c_size_t) :: count
    integer(c_int) :: code
    memory = c_null_ptr
    count = 0
    code = weft_plan_hermitian_weights_c(self%handle, axis_of_plan(self, dimension), memory, count)
    call take_numbers(memory, count, weights)
    call report(code, status)
  end function

  ! 1 for modes whose wavenumber is less than `fraction` of the largest, L/2; 0 for others. With 2/3, as without
  ! `fraction`, products of two fields have no aliasing errors in the modes that are kept. Local.
  function plan_dealiasing_mask(self, dimension, fraction, status) result(mask)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: dimension
    real(c_double), intent(in), optional :: fraction
    integer, intent(out), optional :: status
    real(c_double), allocatable :: mask(:)
    real(c_double) :: part
    type(c_ptr) :: memory
    integer(c_size_t) :: count
    integer(c_int) :: code
    memory = c_null_ptr
    count = 0
    part = 2/3._c_double
    if (present(fraction)) part = fraction
    code = weft_plan_dealiasing_mask_c(self%handle, axis_of_plan(self, dimension), part, memory, count)
    call take_numbers(memory, count, mask)
    call report(code, status)
  end function

  ! The squares of modes summed up by shell: sums(s) is the sum of abs(mode)**2 over all modes of all ranks, and all arrays
  ! of a batch, whose |k| is nearest to s - 1; each counts as often as hermitian_weights says. k has the wavenumbers times
  ! `units`, one for each dimension; none: 1. `modes`: this rank's output array, on the host. Collective; all ranks get
  ! the same.
  function plan_shell_spectrum(self, modes, units, status) result(sums)
    class(weft_plan), intent(in) :: self
    type(*), dimension(..), intent(in) :: modes
    real(c_double), intent(in), optional :: units(:)
    integer, intent(out), optional :: status
    real(c_double), allocatable :: sums(:)
    type(c_ptr) :: memory
    integer(c_size_t) :: count
    integer(c_int) :: code
    memory = c_null_ptr
    count = 0
    if (present(units)) then
      code = weft_fortran_shell_spectrum(self%handle, self%facts, modes, units(size(units):1:-1), size(units), memory, count)
    else
      code = weft_fortran_shell_spectrum(self%handle, self%facts, modes, unit_count=0, sums=memory, count=count)
    end if
    call take_numbers(memory, count, sums)
    call report(code, status)
  end function

  ! The axis of a dimension. Of one that the plan does not have it is an axis that the plan does not have.
  pure function axis_of_plan(self, dimension) result(axis)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: dimension
    integer(c_int) :: axis
    axis = axis_of(dimension, self%ndim)
  end function

  ! Copies numbers that the library has allocated, and frees them.
  subroutine take_numbers(memory, count, numbers)
    type(c_ptr), intent(in) :: memory
    integer(c_size_t), intent(in) :: count
    real(c_double), allocatable, intent(out) :: numbers(:)
    real(c_double), pointer :: c(:)
    allocate (numbers(count))
    if (count > 0) then
      call c_f_pointer(memory, c, [count])
      numbers = c
    end if
    call weft_free_c(memory)
  end subroutine

  ! Whether executions record the time of every operation; off at first.
  subroutine plan_record_times(self, on, status)
    class(weft_plan), intent(in) :: self
    logical, intent(in) :: on
    integer, intent(out), optional :: status
    call report(weft_plan_record_times_c(self%handle, int(merge(1, 0, on), c_int)), status)
  end subroutine

  ! The operations of the last recorded execution, in the order in which this rank did them.
  function plan_operation_times(self, status) result(times)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    type(weft_operation_time), allocatable :: times(:)
    type(c_operation_time), pointer :: c(:)
    type(c_operation_time) :: one
    type(c_ptr) :: memory
    integer(c_size_t) :: count, i
    integer(c_int) :: code
    memory = c_null_ptr
    count = 0
    code = weft_plan_operation_times_c(self%handle, c_sizeof(one), memory, count)
    allocate (times(count))
    if (count > 0) call c_f_pointer(memory, c, [count])
    do i = 1, count
      call copy_text(c(i)%kind, times(i)%kind)
      times(i)%stage = c(i)%stage
      times(i)%reshape = c(i)%reshape
      times(i)%tile = c(i)%tile
      times(i)%stream = c(i)%stream
      times(i)%peer = c(i)%peer
      times(i)%begin = c(i)%begin
      times(i)%end = c(i)%end
      times(i)%bytes = c(i)%bytes
      times(i)%memory_read = c(i)%memory_read
      times(i)%memory_written = c(i)%memory_written
    end do
    call weft_free_c(memory)
    call report(code, status)
  end function

  ! The error that codecs (options codec and tolerance) make for the data in `in`, this rank's array of the side that
  ! `direction` starts from, which is left as it was. Collective; all ranks get the same. Costs planning and two
  ! executions. For arrays on the host.
  function plan_measured_error(self, direction, in, status) result(accuracy)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: direction
    type(*), dimension(..), intent(in) :: in
    integer, intent(out), optional :: status
    type(weft_accuracy) :: accuracy
    type(c_accuracy) :: c
    integer(c_int) :: code
    c%size = c_sizeof(c)
    code = weft_fortran_measured_error(self%handle, self%facts, int(direction, c_int), in, c)
    accuracy = weft_accuracy(c%l2, c%maximum, c%bound)
    call report(code, status)
  end function

  ! --------------------------------------------------------------------------------------------------------- texts

  subroutine text_by(ask, handle, text, status)
    procedure(text_function) :: ask
    type(c_ptr), intent(in) :: handle
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: status
    type(c_ptr) :: c
    integer(c_int) :: code
    c = c_null_ptr
    code = ask(handle, c)
    call take_text(c, text)
    call report(code, status)
  end subroutine

  ! Texts for people, which number axes as C++ does: axis a is dimension ndim - a. With gfortran not by several threads at
  ! once from one place in the program (status.f90 says why). The plan on one screen.
  function plan_text(self, status) result(text)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    character(:), allocatable :: text
    call text_by(weft_plan_text_c, self%handle, text, status)
  end function

  ! Why the plan is as it is, what else there was, and what would make it faster.
  function plan_explain(self, status) result(text)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    character(:), allocatable :: text
    call text_by(weft_plan_explain_c, self%handle, text, status)
  end function

  ! The same as JSON; weft.h lists its members.
  function plan_explain_json(self, status) result(text)
    class(weft_plan), intent(in) :: self
    integer, intent(out), optional :: status
    character(:), allocatable :: text
    call text_by(weft_plan_explain_json_c, self%handle, text, status)
  end function

  ! The operations of this rank in one direction, one per line.
  function plan_program_text(self, direction, status) result(text)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: direction
    integer, intent(out), optional :: status
    character(:), allocatable :: text
    type(c_ptr) :: c
    integer(c_int) :: code
    c = c_null_ptr
    code = weft_plan_program_c(self%handle, int(direction, c_int), c)
    call take_text(c, text)
    call report(code, status)
  end function

  ! --------------------------------------------------------------------------------------------------------- memory

  ! plan%view(side, memory, array): points `array` to `memory`, as the array of one side, with the bounds layout%lo and
  ! layout%hi. `array` is a pointer to the elements of that side, with as many dimensions as the problem (one more for a
  ! batch, last), or one: then all layout%count elements. So in place one memory has the view of either side. Only of a
  ! side without elements `memory` may be c_null_ptr. Local.
  subroutine view_real32(self, side, memory, array, status)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: side
    type(c_ptr), intent(in) :: memory
    real(c_float), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_view_real32(self%handle, self%facts, int(side, c_int), 0, memory, array), status)
  end subroutine
  subroutine view_real64(self, side, memory, array, status)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: side
    type(c_ptr), intent(in) :: memory
    real(c_double), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_view_real64(self%handle, self%facts, int(side, c_int), 0, memory, array), status)
  end subroutine
  subroutine view_complex32(self, side, memory, array, status)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: side
    type(c_ptr), intent(in) :: memory
    complex(c_float_complex), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_view_complex32(self%handle, self%facts, int(side, c_int), 0, memory, array), status)
  end subroutine
  subroutine view_complex64(self, side, memory, array, status)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: side
    type(c_ptr), intent(in) :: memory
    complex(c_double_complex), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_view_complex64(self%handle, self%facts, int(side, c_int), 0, memory, array), status)
  end subroutine

  ! plan%allocate(side, array): the same in new memory, zeroed, on a multiple of 64 bytes, for weft_deallocate. For a
  ! problem in place it has buffer_bytes. An empty box gives an array without elements. Not for problems with
  ! strides, nor for memory of a GPU.
  subroutine allocate_real32(self, side, array, status)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: side
    real(c_float), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_view_real32(self%handle, self%facts, int(side, c_int), 1, c_null_ptr, array), status)
  end subroutine
  subroutine allocate_real64(self, side, array, status)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: side
    real(c_double), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_view_real64(self%handle, self%facts, int(side, c_int), 1, c_null_ptr, array), status)
  end subroutine
  subroutine allocate_complex32(self, side, array, status)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: side
    complex(c_float_complex), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_view_complex32(self%handle, self%facts, int(side, c_int), 1, c_null_ptr, array), status)
  end subroutine
  subroutine allocate_complex64(self, side, array, status)
    class(weft_plan), intent(in) :: self
    integer, intent(in) :: side
    complex(c_double_complex), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_view_complex64(self%handle, self%facts, int(side, c_int), 1, c_null_ptr, array), status)
  end subroutine

  subroutine deallocate_real32(array)
    real(c_float), pointer, intent(inout) :: array(..)
    call weft_fortran_deallocate_real32(array)
  end subroutine
  subroutine deallocate_real64(array)
    real(c_double), pointer, intent(inout) :: array(..)
    call weft_fortran_deallocate_real64(array)
  end subroutine
  subroutine deallocate_complex32(array)
    complex(c_float_complex), pointer, intent(inout) :: array(..)
    call weft_fortran_deallocate_complex32(array)
  end subroutine
  subroutine deallocate_complex64(array)
    complex(c_double_complex), pointer, intent(inout) :: array(..)
    call weft_fortran_deallocate_complex64(array)
  end subroutine
end module
