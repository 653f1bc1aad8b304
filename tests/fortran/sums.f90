! Transforms of all kinds, between all kinds of boxes and memory layouts, against direct sums. Arrays are given by
! address here, as memory in which each element is where the layout says; arrays.f90 gives arrays.
module sums
  use, intrinsic :: iso_c_binding
  use support
  implicit none
  private
  public :: test_sums

  ! Memory of one side of a plan, as its elements.
  type :: line
    real(real32), pointer :: r4(:) => null()
    real(real64), pointer :: r8(:) => null()
    complex(real32), pointer :: c4(:) => null()
    complex(real64), pointer :: c8(:) => null()
  contains
    procedure :: get, put
  end type

contains

  function line_of(memory, layout) result(elements)
    type(c_ptr), intent(in) :: memory
    type(weft_layout), intent(in) :: layout
    type(line) :: elements
    integer(int64) :: n(1)
    n = layout%count
    if (layout%is_complex .and. layout%element_bytes == 8) call c_f_pointer(memory, elements%c4, n)
    if (layout%is_complex .and. layout%element_bytes == 16) call c_f_pointer(memory, elements%c8, n)
    if (.not. layout%is_complex .and. layout%element_bytes == 4) call c_f_pointer(memory, elements%r4, n)
    if (.not. layout%is_complex .and. layout%element_bytes == 8) call c_f_pointer(memory, elements%r8, n)
  end function

  function get(self, place) result(z)
    class(line), intent(in) :: self
    integer(int64), intent(in) :: place
    complex(real64) :: z
    z = 0
    if (associated(self%r4)) z = self%r4(place)
    if (associated(self%r8)) z = self%r8(place)
    if (associated(self%c4)) z = self%c4(place)
    if (associated(self%c8)) z = self%c8(place)
  end function

  subroutine put(self, place, z)
    class(line), intent(in) :: self
    integer(int64), intent(in) :: place
    complex(real64), intent(in) :: z
    if (associated(self%r4)) self%r4(place) = real(z, real32)
    if (associated(self%r8)) self%r8(place) = real(z, real64)
    if (associated(self%c4)) self%c4(place) = cmplx(z, kind=real32)
    if (associated(self%c8)) self%c8(place) = z
  end subroutine

  ! Writes a whole array into this rank's box, or compares the box with it: the largest difference.
  subroutine fill(elements, layout, whole, shape, batch)
    type(line), intent(in) :: elements
    type(weft_layout), intent(in) :: layout
    complex(real64), intent(in) :: whole(:, :)
    integer, intent(in) :: shape(:), batch
    integer(int64) :: index(size(shape))
    integer :: item
    if (layout%box%count() == 0) return
    do item = 0, batch - 1
      index = layout%box%lo
      do
        call elements%put(place_of(index, layout, item), whole(position_of(index, shape), item + 1))
        if (.not. next(index, layout%box)) exit
      end do
    end do
  end subroutine

  function difference(elements, layout, whole, shape, batch) result(largest)
    type(line), intent(in) :: elements
    type(weft_layout), intent(in) :: layout
    complex(real64), intent(in) :: whole(:, :)
    integer, intent(in) :: shape(:), batch
    real(real64) :: largest
    integer(int64) :: index(size(shape))
    integer :: item
    largest = 0
    if (layout%box%count() == 0) return
    do item = 0, batch - 1
      index = layout%box%lo
      do
        largest = max(largest, abs(elements%get(place_of(index, layout, item)) - &
          whole(position_of(index, shape), item + 1)))
        if (.not. next(index, layout%box)) exit
      end do
    end do
  end function

  ! Forward of random data, and backward: of random data where there is no r2c, and of the result.
  subroutine check(comm, problem, what, options)
    type(weft_comm), intent(in) :: comm
    type(weft_problem), intent(in) :: problem
    character(*), intent(in) :: what
    type(weft_options), intent(in), optional :: options
    type(weft_plan) :: plan
    type(weft_layout) :: from, to
    type(line) :: in, out
    real(real64), allocatable, target :: memory(:), more(:)
    integer, allocatable :: shape(:), after(:), transforms(:)
    complex(real64), allocatable :: x(:, :), y(:, :)
    integer(int64) :: bytes
    real(real64) :: tolerance, factor
    integer :: batch, b, status, i
    type(c_ptr) :: in_memory, out_memory
    call plan%create(comm, problem, options, status)
    call claim_success(comm, status, what)
    if (status /= weft_success) return
    shape = int(problem%shape)
    if (allocated(problem%transforms)) then
      transforms = problem%transforms
    else
      transforms = [(weft_c2c, i=1, size(shape))]
    end if
    after = shape_after(shape, transforms)
    batch = int(problem%batch)
    from = plan%input_layout()
    to = plan%output_layout()
    bytes = plan%buffer_bytes()
    allocate (memory(max(bytes, from%count*from%element_bytes)/8 + 1), more(to%count*to%element_bytes/8 + 1))
    in_memory = c_loc(memory)
    out_memory = merge_pointer(problem%in_place, in_memory, c_loc(more))
    in = line_of(in_memory, from)
    out = line_of(out_memory, to)

    allocate (x(product(shape), batch), y(product(after), batch))
    do b = 1, batch
      x(:, b) = value_at([(int(i, int64), i=1, size(x, 1))] + 1000*b)
    end do
    if (.not. from%is_complex) x = real(x)
    do b = 1, batch
      y(:, b) = direct_sum(x(:, b), shape, transforms, .false.)
    end do
    tolerance = merge(1d-13, 1d-5, problem%precision == weft_float64)*max(1d0, maxval(abs(y)))
    factor = plan%scale_factor()
    call fill(in, from, x, shape, batch)
    call plan%execute(weft_forward, in_memory, out_memory, status=status)
    call claim_success(comm, status, what//", forward")
    y = y/divisor(problem%forward_scale)
    call claim(comm, difference(out, to, y, after, batch) <= tolerance/divisor(problem%forward_scale), what//", forward")
    call plan%execute(weft_backward, out_memory, in_memory, status=status)
    call claim_success(comm, status, what//", backward")
    call claim(comm, difference(in, from, x*factor/divisor(problem%forward_scale)/divisor(problem%backward_scale), shape, &
      batch) <= tolerance*10, what//", backward of forward")
    if (all(transforms /= weft_r2c)) then
      do b = 1, batch
        y(:, b) = direct_sum(x(:, b), shape, transforms, .true.)/divisor(problem%backward_scale)
      end do
      call fill(out, to, x, shape, batch)
      call plan%execute(weft_backward, out_memory, in_memory, status=status)
      call claim_success(comm, status, what//", backward")
      call claim(comm, difference(in, from, y, shape, batch) <= tolerance, what//", backward")
    end if
    call plan%free()
  contains
    real(real64) function divisor(kind)
      integer, intent(in) :: kind
      divisor = 1
      if (kind == weft_symmetric) divisor = sqrt(factor)
      if (kind == weft_full) divisor = factor
    end function
  end subroutine

  function merge_pointer(first, a, b) result(pointer)
    logical, intent(in) :: first
    type(c_ptr), intent(in) :: a, b
    type(c_ptr) :: pointer
    pointer = b
    if (first) pointer = a
  end function

  subroutine test_sums(comm)
    type(weft_comm), intent(in) :: comm
    call test_transforms(comm)
    call test_distributions(comm)
    call test_layouts(comm)
  end subroutine

  subroutine test_transforms(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    integer, parameter :: cosines(8) = [weft_dct1, weft_dct2, weft_dct3, weft_dct4, weft_dst1, weft_dst2, weft_dst3, &
      weft_dst4]
    integer :: i, precision
    do precision = weft_float64, weft_float32
      problem = weft_problem()
      problem%precision = precision
      problem%shape = [5, 7, 6]
      call check(comm, problem, "c2c")
      problem%transforms = [weft_r2c, weft_c2c, weft_c2c]
      call check(comm, problem, "r2c, even last")
      problem%shape = [9, 4, 5]
      problem%in_place = .true.
      call problem%input%set_r2c_padding()
      call check(comm, problem, "r2c in place")
    end do
    problem = weft_problem()
    problem%shape = [4, 5, 3]
    do i = 1, size(cosines)
      problem%transforms = [weft_c2c, weft_r2c, cosines(i)]
      call check(comm, problem, "c2c, r2c and r2r")
      problem%transforms = [cosines(i), weft_none, cosines(9 - i)]
      problem%element = merge(weft_complex, weft_element_auto, mod(i, 2) == 0)
      call check(comm, problem, "r2r and none")
      problem%element = weft_element_auto
    end do
    problem = weft_problem()
    problem%shape = [11, 3]
    problem%forward_scale = weft_symmetric
    problem%backward_scale = weft_full
    call check(comm, problem, "two dimensions, scaled")
    problem = weft_problem()
    problem%shape = [3, 2, 3, 4]
    call check(comm, problem, "four dimensions")
    if (comm%size() == 1) then
      problem%shape = [13]
      call check(comm, problem, "one dimension")
    end if
  end subroutine

  ! The array cut along the last dimension, the larger parts first, computed here as the library should.
  function slabs(shape, ranks) result(boxes)
    integer, intent(in) :: shape(:), ranks
    type(weft_box), allocatable :: boxes(:)
    integer :: r, d
    d = size(shape)
    allocate (boxes(ranks))
    do r = 1, ranks
      boxes(r)%lo = [(1, r=1, d)]
      boxes(r)%hi = shape
    end do
    do r = 1, ranks
      boxes(r)%lo(d) = 1 + (r - 1)*(shape(d)/ranks) + min(r - 1, mod(shape(d), ranks))
      boxes(r)%hi(d) = boxes(r)%lo(d) - 1 + shape(d)/ranks + merge(1, 0, r <= mod(shape(d), ranks))
    end do
  end function

  subroutine test_distributions(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_box), allocatable :: boxes(:)
    type(weft_plan) :: plan
    type(weft_box) :: box
    integer :: parts(3), d
    problem%shape = [5, 6, 7]
    boxes = slabs([5, 6, 7], comm%size())
    call plan%create(comm, problem)
    box = plan%input_box()
    call claim(comm, all(box%lo == boxes(comm%rank() + 1)%lo) .and. all(box%hi == boxes(comm%rank() + 1)%hi), &
      "slabs cut the last dimension")
    call plan%free()
    do d = 1, 3
      problem%input = weft_slab(d)
      problem%output = weft_pencil(d)
      call check(comm, problem, "slab to pencil")
      call plan%create(comm, problem)
      box = plan%output_box()
      call claim(comm, box%lo(d) == 1 .and. (box%hi(d) == problem%shape(d) .or. box%count() == 0), &
        "pencils hold whole lines")
      box = plan%input_box()
      parts = int(box%extents())
      parts(d) = int(problem%shape(d))
      call claim(comm, all(parts == problem%shape), "slabs are cut along their dimension only")
      call plan%free()
    end do
    problem%input = weft_brick()
    problem%output = weft_fastest()
    call check(comm, problem, "brick to fastest")
    call problem%output%set_order([1, 2, 3])
    call check(comm, problem, "brick to fastest in Fortran's order")
    ! Rank 1 is the neighbour of rank 0 along the first dimension.
    parts = [comm%size(), 1, 1]
    if (comm%size() == 4) parts = [2, 1, 2]
    problem%input = weft_grid(parts)
    problem%output = weft_boxes(boxes)
    call check(comm, problem, "grid to boxes")
    call plan%create(comm, problem)
    box = plan%input_box()
    call claim(comm, (box%lo(1) > 1) .eqv. (mod(comm%rank(), parts(1)) > 0), "ranks run along the first dimension first")
    call plan%free()
    problem%input = weft_own_box(boxes(comm%rank() + 1))
    problem%output = weft_slab(1)
    call check(comm, problem, "own box to slab")
  end subroutine

  subroutine test_layouts(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_options) :: options
    type(weft_layout) :: layout
    type(weft_plan) :: plan
    problem%shape = [4, 5, 6]
    call problem%input%set_order([2, 3, 1])
    call problem%output%set_order([3, 2, 1])
    call check(comm, problem, "orders")
    call plan%create(comm, problem)
    layout = plan%input_layout()
    call claim(comm, all(layout%order == [2, 3, 1]) .and. layout%strides(2) == 1 .and. layout%strides(3) == 5, &
      "order from the fastest to the slowest")
    call plan%free()
    problem%input = weft_slab(3)
    call problem%input%set_strides([2, 11, 60])
    problem%output = weft_slab(2)
    call problem%output%set_halo([1, 0, 2], [0, 3, 1])
    call check(comm, problem, "strides and halo")
    call plan%create(comm, problem)
    layout = plan%output_layout()
    call claim(comm, layout%lo(1) == 0 .and. layout%hi(2) == layout%box%hi(2) + 3 .and. layout%lo(3) == -1, &
      "bounds with halo")
    call plan%free()
    problem = weft_problem()
    problem%shape = [4, 5, 6]
    problem%transforms = [weft_r2c, weft_none, weft_dst1]
    problem%batch = 3
    call check(comm, problem, "batch")
    problem%input_distance = 1
    call problem%input%set_strides([3, 12, 60])
    call options%set("pipeline", "sequential")
    call check(comm, problem, "interleaved batch", options)
    call options%free()
  end subroutine
end module
