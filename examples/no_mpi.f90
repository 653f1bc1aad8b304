! The examples where there is no MPI, or no mpi_f08 for this compiler: --comm threads:P.
module ranks_mpi
  use weft
  implicit none
  private
  public :: on_mpi

contains

  subroutine on_mpi(body)
    procedure(weft_body) :: body
    type(weft_team) :: team
    print '(a)', "built without MPI: on 4 threads"
    call team%create(4)
    call team%run(body)
    call team%free()
  end subroutine
end module
