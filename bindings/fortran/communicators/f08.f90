! Communicators of the module mpi_f08.
module weft_communicators_module
  use mpi_f08, only: MPI_Comm
  use weft_mpi_module, only: weft_comm_mpi
  use weft_ranks_module, only: weft_comm
  implicit none
  private
  public :: weft_comm_mpi

  interface weft_comm_mpi
    procedure comm_of_f08
  end interface

contains

  function comm_of_f08(communicator, status) result(comm)
    type(MPI_Comm), intent(in) :: communicator
    integer, intent(out), optional :: status
    type(weft_comm) :: comm
    comm = weft_comm_mpi(communicator%MPI_VAL, status)
  end function
end module
