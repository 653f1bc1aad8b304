! What is to be computed: distributions and problems, and their translation for the library.
module weft_problems_module
  use weft_c_module
  use weft_status_module
  use weft_axes_module
  implicit none
  private
  public :: weft_distribution, weft_slab, weft_pencil, weft_brick, weft_grid, weft_boxes, weft_own_box, weft_fastest
  public :: weft_columns, weft_sphere
  public :: weft_problem, weft_line_shape, weft_max_dimensions
  public :: weft_none, weft_c2c, weft_r2c, weft_dct1, weft_dct2, weft_dct3, weft_dct4, weft_dst1, weft_dst2, weft_dst3, &
    weft_dst4
  public :: weft_float32, weft_float64, weft_host, weft_cuda, weft_element_auto, weft_real, weft_complex
  public :: weft_nyquist_shared, weft_nyquist_odd, weft_nyquist_single
  public :: weft_between_none, weft_between_modes, weft_between_points
  public :: weft_unscaled, weft_symmetric, weft_full
  public :: c_arguments, translate, need_size

  ! The most dimensions that an array can have.
  integer, parameter :: weft_max_dimensions = max_axes

  ! The transform along one dimension. Forward has exp(-2 pi i jk/n), backward exp(+2 pi i jk/n). The cosine and sine
  ! transforms are FFTW's REDFT00, 10, 01, 11 and RODFT00, 10, 01, 11; docs/fortran.md has the formulas. Nothing is
  ! scaled by itself.
  integer, parameter :: weft_c2c = 0, weft_none = 10
  ! n real points become n/2+1 complex ones; along at most one dimension; backward is c2r.
  integer, parameter :: weft_r2c = 1
  integer, parameter :: weft_dct1 = 2, weft_dct2 = 3, weft_dct3 = 4, weft_dct4 = 5
  integer, parameter :: weft_dst1 = 6, weft_dst2 = 7, weft_dst3 = 8, weft_dst4 = 9
  ! real(real64) and complex(real64), or real(real32) and complex(real32).
  integer, parameter :: weft_float64 = 0, weft_float32 = 1
  ! Memory of the host, or of the GPU that is current in the calling thread while the plan is made.
  integer, parameter :: weft_host = 0, weft_cuda = 1
  ! The elements of the input. auto: real if a dimension is r2c, or if there are DCTs or DSTs and no c2c; else complex.
  integer, parameter :: weft_element_auto = 0, weft_real = 1, weft_complex = 2
  ! What the mode in the middle of an even number of kept modes stands for (weft_problem%modes_nyquist).
  integer, parameter :: weft_nyquist_shared = 0, weft_nyquist_odd = 1, weft_nyquist_single = 2
  ! What an execution passes through (weft_problem%between).
  integer, parameter :: weft_between_none = 0, weft_between_modes = 1, weft_between_points = 2
  ! The factor of a result: 1, 1/sqrt(N) or 1/N, where N is the product of the logical lengths of the dimensions.
  integer, parameter :: weft_unscaled = 0, weft_symmetric = 1, weft_full = 2

  ! Which rank holds which part of an array, and how it lies in memory. By default slabs along the last dimension, in
  ! Fortran's order. The functions below make one; its procedures say how this rank's array lies in memory, which may
  ! differ from rank to rank. Nothing is checked before a plan is made.
  type :: weft_distribution
    private
    integer :: cut = cut_slab
    integer :: dimension = 0  ! of slabs and pencils; 0: the last one
    integer, allocatable :: parts(:)
    type(weft_box), allocatable :: boxes(:)
    integer, allocatable :: order(:)
    integer(c_int64_t), allocatable :: strides(:)
    logical :: strides_of_array = .false.  ! along the dimensions of an array, which stand in memory order
    integer(c_int64_t), allocatable :: halo_lower(:), halo_upper(:)
    logical :: r2c_padding = .false.
    integer(c_int64_t), allocatable :: first(:, :), counts(:)  ! of columns
    real(c_double) :: radius = 0
  contains
    procedure :: set_order => distribution_set_order
    procedure, private :: set_strides_default, set_strides_int64
    generic :: set_strides => set_strides_default, set_strides_int64
    procedure :: set_strides_of => distribution_set_strides_of
    procedure, private :: set_halo_default, set_halo_int64
    generic :: set_halo => set_halo_default, set_halo_int64
    procedure :: set_r2c_padding => distribution_set_r2c_padding
  end type

  ! What is computed. All ranks give the same values, except for their own box, memory orders, strides, halos and
  ! distances.
  type :: weft_problem
    ! Global lengths of 1 to 8 dimensions (7 with a batch); for r2c those of the real array. Several ranks need 2.
    integer(c_int64_t), allocatable :: shape(:)
    ! One per dimension; not allocated: c2c along all.
    integer, allocatable :: transforms(:)
    integer :: precision = weft_float64
    integer :: memory = weft_host
    integer :: element = weft_element_auto
    ! The array before forward, and after it.
    type(weft_distribution) :: input, output
    ! Whether input and output are one array.
    logical :: in_place = .false.
    ! Number of arrays that are transformed together: one more, last, dimension of the arrays.
    integer(c_int64_t) :: batch = 1
    ! Elements from one array of the batch to the next on this rank; 0: one follows the other.
    integer(c_int64_t) :: input_distance = 0, output_distance = 0
    integer :: forward_scale = weft_unscaled, backward_scale = weft_unscaled
    ! Two different dimensions [a, b] that are one line of n = shape(a)*shape(b) points: its one-dimensional transform.
    ! Counted from 0, before forward point j has the indices j/shape(b) along a and mod(j, shape(b)) along b; after it mode
    ! k has mod(k, shape(a)) along a and k/shape(a) along b. With [2, 1] the input is the line in Fortran's order. Both are
    ! c2c, or, of a real line, one is r2c: b for the modes 0 to n/2, with some behind them that fill the rows; a for those
    ! of which k or n-k has a remainder mod(k, shape(a)) of at most shape(a)/2. Zeros: none.
    integer :: line(2) = 0
    ! The length of the output along each dimension, where not all modes are kept: those of the lowest frequencies. Forward
    ! leaves the others out, backward takes them as zero. Of a c2c dimension the m kept modes are 0 to (m+1)/2-1, then
    ! -(m/2) to -1; of r2c and of DCTs and DSTs they are the first m. Scale factors are those of shape. For arrays on the
    ! host. 0, or not allocated: all.
    integer(c_int64_t), allocatable :: modes(:)
    ! The length of the input along each dimension, if it is shorter than shape, which then has the lengths of the
    ! transforms: forward takes the points behind as zero, backward leaves them out. 0, or not allocated: all.
    integer(c_int64_t), allocatable :: points(:)
    ! What the mode m/2 of an even number m of kept modes stands for: m/2 periods and -m/2 alike, and m modes of r2c count
    ! as those of 2(m-1) points (weft_nyquist_shared), or as those of 2m-1 (weft_nyquist_odd); or -m/2 alone
    ! (weft_nyquist_single).
    integer :: modes_nyquist = weft_nyquist_shared
    ! What an execution passes through: weft_between_none: it is a transform; weft_between_modes: from points to modes,
    ! where an operator may change them (plan%apply), and back to points; weft_between_points: from modes to points and
    ! back. Input and output are then both points or both modes. Not with a line.
    integer :: between = weft_between_none
    ! With between, the number of arrays after the operator, if it is not that of batch before it. 0: as many.
    integer(c_int64_t) :: results = 0
  end type

  ! A problem as C takes it, with what it points to.
  type :: c_arguments
    type(c_problem) :: problem
    type(c_distribution) :: distributions(0:1)
    type(c_box), allocatable :: boxes(:)
    type(c_mode_column), allocatable :: columns(:)  ! of both sides
    type(plan_facts) :: facts
  end type

  interface weft_boxes
    procedure distribution_boxes
  end interface
  interface weft_columns
    procedure columns_default, columns_int64
  end interface
  interface weft_line_shape
    procedure line_shape_default, line_shape_int64
  end interface
  interface weft_sphere
    procedure distribution_sphere, sphere_real32, sphere_default
  end interface

