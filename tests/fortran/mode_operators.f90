! Ready-made operators on modes, of a plane wave whose derivatives differ along each dimension, against the exact ones;
! convolutions against sums; and what is refused.
module mode_operators
  use, intrinsic :: iso_c_binding
  use support
  implicit none
  private
  public :: test_mode_operators

  integer, parameter :: points(3) = [10, 6, 8], periods(3) = [3, 2, 1]
  real(real64), parameter :: lengths(3) = [4d0, 2.5d0, 1d0]
  real(real64), parameter :: k(3) = 2*pi*periods/lengths
  real(real64), parameter :: k2 = sum(k**2), exact = 1d-11

  ! A field: sine*sin(k x) + cosine*cos(k x) + mean.
  type :: wave
    real(real64) :: sine = 0, cosine = 0, mean = 0
  end type

  type, extends(weft_filter) :: damping
    real(real64) :: width = 0
  contains
    procedure :: factor => damping_factor
  end type

contains

  real(c_double) function damping_factor(self, k)
    class(damping), intent(in) :: self
    real(c_double), intent(in) :: k
    damping_factor = 1/(1 + self%width*k)
  end function

  subroutine test_mode_operators(comm)
    type(weft_comm), intent(in) :: comm
    call test_scalars(comm)
    call test_vectors(comm)
    call test_two_dimensions(comm)
    call test_product(comm)
    call test_mistakes(comm)
  end subroutine

  function problem_of_waves() result(problem)
    type(weft_problem) :: problem
    problem%shape = points
    problem%transforms = [weft_r2c, weft_c2c, weft_c2c]
    problem%between = weft_between_modes
    problem%backward_scale = weft_full
    problem%output = weft_slab(2)
  end function

  ! Whether `op` makes the expected results of the fields, which it gets all at once. Ends the operator.
  subroutine check(comm, op, fields, expected, what)
    type(weft_comm), intent(in) :: comm
    type(weft_mode_operator), intent(inout) :: op
    type(wave), intent(in) :: fields(:), expected(:)
    character(*), intent(in) :: what
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: in, out
    real(real64), allocatable :: x(:, :, :, :), y(:, :, :, :)
    integer :: status, f
    real(real64) :: worst
    integer(int64) :: i, j, l
    problem = problem_of_waves()
    problem%batch = size(fields)
    problem%results = size(expected)
    call plan%create(comm, problem)
    in = plan%input_box()
    out = plan%output_box()
    allocate (x(in%lo(1):in%hi(1), in%lo(2):in%hi(2), in%lo(3):in%hi(3), size(fields)))
    allocate (y(out%lo(1):out%hi(1), out%lo(2):out%hi(2), out%lo(3):out%hi(3), size(expected)))
    do f = 1, size(fields)
      do l = in%lo(3), in%hi(3)
        do j = in%lo(2), in%hi(2)
          do i = in%lo(1), in%hi(1)
            x(i, j, l, f) = value_of(fields(f), i, j, l)
          end do
        end do
      end do
    end do
    call plan%apply(op, x, y, status=status)
    call claim_success(comm, status, what)
    worst = 0
    do f = 1, size(expected)
      do l = out%lo(3), out%hi(3)
        do j = out%lo(2), out%hi(2)
          do i = out%lo(1), out%hi(1)
            worst = max(worst, abs(y(i, j, l, f) - value_of(expected(f), i, j, l)))
          end do
        end do
      end do
    end do
    call claim(comm, worst < exact, what)
    call plan%free()
    call op%free()
  end subroutine

  real(real64) function value_of(field, i, j, l) result(value)
    type(wave), intent(in) :: field
    integer(int64), intent(in) :: i, j, l
    real(real64) :: phase
    phase = 2*pi*(periods(1)*(i - 1)/real(points(1), real64) + periods(2)*(j - 1)/real(points(2), real64) + &
      periods(3)*(l - 1)/real(points(3), real64))
    value = field%sine*sin(phase) + field%cosine*cos(phase) + field%mean
  end function

  subroutine test_scalars(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_mode_operator) :: op
    type(wave) :: f
    type(damping) :: filter
    real(real64) :: turn, factor
    integer :: d
    problem = problem_of_waves()
    f = wave(2, 1, 5)
    do d = 1, 3
      call op%derivative(problem, d, lengths=lengths)
      call check(comm, op, [f], [wave(-k(d), 2*k(d), 0)], "a derivative")
      call op%derivative(problem, d, 2, lengths)
      call check(comm, op, [f], [wave(-2*k(d)**2, -k(d)**2, 0)], "a second derivative")
      call op%derivative(problem, d)
      call check(comm, op, [f], [wave(-periods(d), 2*periods(d), 0)], "a derivative in a domain of 2 pi")
    end do
    call op%laplacian(problem, lengths)
    call check(comm, op, [f], [wave(-2*k2, -k2, 0)], "a Laplacian")
    call op%inverse_helmholtz(problem, 2.5d0, lengths)
    call check(comm, op, [f], [wave(2/(k2 + 2.5d0), 1/(k2 + 2.5d0), 2)], "the inverse of Helmholtz's equation")
    call op%inverse_helmholtz(problem, lengths=lengths)
    call check(comm, op, [f], [wave(2/k2, 1/k2, 0)], "the inverse of Poisson's equation")
    turn = k(1)*0.1d0 + k(2)*0.2d0 - k(3)*0.05d0
    call op%shift(problem, [0.1d0, 0.2d0, -0.05d0], lengths)
    call check(comm, op, [f], [wave(2*cos(turn) - sin(turn), 2*sin(turn) + cos(turn), 5)], "a shift")
    filter%width = 0.5d0
    call op%filter(problem, filter, lengths)
    filter%width = 77  ! the operator has a copy
    factor = 1/(1 + 0.5d0*sqrt(k2))
    call check(comm, op, [f], [wave(2*factor, factor, 5)], "a filter")
  end subroutine

  ! Component i along dimension i, and curls right-handed in that order.
  subroutine test_vectors(comm)
    type(weft_comm), intent(in) :: comm
    real(real64), parameter :: a(3) = [1, -2, 4], mean(3) = [3, 4, 5], along = sum(k*a)
    real(real64) :: turned(3)
    type(weft_problem) :: problem
    type(weft_mode_operator) :: op
    type(wave) :: u(3), expected(3)
    integer :: i
    problem = problem_of_waves()
    u = [(wave(a(i), 0, mean(i)), i=1, 3)]
    expected = [(wave(0, k(i), 0), i=1, 3)]
    call op%gradient(problem, lengths)
    call check(comm, op, [wave(1, 0, 7)], expected, "a gradient")
    call op%gradient(problem, lengths)
    call check(comm, op, u(1:2), [(wave(0, a(1)*k(i), 0), i=1, 3), (wave(0, a(2)*k(i), 0), i=1, 3)], "two gradients")
    call op%divergence(problem, lengths)
    call check(comm, op, u, [wave(0, along, 0)], "a divergence")
    turned = [k(2)*a(3) - k(3)*a(2), k(3)*a(1) - k(1)*a(3), k(1)*a(2) - k(2)*a(1)]
    expected = [(wave(0, turned(i), 0), i=1, 3)]
    call op%curl(problem, lengths)
    call check(comm, op, u, expected, "a curl")
    expected = [(wave(a(i) - k(i)*along/k2, 0, mean(i)), i=1, 3)]
    call op%solenoidal_part(problem, lengths)
    call check(comm, op, u, expected, "a solenoidal part")
  end subroutine

  ! Complex numbers of single precision, where the array has another memory order.
  subroutine test_two_dimensions(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_mode_operator) :: op
    type(weft_layout) :: out
    complex(real32), pointer :: x(:, :), y(:, :, :)
    complex(real32) :: wave_there
    integer(int64) :: i, j
    logical :: right
    problem%shape = [12, 10]
    problem%precision = weft_float32
    problem%between = weft_between_modes
    problem%results = 2
    problem%backward_scale = weft_full
    problem%output = weft_slab(1)
    call problem%output%set_order([2, 1])
    call plan%create(comm, problem)
    call op%gradient(problem)
    call plan%allocate(weft_input, x)
    call plan%allocate(weft_output, y)
    do j = lbound(x, 2, int64), ubound(x, 2, int64)
      do i = lbound(x, 1, int64), ubound(x, 1, int64)
        x(i, j) = wave_at(i, j)
      end do
    end do
    call plan%apply(op, x, y)
    out = plan%output_layout()
    right = .true.
    do i = out%box%lo(1), out%box%hi(1)
      do j = out%box%lo(2), out%box%hi(2)
        wave_there = wave_at(i, j)
        right = right .and. abs(y(j, i, 1) - (0, -5)*wave_there) < 1e-4 .and. abs(y(j, i, 2) - (0, 2)*wave_there) < 1e-4
      end do
    end do
    call claim(comm, right, "a gradient in another memory order")
    call weft_deallocate(x)
    call weft_deallocate(y)
    call op%free()
    call plan%free()
  contains
    complex(real32) function wave_at(i, j)
      integer(int64), intent(in) :: i, j
      wave_at = cmplx(exp(cmplx(0, 2*pi*(-5*(i - 1)/12d0 + 2*(j - 1)/10d0), real64)), kind=real32)
    end function
  end subroutine

  subroutine test_product(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan, kernel
    type(weft_mode_operator) :: op
    type(weft_box) :: box, between
    complex(real64), allocatable, target :: modes(:, :)
    complex(real64), allocatable :: h(:, :), f(:, :), g(:, :)
    real(real64), allocatable, target :: wrong(:, :)
    complex(real64) :: sum_of_all
    real(real64) :: worst
    integer(int64) :: i, j, a, b
    integer :: status, way
    problem%shape = [6, 4]
    problem%between = weft_between_modes
    problem%backward_scale = weft_full
    call plan%create(comm, problem)
    between = plan%between_box()
    problem%between = weft_between_none
    problem%output = weft_own_box(between)
    call kernel%create(comm, problem)
    box = plan%input_box()
    allocate (h(box%lo(1):box%hi(1), box%lo(2):box%hi(2)))
    allocate (f, g, mold=h)
    allocate (modes(between%lo(1):between%hi(1), between%lo(2):between%hi(2)))
    do j = box%lo(2), box%hi(2)
      do i = box%lo(1), box%hi(1)
        h(i, j) = number(i, j, 5)
        f(i, j) = number(i, j, 1)
      end do
    end do
    call kernel%forward(h, modes)
    do way = 0, 2
      if (way < 2) then
        call op%product(plan, modes, conjugated=way == 1)
      else
        call op%product_at(plan, c_loc(modes))
      end if
      call plan%apply(op, f, g)
      worst = 0
      do j = box%lo(2), box%hi(2)
        do i = box%lo(1), box%hi(1)
          sum_of_all = 0
          do b = 0, 3
            do a = 0, 5
              if (way == 1) then
                sum_of_all = sum_of_all + conjg(number(a + 1, b + 1, 5))*number(i + a, j + b, 1)
              else
                sum_of_all = sum_of_all + number(a + 1, b + 1, 5)*number(i - a, j - b, 1)
              end if
            end do
          end do
          worst = max(worst, abs(g(i, j) - sum_of_all))
        end do
      end do
      call claim(comm, worst < 1d-12, "a convolution or correlation")
      call op%free()
    end do
    box = kernel%between_box(status)
    call claim_failure(comm, status, "between", "modes between of a plan without")
    call op%product(kernel, modes, status=status)
    call claim_failure(comm, status, "without an operator", "a product for a plan without an operator")
    if (between%count() > 0) then
      allocate (wrong(size(modes, 1), size(modes, 2)))
      call op%product(plan, wrong, status=status)
      call claim_failure(comm, status, "argument modes|real(real64)|complex(real64)", "real modes")
      call op%product(plan, modes(:, between%lo(2):between%hi(2) - 1), status=status)
      call claim_failure(comm, status, "argument modes|extents", "modes of another shape")
      call op%product_at(plan, c_null_ptr, status=status)
      call claim_failure(comm, status, "a null pointer", "no modes")
    end if
    call plan%free()
    call kernel%free()
  end subroutine

  ! Periodic.
  complex(real64) function number(i, j, seed)
    integer(int64), intent(in) :: i, j
    integer, intent(in) :: seed
    integer(int64) :: place
    place = modulo(i - 1, 6_int64) + 6*modulo(j - 1, 4_int64)
    number = cmplx(mod(31*place*place + 17*place + seed, 101_int64)/50d0 - 1, mod(29*place + 3*seed, 97_int64)/48d0 - 1, real64)
  end function

  subroutine test_mistakes(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_options) :: options
    type(weft_plan) :: plan
    type(weft_mode_operator) :: op, other, copy, never
    type(weft_box) :: box
    real(real64), allocatable :: x(:, :, :), y(:, :, :)
    integer :: status
    problem = problem_of_waves()
    call op%derivative(problem, 4, status=status)
    call claim_failure(comm, status, "op%derivative|dimension 4|1 to 3", "a derivative along a fourth dimension")
    call op%derivative(problem, 0, status=status)
    call claim_failure(comm, status, "dimension 0", "a derivative along no dimension")
    call op%derivative(problem, 1, -1, status=status)
    call claim_failure(comm, status, "order -1", "a negative order")
    call op%laplacian(problem, [1d0, -2d0, 3d0], status)
    call claim_failure(comm, status, "lengths|one positive number", "a negative length")
    call op%laplacian(problem, [1d0, 2d0], status)
    call claim_failure(comm, status, "op%laplacian, lengths|2 values|3, one per dimension", "two lengths")
    call op%shift(problem, [1d0, 2d0], status=status)
    call claim_failure(comm, status, "op%shift, distances|2 values|3, one per dimension", "two distances")
    problem%transforms(3) = weft_dct2
    call op%gradient(problem, status=status)
    call claim_failure(comm, status, "dct2 along axis 0", "a gradient of cosines")
    problem%transforms = [weft_r2c]
    call op%gradient(problem, status=status)
    call claim_failure(comm, status, "problem%transforms|1 values", "one transform for three dimensions")
    problem = problem_of_waves()
    problem%between = weft_between_none
    call op%curl(problem, status=status)
    call claim_failure(comm, status, "without an operator on modes", "nothing between")
    call claim(comm, .not. c_associated(op%handle), "no operator came of that")
    problem = problem_of_waves()
    call op%laplacian(problem)
    call op%gradient(problem, status=status)
    call claim_failure(comm, status, "op%gradient|made already|op%free", "an operator that was made already")
    call other%gradient(problem)
    call options%set("check", "collective")
    call plan%create(comm, problem, options)
    call options%free()
    box = plan%input_box()
    allocate (x(10, 6, box%lo(3):box%hi(3)))
    x = 1
    box = plan%output_box()
    allocate (y(10, box%lo(2):box%hi(2), 8))
    call plan%apply(other, x, y, status=status)
    call claim_failure(comm, status, "1 fields and 1 results|3 results for each field", "a gradient to one field")
    call plan%apply(op, x, x(:, 1:3, :), status=status)
    call claim(comm, status /= weft_success, "another shape")
    call plan%apply(never, x, y, status=status)
    call claim(comm, status == weft_bad_handle, "an operator that was never made")
    copy = op
    call plan%apply(op, y, x, direction=7, status=status)
    call claim(comm, status == weft_bad_argument, "a third direction")
    call plan%apply(op, x, y, direction=weft_forward)
    call claim(comm, all(abs(y) < 1d-13), "the Laplacian of a constant, after all these")
    call op%free()
    call plan%apply(copy, x, y, status=status)
    call claim(comm, status == weft_bad_handle, "an operator that was freed")
    call claim_failure(comm, status, "an operator on modes that was freed", "what it says")
    call copy%free(status)
    call claim(comm, status == weft_bad_handle, "freed twice")
    call op%free(status)
    call claim_success(comm, status, "an operator of which nothing is left")
    call other%free()
    call plan%free()
  end subroutine
end module
