! What is wrong is a status and a message that says what to do: arrays, handles, problems, options.
module misuse
  use, intrinsic :: iso_c_binding
  use support
  implicit none
  private
  public :: test_misuse, test_teams

contains

  subroutine test_misuse(comm)
    type(weft_comm), intent(in) :: comm
    call test_wrong_arrays(comm)
    call test_wrong_in_place(comm)
    call test_one_rank_alone(comm)
    call test_wrong_problems(comm)
    call test_handles(comm)
  end subroutine

  subroutine test_wrong_arrays(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_options) :: options
    type(weft_plan) :: plan
    type(weft_box) :: x
    complex(real64), allocatable :: a(:, :, :), b(:, :, :), flat(:), wide(:, :, :)
    complex(real32), allocatable :: single(:, :, :)
    complex(real64), pointer :: none(:, :)
    real(real64), pointer :: real_pointer(:, :, :)
    integer, allocatable :: whole(:, :, :)
    integer :: status
    problem%shape = [8, 6, 5]
    call options%set("check", "collective")
    call plan%create(comm, problem, options)
    call options%free()
    x = plan%input_box()
    allocate (a(8, 6, x%lo(3):x%hi(3)), b(8, 6, x%lo(3):x%hi(3)), single(8, 6, x%lo(3):x%hi(3)))
    allocate (wide(16, 6, size(a, 3)), whole(8, 6, size(a, 3)))
    a = 1
    call plan%forward(real(a), b, status=status)
    call claim_failure(comm, status, "argument in|real(real64)|complex(real64)", "real for complex")
    call plan%forward(a, single, status=status)
    call claim_failure(comm, status, "argument out|complex(real32)|complex(real64)", "float for double")
    call plan%forward(whole, b, status=status)
    call claim_failure(comm, status, "argument in|another type", "integers")
    call plan%forward(a, b(:, :, x%lo(3)), status=status)
    call claim_failure(comm, status, "argument out|rank 2|rank 3", "a plane for an array")
    call plan%forward(a(:, 1:5, :), b, status=status)
    call claim_failure(comm, status, "argument in|8 x 5|8 x 6", "other extents")
    call plan%forward(wide(1:16:2, :, :), b, status=status)
    call claim_failure(comm, status, "argument in|strides 2, 16, 96|strides 1, 8, 48|call problem%input%set_strides_of", &
      "a section that is not contiguous")
    call plan%forward(a(8:1:-1, :, :), b, status=status)
    call claim_failure(comm, status, "strides -1, 8", "a section that runs backwards")
    call plan%forward(a, wide(1:8, :, :), status=status)
    call claim_failure(comm, status, "argument out|call problem%output%set_strides_of", "a part of a larger array")
    call plan%backward(a, wide(1:8, :, :), status=status)
    call claim_failure(comm, status, "argument out|call problem%input%set_strides_of", "the same backward")
    allocate (flat(size(a) - 1))
    call plan%forward(flat, b, status=status)
    call claim_failure(comm, status, "rank 1|at least", "a line that is too short")
    deallocate (flat)
    allocate (flat(2*size(a)))
    call plan%forward(flat(::2), b, status=status)
    call claim_failure(comm, status, "argument in|stride 2", "a line with a stride")
    call plan%forward(a(1, 1, x%lo(3)), b, status=status)
    call claim_failure(comm, status, "argument in|rank 0", "a scalar")
    call plan%forward(a, status=status)
    call claim_failure(comm, status, "out of place|in_place = .true.", "one array out of place")
    call plan%forward(a, b, flat(::2), status)
    call claim_failure(comm, status, "workspace|contiguous", "a workspace that is not contiguous")
    call plan%forward(a, b, flat, status)
    call claim_failure(comm, status, "workspace", "a workspace that nobody asked for")
    call plan%allocate(weft_input, none, status)
    call claim_failure(comm, status, "pointer|rank 2|rank 3", "a pointer of another rank")
    call plan%allocate(weft_input, real_pointer, status)
    call claim_failure(comm, status, "real(real64)|complex(real64)", "a pointer to other elements")
    call plan%forward(a, b, status=status)
    call claim_success(comm, status, "the same plan after all these")
    call plan%free()
  end subroutine

  subroutine test_wrong_in_place(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_options) :: options
    type(weft_plan) :: plan
    type(weft_box) :: x
    real(real64), allocatable :: a(:, :, :), line(:)
    integer :: status
    problem%shape = [6, 6, 5]
    problem%transforms = [weft_r2c, weft_c2c, weft_c2c]
    problem%in_place = .true.
    call problem%input%set_r2c_padding()
    call options%set("check", "collective")
    call plan%create(comm, problem, options)
    call options%free()
    x = plan%input_box()
    allocate (a(6, 6, x%lo(3):x%hi(3)), line(plan%buffer_bytes()/8 - 1))
    call plan%forward(a, status=status)
    call claim_failure(comm, status, "array in place|6 x 6|8 x 6", "lines without padding")
    call plan%forward(line, status=status)
    call claim_failure(comm, status, "array in place", "a line that is too short in place")
    call plan%free()
  end subroutine

  ! A mistake of one rank is an error on all: among threads, and with check=collective.
  subroutine test_one_rank_alone(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_options) :: options
    type(weft_plan) :: plan
    type(weft_box) :: x
    complex(real64), allocatable :: a(:, :, :), b(:, :, :)
    integer :: status
    problem%shape = [8, 6, 5]
    call options%set("check", "collective")
    call plan%create(comm, problem, options)
    x = plan%input_box()
    allocate (a(8, 6, x%lo(3):x%hi(3)), b(8, 6, x%lo(3):x%hi(3)))
    a = 0
    if (comm%rank() == comm%size() - 1) then
      call plan%forward(a(:, 1:5, :), b, status=status)
      call claim_failure(comm, status, "argument in", "a mistake of this rank")
    else
      call plan%forward(a, b, status=status)
      call claim(comm, status == weft_failure, "a mistake of another rank")
    end if
    call plan%free()
    if (comm%rank() == 0) problem%transforms = [weft_c2c]
    call plan%create(comm, problem, options, status)
    if (comm%rank() == 0) then
      call claim_failure(comm, status, "problem%transforms|1 values|3, one per dimension", "a problem of this rank")
    else
      call claim(comm, status /= weft_success, "a problem of another rank")
    end if
    call options%free()
  end subroutine

  subroutine test_wrong_problems(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_box) :: box
    call refused("1 to 8", "no shape")
    problem%shape = [4, 4, 4]
    problem%input = weft_slab(4)
    call refused("problem%input|dimension 4|1 to 3", "a slab along no dimension")
    problem%input = weft_pencil(0)
    call refused("dimension 0|1 to 3", "a pencil along no dimension")
    problem%input = weft_grid([1, 1])
    call refused("parts of the grid|2 values", "a grid of two")
    problem%input = weft_slab()
    problem%output = weft_slab(2)
    call problem%output%set_order([0, 1, 2])
    call refused("problem%output, order|[0, 1, 2]|the dimensions 1 to 3", "an order that counts from 0")
    problem%output = weft_slab(2)
    call problem%output%set_strides([1, 4])
    call refused("problem%output, strides|2 values", "two strides")
    call problem%output%set_strides([0, 0, 0])
    call refused("zeros", "no strides")
    problem%output = weft_slab(2)
    call problem%output%set_halo([1, 1, 1], [1, 1])
    call refused("upper halo|2 values", "two halos")
    box%lo = [1, 1]
    box%hi = [4, 4]
    problem%output = weft_own_box(box)
    call refused("box 1|3 lower", "a box of two dimensions")
    problem%output = weft_slab(2)
    problem%batch = 0
    call refused("problem%batch|at least 1", "an empty batch")
    problem%batch = 1
    problem%transforms = [weft_c2c, 17, weft_c2c]
    call refused("17", "an unknown transform")
    problem%transforms = [weft_r2c, weft_r2c, weft_c2c]
    call refused("r2c", "r2c twice")
  contains
    subroutine refused(words, what)
      character(*), intent(in) :: words, what
      type(weft_plan) :: plan
      integer :: status
      call plan%create(comm, problem, status=status)
      call claim_failure(comm, status, words, what)
      call plan%free(status)
      call claim_success(comm, status, "freeing a plan that was not made")
    end subroutine
  end subroutine

  subroutine test_handles(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_comm) :: never
    type(weft_problem) :: problem
    type(weft_options) :: options
    type(weft_plan) :: plan, copy, again
    type(weft_layout) :: layout
    type(weft_error) :: error
    type(weft_accuracy) :: accuracy
    type(weft_operation_time), allocatable :: times(:)
    complex(real64) :: a(4, 4)
    integer :: status, size
    logical :: complete
    size = never%size(status)
    call claim(comm, status == weft_bad_handle .and. size == 0, "a communicator that was never made")
    problem%shape = [4, 4]
    if (comm%size() == 1) then
      call plan%create(never, problem, status=status)
      call claim(comm, status == weft_bad_handle, "a plan on no communicator")
    end if
    call plan%create(comm, problem)
    copy = plan
    call plan%create(comm, problem, status=status)
    call claim_failure(comm, status, "made already|free", "a plan that was made already")
    call plan%free()
    call plan%free(status)
    call claim_success(comm, status, "freeing twice")
    a = 0
    call copy%forward(a, a, status=status)
    call claim(comm, status == weft_bad_handle, "a freed plan: forward")
    call copy%start_backward(a, a, status=status)
    call claim(comm, status == weft_bad_handle, "a freed plan: start")
    complete = copy%test(status)
    call claim(comm, status == weft_bad_handle, "a freed plan: test")
    call copy%wait(status)
    call claim(comm, status == weft_bad_handle .and. weft_status_name(status) == "WEFT_BAD_HANDLE", "a freed plan: wait")
    layout = copy%input_layout(status)
    call claim(comm, status == weft_bad_handle .and. .not. allocated(layout%lo), "a freed plan: layout")
    times = copy%operation_times(status)
    call claim(comm, status == weft_bad_handle, "a freed plan: times")
    accuracy = copy%measured_error(weft_forward, a, status)
    call claim(comm, status == weft_bad_handle .and. accuracy%l2 >= 0, "a freed plan: accuracy")
    if (comm%rank() == 0) call claim(comm, len(copy%text(status)) == 0 .and. status == weft_bad_handle, "a freed plan: text")
    error = weft_last_error()
    call claim(comm, len(error%operation) > 0 .and. len(error%expected) > 0 .and. error%rank >= -1, "parts of the error")
    call copy%free(status)
    call claim(comm, status == weft_bad_handle, "a copy of a freed plan")
    call copy%create(comm, problem, status=status)
    call claim_success(comm, status, "a new plan in the variable of a freed one")
    call copy%free()
    call again%create(comm, problem, status=status)
    call claim_success(comm, status, "a new plan")
    call again%free(status)
    call claim_success(comm, status, "freeing the new plan")
    call options%set("pipeline", "none of these", status)
    call claim_failure(comm, status, "pipeline|windowed", "an unknown value")
    call options%set("pipelines", 3, status)
    call claim_failure(comm, status, "pipelines", "an unknown name")
    call options%free()
  end subroutine

  ! A body that fails on one rank: those that wait for it fail as well, and the team goes on.
  subroutine test_teams(team)
    type(weft_team), intent(in) :: team
    type(weft_team) :: none, two, copy
    type(weft_comm) :: self
    integer :: status
    self = weft_comm_self()
    call team%run(fails, status)
    call claim(self, status == weft_failure, "a body that fails")
    call team%run(works, status)
    call claim_success(self, status, "a body after one that failed")
    call none%create(0, status)
    call claim_failure(self, status, "0", "a team of nobody")
    call none%run(works, status)
    call claim(self, status == weft_bad_handle, "a team that was never made")
    call two%create(2)
    copy = two
    call two%create(3, status)
    call claim_failure(self, status, "made already|team%free", "a team that was made already")
    call two%free()
    call copy%free(status)
    call claim(self, status == weft_bad_handle, "a copy of a freed team")
    call copy%create(1, status)
    call claim_success(self, status, "a new team in the variable of a freed one")
    call copy%free()
    call self%free()
  end subroutine

  recursive subroutine fails(comm, status)
    type(weft_comm), intent(in) :: comm
    integer, intent(inout) :: status
    if (comm%rank() == comm%size() - 1) then
      status = 17
    else
      call comm%barrier(status)
      call claim(comm, status == weft_failure, "a barrier that another rank never reaches")
    end if
  end subroutine

  recursive subroutine works(comm, status)
    type(weft_comm), intent(in) :: comm
    integer, intent(inout) :: status
    call comm%barrier(status)
  end subroutine
end module
