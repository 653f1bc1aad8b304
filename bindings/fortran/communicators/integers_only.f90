! This compiler cannot read the MPI library's module mpi_f08: communicators by their integers only.
module weft_communicators_module
  use weft_mpi_module, only: weft_comm_mpi
  implicit none
  private
  public :: weft_comm_mpi
end module
