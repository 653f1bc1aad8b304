! Operators between two transforms: a type of the program that plan%apply calls.
module operators
  use, intrinsic :: iso_c_binding
  use support
  implicit none
  private
  public :: test_operators

  ! Derivatives along both dimensions: of one field two results.
  type, extends(weft_operator) :: slopes
    real(real64), allocatable :: k1(:), k2(:)
    integer :: fails = 0
  contains
    procedure :: operate
  end type

contains

  subroutine operate(self, block, status)
    class(slopes), intent(in) :: self
    type(weft_block), intent(in) :: block
    integer, intent(inout) :: status
    complex(real64), pointer :: u(:)
    real(real32), pointer :: others(:)
    complex(real64) :: mode
    integer(int64) :: i, j
    status = self%fails
    call block%elements(others)
    call block%elements(u)
    if (associated(others) .or. .not. associated(u) .or. block%ndim /= 2) status = 3
    if (block%fields /= 1 .or. block%results /= 2) status = 4
    if (block%memory /= weft_host .or. c_associated(block%stream)) status = 5
    if (status /= 0) return
    do j = block%lo(2), block%hi(2)
      do i = block%lo(1), block%hi(1)
        mode = (0, 1)*u(block%position([i, j]))
        u(block%position([i, j])) = self%k1(i)*mode
        u(block%position([i, j], 2_int64)) = self%k2(j)*mode
      end do
    end do
  end subroutine

  subroutine test_operators(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan, alone
    type(weft_box) :: in, out
    type(slopes) :: op
    real(real64), allocatable :: f(:, :), back(:, :), gradient(:, :, :)
    real(real64), parameter :: turn = 2*acos(-1d0)
    integer(int64) :: i, j
    integer :: status
    logical :: right
    problem%shape = [10, 12]
    problem%transforms = [weft_r2c, weft_c2c]
    problem%between = weft_between_modes
    problem%results = 2
    problem%backward_scale = weft_full
    problem%output = weft_slab(1)
    call plan%create(comm, problem)
    in = plan%input_box()
    out = plan%output_box()
    allocate (f(in%lo(1):in%hi(1), in%lo(2):in%hi(2)), gradient(out%lo(1):out%hi(1), out%lo(2):out%hi(2), 2))
    allocate (back, mold=f)
    do j = in%lo(2), in%hi(2)
      do i = in%lo(1), in%hi(1)
        f(i, j) = sin(turn*(2*(i - 1)/10d0 + 3*(j - 1)/12d0))
      end do
    end do
    op%k1 = plan%wavenumbers(1, weft_nyquist_zero)
    op%k2 = plan%wavenumbers(2, weft_nyquist_zero)
    call claim(comm, size(op%k1) == 6 .and. size(op%k2) == 12, "wavenumbers of all modes")
    call plan%apply(op, f, gradient)
    right = .true.
    do j = out%lo(2), out%hi(2)
      do i = out%lo(1), out%hi(1)
        right = right .and. all(abs(gradient(i, j, :) - [2, 3]*cos(turn*(2*(i - 1)/10d0 + 3*(j - 1)/12d0))) < 1d-13)
      end do
    end do
    call claim(comm, right, "a gradient")
    call plan%forward(f, gradient, status=status)
    call claim_success(comm, status, "without an operator")
    call plan%backward(gradient, back)
    call claim(comm, all(abs(back - f) < 1d-13), "and back")
    call plan%free()
    call alone%create(weft_comm_self(), problem)
    op%fails = 9
    block
      real(real64) :: x(10, 12), y(10, 12, 2)
      x = 1
      call alone%apply(op, x, y(:, :, 1), status=status)
      call claim(comm, status /= weft_success, "an array without the second result")
      call alone%apply(op, x, y, status=status)
    end block
    call claim_failure(comm, status, "an operator that returned 9", "an operator that fails")
    call alone%free()
    problem%between = 7
    call plan%create(comm, problem, status=status)
    call claim(comm, status == weft_bad_argument, "nothing of that name between")
  end subroutine

end module
