! Ready-made operators on the modes between two transforms: derivatives and what is made of them, filters and shifts.
module weft_mode_operators_module
  use weft_c_module
  use weft_status_module
  use weft_axes_module
  use weft_problems_module
  implicit none
  private
  public :: weft_mode_operator, weft_filter, plan_handle

  ! What operators that belong to a plan need of it. It is defined before plans, which apply operators.
  type :: plan_handle
    type(c_ptr) :: handle = c_null_ptr  ! for Weft's own use
  end type

  ! A factor that depends on the length of k, for call op%filter: a type that extends this one, with what it needs as
  ! components.
  type, abstract :: weft_filter
  contains
    procedure(factor_at), deferred :: factor
  end type

  abstract interface
    ! It is called by several threads of the rank at the same time, and must not call Weft.
    real(c_double) function factor_at(self, k)
      import :: c_double, weft_filter
      class(weft_filter), intent(in) :: self
      real(c_double), intent(in) :: k
    end function
  end interface

  ! A filter as C passes it on.
  type :: filter_holder
    class(weft_filter), allocatable :: filter
  end type

  ! A handle to an operator, which one of the procedures below makes for a problem with weft_between_modes. It serves any
  ! plan of that problem: call plan%apply(op, in, out). Copies refer to the same operator, and `free` of one of them ends
  ! all. It is not freed by itself when its variable goes out of scope.
  !
  ! All of them count modes by angular wavenumbers, 2 pi / L times those of plan%wavenumbers. `lengths` are the periods L
  ! of the transforms, one for each dimension of the problem, in the user's unit: the length of the domain along a c2c or
  ! r2c dimension, and its logical length times the spacing along a DCT or DST dimension (twice the domain of dct2).
  ! Without it: 2 pi each. None of them scales: give the problem a scale factor, for which a backward_scale of weft_full
  ! is usual. Component i of a vector is the one along dimension i, and so is derivative i of a gradient; a curl is
  ! right-handed in that order. Components and derivatives are fields: the last dimension of the arrays.
  !
  ! They fail for a problem without modes between, a dimension that it does not have, one with a DCT or DST where a
  ! derivative of odd order would make it a DST or DCT, and lengths that are not one positive number for each dimension.
  ! Numbers of fields (problem%batch, problem%results) that do not fit are found by plan%apply. Local.
  type :: weft_mode_operator
    type(c_ptr) :: handle = c_null_ptr  ! for Weft's own use
    type(filter_holder), pointer, private :: holder => null()
  contains
    procedure :: derivative => operator_derivative
    procedure :: gradient => operator_gradient
    procedure :: divergence => operator_divergence
    procedure :: curl => operator_curl
    procedure :: solenoidal_part => operator_solenoidal_part
    procedure :: laplacian => operator_laplacian
    procedure :: inverse_helmholtz => operator_inverse_helmholtz
    procedure :: shift => operator_shift
    procedure :: filter => operator_filter
    procedure :: product => operator_product
    procedure :: product_at => operator_product_at
    procedure :: free => operator_free
  end type

  ! What C is given; a target while it is.
  type :: operator_arguments
    type(c_arguments) :: c
    real(c_double) :: lengths(max_axes) = 0
    type(c_ptr) :: given_lengths = c_null_ptr  ! to `lengths`, by axis
    integer :: ndim = 0
  end type

