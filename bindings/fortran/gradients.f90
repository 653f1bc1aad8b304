! The derivatives of fields along all dimensions, each by a transform along that dimension alone.
module weft_gradients_module
  use weft_c_module
  use weft_status_module
  use weft_axes_module
  use weft_problems_module
  use weft_options_module
  use weft_plans_module
  use weft_ranks_module
  implicit none
  private
  public :: weft_gradient

  ! A handle, as that of a plan. Arrays are given as to a plan: they are checked, and never copied. Derivatives are the last
  ! dimension of the array of results, in the order of the dimensions they are along; with a batch those of the first field
  ! come first.
  type :: weft_gradient
    type(c_ptr) :: handle = c_null_ptr  ! for Weft's own use
    type(plan_facts), private :: facts
  contains
    procedure :: create => gradient_create
    procedure :: free => gradient_free
    procedure :: apply => gradient_apply
    procedure :: execute => gradient_execute
    procedure :: set_stream => gradient_set_stream
    procedure :: dimensions => gradient_dimensions
    procedure :: layout => gradient_layout
    procedure :: input_layout => gradient_input_layout
    procedure :: output_layout => gradient_output_layout
    procedure :: input_box => gradient_input_box
    procedure :: output_box => gradient_output_box
    procedure :: workspace_bytes => gradient_workspace_bytes
    procedure :: text => gradient_text
    procedure, private :: view_real32, view_real64, view_complex32, view_complex64
    generic :: view => view_real32, view_real64, view_complex32, view_complex64
    procedure, private :: allocate_real32, allocate_real64, allocate_complex32, allocate_complex64
    generic :: allocate => allocate_real32, allocate_real64, allocate_complex32, allocate_complex64
  end type