contains

  ! Slabs: cut along `dimension` only; 0, as by default: along the last one.
  function weft_slab(dimension) result(distribution)
    integer, intent(in), optional :: dimension
    type(weft_distribution) :: distribution
    distribution%cut = cut_slab
    if (present(dimension)) distribution%dimension = dimension
  end function

  ! Pencils: whole lines along `dimension`, cut along the last two other ones, as near to square as possible.
  function weft_pencil(dimension) result(distribution)
    integer, intent(in) :: dimension
    type(weft_distribution) :: distribution
    distribution%cut = cut_pencil
    distribution%dimension = dimension
  end function

  ! Bricks: cut along the last three dimensions (or both of two), with the smallest surface per rank.
  function weft_brick() result(distribution)
    type(weft_distribution) :: distribution
    distribution%cut = cut_brick
  end function

  ! Cut into parts(i) parts along dimension i. Rank numbers run through the grid with the first dimension fastest. The
  ! parts multiply to at most the number of ranks.
  function weft_grid(parts) result(distribution)
    integer, intent(in) :: parts(:)
    type(weft_distribution) :: distribution
    distribution%cut = cut_grid
    allocate (distribution%parts, source=parts)
  end function

  ! One box per rank, in rank order; the same list on every rank. They tile the array; they may be empty.
  function distribution_boxes(boxes) result(distribution)
    type(weft_box), intent(in) :: boxes(:)
    type(weft_distribution) :: distribution
    distribution%cut = cut_boxes
    allocate (distribution%boxes, source=boxes)
  end function

  ! The box of the calling rank alone. Planning gathers those of all ranks, which tile the array.
  function weft_own_box(box) result(distribution)
    type(weft_box), intent(in) :: box
    type(weft_distribution) :: distribution
    distribution%cut = cut_box
    allocate (distribution%boxes, source=[box])
  end function

  ! Boxes and memory order that make the transform fastest, chosen by the plan, whose layouts tell. With set_order the
  ! plan chooses only the boxes.
  function weft_fastest() result(distribution)
    type(weft_distribution) :: distribution
    distribution%cut = cut_fastest
  end function

  ! Of modes: those of the calling rank column by column, and no others than those of all ranks together (plane-wave
  ! codes). Column i has count(i) modes along the last dimension, from the mode with the numbers first(:, i), one per
  ! dimension, on. Numbers are periods, from -n/2 to n-1; -3 and n-3 are the same mode. Along an r2c dimension, the first
  ! one, they are from 0 to n/2. The rank's array has one dimension: its columns one after the other. Columns may be on
  ! any rank; no two have the same numbers along all dimensions but the last. As the output, or with
  ! weft_between_points as both sides; c2c along every dimension, or r2c along the first; out of place.
  function columns_int64(first, count) result(distribution)
    integer(c_int64_t), intent(in) :: first(:, :), count(:)
    type(weft_distribution) :: distribution
    distribution%cut = cut_columns
    allocate (distribution%first, source=first)
    allocate (distribution%counts, source=count)
  end function
  function columns_default(first, count) result(distribution)
    integer, intent(in) :: first(:, :), count(:)
    type(weft_distribution) :: distribution
    distribution = columns_int64(int(first, c_int64_t), int(count, c_int64_t))
  end function

  ! The same with all modes of at most `radius` periods over all dimensions, by columns that are shared out so that ranks
  ! have about as many modes each. plan%columns tells which are this rank's.
  function distribution_sphere(radius) result(distribution)
    real(c_double), intent(in) :: radius
    type(weft_distribution) :: distribution
    distribution%cut = cut_sphere
    distribution%radius = radius
  end function
  function sphere_real32(radius) result(distribution)
    real(c_float), intent(in) :: radius
    type(weft_distribution) :: distribution
    distribution = distribution_sphere(real(radius, c_double))
  end function
  function sphere_default(radius) result(distribution)
    integer, intent(in) :: radius
    type(weft_distribution) :: distribution
    distribution = distribution_sphere(real(radius, c_double))
  end function

  ! Memory order: the dimensions of the problem from the fastest to the slowest varying. [1, 2, 3] is Fortran's, and the
  ! default. An array's own dimensions always stand in memory order: with [2, 1, 3] it is
  ! allocate (a(lo(2):hi(2), lo(1):hi(1), lo(3):hi(3))).
  subroutine distribution_set_order(self, order)
    class(weft_distribution), intent(inout) :: self
    integer, intent(in) :: order(:)
    self%order = order
  end subroutine

  ! Strides of the calling rank's array in elements, one per dimension of the problem. The array given to an execution
  ! begins with the first element of the box. Strides are positive; sorted by size, each steps over all that the smaller
  ! ones reach. Elements between those of the box are never touched.
  subroutine set_strides_int64(self, strides)
    class(weft_distribution), intent(inout) :: self
    integer(c_int64_t), intent(in) :: strides(:)
    self%strides = strides
    self%strides_of_array = .false.
  end subroutine
  subroutine set_strides_default(self, strides)
    class(weft_distribution), intent(inout) :: self
    integer, intent(in) :: strides(:)
    call self%set_strides(int(strides, c_int64_t))
  end subroutine

  ! The strides of an array or section that executions will be given: set_strides_of(a(1:n:2, :, :)). With a batch as its
  ! last dimension also the distance. Its elements are not looked at.
  subroutine distribution_set_strides_of(self, array, status)
    class(weft_distribution), intent(inout) :: self
    type(*), dimension(..), intent(in) :: array
    integer, intent(out), optional :: status
    integer(c_int64_t) :: strides(max_axes)
    integer(c_int) :: rank, code
    code = weft_fortran_strides(array, rank, strides)
    if (code == weft_success) then
      self%strides = strides(:rank)
      self%strides_of_array = .true.
    end if
    call report(code, status)
  end subroutine

  ! Halo cells or padding: lower(i) points before and upper(i) after the calling rank's box along dimension i. The array
  ! with its halo is dense, and is given to executions as a whole. Out of place, halos are never touched.
  subroutine set_halo_int64(self, lower, upper)
    class(weft_distribution), intent(inout) :: self
    integer(c_int64_t), intent(in) :: lower(:), upper(:)
    self%halo_lower = lower
    self%halo_upper = upper
  end subroutine
  subroutine set_halo_default(self, lower, upper)
    class(weft_distribution), intent(inout) :: self
    integer, intent(in) :: lower(:), upper(:)
    call self%set_halo(int(lower, c_int64_t), int(upper, c_int64_t))
  end subroutine

  ! FFTW's in-place layout of real data: each line along the r2c dimension, which is the fastest one, has room for
  ! 2(n/2+1) real numbers. Only for the input of r2c.
  subroutine distribution_set_r2c_padding(self)
    class(weft_distribution), intent(inout) :: self
    self%r2c_padding = .true.
  end subroutine

  ! Two lengths whose product is n, as nearly equal as they can be: the shape of a line, weft_problem%line = [2, 1]. A
  ! prime is a failure, for which both are 0.
  function line_shape_int64(n, status) result(shape)
    integer(c_int64_t), intent(in) :: n
    integer, intent(out), optional :: status
    integer(c_int64_t) :: shape(2)
    integer(c_int64_t) :: of_axes(2)
    of_axes = 0
    call report(weft_line_shape_c(n, of_axes), status)
    shape = of_axes(2:1:-1)
  end function
  function line_shape_default(n, status) result(shape)
    integer, intent(in) :: n
    integer, intent(out), optional :: status
    integer(c_int64_t) :: shape(2)
    shape = line_shape_int64(int(n, c_int64_t), status)
  end function

  ! ------------------------------------------------------------------------------------------------- translation

  ! The problem for C, in `c`, which must be a target that lives until the plan is made. What C cannot find wrong,
  ! because it counts from 0 and takes zeros for defaults, is found here.
  function translate(problem, c) result(code)
    type(weft_problem), intent(in) :: problem
    type(c_arguments), intent(inout), target :: c
    integer(c_int) :: code
    integer :: ndim, inputs, outputs
    code = weft_success
    ndim = 0
    if (allocated(problem%shape)) ndim = size(problem%shape)
    if (ndim < 1 .or. ndim > max_axes) then
      code = fail("problem", "a shape of "//trim(digits(ndim))//" dimensions", "1 to "//trim(digits(max_axes)))
      return
    end if
    c%problem%size = c_sizeof(c%problem)
    c%problem%ndim = ndim
    c%problem%shape = axes_of(problem%shape)
    if (allocated(problem%transforms)) then
      call need_size(code, "problem%transforms", size(problem%transforms), ndim)
      if (code /= weft_success) return
      c%problem%transforms = axes_of(problem%transforms)
    end if
    c%problem%precision = problem%precision
    c%problem%memory = problem%memory
    c%problem%element = problem%element
    c%problem%in_place = merge(1, 0, problem%in_place)
    if (problem%batch < 1) then
      code = fail("problem%batch", trim(digits(problem%batch)), "at least 1")
      return
    end if
    c%problem%batch = problem%batch
    c%problem%input_distance = problem%input_distance
    c%problem%output_distance = problem%output_distance
    c%problem%forward_scale = problem%forward_scale
    c%problem%backward_scale = problem%backward_scale
    c%problem%modes_nyquist = problem%modes_nyquist
    c%problem%between = problem%between
    c%problem%results = problem%results
    if (allocated(problem%modes)) then
      call need_size(code, "problem%modes", size(problem%modes), ndim)
      if (code /= weft_success) return
      c%problem%modes = axes_of(problem%modes)
    end if
    if (allocated(problem%points)) then
      call need_size(code, "problem%points", size(problem%points), ndim)
      if (code /= weft_success) return
      c%problem%points = axes_of(problem%points)
    end if
    if (any(problem%line /= 0)) then
      if (problem%line(1) == problem%line(2)) then
        code = fail("problem%line", "the same dimension twice", "two different dimensions")
        return
      end if
      c%problem%line = [axis_of(problem%line(1), ndim), axis_of(problem%line(2), ndim)]
    end if
    inputs = box_count_of(problem%input)
    outputs = box_count_of(problem%output)
    allocate (c%boxes(inputs + outputs))
    allocate (c%columns(column_count_of(problem%input) + column_count_of(problem%output)))
    call translate_columns(problem%input, "problem%input", ndim, c%distributions(0), &
      c%columns(:column_count_of(problem%input)), code)
    call translate_columns(problem%output, "problem%output", ndim, c%distributions(1), &
      c%columns(column_count_of(problem%input) + 1:), code)
    if (code /= weft_success) return
    call translate_distribution(problem%input, "problem%input", ndim, c%distributions(0), c%boxes(:inputs), &
      c%problem%input_distance, code)
    if (code /= weft_success) return
    call translate_distribution(problem%output, "problem%output", ndim, c%distributions(1), c%boxes(inputs + 1:), &
      c%problem%output_distance, code)
    if (code /= weft_success) return
    if (inputs > 0) c%distributions(0)%boxes = c_loc(c%boxes(1))
    if (outputs > 0) c%distributions(1)%boxes = c_loc(c%boxes(inputs + 1))
    c%problem%input = c_loc(c%distributions(0))
    c%problem%output = c_loc(c%distributions(1))
    c%facts%in_place = c%problem%in_place
    c%facts%on_gpu = merge(1, 0, problem%memory == weft_cuda)
    c%facts%batch = problem%batch
    if (problem%results > 0) c%facts%batch(1) = problem%results
    c%facts%lower(:, 0) = c%distributions(0)%halo_lower
    c%facts%upper(:, 0) = c%distributions(0)%halo_upper
    c%facts%lower(:, 1) = c%distributions(1)%halo_lower
    c%facts%upper(:, 1) = c%distributions(1)%halo_upper
    if (problem%input%r2c_padding) c%facts%padded_axis = findloc(c%problem%transforms(:ndim), weft_r2c, dim=1) - 1
  end function

  pure function column_count_of(distribution) result(count)
    type(weft_distribution), intent(in) :: distribution
    integer :: count
    count = 0
    if (allocated(distribution%counts)) count = size(distribution%counts)
  end function

  subroutine translate_columns(from, name, ndim, c, columns, code)
    type(weft_distribution), intent(in) :: from
    character(*), intent(in) :: name
    integer, intent(in) :: ndim
    type(c_distribution), intent(inout) :: c
    type(c_mode_column), intent(inout), target :: columns(:)
    integer(c_int), intent(inout) :: code
    integer :: i
    c%radius = from%radius
    if (code /= weft_success .or. .not. allocated(from%first)) return
    if (size(from%first, 2) /= size(columns)) then
      code = fail(name//", columns", trim(digits(size(columns)))//" counts", trim(digits(size(from%first, 2)))// &
        ", one per column")
      return
    end if
    if (size(columns) > 0) call need_size(code, name//", numbers of a column", size(from%first, 1), ndim)
    if (code /= weft_success) return
    do i = 1, size(columns)
      columns(i)%first = axes_of(from%first(:, i))
      columns(i)%count = from%counts(i)
    end do
    c%column_count = size(columns)
    if (size(columns) > 0) c%columns = c_loc(columns(1))
  end subroutine

  pure function box_count_of(distribution) result(count)
    type(weft_distribution), intent(in) :: distribution
    integer :: count
    count = 0
    if (allocated(distribution%boxes)) count = size(distribution%boxes)
  end function

  subroutine translate_distribution(from, name, ndim, c, boxes, distance, code)
    type(weft_distribution), intent(in) :: from
    character(*), intent(in) :: name
    integer, intent(in) :: ndim
    type(c_distribution), intent(inout) :: c
    type(c_box), intent(inout) :: boxes(:)
    integer(c_int64_t), intent(inout) :: distance
    integer(c_int), intent(inout) :: code
    integer :: dimension, i
    c%size = c_sizeof(c)
    c%cut = from%cut
    if (from%cut == cut_slab .or. from%cut == cut_pencil) then
      dimension = from%dimension
      if (dimension == 0 .and. from%cut == cut_slab) dimension = ndim
      if (dimension < 1 .or. dimension > ndim) then
        code = fail(name, "dimension "//trim(digits(dimension)), "1 to "//trim(digits(ndim)))
        return
      end if
      c%axis = axis_of(dimension, ndim)
    end if
    if (allocated(from%parts)) then
      call need_size(code, name//", parts of the grid", size(from%parts), ndim)
      if (code == weft_success) c%parts = axes_of(from%parts)
    end if
    do i = 1, size(boxes)
      boxes(i) = box_to_c(from%boxes(i))
      if (boxes(i)%ndim == ndim) cycle
      code = fail(name//", box "//trim(digits(i)), "bounds lo and hi of other sizes", trim(digits(ndim))//" lower and upper bounds")
      return
    end do
    c%box_count = size(boxes)
    if (allocated(from%order)) then
      call need_order(code, name, from%order, ndim)
      if (code == weft_success) c%order = order_to_axes(from%order)
    end if
    if (allocated(from%strides)) call translate_strides(from, name, ndim, c, distance, code)
    if (allocated(from%halo_lower)) then
      call need_size(code, name//", lower halo", size(from%halo_lower), ndim)
      call need_size(code, name//", upper halo", size(from%halo_upper), ndim)
      if (code == weft_success) then
        c%halo_lower = axes_of(from%halo_lower)
        c%halo_upper = axes_of(from%halo_upper)
      end if
    end if
    c%r2c_padding = merge(1, 0, from%r2c_padding)
  end subroutine

  subroutine translate_strides(from, name, ndim, c, distance, code)
    type(weft_distribution), intent(in) :: from
    character(*), intent(in) :: name
    integer, intent(in) :: ndim
    type(c_distribution), intent(inout) :: c
    integer(c_int64_t), intent(inout) :: distance
    integer(c_int), intent(inout) :: code
    integer(c_int64_t) :: strides(ndim)
    integer :: given
    given = size(from%strides)
    if (from%strides_of_array .and. given == ndim + 1) then
      if (distance == 0) distance = from%strides(given)
      given = ndim
    end if
    call need_size(code, name//", strides", given, ndim)
    if (code /= weft_success) return
    strides = from%strides(:ndim)
    if (from%strides_of_array .and. allocated(from%order)) then
      strides(from%order) = from%strides(:ndim)
      c%order = 0  ! the strides tell it
    end if
    if (all(strides == 0)) then
      code = fail(name//", strides", "zeros", "positive numbers of elements")
      return
    end if
    c%strides = axes_of(strides)
  end subroutine

  subroutine need_size(code, what, given, ndim)
    integer(c_int), intent(inout) :: code
    character(*), intent(in) :: what
    integer, intent(in) :: given, ndim
    if (code == weft_success .and. given /= ndim) code = fail(what, trim(digits(given))//" values", trim(digits(ndim))// &
      ", one per dimension")
  end subroutine

  subroutine need_order(code, name, order, ndim)
    integer(c_int), intent(inout) :: code
    character(*), intent(in) :: name
    integer, intent(in) :: order(:), ndim
    character(:), allocatable :: given
    integer :: i
    if (code /= weft_success) return
    if (size(order) == ndim) then
      if (all([(any(order == i), i=1, ndim)])) return
    end if
    given = "["
    do i = 1, size(order)
      if (i > 1) given = given//", "
      given = given//trim(digits(order(i)))
    end do
    code = fail(name//", order", given//"]", "the dimensions 1 to "//trim(digits(ndim))//", from the fastest in memory on")
  end subroutine
end module
