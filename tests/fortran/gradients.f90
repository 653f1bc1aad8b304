! Gradients by one transform along each dimension: derivative i along dimension i, of plane waves.
module gradients
  use, intrinsic :: iso_c_binding
  use support
  implicit none
  private
  public :: test_gradients

  integer, parameter :: points(3) = [10, 6, 8], periods(3) = [3, 2, 1]
  real(real64), parameter :: lengths(3) = [4d0, 2.5d0, 1d0]
  real(real64), parameter :: k(3) = 2*pi*periods/lengths
  real(real64), parameter :: exact = 1d-11

contains

  subroutine test_gradients(comm)
    type(weft_comm), intent(in) :: comm
    call test_all_dimensions(comm)
    call test_some_dimensions(comm)
    call test_complex_numbers(comm)
    call test_mistakes(comm)
  end subroutine

  real(real64) function phase(i, j, l)
    integer(int64), intent(in) :: i, j, l
    phase = 2*pi*(periods(1)*(i - 1)/real(points(1), real64) + periods(2)*(j - 1)/real(points(2), real64) + &
      periods(3)*(l - 1)/real(points(3), real64))
  end function

  ! Real points with a halo; the results are cut otherwise.
  subroutine test_all_dimensions(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_gradient) :: gradient
    type(weft_layout) :: in, out
    real(real64), pointer :: x(:, :, :), y(:, :, :, :), flat(:)
    real(real64) :: worst
    integer(int64) :: i, j, l
    problem%shape = points
    problem%transforms = [weft_r2c, weft_c2c, weft_c2c]
    call problem%input%set_halo([1, 0, 2], [0, 1, 0])
    problem%output = weft_slab(1)
    call gradient%create(comm, problem, lengths=lengths)
    call claim(comm, all(gradient%dimensions() == [1, 2, 3]), "derivative i is along dimension i")
    in = gradient%input_layout()
    out = gradient%output_layout()
    call claim(comm, all(in%box%lo(1:2) == 1) .and. all(out%box%lo(2:3) == 1), "boxes")
    call claim(comm, out%count == 3*out%distance .and. out%distance == out%box%count(), "three derivatives")
    call claim(comm, in%element_bytes == 8 .and. .not. (in%is_complex .or. out%is_complex), "elements")
    if (in%box%count() > 0) call claim(comm, all(in%lo - in%box%lo == [-1, 0, -2]) .and. all(in%hi - in%box%hi == [0, 1, 0]), &
      "bounds with a halo")
    call gradient%allocate(weft_input, x)
    call gradient%allocate(weft_output, y)
    x = 1000
    do l = in%box%lo(3), in%box%hi(3)
      do j = in%box%lo(2), in%box%hi(2)
        do i = in%box%lo(1), in%box%hi(1)
          x(i, j, l) = sin(phase(i, j, l)) + 7
        end do
      end do
    end do
    call gradient%apply(x, y)
    worst = 0
    do l = out%box%lo(3), out%box%hi(3)
      do j = out%box%lo(2), out%box%hi(2)
        do i = out%box%lo(1), out%box%hi(1)
          worst = max(worst, maxval(abs(y(i, j, l, :) - k*cos(phase(i, j, l)))))
        end do
      end do
    end do
    call claim(comm, worst < exact, "a gradient")
    if (out%count > 0) then
      call gradient%view(weft_output, c_loc(y), flat)
      call claim(comm, size(flat) == out%count, "all results as a line")
      y = 0
      call gradient%apply(x, flat)
      call claim(comm, maxval(abs(y)) > 1, "a line for the results")
      y = 0
      call gradient%execute(c_loc(x), c_loc(y))
      call claim(comm, maxval(abs(y)) > 1, "by addresses")
    else
      call gradient%apply(x, y)
      call gradient%execute(c_loc(x), c_loc(y))
    end if
    call weft_deallocate(x)
    call weft_deallocate(y)
    call gradient%free()
  end subroutine

  ! Two fields, of which one dimension is not transformed: the derivatives of the first field first.
  subroutine test_some_dimensions(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_gradient) :: gradient
    type(weft_box) :: in, out
    real(real64), allocatable :: x(:, :, :, :), y(:, :, :, :)
    real(real64) :: worst, there
    integer(int64) :: i, j, l
    problem%shape = points
    problem%transforms = [weft_c2c, weft_none, weft_r2c]
    problem%batch = 2
    call gradient%create(comm, problem, lengths=lengths)
    call claim(comm, all(gradient%dimensions() == [1, 3]), "the dimensions that are transformed")
    in = gradient%input_box()
    out = gradient%output_box()
    allocate (x(10, 6, in%lo(3):in%hi(3), 2), y(10, 6, out%lo(3):out%hi(3), 4))
    do l = in%lo(3), in%hi(3)
      do j = 1, 6
        do i = 1, 10
          x(i, j, l, :) = [sin(phase(i, j, l)), 3*cos(phase(i, j, l))]
        end do
      end do
    end do
    call gradient%apply(x, y)
    worst = 0
    do l = out%lo(3), out%hi(3)
      do j = 1, 6
        do i = 1, 10
          there = phase(i, j, l)
          worst = max(worst, maxval(abs(y(i, j, l, 1:2) - k([1, 3])*cos(there))))
          worst = max(worst, maxval(abs(y(i, j, l, 3:4) + 3*k([1, 3])*sin(there))))
        end do
      end do
    end do
    call claim(comm, worst < exact, "gradients of two fields")
    call gradient%free()
  end subroutine

  ! Of single precision, into an array whose memory order is another one.
  subroutine test_complex_numbers(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_gradient) :: gradient
    type(weft_layout) :: out
    complex(real32), pointer :: x(:, :), y(:, :, :)
    integer(int64) :: i, j
    logical :: right
    problem%shape = [12, 10]
    problem%precision = weft_float32
    call problem%output%set_order([2, 1])
    call gradient%create(comm, problem)
    call gradient%allocate(weft_input, x)
    call gradient%allocate(weft_output, y)
    out = gradient%layout(weft_output)
    do j = lbound(x, 2, int64), ubound(x, 2, int64)
      do i = lbound(x, 1, int64), ubound(x, 1, int64)
        x(i, j) = wave_at(i, j)
      end do
    end do
    call gradient%apply(x, y)
    right = .true.
    do i = out%box%lo(1), out%box%hi(1)
      do j = out%box%lo(2), out%box%hi(2)
        right = right .and. abs(y(j, i, 1) - (0, -5)*wave_at(i, j)) < 1e-4 .and. abs(y(j, i, 2) - (0, 2)*wave_at(i, j)) < 1e-4
      end do
    end do
    call claim(comm, right, "a gradient of complex numbers")
    call weft_deallocate(x)
    call weft_deallocate(y)
    call gradient%free()
  contains
    complex(real32) function wave_at(i, j)
      integer(int64), intent(in) :: i, j
      wave_at = cmplx(exp(cmplx(0, 2*pi*(-5*(i - 1)/12d0 + 2*(j - 1)/10d0), real64)), kind=real32)
    end function
  end subroutine

  subroutine test_mistakes(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_options) :: options
    type(weft_gradient) :: gradient, copy, never
    type(weft_box) :: box
    complex(real64), allocatable :: x(:, :, :), y(:, :, :, :)
    real(real64), pointer :: reals(:, :, :)
    character(:), allocatable :: text
    integer, allocatable :: none(:)
    integer :: status, mistaken
    integer(c_size_t) :: bytes
    problem%shape = points
    problem%transforms = [weft_c2c, weft_dct1, weft_c2c]
    call gradient%create(comm, problem, status=status)
    call claim_failure(comm, status, "gradient|dct1 along axis 1", "a gradient of cosines")
    problem%transforms = [weft_c2c, weft_c2c, weft_c2c]
    call gradient%create(comm, problem, lengths=[1d0, -2d0, 3d0], status=status)
    call claim_failure(comm, status, "lengths|one positive number", "a negative length")
    ! A mistake of the last rank is found on all.
    mistaken = comm%size() - 1
    if (comm%rank() == mistaken) then
      call gradient%create(comm, problem, lengths=[1d0, 2d0], status=status)
      call claim_failure(comm, status, "gradient%create, lengths|2 values|3, one per dimension", "two lengths")
    else
      call gradient%create(comm, problem, lengths=lengths, status=status)
      call claim(comm, status == weft_failure, "two lengths on another rank")
    end if
    call claim(comm, .not. c_associated(gradient%handle), "no gradient came of that")
    call options%set("check", "collective")
    call gradient%create(comm, problem, options, lengths)
    call gradient%create(comm, problem, options, status=status)
    call claim_failure(comm, status, "made already|gradient%free", "a gradient that was made already")
    call options%free()
    box = gradient%input_box()
    allocate (x(10, 6, box%lo(3):box%hi(3)), y(10, 6, box%lo(3):box%hi(3), 3))
    x = 1
    call gradient%apply(x, y(:, :, :, 1:2), status)
    call claim_failure(comm, status, "argument out|x 2|x 3", "two of three derivatives")
    call gradient%apply(real(x), y, status)
    call claim_failure(comm, status, "argument in|real(real64)|complex(real64)", "real for complex")
    call gradient%apply(x(:, 1:5, :), y, status)
    call claim_failure(comm, status, "argument in|10 x 5|10 x 6", "another shape")
    if (comm%rank() == mistaken) then
      call gradient%apply(x(:, 1:5, :), y, status)
    else
      call gradient%apply(x, y, status)
    end if
    call claim(comm, status /= weft_success, "another shape on the last rank")
    call gradient%allocate(weft_input, reals, status)
    call claim_failure(comm, status, "gradient%allocate|real(real64)|complex(real64)", "a pointer to other elements")
    call gradient%apply(x, y, status)
    call claim_success(comm, status, "after all these")
    call claim(comm, all(abs(y) < 1d-13), "derivatives of a constant")
    bytes = gradient%workspace_bytes(status)
    call claim_success(comm, status, "bytes of workspace")
    call claim(comm, comm%size() == 1 .or. box%count() == 0 .or. bytes > 0, "workspace")
    call gradient%set_stream(c_null_ptr, status)
    call claim_failure(comm, status, "host", "a stream for arrays on the host")
    if (comm%rank() == 0) then
      text = gradient%text()
      call claim(comm, index(text, "derivatives along axes 2,1,0") > 0, "a text")
    end if
    copy = gradient
    call gradient%free()
    call copy%apply(x, y, status)
    call claim(comm, status == weft_bad_handle, "a gradient that was freed")
    call copy%free(status)
    call claim(comm, status == weft_bad_handle, "freed twice")
    call never%apply(x, y, status)
    call claim(comm, status == weft_bad_handle, "a gradient that was never made")
    none = never%dimensions(status)
    call claim(comm, size(none) == 0 .and. status == weft_bad_handle, "and its dimensions")
    call never%free()
  end subroutine
end module
