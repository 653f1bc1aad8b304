! Communicators of MPI by their integers, as mpif.h and the module mpi have them. Needs nothing of MPI to compile.
module weft_mpi_module
  use weft_c_module
  use weft_status_module
  use weft_ranks_module
  implicit none
  private
  public :: weft_comm_mpi

  ! The ranks of an MPI communicator. Collective over it. Weft works on a duplicate, which is freed with the last handle
  ! or plan that uses it, and may outlive MPI_Finalize. A failure if MPI is not initialised or already finalised, and for
  ! MPI_COMM_NULL and intercommunicators.
  interface weft_comm_mpi
    procedure comm_of_integer
  end interface

  interface
    integer(c_int) function weft_comm_mpi_f(communicator, comm) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: communicator
      type(c_ptr), intent(inout) :: comm
    end function
  end interface

contains

  function comm_of_integer(communicator, status) result(comm)
    integer, intent(in) :: communicator
    integer, intent(out), optional :: status
    type(weft_comm) :: comm
    call report(weft_comm_mpi_f(int(communicator, c_int), comm%handle), status)
  end function
end module
