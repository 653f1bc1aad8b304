! Modes by columns: distributions of modes, and what a plan says of them.
module columns
  use, intrinsic :: iso_c_binding
  use support
  implicit none
  private
  public :: test_columns

contains

  ! Each rank has the column of its own number; of a wave, one mode of the last rank is there.
  subroutine test_columns(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: box
    complex(real64), allocatable :: x(:, :, :)
    complex(real64) :: modes(5), expected(5)
    integer(int64), allocatable :: first(:, :), count(:)
    real(real64), parameter :: turn = 2*acos(-1d0)
    integer :: i, j, k, last, status
    last = comm%size() - 1
    problem%shape = [10, 12, 8]
    problem%output = weft_columns(reshape([3, comm%rank(), -2], [3, 1]), [5])
    call plan%create(comm, problem)
    box = plan%output_box()
    call claim(comm, size(box%lo) == 1 .and. box%count() == 5 .and. box%lo(1) == 5*comm%rank() + 1, "a box of five modes")
    call plan%columns(first, count)
    call claim(comm, all(first == reshape([3, comm%rank(), -2], [3, 1])) .and. all(count == [5]), "columns of the plan")
    call claim(comm, all(plan%wavenumbers(3) == [-2, -1, 0, 1, 2]) .and. all(plan%wavenumbers(1) == 3), &
      "a wavenumber for each mode")
    box = plan%input_box()
    allocate (x(box%lo(1):box%hi(1), box%lo(2):box%hi(2), box%lo(3):box%hi(3)))
    do k = int(box%lo(3)), int(box%hi(3))
      do j = 1, 12
        do i = 1, 10
          x(i, j, k) = exp((0, 1)*turn*(3*(i - 1)/10d0 + last*(j - 1)/12d0 - (k - 1)/8d0))
        end do
      end do
    end do
    call plan%forward(x, modes)
    expected = 0
    if (comm%rank() == last) expected(2) = 960
    call claim(comm, all(abs(modes - expected) < 1d-11), "modes of columns")
    call plan%backward(modes, x)
    call claim(comm, all(abs(abs(x) - 960) < 1d-10), "and back")
    call plan%free()
    problem%output = weft_sphere(1.0)
    problem%output = weft_sphere(1d0)
    problem%output = weft_sphere(1)
    call plan%create(comm, problem)
    call plan%columns(first, count)
    call claim(comm, comm%size() > 1 .or. sum(count) == 7, "a sphere of seven modes")
    call plan%free()
    problem%output = weft_columns(reshape([3, 0], [2, 1]), [5])
    call plan%create(comm, problem, status=status)
    call claim_failure(comm, status, "numbers of a column|2 values|3, one per dimension", "a column with two numbers of three")
    problem%output = weft_columns(reshape([3, 0, 0], [3, 1]), [5, 4])
    call plan%create(comm, problem, status=status)
    call claim_failure(comm, status, "2 counts|1, one per column", "two counts for one column")
    problem%output = weft_slab()
    call plan%create(comm, problem)
    call plan%columns(first, count, status)
    call claim(comm, status == weft_failure .and. size(count) == 0, "a plan without columns")
    call plan%free()
  end subroutine

end module
