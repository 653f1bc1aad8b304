! Failures: status codes, the last message, and what happens to a caller who does not ask for a status.
module weft_status_module
  use, intrinsic :: iso_fortran_env, only: error_unit
  use weft_c_module
  implicit none
  private
  public :: weft_success, weft_failure, weft_bad_handle, weft_bad_argument, weft_no_memory, weft_internal
  public :: weft_error, weft_message, weft_last_error, weft_status_name, weft_version
  public :: report, fail, text_of, taken_text, digits

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

  ! Decimal digits of an integer, without blanks.
  interface digits
    procedure digits_default, digits_int64, digits_list
  end interface

contains

  ! The message of the last call in this thread that failed: what was done, what was given, what is expected, and on
  ! which rank. "" before the first failure. Axes in messages of the library are numbered as in C++ and C: axis a, from
  ! 0, is dimension ndim - a of Fortran.
  function weft_message() result(message)
    character(:), allocatable :: message
    message = text_of(weft_last_message_c())
  end function

  function weft_last_error() result(error)
    type(weft_error) :: error
    type(c_error) :: c
    c%size = c_sizeof(c)
    if (weft_last_error_c(c) /= weft_success) return
    error%operation = text_of(c%operation)
    error%got = text_of(c%got)
    error%expected = text_of(c%expected)
    error%rank = c%rank
  end function

  ! The name of a status: "WEFT_BAD_HANDLE".
  function weft_status_name(status) result(name)
    integer, intent(in) :: status
    character(:), allocatable :: name
    name = text_of(weft_status_name_c(int(status, c_int)))
  end function

  ! The version of the library that the program runs with, "0.1.0".
  function weft_version() result(version)
    character(:), allocatable :: version
    version = text_of(weft_version_c())
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

  ! Makes a message of this module the last one of the thread; returns weft_failure.
  function fail(operation, got, expected) result(code)
    character(*), intent(in) :: operation, got, expected
    integer(c_int) :: code
    code = weft_fortran_fail(operation//c_null_char, got//c_null_char, expected//c_null_char)
  end function

  ! A copy of a text of C; "" of a null pointer.
  function text_of(c) result(text)
    type(c_ptr), intent(in) :: c
    character(:), allocatable :: text
    character(c_char), pointer :: letters(:)
    integer :: i, length
    if (.not. c_associated(c)) then
      text = ""
      return
    end if
    length = int(strlen(c))
    call c_f_pointer(c, letters, [length])
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function

  ! The same of a text that the library has made for the caller, which is freed.
  function taken_text(c) result(text)
    type(c_ptr), intent(in) :: c
    character(:), allocatable :: text
    text = text_of(c)
    call weft_free_c(c)
  end function

  ! By hand: writes into character variables by several threads at once disturb each other in gfortran 12's library.
  pure function digits_int64(value) result(text)
    integer(c_int64_t), intent(in) :: value
    character(:), allocatable :: text
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
    character(:), allocatable :: text
    text = digits_int64(int(value, c_int64_t))
  end function

  pure function digits_list(values) result(text)
    integer, intent(in) :: values(:)
    character(:), allocatable :: text
    integer :: i
    text = "["
    do i = 1, size(values)
      if (i > 1) text = text//", "
      text = text//digits_default(values(i))
    end do
    text = text//"]"
  end function
end module
