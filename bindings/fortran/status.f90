! Failures: status codes, the last message, and what happens to a caller who does not ask for a status.
!
! gfortran keeps the length of a function's result that is character(:), allocatable in one static variable per call, which
! threads share. So inside the module no such function is called, and those that bodies of teams need have other results.
module weft_status_module
  use, intrinsic :: iso_fortran_env, only: error_unit
  use weft_c_module
  implicit none
  private
  public :: weft_success, weft_failure, weft_bad_handle, weft_bad_argument, weft_no_memory, weft_internal
  public :: weft_error, weft_message, weft_last_error, weft_status_name, weft_version
  public :: report, fail, forget_if_freed, copy_text, take_text, digits

  ! What procedures give in `status`. 0 is success.
  integer, parameter :: weft_success = 0
  integer, parameter :: weft_failure = 1       ! misuse or a failure
  integer, parameter :: weft_bad_handle = 2    ! a handle that was never made, or was freed
  integer, parameter :: weft_bad_argument = 3  ! a value that no constant has
  integer, parameter :: weft_no_memory = 4     ! memory of the host does not suffice
  integer, parameter :: weft_internal = 5      ! any other failure: please report it

  ! The parts of the last message of this thread: what was being done, what was given, what would have been accepted or
  ! can be done, and the rank at fault, or -1.
  type :: weft_error
    character(:), allocatable :: operation, got, expected
    integer :: rank = -1
  end type

  ! Decimal digits of an integer, with blanks behind them.
  interface digits
    procedure digits_default, digits_int64
  end interface

contains

  ! The message of the last call in this thread that failed: what was done, what was given, what is expected, and on
  ! which rank. "" before the first failure. Axes in messages of the library are numbered as in C++ and C: axis a, from
  ! 0, is dimension ndim - a of Fortran.
  function weft_message() result(message)
    character(weft_fortran_message_length()) :: message
    character(:), allocatable :: text
    call copy_text(weft_last_message_c(), text)
    message = text
  end function

  function weft_last_error() result(error)
    type(weft_error) :: error
    type(c_error) :: c
    c%size = c_sizeof(c)
    if (weft_last_error_c(c) /= weft_success) return
    call copy_text(c%operation, error%operation)
    call copy_text(c%got, error%got)
    call copy_text(c%expected, error%expected)
    error%rank = c%rank
  end function

  ! The name of a status: "WEFT_BAD_HANDLE", with blanks behind it.
  function weft_status_name(status) result(name)
    integer, intent(in) :: status
    character(20) :: name
    character(:), allocatable :: text
    call copy_text(weft_status_name_c(int(status, c_int)), text)
    name = text
  end function

  ! The version of the library that the program runs with, "0.1.0", with blanks behind it.
  function weft_version() result(version)
    character(16) :: version
    character(:), allocatable :: text
    call copy_text(weft_version_c(), text)
    version = text
  end function

  ! Hands `code` to a caller who asks for it. For one who does not, a failure prints its message and stops the program.
  subroutine report(code, status)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: status
    if (present(status)) then
      status = int(code)
    else if (code /= weft_success) then
      write (error_unit, '(a)') weft_message()
      error stop 1
    end if
  end subroutine

  ! A handle that was freed by a copy of it is none from then on, so that its variable can hold a new one.
  subroutine forget_if_freed(code, handle)
    integer(c_int), intent(in) :: code
    type(c_ptr), intent(inout) :: handle
    if (code == weft_bad_handle) handle = c_null_ptr
  end subroutine

  ! Makes a message of this module the last one of the thread; returns weft_failure.
  function fail(operation, got, expected) result(code)
    character(*), intent(in) :: operation, got, expected
    integer(c_int) :: code
    code = weft_fortran_fail(operation//c_null_char, got//c_null_char, expected//c_null_char)
  end function

  ! A copy of a text of C; "" of a null pointer.
  subroutine copy_text(c, text)
    type(c_ptr), intent(in) :: c
    character(:), allocatable, intent(out) :: text
    character(c_char), pointer :: letters(:)
    integer :: i, length
    length = 0
    if (c_associated(c)) length = int(strlen(c))
    allocate (character(length) :: text)
    if (length > 0) call c_f_pointer(c, letters, [length])
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end subroutine

  ! The same of a text that the library has made for the caller, which is freed.
  subroutine take_text(c, text)
    type(c_ptr), intent(in) :: c
    character(:), allocatable, intent(out) :: text
    call copy_text(c, text)
    call weft_free_c(c)
  end subroutine

  ! By hand: writes into character variables by several threads at once are not safe everywhere.
  pure function digits_int64(value) result(text)
    integer(c_int64_t), intent(in) :: value
    character(20) :: text
    character(20) :: buffer
    integer(c_int64_t) :: rest
    integer :: first
    rest = value
    first = len(buffer) + 1
    do
      first = first - 1
      buffer(first:first) = achar(iachar("0") + int(abs(mod(rest, 10_c_int64_t))))
      rest = rest/10
      if (rest == 0) exit
    end do
    if (value < 0) then
      first = first - 1
      buffer(first:first) = "-"
    end if
    text = buffer(first:)
  end function

  pure function digits_default(value) result(text)
    integer, intent(in) :: value
    character(20) :: text
    text = digits_int64(int(value, c_int64_t))
  end function
end module
