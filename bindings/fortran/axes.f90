! Boxes, and the one place that knows how Fortran's dimensions relate to Weft's axes: dimension i of ndim, from 1, which
! varies fastest for i = 1, is axis ndim - i, from 0. Fortran's bounds begin with 1 and include the upper one; those of
! Weft begin with 0 and exclude it.
module weft_axes_module
  use weft_c_module
  use weft_status_module
  implicit none
  private
  public :: weft_box, weft_intersect
  public :: axis_of, axes_of, dimensions_of, order_to_axes, order_to_dimensions, box_to_c, box_from_c

  ! The part of a global array with lo(i) <= index <= hi(i) along every dimension i: lo and hi are the bounds of an
  ! array that holds it. An empty box has hi(i) = lo(i) - 1 for some i.
  type :: weft_box
    integer(c_int64_t), allocatable :: lo(:), hi(:)
  contains
    procedure :: count => box_count
    procedure :: extents => box_extents
    procedure :: contains => box_contains
    procedure :: text => box_text
  end type

  ! Values per dimension as C's values per axis.
  interface axes_of
    procedure axes_of_int, axes_of_int64, axes_of_real64
  end interface

contains

  ! Number of points; 0 for an empty box.
  function box_count(self) result(count)
    class(weft_box), intent(in) :: self
    integer(c_int64_t) :: count
    count = weft_box_count_c(box_to_c(self))
  end function

  ! Lengths along all dimensions.
  function box_extents(self) result(extents)
    class(weft_box), intent(in) :: self
    integer(c_int64_t), allocatable :: extents(:)
    extents = self%hi - self%lo + 1
  end function

  ! Whether all points of `part` are in this box.
  function box_contains(self, part) result(contains)
    class(weft_box), intent(in) :: self, part
    logical :: contains
    contains = weft_box_contains_c(box_to_c(self), box_to_c(part)) /= 0
  end function

  ! "(1:4, 9:16, 1:32)"
  function box_text(self) result(text)
    class(weft_box), intent(in) :: self
    character(:), allocatable :: text
    integer :: i
    text = "("
    do i = 1, size(self%lo)
      if (i > 1) text = text//", "
      text = text//trim(digits(self%lo(i)))//":"//trim(digits(self%hi(i)))
    end do
    text = text//")"
  end function

  ! The common part of two boxes with equally many dimensions; an empty box if they have no point in common.
  function weft_intersect(a, b, status) result(common)
    type(weft_box), intent(in) :: a, b
    integer, intent(out), optional :: status
    type(weft_box) :: common
    type(c_box) :: c
    integer(c_int) :: code
    code = weft_box_intersect_c(box_to_c(a), box_to_c(b), c)
    if (code == weft_success) common = box_from_c(c)
    call report(code, status)
  end function

  pure function axis_of(dimension, ndim) result(axis)
    integer, intent(in) :: dimension, ndim
    integer(c_int) :: axis
    axis = int(ndim - dimension, c_int)
  end function

  pure function axes_of_int(values) result(axes)
    integer, intent(in) :: values(:)
    integer(c_int) :: axes(max_axes)
    axes = 0
    axes(:size(values)) = int(values(size(values):1:-1), c_int)
  end function

  pure function axes_of_int64(values) result(axes)
    integer(c_int64_t), intent(in) :: values(:)
    integer(c_int64_t) :: axes(max_axes)
    axes = 0
    axes(:size(values)) = values(size(values):1:-1)
  end function

  pure function axes_of_real64(values) result(axes)
    real(c_double), intent(in) :: values(:)
    real(c_double) :: axes(max_axes)
    axes = 0
    axes(:size(values)) = values(size(values):1:-1)
  end function

  pure function dimensions_of(axes, ndim) result(values)
    integer(c_int64_t), intent(in) :: axes(max_axes)
    integer(c_int), intent(in) :: ndim
    integer(c_int64_t) :: values(ndim)
    values = axes(ndim:1:-1)
  end function

  ! Memory orders: Fortran lists dimensions from the fastest to the slowest, Weft axes from the slowest to the fastest.
  pure function order_to_axes(order) result(axes)
    integer, intent(in) :: order(:)
    integer(c_int) :: axes(max_axes)
    axes = axes_of(size(order) - order)
  end function

  pure function order_to_dimensions(axes, ndim) result(order)
    integer(c_int), intent(in) :: axes(max_axes), ndim
    integer :: order(ndim)
    order = int(ndim - axes(ndim:1:-1))
  end function

  ! A box without bounds has no axes, which the library refuses.
  pure function box_to_c(box) result(c)
    class(weft_box), intent(in) :: box
    type(c_box) :: c
    if (.not. (allocated(box%lo) .and. allocated(box%hi))) return
    if (size(box%lo) > max_axes .or. size(box%hi) /= size(box%lo)) return
    c%ndim = size(box%lo)
    c%lo = axes_of(box%lo - 1)
    c%hi = axes_of(box%hi)
  end function

  pure function box_from_c(c) result(box)
    type(c_box), intent(in) :: c
    type(weft_box) :: box
    box%lo = dimensions_of(c%lo, c%ndim) + 1
    box%hi = dimensions_of(c%hi, c%ndim)
  end function
end module
