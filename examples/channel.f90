! The transform of channel flow: Fourier along the periodic directions x and z, dimensions 1 and 3, and Chebyshev between
! the walls y = 1 and y = -1, dimension 2, with points y = cos(pi j/(ny-1)), j = 0 to ny-1. From the velocity (u, v), a
! batch of two, the program computes the vorticity dv/dx - du/dy and the divergence du/dx + dv/dy, which is zero here: u
! and v are dp/dy and -dp/dx of p = (sin(2x) + cos(3x)) cos(z) (1-y^2)^2.
!
!   mpirun -n 4 channel_f [--grid N] [--comm mpi|threads:P]
module channel_on_ranks
  use weft
  use ranks
  implicit none
  integer, parameter :: u = 1, v = 2

contains

  recursive subroutine derivatives(comm, status)
    type(weft_comm), intent(in) :: comm
    integer, intent(inout) :: status
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: x, k
    complex(real64), allocatable :: flow(:, :, :, :), modes(:, :, :, :)
    real(real64) :: error
    integer :: nx, ny, nz, i, j, l
    nx = grid
    ny = grid + 1
    nz = grid/2
    ! [problem]
    problem%shape = [nx, ny, nz]
    problem%transforms = [weft_c2c, weft_dct1, weft_c2c]
    problem%batch = 2  ! one more dimension of the arrays, the last
    problem%output = weft_slab(1)  ! whole lines along y, for the derivative
    problem%backward_scale = weft_full
    ! [/problem]
    call plan%create(comm, problem)
    x = plan%input_box()
    k = plan%output_box()
    allocate (flow(x%lo(1):x%hi(1), x%lo(2):x%hi(2), x%lo(3):x%hi(3), 2))
    allocate (modes(k%lo(1):k%hi(1), k%lo(2):k%hi(2), k%lo(3):k%hi(3), 2))
    do l = lbound(flow, 3), ubound(flow, 3)
      do j = lbound(flow, 2), ubound(flow, 2)
        do i = lbound(flow, 1), ubound(flow, 1)
          flow(i, j, l, u) = along_x(i, nx, 0)*between(j, ny, 1)*cos(2*pi*(l - 1)/nz)
          flow(i, j, l, v) = -along_x(i, nx, 1)*between(j, ny, 0)*cos(2*pi*(l - 1)/nz)
        end do
      end do
    end do

    ! [derivatives]
    call plan%forward(flow, modes)
    do l = lbound(modes, 3), ubound(modes, 3)
      do i = lbound(modes, 1), ubound(modes, 1)
        call of_line(modes(i, :, l, u), modes(i, :, l, v), merge(i - 1, i - 1 - nx, 2*(i - 1) < nx))
      end do
    end do
    call plan%backward(modes, flow)
    ! [/derivatives]

    error = 0
    do l = lbound(flow, 3), ubound(flow, 3)
      do j = lbound(flow, 2), ubound(flow, 2)
        do i = lbound(flow, 1), ubound(flow, 1)
          error = max(error, abs(flow(i, j, l, v)), abs(flow(i, j, l, u) + cos(2*pi*(l - 1)/nz)* &
            (along_x(i, nx, 2)*between(j, ny, 0) + along_x(i, nx, 0)*between(j, ny, 2))))
        end do
      end do
    end do
    call closing(comm, "channel", error, 1e-10_real64, status)
    call plan%free()
  end subroutine

  ! [line]
  ! From the modes of u and v on one line along y, those of the vorticity, in u, and of the divergence, in v.
  pure subroutine of_line(u, v, kx)
    complex(real64), intent(inout) :: u(:), v(:)
    integer, intent(in) :: kx
    complex(real64) :: u_y(size(u)), v_y(size(v)), u_x(size(u))
    complex(real64), parameter :: i = (0, 1)
    u_y = slope(u)
    v_y = slope(v)
    u_x = i*kx*u
    u = i*kx*v - u_y
    v = u_x + v_y
  end subroutine

  ! d/dy of a line of dct1 modes, by the recurrence of Chebyshev polynomials.
  pure function slope(a) result(d)
    complex(real64), intent(in) :: a(:)
    complex(real64) :: d(size(a))
    integer :: n, m
    n = size(a)
    d(n) = 0
    d(n - 1) = (n - 1)*a(n)
    do m = n - 2, 1, -1  ! mode m of y is a(m + 1)
      d(m) = d(m + 2) + 2*m*a(m + 1)
    end do
  end function
  ! [/line]

  ! sin(2x) + cos(3x), and its derivatives.
  pure function along_x(i, n, order) result(f)
    integer, intent(in) :: i, n, order
    real(real64) :: f, x
    x = 2*pi*(i - 1)/n
    f = 2**order*sin(2*x + order*pi/2) + 3**order*cos(3*x + order*pi/2)
  end function

  ! (1-y^2)^2, and its derivatives.
  pure function between(j, n, order) result(f)
    integer, intent(in) :: j, n, order
    real(real64) :: f, y
    y = cos(pi*(j - 1)/(n - 1))
    select case (order)
    case (0)
      f = (1 - y**2)**2
    case (1)
      f = -4*y*(1 - y**2)
    case default
      f = 12*y**2 - 4
    end select
  end function
end module

program channel
  use ranks, only: on_ranks
  use channel_on_ranks, only: derivatives
  implicit none
  call on_ranks(derivatives, 24)
end program
