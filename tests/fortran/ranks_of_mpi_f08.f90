! Ranks of MPI for the tests, through mpi_f08 and through its integers.
module ranks_of_mpi
  use mpi_f08
  use support
  implicit none
  private
  public :: with_mpi

contains

  ! Runs `body` on the ranks of MPI_COMM_WORLD; `failed` is what did not hold on any of them.
  subroutine with_mpi(body, failed)
    procedure(weft_body) :: body
    integer, intent(out) :: failed
    type(weft_comm) :: comm, again, none
    integer :: status
    none = weft_comm_mpi(MPI_COMM_WORLD, status)
    if (status == weft_success) error stop "a communicator before MPI_Init"
    call MPI_Init()
    comm = weft_comm_mpi(MPI_COMM_WORLD)
    again = weft_comm_mpi(MPI_COMM_WORLD%MPI_VAL)
    call claim(comm, again%rank() == comm%rank() .and. again%size() == comm%size(), "an integer's communicator")
    call claim(comm, comm%medium() == "mpi", "medium")
    call again%free()
    none = weft_comm_mpi(MPI_COMM_NULL, status)
    call claim_failure(comm, status, "MPI_COMM_NULL", "MPI_COMM_NULL")
    call body(comm, status)
    call MPI_Allreduce(sum(failures), failed, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (comm%rank() == 0) print '(a,i0,a,i0,a,i0,a)', "mpi ", comm%size(), ": ", sum(claims), " claims, ", failed, &
      " do not hold on all ranks"
    call comm%free()
    call MPI_Finalize()
  end subroutine
end module
