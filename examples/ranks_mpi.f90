! An example's ranks of MPI.
module ranks_mpi
  use mpi_f08
  use weft
  implicit none
  private
  public :: on_mpi

contains

  subroutine on_mpi(body)
    procedure(weft_body) :: body
    type(weft_comm) :: comm
    integer :: status
    call MPI_Init()
    comm = weft_comm_mpi(MPI_COMM_WORLD)
    status = 0
    call body(comm, status)
    call comm%free()
    if (status /= 0) error stop 1
    call MPI_Finalize()
  end subroutine
end module
