! Arrays whose memory is larger than one side of a plan, and boxes that are empty or one point wide.
module edges
  use, intrinsic :: iso_c_binding
  use support
  implicit none
  private
  public :: test_edges

contains

  subroutine test_edges(comm)
    type(weft_comm), intent(in) :: comm
    call test_larger_output(comm)
    call test_other_cut(comm)
    call test_empty_with_halo(comm)
    call test_padding_of_parts(comm)
    call test_interleaved(comm)
    call test_order_and_strides(comm)
    call test_strides_of_nothing(comm)
    call test_one_point(comm)
  end subroutine

  ! r2c in place without padding: the spectrum needs more room than the real array that plan%allocate points to.
  subroutine test_larger_output(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_options) :: options
    type(weft_plan) :: plan
    real(real64), pointer :: a(:, :, :)
    complex(real64), pointer :: b(:, :, :)
    real(real64), allocatable :: own(:, :, :)
    integer :: status
    problem%shape = [5, 6, 7]
    problem%transforms = [weft_r2c, weft_c2c, weft_c2c]
    problem%in_place = .true.
    call options%set("check", "collective")
    call plan%create(comm, problem, options)
    call options%free()
    call plan%allocate(weft_input, a)
    call plan%view(weft_output, c_loc(a), b)
    allocate (own(size(a, 1), size(a, 2), size(a, 3)))
    own = 0
    call plan%forward(own, status=status)
    call claim_failure(comm, status, "array in place|bytes|plan%allocate", "an array without room for the spectrum")
    a = 1
    call plan%forward(a, status=status)
    call claim_success(comm, status, "in place, in memory of the plan")
    if (comm%rank() == 0) b(1, 1, 1) = b(1, 1, 1) - 210
    call claim(comm, all(abs(b) < 1d-12), "the spectrum of a constant in place")
    b = 0
    if (comm%rank() == 0) b(1, 1, 1) = 2
    call plan%backward(b, status=status)
    call claim_success(comm, status, "in place, by the view of the output")
    call claim(comm, all(abs(a - 2) < 1d-13), "a constant in place")
    call weft_deallocate(a)
    call plan%view(weft_input, c_null_ptr, a, status)
    call claim_failure(comm, status, "plan%view|c_null_ptr|plan%allocate", "a view of nothing")
    call plan%free()
  end subroutine

  ! c2c in place with another cut after it: which side is larger differs from rank to rank.
  subroutine test_other_cut(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    complex(real64), pointer :: a(:, :), b(:, :)
    integer :: status, side
    problem%shape = [4, 5]
    problem%in_place = .true.
    problem%output = weft_slab(1)
    call plan%create(comm, problem)
    do side = weft_input, weft_output
      call plan%allocate(side, a)
      call plan%view(weft_input, c_loc(a), b)
      b = 1
      call plan%forward(a, status=status)
      call claim_success(comm, status, "in place with another cut")
      call plan%view(weft_output, c_loc(a), b)
      if (comm%rank() == 0) b(1, 1) = b(1, 1) - 20
      call claim(comm, all(abs(b) < 1d-13), "the spectrum with another cut")
      call weft_deallocate(a)
    end do
    call plan%free()
  end subroutine

  subroutine test_empty_with_halo(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_layout) :: x
    complex(real64), pointer :: p(:, :, :), b(:, :, :)
    integer :: status
    problem%shape = [5, 6, 2]
    call problem%input%set_halo([1, 2, 0], [0, 1, 3])
    call plan%create(comm, problem)
    x = plan%input_layout()
    call claim(comm, product(x%hi - x%lo + 1) == x%count, "bounds and count of an array with halo, or an empty one")
    call plan%allocate(weft_input, p)
    call plan%allocate(weft_output, b)
    call claim(comm, size(p, kind=int64) == x%count, "an allocated array has what was allocated")
    p = 1
    call plan%forward(p, b, status=status)
    call claim_success(comm, status, "halo around few points")
    if (comm%rank() == 0) b(1, 1, 1) = b(1, 1, 1) - 60
    call claim(comm, all(abs(b) < 1d-13), "the spectrum of few points with halo")
    call weft_deallocate(p)
    call weft_deallocate(b)
    call plan%free()
  end subroutine

  ! Lines that are cut are padded as the parts that they are.
  subroutine test_padding_of_parts(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_layout) :: x
    real(real64), allocatable :: a(:, :)
    complex(real64), pointer :: b(:, :)
    integer :: status
    problem%shape = [10, 4]
    problem%transforms = [weft_r2c, weft_c2c]
    problem%input = weft_slab(1)
    call problem%input%set_r2c_padding()
    call plan%create(comm, problem)
    x = plan%input_layout()
    call claim(comm, product(x%hi - x%lo + 1) == x%count, "bounds and count of padded parts")
    allocate (a(x%lo(1):x%hi(1), x%lo(2):x%hi(2)))
    call plan%allocate(weft_output, b)
    a = 2
    call plan%forward(a, b, status=status)
    call claim_success(comm, status, "padded parts")
    if (comm%rank() == 0) b(1, 1) = b(1, 1) - 80
    call claim(comm, all(abs(b) < 1d-13), "the spectrum of padded parts")
    call weft_deallocate(b)
    call plan%free()
  end subroutine

  ! A batch that is the first dimension of an array one point wide in the next.
  subroutine test_interleaved(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: x
    complex(real64), allocatable :: a(:, :, :)
    complex(real64), pointer :: b(:, :, :)
    integer(int64) :: e(2)
    integer :: status
    problem%shape = [4, 4]
    problem%batch = 2
    problem%input = weft_grid([comm%size(), 1])
    call plan%create(comm, problem)
    x = plan%input_box()
    call plan%free()
    e = x%extents()
    allocate (a(2, e(1), e(2)))
    problem%input_distance = 1
    call problem%input%set_strides([2_int64, 2*e(1)])
    call plan%create(comm, problem, status=status)
    call claim_success(comm, status, "interleaved, one point wide")
    call plan%allocate(weft_output, b)
    a(1, :, :) = 1
    a(2, :, :) = 2
    call plan%forward(a, b, status=status)
    call claim_success(comm, status, "forward of interleaved arrays, one point wide")
    if (comm%rank() == 0) b(1, 1, :) = b(1, 1, :) - [16, 32]
    call claim(comm, all(abs(b) < 1d-13), "the spectra of interleaved arrays, one point wide")
    call weft_deallocate(b)
    call plan%free()
  end subroutine

  ! The strides of a section whose dimensions stand in another order than those of the problem.
  subroutine test_order_and_strides(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: x
    complex(real64), allocatable :: natural(:, :, :), wide(:, :, :)
    complex(real64), pointer :: b(:, :, :), c(:, :, :)
    integer(int64) :: i, j, k
    integer :: status
    problem%shape = [5, 6, 7]
    problem%input = weft_slab(2)
    call plan%create(comm, problem)
    x = plan%input_box()
    allocate (natural(5, x%lo(2):x%hi(2), 7), wide(14, 5, x%lo(2):x%hi(2)))
    wide = 0
    do k = 1, 7
      do j = x%lo(2), x%hi(2)
        do i = 1, 5
          natural(i, j, k) = value_at(position_of([i, j, k], [5, 6, 7]))
          wide(2*k - 1, i, j) = natural(i, j, k)
        end do
      end do
    end do
    call plan%allocate(weft_output, b)
    call plan%allocate(weft_output, c)
    call plan%forward(natural, b)
    call plan%free()
    call problem%input%set_order([3, 1, 2])
    call problem%input%set_strides_of(wide(1:14:2, :, :))
    call plan%create(comm, problem, status=status)
    call claim_success(comm, status, "strides of an array in another order")
    call plan%forward(wide(1:14:2, :, :), c, status=status)
    call claim_success(comm, status, "forward of a section in another order")
    call claim(comm, all(abs(b - c) < 1d-12), "the spectrum of a section in another order")
    call weft_deallocate(b)
    call weft_deallocate(c)
    call plan%free()
  end subroutine

  ! Boxes that are empty along one dimension only: sections without elements may have strides of zero.
  subroutine test_strides_of_nothing(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: x
    complex(real64), allocatable :: a(:, :, :)
    complex(real64), pointer :: b(:, :, :)
    integer(int64) :: first
    integer :: status, cut
    first = min(comm%rank(), 2) + 1
    do cut = 1, 3
      problem%shape = [4, 4, 4]
      problem%shape(cut) = 2
      x%lo = [1, 1, 1]
      x%hi = problem%shape
      x%lo(cut) = first
      x%hi(cut) = merge(2_int64, min(first, 2_int64), comm%size() == 1)
      problem%input = weft_own_box(x)
      allocate (a(2*(x%hi(1) - x%lo(1) + 1), x%lo(2):x%hi(2), x%lo(3):x%hi(3)))
      a = 1
      call problem%input%set_strides_of(a(1::2, :, :))
      call plan%create(comm, problem, status=status)
      call claim_success(comm, status, "strides of nothing")
      call plan%allocate(weft_output, b)
      call plan%forward(a(1::2, :, :), b, status=status)
      call claim_success(comm, status, "forward of nothing")
      if (comm%rank() == 0) b(1, 1, 1) = b(1, 1, 1) - 32
      call claim(comm, all(abs(b) < 1d-13), "the spectrum of points of other ranks")
      deallocate (a)
      call weft_deallocate(b)
      call plan%free()
    end do
  end subroutine

  ! A stride along one point says nothing, also not where its dimension stands.
  subroutine test_one_point(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: x
    complex(real64), allocatable :: a(:, :)
    complex(real64), pointer :: b(:, :)
    integer :: status, n
    n = 1
    problem%shape = [n, 5]
    call plan%create(comm, problem)
    x = plan%input_box()
    call plan%free()
    allocate (a(n, x%lo(2):x%hi(2)))
    a = 1
    call problem%input%set_strides_of(a(1:n:2, :))
    call plan%create(comm, problem, status=status)
    call claim_success(comm, status, "strides along one point")
    call plan%allocate(weft_output, b)
    call plan%forward(a(1:n:2, :), b, status=status)
    call claim_success(comm, status, "forward of lines of one point")
    if (comm%rank() == 0) b(1, 1) = b(1, 1) - 5
    call claim(comm, all(abs(b) < 1d-13), "the spectrum of lines of one point")
    call weft_deallocate(b)
    call plan%free()
  end subroutine
end module