contains

  ! Makes a gradient. Collective over `comm`; all ranks give the same options. `problem`: points before and behind, as for a
  ! plan: shape, transforms (c2c, or r2c for real points, of which no dimension is special here, or none), precision,
  ! memory, batch, and who holds which points of the fields (`input`) and of each derivative (`output`, which may have
  ! other boxes and strides). `output_distance` is that from one derivative to the next. Scale factors do not count: the
  ! results are the derivatives. `lengths`: the periods along each dimension of the problem, in the user's unit; without
  ! it 2 pi each. The modes that stand for n/2 periods and -n/2 alike count as zero.
  !
  ! Fails, on all ranks alike, for DCTs and DSTs, in place, kept modes, given points, a line, something between, no
  ! transformed dimension, distributions by columns and fastest, option workspace=user, lengths that are not one positive
  ! number for each dimension, and where plan%create fails.
  subroutine gradient_create(self, comm, problem, options, lengths, status)
    class(weft_gradient), intent(inout) :: self
    type(weft_comm), intent(in) :: comm
    type(weft_problem), intent(in) :: problem
    type(weft_options), intent(in), optional :: options
    real(c_double), intent(in), optional :: lengths(:)
    integer, intent(out), optional :: status
    type(c_arguments), target :: arguments
    real(c_double), target :: by_axis(max_axes)
    type(c_ptr) :: set, given, refused
    integer(c_int) :: code, axes(max_axes), count
    set = c_null_ptr
    if (present(options)) set = options%handle
    given = c_null_ptr
    code = prepare(self, problem, lengths, arguments)
    if (code == weft_success) then
      if (present(lengths)) then
        by_axis = axes_of(lengths)
        given = c_loc(by_axis)
      end if
      code = weft_gradient_create_c(comm%handle, c_loc(arguments%problem), set, given, components_by_dimension, self%handle)
      if (code == weft_success) then
        code = weft_gradient_axes_c(self%handle, axes, count)
        self%facts = arguments%facts
        self%facts%batch(1) = problem%batch*count
      end if
    else
      refused = c_null_ptr  ! lets it fail on the other ranks; the message is the one that follows
      code = weft_gradient_create_c(comm%handle, c_null_ptr, set, given, components_by_dimension, refused)
      code = prepare_again(self, problem, lengths)
    end if
    call report(code, status)
  end subroutine

  ! What is wrong before C is asked.
  function prepare(self, problem, lengths, arguments) result(code)
    class(weft_gradient), intent(in) :: self
    type(weft_problem), intent(in) :: problem
    real(c_double), intent(in), optional :: lengths(:)
    type(c_arguments), intent(inout), target :: arguments
    integer(c_int) :: code
    if (c_associated(self%handle)) then
      code = fail("gradient%create", "a gradient that was made already", "a new one, or gradient%free first")
      return
    end if
    code = translate(problem, arguments)
    if (code == weft_success .and. present(lengths)) &
      call need_size(code, "gradient%create, lengths", size(lengths), size(problem%shape))
  end function

  function prepare_again(self, problem, lengths) result(code)
    class(weft_gradient), intent(in) :: self
    type(weft_problem), intent(in) :: problem
    real(c_double), intent(in), optional :: lengths(:)
    integer(c_int) :: code
    type(c_arguments), target :: arguments
    code = prepare(self, problem, lengths, arguments)
  end function

  ! Ends the gradient. Local. Freeing one that was never made does nothing.
  subroutine gradient_free(self, status)
    class(weft_gradient), intent(inout) :: self
    integer, intent(out), optional :: status
    integer(c_int) :: code
    code = weft_gradient_free_c(self%handle)
    call forget_if_freed(code, self%handle)
    call report(code, status)
  end subroutine

  ! The derivatives of the fields `in` to `out`, which must not overlap. Collective. `in` is left as it was.
  subroutine gradient_apply(self, in, out, status)
    class(weft_gradient), intent(in) :: self
    type(*), dimension(..), intent(in) :: in
    type(*), dimension(..), intent(inout) :: out
    integer, intent(out), optional :: status
    call report(weft_fortran_gradient_apply(self%handle, self%facts, in, out), status)
  end subroutine

  ! The same by addresses, which are not checked: for memory of C, or of a GPU.
  subroutine gradient_execute(self, in, out, status)
    class(weft_gradient), intent(in) :: self
    type(c_ptr), intent(in) :: in, out
    integer, intent(out), optional :: status
    call report(weft_gradient_execute_c(self%handle, in, out), status)
  end subroutine

  ! For arrays in memory of a GPU: later executions are enqueued on this cudaStream_t.
  subroutine gradient_set_stream(self, stream, status)
    class(weft_gradient), intent(in) :: self
    type(c_ptr), intent(in) :: stream
    integer, intent(out), optional :: status
    call report(weft_gradient_set_stream_c(self%handle, stream), status)
  end subroutine

  ! --------------------------------------------------------------------------------------------------------- facts

  ! The dimensions that are transformed, in the order of the derivatives. Local, as all that follow.
  function gradient_dimensions(self, status) result(dimensions)
    class(weft_gradient), intent(in) :: self
    integer, intent(out), optional :: status
    integer, allocatable :: dimensions(:)
    type(c_layout) :: c
    integer(c_int) :: code, axes(max_axes), count
    count = 0
    c%size = c_sizeof(c)
    code = weft_gradient_layout_c(self%handle, int(weft_input, c_int), c)
    if (code == weft_success) code = weft_gradient_axes_c(self%handle, axes, count)
    allocate (dimensions(count))
    dimensions = int(c%box%ndim - axes(:count))
    call report(code, status)
  end function

  ! This rank's array of the fields, weft_input, or of all derivatives, weft_output: `distance` is from one derivative to
  ! the next there.
  function gradient_layout(self, side, status) result(layout)
    class(weft_gradient), intent(in) :: self
    integer, intent(in) :: side
    integer, intent(out), optional :: status
    type(weft_layout) :: layout
    type(c_layout) :: c
    integer(c_int) :: code
    c%size = c_sizeof(c)
    code = weft_gradient_layout_c(self%handle, int(side, c_int), c)
    if (code == weft_success) call take_layout(c, self%facts, side, layout)
    call report(code, status)
  end function

  function gradient_input_layout(self, status) result(layout)
    class(weft_gradient), intent(in) :: self
    integer, intent(out), optional :: status
    type(weft_layout) :: layout
    layout = self%layout(weft_input, status)
  end function

  function gradient_output_layout(self, status) result(layout)
    class(weft_gradient), intent(in) :: self
    integer, intent(out), optional :: status
    type(weft_layout) :: layout
    layout = self%layout(weft_output, status)
  end function

  ! The points of the fields, and of each derivative, that this rank holds.
  function gradient_input_box(self, status) result(box)
    class(weft_gradient), intent(in) :: self
    integer, intent(out), optional :: status
    type(weft_box) :: box
    type(weft_layout) :: layout
    layout = self%layout(weft_input, status)
    box = layout%box
  end function

  function gradient_output_box(self, status) result(box)
    class(weft_gradient), intent(in) :: self
    integer, intent(out), optional :: status
    type(weft_box) :: box
    type(weft_layout) :: layout
    layout = self%layout(weft_output, status)
    box = layout%box
  end function

  ! Bytes of workspace on this rank.
  function gradient_workspace_bytes(self, status) result(bytes)
    class(weft_gradient), intent(in) :: self
    integer, intent(out), optional :: status
    integer(c_size_t) :: bytes
    bytes = 0
    call report(weft_gradient_workspace_bytes_c(self%handle, bytes), status)
  end function

  ! What each derivative does, for people; it numbers axes as C++ does: axis a is dimension ndim - a. With gfortran not by
  ! several threads at once from one place in the program (status.f90 says why).
  function gradient_text(self, status) result(text)
    class(weft_gradient), intent(in) :: self
    integer, intent(out), optional :: status
    character(:), allocatable :: text
    type(c_ptr) :: c
    integer(c_int) :: code
    c = c_null_ptr
    code = weft_gradient_text_c(self%handle, c)
    call take_text(c, text)
    call report(code, status)
  end function

  ! -------------------------------------------------------------------------------------------------------- memory

  ! gradient%view(side, memory, array): points `array` to `memory`, as plan%view does.
  subroutine view_real32(self, side, memory, array, status)
    class(weft_gradient), intent(in) :: self
    integer, intent(in) :: side
    type(c_ptr), intent(in) :: memory
    real(c_float), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_gradient_view_real32(self%handle, self%facts, int(side, c_int), 0, memory, array), status)
  end subroutine
  subroutine view_real64(self, side, memory, array, status)
    class(weft_gradient), intent(in) :: self
    integer, intent(in) :: side
    type(c_ptr), intent(in) :: memory
    real(c_double), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_gradient_view_real64(self%handle, self%facts, int(side, c_int), 0, memory, array), status)
  end subroutine
  subroutine view_complex32(self, side, memory, array, status)
    class(weft_gradient), intent(in) :: self
    integer, intent(in) :: side
    type(c_ptr), intent(in) :: memory
    complex(c_float_complex), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_gradient_view_complex32(self%handle, self%facts, int(side, c_int), 0, memory, array), status)
  end subroutine
  subroutine view_complex64(self, side, memory, array, status)
    class(weft_gradient), intent(in) :: self
    integer, intent(in) :: side
    type(c_ptr), intent(in) :: memory
    complex(c_double_complex), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_gradient_view_complex64(self%handle, self%facts, int(side, c_int), 0, memory, array), status)
  end subroutine

  ! gradient%allocate(side, array): the same in new memory, zeroed, on a multiple of 64 bytes, for weft_deallocate. Not for
  ! problems with strides, nor for memory of a GPU.
  subroutine allocate_real32(self, side, array, status)
    class(weft_gradient), intent(in) :: self
    integer, intent(in) :: side
    real(c_float), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_gradient_view_real32(self%handle, self%facts, int(side, c_int), 1, c_null_ptr, array), status)
  end subroutine
  subroutine allocate_real64(self, side, array, status)
    class(weft_gradient), intent(in) :: self
    integer, intent(in) :: side
    real(c_double), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_gradient_view_real64(self%handle, self%facts, int(side, c_int), 1, c_null_ptr, array), status)
  end subroutine
  subroutine allocate_complex32(self, side, array, status)
    class(weft_gradient), intent(in) :: self
    integer, intent(in) :: side
    complex(c_float_complex), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_gradient_view_complex32(self%handle, self%facts, int(side, c_int), 1, c_null_ptr, array), status)
  end subroutine
  subroutine allocate_complex64(self, side, array, status)
    class(weft_gradient), intent(in) :: self
    integer, intent(in) :: side
    complex(c_double_complex), pointer, intent(inout) :: array(..)
    integer, intent(out), optional :: status
    call report(weft_fortran_gradient_view_complex64(self%handle, self%facts, int(side, c_int), 1, c_null_ptr, array), status)
  end subroutine
end module
