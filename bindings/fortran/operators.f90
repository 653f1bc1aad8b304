! Operators between two transforms, as plan%apply calls them: types that extend weft_operator.
module weft_operators_module
  use weft_c_module
  use weft_axes_module
  implicit none
  private
  public :: weft_block, weft_operator, operator_holder, operate_from_c

  ! All fields of some elements: of modes with problem%between weft_between_modes, of points with
  ! weft_between_points. The operator finds `fields` arrays there, as many as the batch has, and leaves `results` ones, in
  ! the same memory. Its elements are those of u, which `call block%elements(u)` points to them: element i(:) of field f,
  ! both counted from 1, is u(block%position(i, f)).
  type :: weft_block
    integer :: ndim = 0                       ! dimensions of the problem
    integer :: element = 0                    ! weft_real or weft_complex
    integer :: precision = 0                  ! weft_float64 or weft_float32
    integer(c_int64_t) :: lo(max_axes) = 1    ! of each dimension the first index, as of an array of all modes or points
    integer(c_int64_t) :: hi(max_axes) = 0    ! and the last one
    integer(c_int64_t) :: strides(max_axes) = 1  ! in elements, from one element to the next along each dimension
    integer(c_int64_t) :: fields = 1, results = 1
    integer(c_int64_t) :: field_stride = 0    ! in elements, from one field to the next
    integer :: memory = 0                     ! weft_host or weft_cuda
    type(c_ptr) :: data = c_null_ptr          ! the first element of the first field
    type(c_ptr) :: stream = c_null_ptr        ! with weft_cuda the cudaStream_t on which the operator enqueues its work
  contains
    procedure :: position => block_position
    procedure, private :: elements_real32, elements_real64, elements_complex32, elements_complex64
    generic :: elements => elements_real32, elements_real64, elements_complex32, elements_complex64
  end type

  ! An operator: a type that extends this one, with what it needs as components.
  type, abstract :: weft_operator
  contains
    procedure(operate_on_block), deferred :: operate
  end type

  abstract interface
    ! Changes a block in place. `status` is 0: with another value the execution fails, on all ranks. It is called by
    ! several threads of the rank at the same time, with different blocks, if the plan has threads, and must not call Weft.
    subroutine operate_on_block(self, block, status)
      import :: weft_operator, weft_block
      class(weft_operator), intent(in) :: self
      type(weft_block), intent(in) :: block
      integer, intent(inout) :: status
    end subroutine
  end interface

  ! An operator as C passes it on.
  type :: operator_holder
    class(weft_operator), pointer :: op => null()
  end type

contains

  integer(c_int) function operate_from_c(block, user) bind(C)
    type(c_block), intent(in) :: block
    type(c_ptr), value :: user
    type(operator_holder), pointer :: holder
    type(weft_block) :: mine
    integer :: status, ndim
    ndim = block%ndim
    mine%ndim = ndim
    mine%element = block%element
    mine%precision = block%precision
    mine%lo(:ndim) = block%lo(ndim:1:-1) + 1
    mine%hi(:ndim) = block%hi(ndim:1:-1)
    mine%strides(:ndim) = block%strides(ndim:1:-1)
    mine%fields = block%fields
    mine%results = block%results
    mine%field_stride = block%field_stride
    mine%memory = block%memory
    mine%data = block%data
    mine%stream = block%stream
    call c_f_pointer(user, holder)
    status = 0
    call holder%op%operate(mine, status)
    operate_from_c = int(status, c_int)
  end function

  ! Where element `at` of field `field` is among the elements.
  pure integer(c_int64_t) function block_position(self, at, field) result(position)
    class(weft_block), intent(in) :: self
    integer(c_int64_t), intent(in) :: at(:)
    integer(c_int64_t), intent(in), optional :: field
    position = 1 + sum((at - self%lo(:self%ndim))*self%strides(:self%ndim))
    if (present(field)) position = position + (field - 1)*self%field_stride
  end function

  pure integer(c_int64_t) function reach(self)
    class(weft_block), intent(in) :: self
    reach = self%position(self%hi(:self%ndim), max(self%fields, self%results))
  end function

  ! Whether elements are of a type, in memory of the host.
  pure logical function has(self, element, precision)
    class(weft_block), intent(in) :: self
    integer, intent(in) :: element, precision
    has = self%element == element .and. self%precision == precision .and. self%memory == 0
  end function

  ! Points `u` to the elements. It is not associated if they are of another type, or in memory of a GPU.
  subroutine elements_real32(self, u)
    class(weft_block), intent(in) :: self
    real(c_float), pointer, intent(out) :: u(:)
    nullify (u)
    if (has(self, 1, 1)) call c_f_pointer(self%data, u, [reach(self)])
  end subroutine
  subroutine elements_real64(self, u)
    class(weft_block), intent(in) :: self
    real(c_double), pointer, intent(out) :: u(:)
    nullify (u)
    if (has(self, 1, 0)) call c_f_pointer(self%data, u, [reach(self)])
  end subroutine
  subroutine elements_complex32(self, u)
    class(weft_block), intent(in) :: self
    complex(c_float_complex), pointer, intent(out) :: u(:)
    nullify (u)
    if (has(self, 2, 1)) call c_f_pointer(self%data, u, [reach(self)])
  end subroutine
  subroutine elements_complex64(self, u)
    class(weft_block), intent(in) :: self
    complex(c_double_complex), pointer, intent(out) :: u(:)
    nullify (u)
    if (has(self, 2, 0)) call c_f_pointer(self%data, u, [reach(self)])
  end subroutine

end module