contains

  ! The derivative of an order, without it of order 1, along a dimension, of every field. Of an odd order the modes that
  ! stand for n/2 periods and -n/2 alike become zero.
  subroutine operator_derivative(self, problem, dimension, order, lengths, status)
    class(weft_mode_operator), intent(inout) :: self
    type(weft_problem), intent(in) :: problem
    integer, intent(in) :: dimension
    integer, intent(in), optional :: order
    real(c_double), intent(in), optional :: lengths(:)
    integer, intent(out), optional :: status
    type(operator_arguments), target :: mine
    integer(c_int) :: code, times
    call prepare(self, "op%derivative", problem, lengths, mine, code)
    times = 1
    if (present(order)) times = int(order, c_int)
    if (code == weft_success .and. (dimension < 1 .or. dimension > mine%ndim)) &
      code = fail("op%derivative", "dimension "//trim(digits(dimension)), "1 to "//trim(digits(mine%ndim)))
    if (code == weft_success) code = weft_mode_operator_derivative_c(c_loc(mine%c%problem), axis_of(dimension, mine%ndim), &
      times, mine%given_lengths, self%handle)
    call report(code, status)
  end subroutine

  ! The derivatives along all n dimensions: of m fields m n results, those of the first field first.
  subroutine operator_gradient(self, problem, lengths, status)
    class(weft_mode_operator), intent(inout) :: self
    type(weft_problem), intent(in) :: problem
    real(c_double), intent(in), optional :: lengths(:)
    integer, intent(out), optional :: status
    call make_on_vectors(self, "op%gradient", weft_mode_operator_gradient_c, problem, lengths, status)
  end subroutine

  ! The sum of the derivatives of n components along the n dimensions: of m n fields m results.
  subroutine operator_divergence(self, problem, lengths, status)
    class(weft_mode_operator), intent(inout) :: self
    type(weft_problem), intent(in) :: problem
    real(c_double), intent(in), optional :: lengths(:)
    integer, intent(out), optional :: status
    call make_on_vectors(self, "op%divergence", weft_mode_operator_divergence_c, problem, lengths, status)
  end subroutine

  ! Of three components along three dimensions, or of several such fields one after the other: as many results.
  subroutine operator_curl(self, problem, lengths, status)
    class(weft_mode_operator), intent(inout) :: self
    type(weft_problem), intent(in) :: problem
    real(c_double), intent(in), optional :: lengths(:)
    integer, intent(out), optional :: status
    call make_on_vectors(self, "op%curl", weft_mode_operator_curl_c, problem, lengths, status)
  end subroutine

  ! What of n components along the n dimensions has no divergence (Helmholtz, Leray): u - k (k u) / k^2. Mode 0 stays.
  subroutine operator_solenoidal_part(self, problem, lengths, status)
    class(weft_mode_operator), intent(inout) :: self
    type(weft_problem), intent(in) :: problem
    real(c_double), intent(in), optional :: lengths(:)
    integer, intent(out), optional :: status
    call make_on_vectors(self, "op%solenoidal_part", weft_mode_operator_solenoidal_part_c, problem, lengths, status)
  end subroutine

  ! The sum of the second derivatives, of every field: times -k^2.
  subroutine operator_laplacian(self, problem, lengths, status)
    class(weft_mode_operator), intent(inout) :: self
    type(weft_problem), intent(in) :: problem
    real(c_double), intent(in), optional :: lengths(:)
    integer, intent(out), optional :: status
    type(operator_arguments), target :: mine
    integer(c_int) :: code
    call prepare(self, "op%laplacian", problem, lengths, mine, code)
    if (code == weft_success) code = weft_mode_operator_laplacian_c(c_loc(mine%c%problem), mine%given_lengths, self%handle)
    call report(code, status)
  end subroutine

  ! The solution u of (shift - laplacian) u = f, of every field: divided by k^2 + shift. Where that is zero, as for mode 0
  ! without a shift, the mode becomes zero. Poisson's equation -laplacian u = f without one.
  subroutine operator_inverse_helmholtz(self, problem, shift, lengths, status)
    class(weft_mode_operator), intent(inout) :: self
    type(weft_problem), intent(in) :: problem
    real(c_double), intent(in), optional :: shift, lengths(:)
    integer, intent(out), optional :: status
    type(operator_arguments), target :: mine
    real(c_double) :: s
    integer(c_int) :: code
    s = 0
    if (present(shift)) s = shift
    call prepare(self, "op%inverse_helmholtz", problem, lengths, mine, code)
    if (code == weft_success) &
      code = weft_mode_operator_inverse_helmholtz_c(c_loc(mine%c%problem), s, mine%given_lengths, self%handle)
    call report(code, status)
  end subroutine

  ! f(x + distances), of every field: times exp(i k distances), one distance for each dimension, in the unit of `lengths`.
  ! Modes that stand for n/2 and -n/2 alike get the cosine, so that real data stay real.
  subroutine operator_shift(self, problem, distances, lengths, status)
    class(weft_mode_operator), intent(inout) :: self
    type(weft_problem), intent(in) :: problem
    real(c_double), intent(in) :: distances(:)
    real(c_double), intent(in), optional :: lengths(:)
    integer, intent(out), optional :: status
    type(operator_arguments), target :: mine
    real(c_double) :: by_axis(max_axes)
    integer(c_int) :: code
    call prepare(self, "op%shift", problem, lengths, mine, code)
    call need_size(code, "op%shift, distances", size(distances), mine%ndim)
    if (code == weft_success) then
      by_axis = axes_of(distances)
      code = weft_mode_operator_shift_c(c_loc(mine%c%problem), by_axis, mine%given_lengths, self%handle)
    end if
    call report(code, status)
  end subroutine

  ! Times filter%factor of |k|, of every field. The operator has a copy of `filter`. For arrays on the host: with others
  ! plan%apply fails.
  subroutine operator_filter(self, problem, filter, lengths, status)
    class(weft_mode_operator), intent(inout) :: self
    type(weft_problem), intent(in) :: problem
    class(weft_filter), intent(in) :: filter
    real(c_double), intent(in), optional :: lengths(:)
    integer, intent(out), optional :: status
    type(operator_arguments), target :: mine
    type(filter_holder), pointer :: holder
    integer(c_int) :: code
    call prepare(self, "op%filter", problem, lengths, mine, code)
    if (code == weft_success) then
      allocate (holder)
      allocate (holder%filter, source=filter)
      code = weft_mode_operator_filter_c(c_loc(mine%c%problem), c_funloc(factor_from_c), c_loc(holder), mine%given_lengths, &
        self%handle)
      if (code == weft_success) then
        self%holder => holder
      else
        deallocate (holder)
      end if
    end if
    call report(code, status)
  end subroutine

  recursive function factor_from_c(k, user) bind(C) result(factor)
    real(c_double), value :: k
    type(c_ptr), value :: user
    real(c_double) :: factor
    type(filter_holder), pointer :: holder
    call c_f_pointer(user, holder)
    factor = holder%filter%factor(k)
  end function

  ! Times an array of modes, element by element, of every field: a cyclic convolution with the array that the modes are of,
  ! or with problem%points a linear one; `conjugated`: the correlation. `modes` is this rank's array of the modes in
  ! plan%between_box(), contiguous: the output of a plan for the kernel, with the same shape, transforms, kept modes and
  ! modes_nyquist, and weft_own_box(plan%between_box()). It is complex, of the plan's precision, and has to have the
  ! attribute target, or to be a pointer, and to live until the executions with the operator are complete. A rank whose
  ! box is empty may give anything.
  subroutine operator_product(self, plan, modes, conjugated, status)
    class(weft_mode_operator), intent(inout) :: self
    class(plan_handle), intent(in) :: plan
    type(*), dimension(..), intent(in), target :: modes
    logical, intent(in), optional :: conjugated
    integer, intent(out), optional :: status
    integer(c_int) :: code
    call need_new(self, "op%product", code)
    if (code == weft_success) code = weft_fortran_product(plan%handle, modes, number_of(conjugated), self%handle)
    call report(code, status)
  end subroutine

  ! The same by the address of the modes, which is not checked: for memory of C, or of a GPU, where they begin on a multiple
  ! of 16 bytes.
  subroutine operator_product_at(self, plan, modes, conjugated, status)
    class(weft_mode_operator), intent(inout) :: self
    class(plan_handle), intent(in) :: plan
    type(c_ptr), intent(in) :: modes
    logical, intent(in), optional :: conjugated
    integer, intent(out), optional :: status
    integer(c_int) :: code
    call need_new(self, "op%product_at", code)
    if (code == weft_success) &
      code = weft_mode_operator_product_c(plan%handle, modes, number_of(conjugated), self%handle)
    call report(code, status)
  end subroutine

  ! Ends the operator. Local. Not while an execution with it is under way. Freeing one that was never made does nothing.
  subroutine operator_free(self, status)
    class(weft_mode_operator), intent(inout) :: self
    integer, intent(out), optional :: status
    integer(c_int) :: code
    code = weft_mode_operator_free_c(self%handle)
    if (code == weft_success .and. associated(self%holder)) deallocate (self%holder)
    self%holder => null()
    call forget_if_freed(code, self%handle)
    call report(code, status)
  end subroutine

  ! ------------------------------------------------------------------------------------------------------- for all

  subroutine make_on_vectors(self, operation, make, problem, lengths, status)
    class(weft_mode_operator), intent(inout) :: self
    character(*), intent(in) :: operation
    procedure(weft_mode_operator_gradient_c) :: make
    type(weft_problem), intent(in) :: problem
    real(c_double), intent(in), optional :: lengths(:)
    integer, intent(out), optional :: status
    type(operator_arguments), target :: mine
    integer(c_int) :: code
    call prepare(self, operation, problem, lengths, mine, code)
    if (code == weft_success) &
      code = make(c_loc(mine%c%problem), mine%given_lengths, components_by_dimension, self%handle)
    call report(code, status)
  end subroutine

  subroutine need_new(self, operation, code)
    class(weft_mode_operator), intent(in) :: self
    character(*), intent(in) :: operation
    integer(c_int), intent(out) :: code
    code = weft_success
    if (c_associated(self%handle)) code = fail(operation, "an operator that was made already", "a new one, or op%free first")
  end subroutine

  subroutine prepare(self, operation, problem, lengths, mine, code)
    class(weft_mode_operator), intent(in) :: self
    character(*), intent(in) :: operation
    type(weft_problem), intent(in) :: problem
    real(c_double), intent(in), optional :: lengths(:)
    type(operator_arguments), intent(inout), target :: mine
    integer(c_int), intent(out) :: code
    call need_new(self, operation, code)
    if (code == weft_success) code = translate(problem, mine%c)
    if (code /= weft_success) return
    mine%ndim = mine%c%problem%ndim
    if (.not. present(lengths)) return
    call need_size(code, operation//", lengths", size(lengths), mine%ndim)
    if (code /= weft_success) return
    mine%lengths = axes_of(lengths)
    mine%given_lengths = c_loc(mine%lengths)
  end subroutine

  pure integer(c_int) function number_of(flag)
    logical, intent(in), optional :: flag
    number_of = 0
    if (present(flag)) number_of = merge(1, 0, flag)
  end function
end module
