! The tests of the Fortran module: weft_fortran_tests mpi under an MPI launcher, or weft_fortran_tests threads P, or
! weft_fortran_tests stop, which makes a mistake and does not ask for the status.
module all_of_them
  use support
  use sums
  use arrays
  use edges
  use misuse
  use facts
  use lines
  use operators
  use mode_operators
  use gradients
  use columns
  implicit none

contains

  recursive subroutine all_tests(comm, status)
    type(weft_comm), intent(in) :: comm
    integer, intent(inout) :: status
    status = 0
    call test_sums(comm)
    call test_arrays(comm)
    call test_edges(comm)
    call test_misuse(comm)
    call test_facts(comm)
    call test_lines(comm)
    call test_operators(comm)
    call test_mode_operators(comm)
    call test_gradients(comm)
    call test_columns(comm)
  end subroutine
end module

program main
  use support
  use ranks_of_mpi
  use all_of_them
  implicit none
  character(16) :: medium, number
  type(weft_team) :: team
  type(weft_comm) :: comm
  type(weft_options) :: options
  integer :: ranks, status, failed

  call get_command_argument(1, medium)
  if (medium == "threads") then
    call get_command_argument(2, number)
    read (number, *) ranks
    comm = weft_comm_self()
    call claim(comm, comm%size() == 1 .and. comm%rank() == 0 .and. comm%medium() == "threads", "self is one rank")
    call comm%free()
    call team%create(ranks)
    call team%run(all_tests, status)
    if (status /= weft_success) error stop "team%run failed"
    if (team%size() /= ranks) error stop "team%size"
    call test_teams(team)
    if (ranks == 2) call team%run(test_process)
    call team%free()
    failed = sum(failures)
    print '(a,i0,a,i0,a,i0,a)', "threads ", ranks, ": ", sum(claims), " claims, ", failed, " do not hold"
  else if (medium == "stop") then
    call options%set("pipelines", "windowed")
    print '(a)', "a failure without status did not stop"
  else
    call with_mpi(all_tests, failed)
  end if
  if (failed > 0) error stop 1
end program
