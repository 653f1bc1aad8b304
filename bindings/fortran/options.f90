! Options of plans, by name.
module weft_options_module
  use weft_c_module
  use weft_status_module
  implicit none
  private
  public :: weft_options

  ! Options that have been set; docs/options.md has them all. Copies refer to the same options. Freed options do not
  ! affect plans made with them. All procedures are local.
  type :: weft_options
    type(c_ptr) :: handle = c_null_ptr  ! for Weft's own use; made when an option is first set or asked for
  contains
    procedure, private :: set_text, set_default, set_int64
    generic :: set => set_text, set_default, set_int64
    procedure :: get => options_get
    procedure :: is_set => options_is_set
    procedure :: text => options_text
    procedure :: free => options_free
  end type

contains

  function made(self) result(code)
    class(weft_options), intent(inout) :: self
    integer(c_int) :: code
    code = weft_success
    if (.not. c_associated(self%handle)) code = weft_options_create_c(self%handle)
  end function

  ! Sets an option to a text or an integer: call options%set("exchange", "p2p"). Unknown names and values are a failure
  ! whose message lists the known ones. Blanks at the end do not count.
  subroutine set_text(self, name, value, status)
    class(weft_options), intent(inout) :: self
    character(*), intent(in) :: name, value
    integer, intent(out), optional :: status
    integer(c_int) :: code
    code = made(self)
    if (code == weft_success) &
      code = weft_options_set_c(self%handle, trim(name)//c_null_char, trim(value)//c_null_char)
    call report(code, status)
  end subroutine
  subroutine set_int64(self, name, value, status)
    class(weft_options), intent(inout) :: self
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: value
    integer, intent(out), optional :: status
    integer(c_int) :: code
    code = made(self)
    if (code == weft_success) code = weft_options_set_int_c(self%handle, trim(name)//c_null_char, value)
    call report(code, status)
  end subroutine
  subroutine set_default(self, name, value, status)
    class(weft_options), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value
    integer, intent(out), optional :: status
    call self%set(name, int(value, c_int64_t), status)
  end subroutine

  ! The value of an option: as set, else from the environment, else the default.
  function options_get(self, name, status) result(value)
    class(weft_options), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(out), optional :: status
    character(:), allocatable :: value
    type(c_ptr) :: text
    integer(c_int) :: code
    text = c_null_ptr
    code = made(self)
    if (code == weft_success) code = weft_options_get_c(self%handle, trim(name)//c_null_char, text)
    call take_text(text, value)
    call report(code, status)
  end function

  ! Whether the program has set an option.
  function options_is_set(self, name, status) result(is_set)
    class(weft_options), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(out), optional :: status
    logical :: is_set
    integer(c_int) :: code, yes
    yes = 0
    code = made(self)
    if (code == weft_success) code = weft_options_is_set_c(self%handle, trim(name)//c_null_char, yes)
    is_set = yes /= 0
    call report(code, status)
  end function

  ! All names with their values after environment and defaults, a line "name=value" each.
  function options_text(self, status) result(lines)
    class(weft_options), intent(inout) :: self
    integer, intent(out), optional :: status
    character(:), allocatable :: lines
    type(c_ptr) :: text
    integer(c_int) :: code
    text = c_null_ptr
    code = made(self)
    if (code == weft_success) code = weft_options_text_c(self%handle, text)
    call take_text(text, lines)
    call report(code, status)
  end function

  ! Forgets what was set.
  subroutine options_free(self, status)
    class(weft_options), intent(inout) :: self
    integer, intent(out), optional :: status
    integer(c_int) :: code
    code = weft_options_free_c(self%handle)
    call forget_if_freed(code, self%handle)
    call report(code, status)
  end subroutine
end module
