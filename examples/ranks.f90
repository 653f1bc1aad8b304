! What every example in Fortran needs before it can begin: a command line, and ranks to run on, those of MPI or the threads
! of this process. The body of the example cannot tell which. Where there is no MPI, ranks_mpi comes from no_mpi.f90.
module ranks
  use, intrinsic :: iso_fortran_env, only: real64, error_unit
  use weft
  use ranks_mpi, only: on_mpi
  implicit none
  private
  public :: real64, pi, grid, on_ranks, closing

  real(real64), parameter :: pi = 3.14159265358979323846264338327950288_real64
  integer, protected :: grid = 0  ! points along a dimension

contains

  ! Runs `body` as the command line says: PROGRAM [--grid N] [--comm mpi|threads:P].
  subroutine on_ranks(body, default_grid)
    procedure(weft_body) :: body
    integer, intent(in) :: default_grid
    type(weft_team) :: team
    character(32) :: name, value, medium
    integer :: i, threads, status
    grid = default_grid
    medium = "mpi"
    do i = 1, command_argument_count(), 2
      call get_command_argument(i, name)
      call get_command_argument(i + 1, value)
      if (name == "--grid") then
        read (value, *) grid
      else if (name == "--comm") then
        medium = value
      else
        write (error_unit, '(a)') "usage: PROGRAM [--grid N] [--comm mpi|threads:P]"
        error stop 2
      end if
    end do
    if (medium(:8) == "threads:") then
      read (medium(9:), *) threads
      call team%create(threads)
      call team%run(body, status)
      call team%free()
      if (status /= weft_success) error stop 1
    else
      call on_mpi(body)
    end if
  end subroutine

  ! Prints the closing line on one rank. `status` becomes 1 if this rank's error is not allowed, which NaN never is.
  subroutine closing(comm, name, error, allowed, status)
    type(weft_comm), intent(in) :: comm
    character(*), intent(in) :: name
    real(real64), intent(in) :: error, allowed
    integer, intent(inout) :: status
    if (.not. error <= allowed) status = 1
    if (comm%rank() == 0 .or. status /= 0) print '(2a,es8.1,a,es8.1,2a)', name, ": error", error, " (allowed", allowed, &
      "): ", merge("right", "WRONG", status == 0)
  end subroutine
end module
