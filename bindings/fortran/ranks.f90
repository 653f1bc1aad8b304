! Who takes part: communicators and teams of threads. Those of MPI are made in communicators/.
module weft_ranks_module
  use weft_c_module
  use weft_status_module
  implicit none
  private
  public :: weft_comm, weft_team, weft_comm_self

  ! A handle to a set of ranks. Copies refer to the same handle, and `free` of one of them ends all. A communicator may
  ! be freed before the plans that were made on it.
  type :: weft_comm
    type(c_ptr) :: handle = c_null_ptr  ! for Weft's own use
  contains
    procedure :: rank => comm_rank
    procedure :: size => comm_size
    procedure :: medium => comm_medium
    procedure :: split => comm_split
    procedure :: barrier => comm_barrier
    procedure :: free => comm_free
  end type

  ! Threads of this process as ranks, which need no MPI.
  type :: weft_team
    type(c_ptr) :: handle = c_null_ptr  ! for Weft's own use
  contains
    procedure :: create => team_create
    procedure :: size => team_size
    procedure :: run => team_run
    procedure :: free => team_free
  end type

  abstract interface
    ! What each thread of a team does. `comm` is that thread's communicator, and lives as long as the call. `status` is 0
    ! at first; a body that has failed sets it to another value.
    subroutine weft_body(comm, status)
      import :: weft_comm
      type(weft_comm), intent(in) :: comm
      integer, intent(inout) :: status
    end subroutine
  end interface
  public :: weft_body

  type :: body_holder
    procedure(weft_body), pointer, nopass :: body => null()
  end type

contains

  ! The calling thread as the only rank, without MPI. Local.
  function weft_comm_self(status) result(comm)
    integer, intent(out), optional :: status
    type(weft_comm) :: comm
    call report(weft_comm_self_c(comm%handle), status)
  end function

  ! This rank's number, from 0. Local.
  function comm_rank(self, status) result(rank)
    class(weft_comm), intent(in) :: self
    integer, intent(out), optional :: status
    integer :: rank
    rank = -1
    call report(weft_comm_rank_c(self%handle, rank), status)
  end function

  ! The number of ranks. Local.
  function comm_size(self, status) result(size)
    class(weft_comm), intent(in) :: self
    integer, intent(out), optional :: status
    integer :: size
    size = 0
    call report(weft_comm_size_c(self%handle, size), status)
  end function

  ! "mpi" or "threads". Local.
  function comm_medium(self, status) result(medium)
    class(weft_comm), intent(in) :: self
    integer, intent(out), optional :: status
    character(7) :: medium
    character(:), allocatable :: word
    type(c_ptr) :: text
    integer(c_int) :: code
    text = c_null_ptr
    code = weft_comm_medium_c(self%handle, text)
    call copy_text(text, word)
    medium = word
    call report(code, status)
  end function

  ! A new communicator of the ranks that give the same `colour`, in rank order. Collective.
  function comm_split(self, colour, status) result(part)
    class(weft_comm), intent(in) :: self
    integer, intent(in) :: colour
    integer, intent(out), optional :: status
    type(weft_comm) :: part
    call report(weft_comm_split_c(self%handle, int(colour, c_int), part%handle), status)
  end function

  ! Waits for all ranks. Collective.
  subroutine comm_barrier(self, status)
    class(weft_comm), intent(in) :: self
    integer, intent(out), optional :: status
    call report(weft_comm_barrier_c(self%handle), status)
  end subroutine

  ! Ends the handle. Local. Freeing one that was never made does nothing.
  subroutine comm_free(self, status)
    class(weft_comm), intent(inout) :: self
    integer, intent(out), optional :: status
    integer(c_int) :: code
    code = weft_comm_free_c(self%handle)
    call forget_if_freed(code, self%handle)
    call report(code, status)
  end subroutine

  ! Starts `size` threads, which live until the team is freed. A team that was made already has to be freed first.
  subroutine team_create(self, size, status)
    class(weft_team), intent(inout) :: self
    integer, intent(in) :: size
    integer, intent(out), optional :: status
    integer(c_int) :: code
    if (c_associated(self%handle)) then
      code = fail("team%create", "a team that was made already", "a new one, or team%free first")
    else
      code = weft_team_create_c(int(size, c_int), self%handle)
    end if
    call report(code, status)
  end subroutine

  ! Number of threads.
  function team_size(self, status) result(size)
    class(weft_team), intent(in) :: self
    integer, intent(out), optional :: status
    integer :: size
    size = 0
    call report(weft_team_size_c(self%handle, size), status)
  end function

  ! Calls `body` on every thread, and returns when all calls have returned. If one fails, ranks that wait for it get
  ! weft_failure, and so does the caller; the team can be used again. Not from inside a body, nor by two threads at once.
  ! Many threads are inside `body` at once: compile it with -frecursive, or it shares its large local arrays.
  subroutine team_run(self, body, status)
    class(weft_team), intent(in) :: self
    procedure(weft_body) :: body
    integer, intent(out), optional :: status
    type(body_holder), target :: holder
    holder%body => body
    call report(weft_team_run_c(self%handle, c_funloc(call_body), c_loc(holder)), status)
  end subroutine

  recursive function call_body(comm, data) bind(C) result(code)
    type(c_ptr), value :: comm, data
    integer(c_int) :: code
    type(body_holder), pointer :: holder
    integer :: status
    call c_f_pointer(data, holder)
    status = 0
    call holder%body(weft_comm(comm), status)
    code = int(status, c_int)
  end function

  ! Ends the threads.
  subroutine team_free(self, status)
    class(weft_team), intent(inout) :: self
    integer, intent(out), optional :: status
    integer(c_int) :: code
    code = weft_team_free_c(self%handle)
    call forget_if_freed(code, self%handle)
    call report(code, status)
  end subroutine
end module
