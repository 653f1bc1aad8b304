! What the tests of the Fortran module share: ranks of either kind, claims, and a direct sum to compare with.
module support
  use, intrinsic :: iso_fortran_env, only: real32, real64, int64, error_unit
  use weft
  implicit none
  public

  real(real64), parameter :: pi = 3.14159265358979323846264338327950288_real64
  ! What did not hold, per rank; ranks may be threads, and each writes its own.
  integer :: failures(0:31) = 0, claims(0:31) = 0

contains

  ! Counts a claim; prints `what` if it does not hold.
  subroutine claim(comm, holds, what)
    type(weft_comm), intent(in) :: comm
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    integer :: rank
    rank = comm%rank()
    claims(rank) = claims(rank) + 1
    if (holds) return
    failures(rank) = failures(rank) + 1
    write (error_unit, '(a,i0,2a)') "rank ", rank, ": ", what
  end subroutine

  subroutine claim_success(comm, status, what)
    type(weft_comm), intent(in) :: comm
    integer, intent(in) :: status
    character(*), intent(in) :: what
    if (status == weft_success) then
      call claim(comm, .true., what)
    else
      call claim(comm, .false., what//": "//weft_message())
    end if
  end subroutine

  ! A failure whose message has all of the given words, separated by "|".
  subroutine claim_failure(comm, status, words, what)
    type(weft_comm), intent(in) :: comm
    integer, intent(in) :: status
    character(*), intent(in) :: words, what
    integer :: from, bar
    logical :: all_there
    all_there = status /= weft_success
    from = 1
    do while (from <= len(words))
      bar = index(words(from:)//"|", "|")
      all_there = all_there .and. index(weft_message(), words(from:from + bar - 2)) > 0
      from = from + bar
    end do
    call claim(comm, all_there, what//": status "//trim(weft_status_name(status))//", """//weft_message()//""", wanted "//words)
  end subroutine

  ! A value between -1 and 1 at a point of a global array; real arrays have its real part.
  elemental function value_at(position) result(value)
    integer(int64), intent(in) :: position
    complex(real64) :: value
    value = cmplx(fraction_of(position, 12.9898_real64), fraction_of(position, 78.233_real64), real64)
  end function

  elemental function fraction_of(position, factor) result(value)
    integer(int64), intent(in) :: position
    real(real64), intent(in) :: factor
    real(real64) :: value
    value = sin(factor*real(position, real64))*43758.5453_real64
    value = 2*(value - floor(value)) - 1
  end function

  ! The matrix of a transform along a dimension of n points: result k, from 1, of point j.
  function matrix(transform, n, backward) result(m)
    integer, intent(in) :: transform, n
    logical, intent(in) :: backward
    complex(real64), allocatable :: m(:, :)
    integer :: j, k, kind
    real(real64) :: x, y
    kind = transform
    if (backward .and. transform == weft_dct2) kind = weft_dct3
    if (backward .and. transform == weft_dct3) kind = weft_dct2
    if (backward .and. transform == weft_dst2) kind = weft_dst3
    if (backward .and. transform == weft_dst3) kind = weft_dst2
    allocate (m(merge(n/2 + 1, n, transform == weft_r2c), n))
    do j = 0, n - 1
      do k = 0, size(m, 1) - 1
        x = j
        y = k
        select case (kind)
        case (weft_none)
          m(k + 1, j + 1) = merge(1, 0, j == k)
        case (weft_c2c, weft_r2c)
          m(k + 1, j + 1) = exp(cmplx(0, merge(2, -2, backward)*pi*real(mod(j*k, n), real64)/n, real64))
        case (weft_dct1)
          m(k + 1, j + 1) = merge(1, 2, j == 0 .or. j == n - 1)*cos(pi*x*y/(n - 1))
        case (weft_dct2)
          m(k + 1, j + 1) = 2*cos(pi*(x + 0.5_real64)*y/n)
        case (weft_dct3)
          m(k + 1, j + 1) = merge(1, 2, j == 0)*cos(pi*x*(y + 0.5_real64)/n)
        case (weft_dct4)
          m(k + 1, j + 1) = 2*cos(pi*(x + 0.5_real64)*(y + 0.5_real64)/n)
        case (weft_dst1)
          m(k + 1, j + 1) = 2*sin(pi*(x + 1)*(y + 1)/(n + 1))
        case (weft_dst2)
          m(k + 1, j + 1) = 2*sin(pi*(x + 0.5_real64)*(y + 1)/n)
        case (weft_dst3)
          m(k + 1, j + 1) = merge(1, 2, j == n - 1)*sin(pi*(x + 1)*(y + 0.5_real64)/n)
        case (weft_dst4)
          m(k + 1, j + 1) = 2*sin(pi*(x + 0.5_real64)*(y + 0.5_real64)/n)
        end select
      end do
    end do
  end function

  ! The transform of a whole array of this shape by direct sums, all of it in Fortran's order.
  function direct_sum(x, shape, transforms, backward) result(y)
    complex(real64), intent(in) :: x(:)
    integer, intent(in) :: shape(:), transforms(:)
    logical, intent(in) :: backward
    complex(real64), allocatable :: y(:), from(:, :, :), to(:, :, :), m(:, :)
    integer :: lengths(size(shape)), d, inner, outer, o
    lengths = shape
    y = x
    do d = 1, size(shape)
      m = matrix(transforms(d), shape(d), backward)
      inner = product(lengths(:d - 1))
      outer = product(lengths(d + 1:))
      from = reshape(y, [inner, lengths(d), outer])
      lengths(d) = size(m, 1)
      allocate (to(inner, lengths(d), outer))
      do o = 1, outer
        to(:, :, o) = matmul(from(:, :, o), transpose(m))
      end do
      y = reshape(to, [size(to)])
      deallocate (to)
    end do
  end function

  ! The shape after forward.
  function shape_after(shape, transforms) result(after)
    integer, intent(in) :: shape(:), transforms(:)
    integer :: after(size(shape))
    after = merge(shape/2 + 1, shape, transforms == weft_r2c)
  end function

  ! The next index of a box, the first dimension fastest; false behind the last.
  function next(index, box) result(more)
    integer(int64), intent(inout) :: index(:)
    type(weft_box), intent(in) :: box
    logical :: more
    integer :: d
    more = .true.
    do d = 1, size(index)
      index(d) = index(d) + 1
      if (index(d) <= box%hi(d)) return
      index(d) = box%lo(d)
    end do
    more = .false.
  end function

  ! Position of a point in a whole array in Fortran's order, from 1.
  pure function position_of(index, shape) result(position)
    integer(int64), intent(in) :: index(:)
    integer, intent(in) :: shape(:)
    integer(int64) :: position
    integer :: d
    position = 0
    do d = size(index), 1, -1
      position = position*shape(d) + index(d) - 1
    end do
    position = position + 1
  end function

  ! The same in memory of a layout, for item `item` of a batch, from 0.
  pure function place_of(index, layout, item) result(place)
    integer(int64), intent(in) :: index(:)
    type(weft_layout), intent(in) :: layout
    integer, intent(in) :: item
    integer(int64) :: place
    place = 1 + layout%offset + sum((index - layout%box%lo)*layout%strides) + item*layout%distance
  end function
end module
