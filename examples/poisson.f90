! Poisson's equation, laplacian(u) = f, by a transform: f is expanded in functions of which the laplacian is a multiple,
! divided by the multiples, and summed up again. Along dimensions 1 and 2 the domain is periodic with length 2 pi. Along
! dimension 3 there are three cases, and the transform of that dimension is all that they differ in:
!   periodic   c2c    length 2 pi, points z = 2 pi j/n, j = 0 to n-1
!   Dirichlet  dst1   u = 0 at walls z = 0 and z = pi, points z = pi (j+1)/(n+1) between them
!   Neumann    dct2   du/dz = 0 at the same walls, points z = pi (j+1/2)/n
! The exact solution is sin(x) exp(cos y) g(z), with g(z) = exp(cos z), or sin(z) exp(cos z) for Dirichlet.
!
!   mpirun -n 4 poisson_f [--grid N] [--comm mpi|threads:P]
module poisson_on_ranks
  use weft
  use ranks
  implicit none
  integer, parameter :: periodic = weft_c2c, dirichlet = weft_dst1, neumann = weft_dct2

contains

  recursive subroutine all_cases(comm, status)
    type(weft_comm), intent(in) :: comm
    integer, intent(inout) :: status
    call solve(comm, "poisson, periodic", periodic, status)
    call solve(comm, "poisson, Dirichlet", dirichlet, status)
    call solve(comm, "poisson, Neumann", neumann, status)
  end subroutine

  ! Where point j of n lies along dimension 3, and the wave number of mode j there; both count from 1.
  pure function place(kind, j, n) result(z)
    integer, intent(in) :: kind, j, n
    real(real64) :: z
    select case (kind)
    case (dirichlet)
      z = pi*j/(n + 1)
    case (neumann)
      z = pi*(j - 0.5_real64)/n
    case default
      z = 2*pi*(j - 1)/n
    end select
  end function

  ! [waves]
  pure function wave(kind, j, n) result(k)
    integer, intent(in) :: kind, j, n
    integer :: k
    select case (kind)
    case (dirichlet)
      k = j
    case (neumann)
      k = j - 1
    case default  ! those beyond n/2 stand for negative ones
      k = merge(j - 1, j - 1 - n, 2*(j - 1) <= n)
    end select
  end function
  ! [/waves]

  ! exp(cos t) and its second derivative, and the same of sin(t) exp(cos t).
  pure function even(t) result(f)
    real(real64), intent(in) :: t
    real(real64) :: f(2)
    f = exp(cos(t))*[1.0_real64, sin(t)**2 - cos(t)]
  end function

  pure function odd(t) result(f)
    real(real64), intent(in) :: t
    real(real64) :: f(2)
    f = sin(t)*exp(cos(t))*[1.0_real64, sin(t)**2 - 3*cos(t) - 1]
  end function

  ! The solution at a point of the grid, and its laplacian.
  pure function solution(kind, i, j, l, n) result(u)
    integer, intent(in) :: kind, i, j, l, n
    real(real64) :: u(2), a, b(2), g(2)
    a = sin(2*pi*(i - 1)/n)
    b = even(2*pi*(j - 1)/n)
    if (kind == dirichlet) then
      g = odd(place(kind, l, n))
    else
      g = even(place(kind, l, n))
    end if
    u = a*[b(1)*g(1), -b(1)*g(1) + b(2)*g(1) + b(1)*g(2)]
  end function

  recursive subroutine solve(comm, name, kind, status)
    type(weft_comm), intent(in) :: comm
    character(*), intent(in) :: name
    integer, intent(in) :: kind
    integer, intent(inout) :: status
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: x, k
    real(real64), allocatable :: u(:, :, :)
    complex(real64), allocatable :: modes(:, :, :)
    real(real64) :: error, exact(2)
    integer :: n, i, j, l, k2
    n = grid
    ! [problem]
    problem%shape = [n, n, n]
    problem%transforms = [weft_r2c, weft_c2c, kind]
    problem%output = weft_fastest()
    call problem%output%set_order([1, 2, 3])  ! the plan chooses the boxes, not the memory order
    problem%backward_scale = weft_full
    ! [/problem]
    call plan%create(comm, problem)
    x = plan%input_box()
    k = plan%output_box()
    allocate (u(x%lo(1):x%hi(1), x%lo(2):x%hi(2), x%lo(3):x%hi(3)))
    allocate (modes(k%lo(1):k%hi(1), k%lo(2):k%hi(2), k%lo(3):k%hi(3)))
    do l = lbound(u, 3), ubound(u, 3)
      do j = lbound(u, 2), ubound(u, 2)
        do i = lbound(u, 1), ubound(u, 1)
          exact = solution(kind, i, j, l, n)
          u(i, j, l) = exact(2)
        end do
      end do
    end do

    ! [solve]
    call plan%forward(u, modes)
    do l = lbound(modes, 3), ubound(modes, 3)
      do j = lbound(modes, 2), ubound(modes, 2)
        do i = lbound(modes, 1), ubound(modes, 1)
          k2 = (i - 1)**2 + wave(periodic, j, n)**2 + wave(kind, l, n)**2
          ! The constant is free; this makes the mean zero.
          modes(i, j, l) = merge((0.0_real64, 0.0_real64), -modes(i, j, l)/max(k2, 1), k2 == 0)
        end do
      end do
    end do
    call plan%backward(modes, u)
    ! [/solve]

    error = 0
    do l = lbound(u, 3), ubound(u, 3)
      do j = lbound(u, 2), ubound(u, 2)
        do i = lbound(u, 1), ubound(u, 1)
          exact = solution(kind, i, j, l, n)
          error = max(error, abs(u(i, j, l) - exact(1)))
        end do
      end do
    end do
    call closing(comm, name, error, 1e-11_real64, status)
    call plan%free()
  end subroutine
end module

program poisson
  use ranks, only: on_ranks
  use poisson_on_ranks, only: all_cases
  implicit none
  call on_ranks(all_cases, 40)
end program
