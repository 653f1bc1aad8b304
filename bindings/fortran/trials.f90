! Wisdom, trials, and what the library has.
module weft_trials_module
  use weft_c_module
  use weft_status_module
  implicit none
  private
  public :: weft_export_wisdom, weft_import_wisdom, weft_forget_wisdom
  public :: weft_interrupt_trials_if, weft_report_trials_to, weft_trial_progress, weft_information_json
  public :: weft_asked, weft_told

  ! What a trial timed last.
  type :: weft_trial_progress
    character(:), allocatable :: round         ! candidate, play-off, point, final (docs/tuning.md)
    integer :: trial = 0, most_trials = 0
    character(:), allocatable :: options       ! what was timed, "name=value" separated by blanks
    real(c_double) :: seconds = 0              ! forward and backward on the slowest rank; infinite: impossible
    character(:), allocatable :: best_options
    real(c_double) :: best_seconds = 0
    logical :: is_best = .false.               ! whether the best is what was timed last
    real(c_double) :: seconds_left = 0         ! of the budget
  end type

  abstract interface
    logical function weft_asked()
    end function
    subroutine weft_told(progress)
      import :: weft_trial_progress
      type(weft_trial_progress), intent(in) :: progress
    end subroutine
  end interface

  procedure(weft_asked), pointer :: asked_now => null()
  procedure(weft_told), pointer :: told_now => null()

contains

  ! Adds the wisdom of this process to a file, or that of a file to this process. Not collective: call them on rank 0.
  ! `done`: whether it was; if not, a warning on standard error says why, except that importing a file that does not
  ! exist gives none.
  subroutine weft_export_wisdom(file, done, status)
    character(*), intent(in) :: file
    logical, intent(out), optional :: done
    integer, intent(out), optional :: status
    integer(c_int) :: code, yes
    yes = 0
    code = weft_export_wisdom_c(trim(file)//c_null_char, yes)
    if (present(done)) done = yes /= 0
    call report(code, status)
  end subroutine
  subroutine weft_import_wisdom(file, done, status)
    character(*), intent(in) :: file
    logical, intent(out), optional :: done
    integer, intent(out), optional :: status
    integer(c_int) :: code, yes
    yes = 0
    code = weft_import_wisdom_c(trim(file)//c_null_char, yes)
    if (present(done)) done = yes /= 0
    call report(code, status)
  end subroutine

  ! Forgets all wisdom of this process, FFTW's included.
  subroutine weft_forget_wisdom(status)
    integer, intent(out), optional :: status
    call report(weft_forget_wisdom_c(), status)
  end subroutine

  ! Lets planning with effort measure or patient call `asked` between trials, on every rank's thread. If it returns true
  ! on one of them, planning fails on all. Without `asked`, as at first, nobody is asked. Holds for the whole process.
  subroutine weft_interrupt_trials_if(asked, status)
    procedure(weft_asked), optional :: asked
    integer, intent(out), optional :: status
    type(c_funptr) :: function
    function = c_null_funptr
    asked_now => null()
    if (present(asked)) then
      asked_now => asked
      function = c_funloc(ask)
    end if
    call report(weft_interrupt_trials_if_c(function), status)
  end subroutine

  recursive function ask() bind(C) result(yes)
    integer(c_int) :: yes
    yes = merge(1, 0, asked_now())
  end function

  ! Lets planning call `told` whenever something has been timed, on rank 0's thread. Without it nobody is told. Holds for
  ! the whole process.
  subroutine weft_report_trials_to(told, status)
    procedure(weft_told), optional :: told
    integer, intent(out), optional :: status
    type(c_funptr) :: function
    function = c_null_funptr
    told_now => null()
    if (present(told)) then
      told_now => told
      function = c_funloc(tell)
    end if
    call report(weft_report_trials_to_c(function), status)
  end subroutine

  recursive subroutine tell(c) bind(C)
    type(c_trial_progress), intent(in) :: c
    type(weft_trial_progress) :: progress
    call copy_text(c%round, progress%round)
    progress%trial = c%trial
    progress%most_trials = c%most_trials
    call copy_text(c%options, progress%options)
    progress%seconds = c%seconds
    call copy_text(c%best_options, progress%best_options)
    progress%best_seconds = c%best_seconds
    progress%is_best = c%is_best /= 0
    progress%seconds_left = c%seconds_left
    call told_now(progress)
  end subroutine

  ! What this library has and where it runs, as JSON: "version", "hardware", "gpu" (name, missing), "fft_libraries"
  ! (name, version, missing, on_gpus), "environment" (name, meaning, value).
  function weft_information_json(status) result(json)
    integer, intent(out), optional :: status
    character(:), allocatable :: json
    type(c_ptr) :: text
    integer(c_int) :: code
    text = c_null_ptr
    code = weft_information_json_c(text)
    call take_text(text, json)
    call report(code, status)
  end function
end module
