! What the module tells: boxes, options, texts, times, accuracy, wisdom, trials; and parts of communicators.
module facts
  use, intrinsic :: iso_c_binding
  use support
  implicit none
  private
  public :: test_facts, test_process

  character(*), parameter :: file = "weft_fortran_test_wisdom.json"
  integer :: reports = 0
  logical :: asked = .false., all_right = .true.

contains

  subroutine test_facts(comm)
    type(weft_comm), intent(in) :: comm
    call test_boxes(comm)
    call test_split(comm)
    call test_texts(comm)
    call test_accuracy(comm)
    call test_modes(comm)
    call test_kept_modes(comm)
  end subroutine

  ! Waves of 0 to 5 periods along dimension 1, of which modes up to 3 are kept: forward and back again.
  subroutine test_kept_modes(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: in, out
    real(real64), allocatable :: x(:, :), back(:, :)
    complex(real64), allocatable :: y(:, :)
    real(real64), parameter :: turn = 2*acos(-1d0)
    integer(int64) :: i
    integer :: wave, status
    problem%shape = [10, 8]
    problem%transforms = [weft_r2c, weft_c2c]
    problem%modes = [4, 0]
    problem%modes_nyquist = weft_nyquist_single
    problem%input = weft_slab(2)
    problem%output = weft_slab(1)
    problem%backward_scale = weft_full
    call plan%create(comm, problem)
    in = plan%input_box()
    out = plan%output_box()
    allocate (x(in%lo(1):in%hi(1), in%lo(2):in%hi(2)), y(out%lo(1):out%hi(1), out%lo(2):out%hi(2)))
    allocate (back, mold=x)
    do wave = 0, 5
      do i = in%lo(1), in%hi(1)
        x(i, :) = cos(turn*wave*(i - 1)/10)
      end do
      call plan%forward(x, y)
      do i = out%lo(1), out%hi(1)
        if (out%hi(2) < out%lo(2)) cycle
        call claim_here(abs(y(i, 1) - merge(merge(80, 40, wave == 0), 0, i == wave + 1)) < 1d-12)
      end do
      call plan%backward(y, back)
      call claim_here(all(abs(back - merge(x, 0d0, wave < 4)) < 1d-13))
    end do
    call claim(comm, all_right, "kept modes")
    call plan%free()
    problem%points = [7, 0]
    call plan%create(comm, problem)
    in = plan%input_box()
    call claim(comm, in%hi(1) == 7 .or. in%hi(2) < in%lo(2), "fewer points")
    call plan%free()
    problem%modes = [4]
    call plan%create(comm, problem, status=status)
    call claim(comm, status == weft_failure .or. status == weft_bad_argument, "modes of one dimension")
  end subroutine

  ! Dimension 1 is halved, dimension 3 is cut along.
  subroutine test_modes(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: k
    complex(real64), allocatable :: modes(:, :, :)
    real(real64), allocatable :: waves(:), sums(:)
    real(real64), parameter :: all(6) = [0d0, 1d0, 2d0, -3d0, -2d0, -1d0]
    integer :: status
    problem%shape = [4, 5, 6]
    problem%transforms = [weft_r2c, weft_c2c, weft_c2c]
    call plan%create(comm, problem)
    k = plan%output_box()
    waves = plan%wavenumbers(3)
    call claim(comm, size(waves) == k%hi(3) - k%lo(3) + 1, "as many wavenumbers as modes")
    call claim(comm, all_equal(waves, all(k%lo(3):k%hi(3))), "wavenumbers of c2c")
    waves = plan%wavenumbers(3, nyquist=weft_nyquist_zero)
    call claim(comm, all_equal(waves, merge(0d0, all(k%lo(3):k%hi(3)), all(k%lo(3):k%hi(3)) == -3)), "Nyquist is zero")
    if (k%count() > 0) then
      call claim(comm, all_equal(plan%hermitian_weights(1), [1d0, 2d0, 1d0]), "weights")
      call claim(comm, all_equal(plan%dealiasing_mask(2), [1d0, 1d0, 0d0, 0d0, 1d0]), "mask")
      call claim(comm, all_equal(plan%dealiasing_mask(1, fraction=1d0), [1d0, 1d0, 0d0]), "mask of all but Nyquist")
    end if
    call claim(comm, plan%logical_length(1) == 4 .and. plan%logical_length(3) == 6, "logical lengths")
    waves = plan%wavenumbers(4, status=status)
    call claim(comm, status == weft_failure .and. size(waves) == 0, "a dimension that is not there")
    allocate (modes(k%lo(1):k%hi(1), k%lo(2):k%hi(2), k%lo(3):k%hi(3)))
    modes = (3d0, 4d0)
    sums = plan%shell_spectrum(modes)
    call claim(comm, size(sums) == 5 .and. sums(1) == 25 .and. sum(sums) == 25*120, "sums by shell")
    ! Of dimension 1 alone: shells 0, 10 and 20.
    sums = plan%shell_spectrum(modes, units=[10d0, 0d0, 0d0])
    call claim(comm, sums(1) == 25*30 .and. sums(11) == 25*60 .and. sums(21) == 25*30, "units of dimensions")
    sums = plan%shell_spectrum(modes, units=[1d0], status=status)
    call claim(comm, status == weft_failure, "too few units")
    call plan%free()
  end subroutine

  subroutine claim_here(holds)
    logical, intent(in) :: holds
    all_right = all_right .and. holds
  end subroutine

  logical function all_equal(a, b)
    real(real64), intent(in) :: a(:), b(:)
    all_equal = size(a) == size(b)
    if (all_equal) all_equal = all(a == b)
  end function

  subroutine test_split(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_comm) :: part
    type(weft_problem) :: problem
    type(weft_plan) :: plan
    type(weft_box) :: x
    complex(real64), allocatable :: a(:, :)
    integer :: status
    call comm%barrier()
    part = comm%split(mod(comm%rank(), 2), status)
    call claim_success(comm, status, "split")
    call claim(comm, part%rank() == comm%rank()/2 .and. part%size() == (comm%size() + 1 - mod(comm%rank(), 2))/2, &
      "ranks of a part")
    problem%shape = [4, 6]
    problem%in_place = .true.
    call plan%create(part, problem)
    call part%free()
    x = plan%input_box()
    allocate (a(4, x%lo(2):x%hi(2)))
    a = 1
    call plan%forward(a)
    if (x%lo(2) == 1 .and. size(a) > 0) a(1, 1) = a(1, 1) - 24
    call claim(comm, all(abs(a) < 1d-13), "a plan on a part that was freed")
    call plan%free()
  end subroutine

  subroutine test_texts(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_options) :: options
    type(weft_plan) :: plan
    type(weft_box) :: x
    type(weft_operation_time), allocatable :: times(:)
    complex(real64), allocatable :: a(:, :, :), b(:, :, :)
    integer :: i
    problem%shape = [8, 9, 10]
    call claim(comm, .not. options%is_set("pipeline"), "an option that nobody has set")
    call options%set("pipeline", "sequential")
    call options%set("threads", 1)
    call claim(comm, options%is_set("pipeline"), "an option that was set")
    if (comm%rank() == 0) call claim(comm, options%get("pipeline") == "sequential", "the value of an option")
    if (comm%rank() == 0) call claim(comm, index(options%text(), "pipeline=sequential") > 0, "all options")
    call plan%create(comm, problem, options)
    call options%free()
    x = plan%input_box()
    allocate (a(8, 9, x%lo(3):x%hi(3)), b(8, 9, x%lo(3):x%hi(3)))
    a = 0
    call plan%record_times(.true.)
    call plan%forward(a, b)
    times = plan%operation_times()
    call claim(comm, size(times) > 0 .and. all([(times(i)%end >= times(i)%begin, i=1, size(times))]), "times")
    call claim(comm, any([(times(i)%kind == "fft" .and. times(i)%reshape >= -1, i=1, size(times))]), "a local FFT was timed")
    call plan%record_times(.false.)
    if (comm%rank() == 0) call claim_texts(comm, plan)
    call claim(comm, plan%scale_factor() == 720 .and. plan%buffer_bytes() == 16*size(a), "facts of a plan")
    call plan%free()
  end subroutine

  subroutine claim_texts(comm, plan)
    type(weft_comm), intent(in) :: comm
    type(weft_plan), intent(in) :: plan
    call claim(comm, index(plan%text(), "10x9x8") + index(plan%text(), "10 x 9 x 8") > 0, "a printed plan: "//plan%text())
    call claim(comm, len(plan%explain()) > 0, "an explanation")
    call claim(comm, index(plan%explain_json(), '"candidates"') > 0, "an explanation as JSON")
    call claim(comm, index(plan%program_text(weft_backward), "fft") > 0, "a program")
  end subroutine

  subroutine test_accuracy(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_problem) :: problem
    type(weft_options) :: options
    type(weft_plan) :: plan
    type(weft_box) :: x
    type(weft_accuracy) :: accuracy
    complex(real64), allocatable :: a(:, :, :)
    integer(int64) :: i
    problem%shape = [8, 8, 8]
    if (comm%size() > 1) then
      call options%set("codec", "fp32")
      if (comm%medium() == "mpi") call options%set("exchange", "p2p")
      if (comm%medium() == "threads") call options%set("exchange", "copy")
    end if
    call plan%create(comm, problem, options)
    call options%free()
    x = plan%input_box()
    allocate (a(x%lo(1):x%hi(1), x%lo(2):x%hi(2), x%lo(3):x%hi(3)))
    a = reshape(value_at([(i + 1000*comm%rank(), i=1, x%count())]), shape(a))
    accuracy = plan%measured_error(weft_forward, a)
    call claim(comm, accuracy%l2 <= accuracy%bound .and. ((accuracy%l2 > 0) .eqv. (comm%size() > 1)), "accuracy")
    call plan%free()
  end subroutine

  subroutine test_boxes(comm)
    type(weft_comm), intent(in) :: comm
    type(weft_box) :: a, b, c
    integer :: status
    a = weft_box([1, 2], [4, 9])
    b = weft_box([3, 5], [8, 6])
    c = weft_intersect(a, b)
    call claim(comm, all(c%lo == [3, 5]) .and. all(c%hi == [4, 6]) .and. c%count() == 4, "the common part of boxes")
    call claim(comm, a%contains(c) .and. .not. a%contains(b), "boxes")
    if (comm%rank() == 0) call claim(comm, a%text() == "(1:4, 2:9)", "a printed box")
    call claim(comm, all(a%extents() == [4, 8]) .and. a%count() == 32, "extents of a box")
    c = weft_intersect(a, weft_box([5, 1], [6, 1]))
    call claim(comm, c%count() == 0, "boxes with nothing in common")
    c = weft_intersect(a, weft_box([1], [2]), status)
    call claim(comm, status /= weft_success, "boxes of other dimensions")
    if (comm%rank() == 0) call claim(comm, index(weft_information_json(), '"'//trim(weft_version())//'"') > 0, "version")
  end subroutine

  ! What concerns the whole process: by a team that is alone in it.
  recursive subroutine test_process(comm, status)
    type(weft_comm), intent(in) :: comm
    integer, intent(inout) :: status
    type(weft_problem) :: problem
    type(weft_options) :: options
    type(weft_plan) :: plan
    logical :: first
    first = comm%rank() == 0
    if (first) call weft_report_trials_to(told)
    if (first) call weft_interrupt_trials_if(never)
    call comm%barrier()
    call options%set("effort", "measure")
    call options%set("trials", 3)
    problem%shape = [16, 16, 16]
    call plan%create(comm, problem, options)
    call plan%free()
    if (first) call claim(comm, reports > 0, "reports of trials")
    if (first) call export_and_forget(comm)
    call comm%barrier()
    call plan%create(comm, problem, options, status)
    call claim(comm, status == weft_failure, "trials that are interrupted")
    if (first) call claim(comm, asked, "a question between trials")
    if (first) call import_again(comm)
    call comm%barrier()
    call plan%create(comm, problem, options, status)
    call claim_success(comm, status, "a plan by wisdom")
    if (first) call claim(comm, reports == 0, "wisdom makes trials needless")
    call plan%free()
    call options%free()
    call comm%barrier()
    if (first) call weft_interrupt_trials_if()
    if (first) call weft_report_trials_to()
    if (first) call weft_forget_wisdom()
    status = 0
  contains
    subroutine export_and_forget(comm)
      type(weft_comm), intent(in) :: comm
      logical :: done
      call weft_export_wisdom(file, done)
      call claim(comm, done, "wisdom is written")
      call weft_forget_wisdom()
      call weft_interrupt_trials_if(always)
    end subroutine
    subroutine import_again(comm)
      type(weft_comm), intent(in) :: comm
      logical :: done
      integer :: unit
      call weft_import_wisdom(file, done)
      call claim(comm, done, "wisdom is read")
      open (newunit=unit, file=file)
      close (unit, status="delete")
      call weft_import_wisdom(file, done)
      call claim(comm, .not. done, "a file that is not there")
      reports = 0
    end subroutine
  end subroutine

  subroutine told(progress)
    type(weft_trial_progress), intent(in) :: progress
    if (len(progress%round) > 0 .and. progress%most_trials > 0) reports = reports + 1
  end subroutine

  logical function never()
    never = .false.
  end function

  logical function always()
    asked = .true.
    always = .true.
  end function
end module
