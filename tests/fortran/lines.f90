! One-dimensional transforms over all ranks: two dimensions as one line, complex or real.
module lines
  use, intrinsic :: iso_c_binding
  use support
  implicit none
  private
  public :: test_lines

contains

  subroutine test_lines(comm)
    type(weft_comm), intent(in) :: comm
    ! Of 24, 30, and odd 15 and 63 points.
    integer, parameter :: shapes(2, 5) = reshape([6, 4, 4, 6, 5, 3, 6, 5, 9, 7], [2, 5])
    integer, parameter :: scales(3) = [weft_unscaled, weft_symmetric, weft_full]
    integer :: s, halved, cut
    call test_complex_line(comm)
    do s = 1, size(shapes, 2)
      do halved = 1, 2
        do cut = 1, 2
          call test_real_line(comm, shapes(:, s), halved, cut, scales(1 + mod(s, 3)), in_place=.false.)
          call test_real_line(comm, shapes(:, s), halved, cut, scales(1 + mod(s, 3)), in_place=.true.)
        end do
      end do
    end do
    call test_mistakes(comm)
  end subroutine

  ! 24 points in Fortran's order as one line: point j is (1 + mod(j, 6), 1 + j/6), mode k is (1 + k/4, 1 + mod(k, 4)).
  subroutine test_complex_line(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: in, out
    complex(real64), allocatable :: x(:, :), y(:, :)
    complex(real64) :: sum_of_all
    real(real64) :: worst
    integer(int64) :: i, j, k
    integer :: m
    problem%shape = [6, 4]
    problem%line = [2, 1]
    problem%output = weft_slab(1)
    call plan%create(comm, problem)
    in = plan%input_box()
    out = plan%output_box()
    allocate (x(in%lo(1):in%hi(1), in%lo(2):in%hi(2)), y(out%lo(1):out%hi(1), out%lo(2):out%hi(2)))
    do j = in%lo(2), in%hi(2)
      do i = in%lo(1), in%hi(1)
        x(i, j) = value_of_point(6*(j - 1) + i - 1)
      end do
    end do
    call plan%forward(x, y)
    worst = 0
    do j = out%lo(2), out%hi(2)
      do i = out%lo(1), out%hi(1)
        k = 4*(i - 1) + j - 1
        sum_of_all = 0
        do m = 0, 23
          sum_of_all = sum_of_all + value_of_point(int(m, int64))*exp(cmplx(0, -2*pi*mod(m*k, 24_int64)/24, real64))
        end do
        worst = max(worst, abs(y(i, j) - sum_of_all))
      end do
    end do
    call claim(comm, worst < 1d-12, "a line is one transform")
    call plan%free()
  contains
    complex(real64) function value_of_point(p)
      integer(int64), intent(in) :: p
      value_of_point = cmplx(mod(p, 5_int64), -2, real64)
    end function
  end subroutine

  ! shape(2)*shape(1) real points in Fortran's order, halved along a dimension: along the first one the modes 0 to n/2 are
  ! there, along the second half of the columns. Cut along the first one, modes are in natural order. Forward beside sums;
  ! then backward from the modes that count, beside the points.
  subroutine test_real_line(comm, shape, halved, cut, scale, in_place)
    type(weft_comm), intent(in) :: comm
    integer, intent(in) :: shape(2), halved, cut, scale
    logical, intent(in) :: in_place
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: in, out
    complex(real64), allocatable, target :: first(:), second(:)
    real(real64), pointer :: x(:, :)
    complex(real64), pointer :: y(:, :)
    complex(real64) :: mode
    real(real64) :: factor, bound, worst
    integer(int64) :: i, j, k, n
    character(80) :: what
    write (what, '(2(i0,a),3(a,i0),a,l1)') shape(1), " x ", shape(2), "", " halved along ", halved, ", cut along ", cut, &
      ", scale ", scale, ", in place ", in_place
    n = product(shape)
    problem%shape = shape
    problem%line = [2, 1]
    allocate (problem%transforms(2), source=weft_c2c)
    problem%transforms(halved) = weft_r2c
    problem%output = weft_slab(cut)
    if (cut == 1) call problem%output%set_order([2, 1])
    problem%in_place = in_place
    problem%forward_scale = scale
    problem%backward_scale = scale
    call plan%create(comm, problem)
    in = plan%input_box()
    out = plan%output_box()
    if (out%count() > 0) then
      call claim(comm, out%hi(3 - cut) == merge(shape(3 - cut)/2 + 1, shape(3 - cut), halved == 3 - cut), trim(what)//": extent")
    end if
    allocate (first(plan%buffer_bytes()/16 + 1), second(plan%buffer_bytes()/16 + 1), source=(0d0, 0d0))
    call plan%view(weft_input, c_loc(first), x)
    if (in_place) then
      call plan%view(weft_output, c_loc(first), y)
    else
      call plan%view(weft_output, c_loc(second), y)
    end if
    do j = in%lo(2), in%hi(2)
      do i = in%lo(1), in%hi(1)
        x(i, j) = point(shape(1)*(j - 1) + i - 1)
      end do
    end do
    if (in_place) then
      call plan%forward(first)
    else
      call plan%forward(x, y)
    end if
    factor = merge(1d0, merge(1/real(n, real64), 1/sqrt(real(n, real64)), scale == weft_full), scale == weft_unscaled)
    bound = 1d-14*n
    worst = 0
    do j = out%lo(2), out%hi(2)
      do i = out%lo(1), out%hi(1)
        k = j - 1 + shape(2)*(i - 1)
        mode = sum_of_line(k)
        if (cut == 1) then
          worst = max(worst, abs(y(j, i) - factor*mode))
          ! Backward ignores what fills the last row behind n/2.
          y(j, i) = merge((1000d0, 1000d0), mode, halved == 1 .and. 2*k > n)
        else
          worst = max(worst, abs(y(i, j) - factor*mode))
          y(i, j) = merge((1000d0, 1000d0), mode, halved == 1 .and. 2*k > n)
        end if
      end do
    end do
    call claim(comm, worst < factor*bound, trim(what)//": modes")
    if (in_place) then
      call plan%backward(first)
    else
      call plan%backward(y, x)
    end if
    worst = 0
    do j = in%lo(2), in%hi(2)
      do i = in%lo(1), in%hi(1)
        worst = max(worst, abs(x(i, j) - factor*n*point(shape(1)*(j - 1) + i - 1)))
      end do
    end do
    call claim(comm, worst < factor*n*bound, trim(what)//": points")
    call plan%free()
  contains
    complex(real64) function sum_of_line(k)
      integer(int64), intent(in) :: k
      integer(int64) :: j
      sum_of_line = 0
      do j = 0, n - 1
        sum_of_line = sum_of_line + point(j)*exp(cmplx(0, -2*pi*mod(j*k, n)/n, real64))
      end do
    end function
  end subroutine

  subroutine test_mistakes(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    integer(int64) :: shape(2)
    integer :: status
    shape = weft_line_shape(24)
    call claim(comm, all(shape == [6, 4]), "two lengths for 24 points")
    shape = weft_line_shape(2_int64**40)
    call claim(comm, all(shape == 2**20), "two lengths for 2^40 points")
    shape = weft_line_shape(23, status)
    call claim_failure(comm, status, "23 points|no prime", "two lengths for a prime")
    call claim(comm, all(shape == 0), "no lengths for a prime")
    problem%shape = weft_line_shape(24)
    problem%line = [2, 2]
    call plan%create(comm, problem, status=status)
    call claim_failure(comm, status, "problem%line|two different dimensions", "a line of one dimension")
    problem%line = [2, 1]
    problem%transforms = [weft_dct2, weft_c2c]
    call plan%create(comm, problem, status=status)
    call claim_failure(comm, status, "c2c along both axes of a line, or r2c along one of them|"// &
      "a DCT or DST is r2c of the line that is extended evenly or oddly", "a DCT along a line")
    problem%transforms = [weft_r2c, weft_r2c]
    call plan%create(comm, problem, status=status)
    call claim_failure(comm, status, "r2c along at most one axis", "r2c along both dimensions of a line")
    problem%shape = [8, 6, 4]
    problem%line = [3, 2]
    problem%transforms = [weft_c2c, weft_r2c, weft_c2c]
    call plan%create(comm, problem, status=status)
    call claim_failure(comm, status, "beside r2c along the second axis of a line", "modes 0 to n/2 beside c2c")
  end subroutine

  ! Of neither symmetry.
  pure real(real64) function point(j)
    integer(int64), intent(in) :: j
    point = real(mod(j*j*31 + j*17, 101_int64), real64)/50 - 1
  end function
end module
