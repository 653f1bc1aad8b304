! Arrays as a program has them: of any rank, with any lower bounds, sections, real and complex, all transformed where
! they lie. The reference is a direct sum, or a plan that sums.f90 has checked.
module arrays
  use, intrinsic :: iso_c_binding
  use support
  implicit none
  private
  public :: test_arrays

contains

  subroutine test_arrays(comm)
    type(weft_comm), intent(in) :: comm
    call test_natural(comm)
    call test_float(comm)
    call test_sections(comm)
    call test_order(comm)
    call test_halo(comm)
    call test_batch(comm)
    call test_in_place(comm)
    call test_old_style(comm)
    call test_start(comm)
    call test_workspace(comm)
  end subroutine

  ! A wave of unit amplitude on a grid of these lengths: its c2c spectrum is a peak at `wave`, from 0.
  elemental function wave_at(i, j, k, n1, n2, n3) result(value)
    integer(int64), intent(in) :: i, j, k
    integer, intent(in) :: n1, n2, n3
    complex(real64) :: value
    value = exp(cmplx(0, 2*pi*(1*real(i - 1, real64)/n1 + 2*real(j - 1, real64)/n2 + 3*real(k - 1, real64)/n3), real64))
  end function

  ! The largest difference of a spectrum, in a box, from the peak at index (2, 3, 4).
  function from_peak(b, lo, peak) result(largest)
    complex(real64), intent(in) :: b(:, :, :)
    integer(int64), intent(in) :: lo(3)
    real(real64), intent(in) :: peak
    real(real64) :: largest
    integer(int64) :: i, j, k
    largest = 0
    do k = 1, size(b, 3)
      do j = 1, size(b, 2)
        do i = 1, size(b, 1)
          largest = max(largest, abs(b(i, j, k) - merge(peak, 0d0, all([i, j, k] + lo - 1 == [2, 3, 4]))))
        end do
      end do
    end do
  end function

  subroutine fill(a, lo, n)
    complex(real64), intent(out) :: a(:, :, :)
    integer(int64), intent(in) :: lo(3)
    integer, intent(in) :: n(3)
    integer(int64) :: i, j, k
    do k = 1, size(a, 3)
      do j = 1, size(a, 2)
        do i = 1, size(a, 1)
          a(i, j, k) = wave_at(i + lo(1) - 1, j + lo(2) - 1, k + lo(3) - 1, n(1), n(2), n(3))
        end do
      end do
    end do
  end subroutine

  ! r2c along the first dimension, with the bounds that the boxes give.
  subroutine test_natural(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: x, k
    real(real64), allocatable :: a(:, :, :), kept(:, :, :)
    complex(real64), allocatable :: b(:, :, :)
    integer, parameter :: n(3) = [5, 6, 7]
    integer(int64) :: i, j, l
    integer :: status
    real(real64) :: largest
    problem%shape = n
    problem%transforms = [weft_r2c, weft_c2c, weft_c2c]
    problem%output = weft_slab(2)
    call plan%create(comm, problem)
    x = plan%input_box()
    k = plan%output_box()
    allocate (a(x%lo(1):x%hi(1), x%lo(2):x%hi(2), x%lo(3):x%hi(3)))
    allocate (b(k%lo(1):k%hi(1), k%lo(2):k%hi(2), k%lo(3):k%hi(3)))
    call claim(comm, k%hi(1) == n(1)/2 + 1, "n/2+1 points along the first dimension")
    do l = x%lo(3), x%hi(3)
      do j = x%lo(2), x%hi(2)
        do i = x%lo(1), x%hi(1)
          a(i, j, l) = real(wave_at(i, j, l, n(1), n(2), n(3)))
        end do
      end do
    end do
    kept = a
    call plan%forward(a, b, status=status)
    call claim_success(comm, status, "r2c")
    call claim(comm, all(a == kept), "the input is left as it was")
    largest = 0
    do l = k%lo(3), k%hi(3)
      do j = k%lo(2), k%hi(2)
        do i = k%lo(1), k%hi(1)
          largest = max(largest, abs(b(i, j, l) - merge(0.5d0*product(n), 0d0, all([i, j, l] == [2, 3, 4]))))
        end do
      end do
    end do
    call claim(comm, largest < 1d-11, "the spectrum of a real wave")
    a = 0
    call plan%backward(b, a, status=status)
    call claim_success(comm, status, "c2r")
    call claim(comm, all(abs(a/plan%scale_factor() - kept) < 1d-13), "c2r of r2c")
    call plan%free()
  end subroutine

  subroutine test_float(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    real(real32), pointer :: a(:, :)
    complex(real32), pointer :: b(:, :), line(:)
    type(weft_layout) :: layout
    integer :: status
    problem%shape = [6, 5]
    problem%transforms = [weft_r2c, weft_c2c]
    problem%precision = weft_float32
    problem%forward_scale = weft_full
    call plan%create(comm, problem)
    call plan%allocate(weft_input, a)
    call plan%allocate(weft_output, b)
    layout = plan%input_layout()
    call claim(comm, all(lbound(a) == layout%lo .or. size(a) == 0) .and. all(shape(a) == layout%box%extents()), &
      "bounds of an allocated array")
    call claim(comm, mod(address(a), 64_int64) == 0 .and. all(a == 0), "aligned and zeroed")
    a = 2
    call plan%forward(a, b, status=status)
    call claim_success(comm, status, "float")
    if (comm%rank() == 0) b(1, 1) = b(1, 1) - 2
    call claim(comm, all(abs(b) < 1e-6), "the mean of a constant, in float")
    call plan%allocate(weft_output, line)
    call plan%forward(a, line, status=status)
    call claim_success(comm, status, "into a line")
    layout = plan%output_layout()
    call claim(comm, size(line) == layout%count, "a line has all elements")
    call weft_deallocate(line)
    call weft_deallocate(a)
    call weft_deallocate(b)
    call claim(comm, .not. associated(a), "a pointer that was deallocated")
    call plan%free()
  contains
    integer(int64) function address(array)
      real(real32), pointer, intent(in) :: array(:, :)
      address = transfer(c_loc(array), address)
    end function
  end subroutine

  ! Sections that are not contiguous, executed in place: what lies between their elements keeps its values.
  subroutine test_sections(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan, ask
    type(weft_box) :: x, k
    integer, parameter :: n(3) = [5, 6, 7]
    complex(real64), allocatable, target :: large(:, :, :), b(:, :, :), wide(:, :, :)
    integer(int64) :: e(3), f(3)
    integer :: status
    problem%shape = n
    call ask%create(comm, problem)
    x = ask%input_box()
    k = ask%output_box()
    call ask%free()
    e = x%extents()
    f = k%extents()
    allocate (large(-2:2*e(1), 3*e(2), e(3) + 4), b(0:f(1) - 1, f(2), f(3)), wide(f(1), 2*f(2), f(3)))
    large = 99
    wide = 77
    call problem%input%set_strides_of(large(0:2*e(1) - 2:2, 2:3*e(2):3, 3:e(3) + 2))
    call plan%create(comm, problem, status=status)
    call claim_success(comm, status, "strides of a section")
    call fill(large(0:2*e(1) - 2:2, 2:3*e(2):3, 3:e(3) + 2), x%lo, n)
    call plan%forward(large(0:2*e(1) - 2:2, 2:3*e(2):3, 3:e(3) + 2), b, status=status)
    call claim_success(comm, status, "forward of a section")
    call claim(comm, from_peak(b, k%lo, real(product(n), real64)) < 1d-11, "the spectrum of a section")
    call claim(comm, all(large(-1:2*e(1):2, :, :) == 99) .and. all(large(:, 1:3*e(2):3, :) == 99), "between the elements")
    large = 99
    call plan%backward(b, large(0:2*e(1) - 2:2, 2:3*e(2):3, 3:e(3) + 2), status=status)
    call claim_success(comm, status, "backward into a section")
    b = 0
    call fill(b, x%lo, n)
    call claim(comm, all(abs(large(0:2*e(1) - 2:2, 2:3*e(2):3, 3:e(3) + 2)/product(n) - b) < 1d-13), "a section again")
    call claim(comm, all(large(-1:2*e(1):2, :, :) == 99) .and. all(large(:, 1:3*e(2):3, :) == 99), &
      "between the elements, written")
    ! The same array with other strides is not copied, but refused.
    if (x%count() > 0) then
      call plan%forward(large(0:2*e(1) - 2:2, 1:e(2), 3:e(3) + 2), b, status=status)
      call claim_failure(comm, status, "argument in|strides 2|set_strides_of", "a section with other strides")
    else
      call plan%forward(b, b, status=status)
    end if
    call plan%free()
  end subroutine

  subroutine test_order(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_layout) :: x, k
    integer, parameter :: n(3) = [5, 6, 7]
    complex(real64), allocatable :: a(:, :, :), b(:, :, :)
    integer(int64) :: i, j, l
    integer :: status
    real(real64) :: largest
    problem%shape = n
    problem%input = weft_slab(2)
    call problem%input%set_order([3, 1, 2])
    problem%output = weft_fastest()
    call plan%create(comm, problem)
    x = plan%input_layout()
    k = plan%output_layout()
    allocate (a(x%lo(1):x%hi(1), x%lo(2):x%hi(2), x%lo(3):x%hi(3)))
    allocate (b(k%lo(1):k%hi(1), k%lo(2):k%hi(2), k%lo(3):k%hi(3)))
    call claim(comm, x%lo(3) == x%box%lo(2) .and. x%hi(1) == x%box%hi(3), "bounds in memory order")
    do l = x%lo(3), x%hi(3)
      do j = x%lo(2), x%hi(2)
        do i = x%lo(1), x%hi(1)
          a(i, j, l) = wave_at(j, l, i, n(1), n(2), n(3))
        end do
      end do
    end do
    call plan%forward(a, b, status=status)
    call claim_success(comm, status, "memory order")
    largest = 0
    do l = k%lo(3), k%hi(3)
      do j = k%lo(2), k%hi(2)
        do i = k%lo(1), k%hi(1)
          largest = max(largest, abs(b(i, j, l) - &
            merge(1d0*product(n), 0d0, i == k%order(1) + 1 .and. j == k%order(2) + 1 .and. l == k%order(3) + 1)))
        end do
      end do
    end do
    call claim(comm, largest < 1d-11, "the spectrum in the order of the plan")
    call plan%free()
  end subroutine

  subroutine test_halo(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_layout) :: x
    type(weft_box) :: k
    integer, parameter :: n(3) = [5, 6, 7]
    complex(real64), allocatable :: a(:, :, :), b(:, :, :)
    complex(real64), pointer :: p(:, :, :)
    integer :: status
    problem%shape = n
    call problem%input%set_halo([1, 2, 0], [0, 1, 3])
    call plan%create(comm, problem)
    x = plan%input_layout()
    k = plan%output_box()
    allocate (a(x%lo(1):x%hi(1), x%lo(2):x%hi(2), x%lo(3):x%hi(3)), source=(99d0, 0d0))
    allocate (b(k%lo(1):k%hi(1), k%lo(2):k%hi(2), k%lo(3):k%hi(3)))
    call fill(a(x%box%lo(1):x%box%hi(1), x%box%lo(2):x%box%hi(2), x%box%lo(3):x%box%hi(3)), x%box%lo, n)
    call plan%forward(a, b, status=status)
    call claim_success(comm, status, "halo")
    call claim(comm, from_peak(b, k%lo, real(product(n), real64)) < 1d-11, "the spectrum of an array with halo")
    call plan%backward(b, a, status=status)
    call claim_success(comm, status, "into a halo")
    call claim(comm, all(a(0, :, :) == 99) .and. all(a(:, -1:0, :) == 99), "halos are never touched")
    call plan%allocate(weft_input, p)
    call claim(comm, all(lbound(p) == x%lo) .and. all(ubound(p) == x%hi), "bounds of an allocated array with halo")
    call weft_deallocate(p)
    call plan%free()
  end subroutine

  ! A batch is the last dimension; interleaved arrays have it first.
  subroutine test_batch(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: x, k
    integer, parameter :: n(3) = [5, 6, 7]
    complex(real64), allocatable :: a(:, :, :, :), b(:, :, :, :)
    complex(real64), pointer :: p(:, :, :, :)
    integer(int64) :: e(3)
    integer :: status
    problem%shape = n
    problem%batch = 2
    call plan%create(comm, problem)
    x = plan%input_box()
    k = plan%output_box()
    e = x%extents()
    allocate (a(e(1), e(2), e(3), 2), b(k%lo(1):k%hi(1), k%lo(2):k%hi(2), k%lo(3):k%hi(3), 2))
    call fill(a(:, :, :, 1), x%lo, n)
    a(:, :, :, 2) = 2*a(:, :, :, 1)
    call plan%forward(a, b, status=status)
    call claim_success(comm, status, "batch")
    call claim(comm, max(from_peak(b(:, :, :, 1), k%lo, 1d0*product(n)), from_peak(b(:, :, :, 2), k%lo, 2d0*product(n))) &
      < 1d-11, "the spectra of a batch")
    call plan%allocate(weft_output, p)
    call claim(comm, size(p, 4) == 2 .and. size(p, 3) == size(b, 3), "an allocated batch")
    call weft_deallocate(p)
    call plan%free()
    deallocate (a)
    allocate (a(2, e(1), e(2), e(3)))
    call fill(a(1, :, :, :), x%lo, n)
    a(2, :, :, :) = 2*a(1, :, :, :)
    problem%input_distance = 1
    call problem%input%set_strides([2_int64, 2*e(1), 2*e(1)*e(2)])
    call plan%create(comm, problem, status=status)
    call claim_success(comm, status, "interleaved")
    b = 0
    call plan%forward(a, b, status=status)
    call claim_success(comm, status, "interleaved, forward")
    call claim(comm, max(from_peak(b(:, :, :, 1), k%lo, 1d0*product(n)), from_peak(b(:, :, :, 2), k%lo, 2d0*product(n))) &
      < 1d-11, "the spectra of an interleaved batch")
    call plan%free()
    ! Items with a gap between them, by their section.
    deallocate (a)
    allocate (a(e(1), e(2), e(3), 3))
    call fill(a(:, :, :, 1), x%lo, n)
    a(:, :, :, 3) = 2*a(:, :, :, 1)
    problem%input_distance = 0
    problem%input = weft_slab(3)
    call problem%input%set_strides_of(a(:, :, :, 1:3:2))
    call plan%create(comm, problem, status=status)
    call claim_success(comm, status, "items apart")
    call plan%forward(a(:, :, :, 1:3:2), b, status=status)
    call claim_success(comm, status, "items apart, forward")
    call claim(comm, max(from_peak(b(:, :, :, 1), k%lo, 1d0*product(n)), from_peak(b(:, :, :, 2), k%lo, 2d0*product(n))) &
      < 1d-11, "the spectra of items apart")
    call plan%free()
  end subroutine

  ! One memory with two views: FFTW's padded real array, and its spectrum.
  subroutine test_in_place(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_layout) :: x
    type(weft_box) :: k
    integer, parameter :: n(3) = [5, 6, 7]
    real(real64), pointer :: a(:, :, :)
    complex(real64), pointer :: b(:, :, :)
    complex(real64), allocatable :: line(:)
    integer(int64) :: i, j, l
    integer :: status
    real(real64) :: largest
    problem%shape = n
    problem%transforms = [weft_r2c, weft_c2c, weft_c2c]
    problem%in_place = .true.
    call problem%input%set_r2c_padding()
    call plan%create(comm, problem, status=status)
    call claim_success(comm, status, "in place")
    x = plan%input_layout()
    k = plan%output_box()
    call plan%allocate(weft_input, a)
    call claim(comm, size(a, 1) == 6 .and. lbound(a, 1) == 1, "padded lines")
    call plan%view(weft_output, memory_of(a), b)
    do l = x%box%lo(3), x%box%hi(3)
      do j = x%box%lo(2), x%box%hi(2)
        do i = x%box%lo(1), x%box%hi(1)
          a(i, j, l) = real(wave_at(i, j, l, n(1), n(2), n(3)))
        end do
      end do
    end do
    call plan%forward(a, status=status)
    call claim_success(comm, status, "forward in place")
    largest = 0
    do l = k%lo(3), k%hi(3)
      do j = k%lo(2), k%hi(2)
        do i = k%lo(1), k%hi(1)
          largest = max(largest, abs(b(i, j, l) - merge(0.5d0*product(n), 0d0, all([i, j, l] == [2, 3, 4]))))
        end do
      end do
    end do
    call claim(comm, largest < 1d-11, "the spectrum in place")
    call plan%backward(b, status=status)
    call claim_success(comm, status, "backward in place")
    largest = 0
    do l = x%box%lo(3), x%box%hi(3)
      do j = x%box%lo(2), x%box%hi(2)
        do i = x%box%lo(1), x%box%hi(1)
          largest = max(largest, abs(a(i, j, l)/product(n) - real(wave_at(i, j, l, n(1), n(2), n(3)))))
        end do
      end do
    end do
    call claim(comm, largest < 1d-13, "there and back in place")
    allocate (line(plan%buffer_bytes()/16), source=(0d0, 0d0))
    call plan%forward(line, status=status)
    call claim_success(comm, status, "a line in place")
    call weft_deallocate(a)
    call plan%free()
  contains
    type(c_ptr) function memory_of(array)
      real(real64), pointer, intent(in) :: array(:, :, :)
      memory_of = c_loc(array)
    end function
  end subroutine

  ! Arrays with explicit shape and assumed size, as older codes have them.
  subroutine test_old_style(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: x, k
    integer, parameter :: n(3) = [5, 6, 7]
    complex(real64), allocatable :: a(:, :, :), b(:, :, :)
    problem%shape = n
    call plan%create(comm, problem)
    x = plan%input_box()
    k = plan%output_box()
    allocate (a(x%lo(1):x%hi(1), x%lo(2):x%hi(2), x%lo(3):x%hi(3)), b(k%lo(1):k%hi(1), k%lo(2):k%hi(2), k%lo(3):k%hi(3)))
    call fill(a, x%lo, n)
    call transform(a, b, int(x%extents()))
    call claim(comm, from_peak(b, k%lo, real(product(n), real64)) < 1d-11, "the spectrum of arrays of assumed size")
    call plan%free()
  contains
    subroutine transform(a, b, e)
      integer, intent(in) :: e(3)
      complex(real64), intent(in) :: a(e(1), e(2), *)
      complex(real64), intent(inout) :: b(*)
      integer :: status
      call plan%forward(a, b, status=status)
      call claim_success(comm, status, "assumed size")
    end subroutine
  end subroutine

  subroutine test_start(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_options) :: options
    type(weft_plan) :: plan, other
    type(weft_box) :: x, k
    integer, parameter :: n(3) = [5, 6, 7]
    complex(real64), allocatable, asynchronous :: a(:, :, :), b(:, :, :), c(:, :, :)
    integer :: status
    problem%shape = n
    if (comm%size() > 1) then
      if (comm%medium() == "mpi") call options%set("exchange", "p2p")
      if (comm%medium() == "threads") call options%set("exchange", "copy")
    end if
    call plan%create(comm, problem, options)
    call other%create(comm, problem, options)
    call options%free()
    x = plan%input_box()
    k = plan%output_box()
    allocate (a(x%lo(1):x%hi(1), x%lo(2):x%hi(2), x%lo(3):x%hi(3)), b(k%lo(1):k%hi(1), k%lo(2):k%hi(2), k%lo(3):k%hi(3)))
    c = b
    call fill(a, x%lo, n)
    call plan%start_forward(a, b, status=status)
    call claim_success(comm, status, "start")
    call other%start_forward(a, c, status=status)
    call claim_success(comm, status, "start of another plan")
    do while (.not. plan%test())
    end do
    call other%wait()
    call claim(comm, plan%test(), "an execution that is complete")
    call claim(comm, from_peak(b, k%lo, real(product(n), real64)) < 1d-11, "the spectrum after test")
    call claim(comm, from_peak(c, k%lo, real(product(n), real64)) < 1d-11, "the spectrum after wait")
    call plan%start_backward(b, a, status=status)
    call claim_success(comm, status, "start backward")
    call plan%wait(status)
    call claim_success(comm, status, "wait")
    deallocate (c)
    allocate (c(x%lo(1):x%hi(1), x%lo(2):x%hi(2), x%lo(3):x%hi(3)))
    call fill(c, x%lo, n)
    call claim(comm, all(abs(a/product(n) - c) < 1d-13), "there and back, started")
    call plan%free()
    call other%free()
  end subroutine

  subroutine test_workspace(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_options) :: options
    type(weft_plan) :: plan
    type(weft_box) :: x, k
    integer, parameter :: n(3) = [5, 6, 7]
    complex(real64), allocatable :: a(:, :, :), b(:, :, :)
    complex(real64), allocatable, target :: workspace(:)
    integer :: status
    problem%shape = n
    call options%set("workspace", "user")
    call plan%create(comm, problem, options)
    call options%free()
    x = plan%input_box()
    k = plan%output_box()
    allocate (a(x%lo(1):x%hi(1), x%lo(2):x%hi(2), x%lo(3):x%hi(3)), b(k%lo(1):k%hi(1), k%lo(2):k%hi(2), k%lo(3):k%hi(3)))
    allocate (workspace(plan%workspace_bytes()/16 + 1))
    call fill(a, x%lo, n)
    call plan%forward(a, b, workspace, status)
    call claim_success(comm, status, "workspace of the program")
    call claim(comm, from_peak(b, k%lo, real(product(n), real64)) < 1d-11, "the spectrum, with a workspace")
    b = 0
    call plan%forward(a, b, workspace=workspace, status=status)
    call claim(comm, from_peak(b, k%lo, real(product(n), real64)) < 1d-11, "the spectrum, with a workspace again")
    call plan%free()
  end subroutine
end module
