! A first transform: the spectrum of a wave that is spread over all ranks.
!
!   mpirun -n 4 first_f [--grid N] [--comm mpi|threads:P]
module wave_on_ranks
  use weft
  use ranks
  implicit none

contains

  recursive subroutine transform(comm, status)
    type(weft_comm), intent(in) :: comm
    integer, intent(inout) :: status
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: x, k
    real(real64), allocatable :: field(:, :, :)
    complex(real64), allocatable :: modes(:, :, :)
    integer :: n, i, j, l

    ! [problem]
    n = grid
    problem%shape = [n, n, n]
    problem%transforms = [weft_r2c, weft_c2c, weft_c2c]
    problem%input = weft_slab(3)
    problem%output = weft_slab(2)
    ! [/problem]

    ! [plan]
    call plan%create(comm, problem)
    x = plan%input_box()
    k = plan%output_box()
    allocate (field(x%lo(1):x%hi(1), x%lo(2):x%hi(2), x%lo(3):x%hi(3)))
    allocate (modes(k%lo(1):k%hi(1), k%lo(2):k%hi(2), k%lo(3):k%hi(3)))
    ! [/plan]

    ! [fill]
    do l = lbound(field, 3), ubound(field, 3)
      do j = lbound(field, 2), ubound(field, 2)
        do i = lbound(field, 1), ubound(field, 1)
          field(i, j, l) = cos(2*pi*mod(1*(i - 1) + 3*(j - 1) + 2*(l - 1), n)/n)
        end do
      end do
    end do
    ! [/fill]

    ! [forward]
    call plan%forward(field, modes)
    ! [/forward]

    ! [check]
    ! The wave is half exp(+i...) and half exp(-i...), of which the half-complex output holds one: wave (1, 3, 2).
    if (k%contains(weft_box([2, 4, 3], [2, 4, 3]))) modes(2, 4, 3) = modes(2, 4, 3) - plan%scale_factor()/2
    call closing(comm, "first", largest(modes)/plan%scale_factor(), 1e-13_real64, status)
    ! [/check]
    call plan%free()
  end subroutine

  pure function largest(modes) result(value)
    complex(real64), intent(in) :: modes(:, :, :)
    real(real64) :: value
    value = 0
    if (size(modes) > 0) value = maxval(abs(modes))
  end function
end module

program first
  use ranks, only: on_ranks
  use wave_on_ranks, only: transform
  implicit none
  call on_ranks(transform, 32)
end program
