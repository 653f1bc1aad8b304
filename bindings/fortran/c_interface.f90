! The structs and functions of weft.h that the Fortran module stands on, and those of descriptors.c. Nothing of this is
! for programs: `use weft`.
module weft_c_module
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer, parameter :: max_axes = 8
  ! weft_cut
  integer(c_int), parameter :: cut_slab = 0, cut_pencil = 1, cut_brick = 2, cut_grid = 3, cut_boxes = 4, cut_box = 5, &
    cut_fastest = 6, cut_columns = 7, cut_sphere = 8

  ! weft_components: component i of a vector is the one along dimension i.
  integer(c_int), parameter :: components_by_dimension = 1

  type, bind(C) :: c_box
    integer(c_int) :: ndim = 0
    integer(c_int64_t) :: lo(max_axes) = 0, hi(max_axes) = 0
  end type

  type, bind(C) :: c_error
    integer(c_size_t) :: size
    type(c_ptr) :: operation, got, expected
    integer(c_int) :: rank
  end type

  type, bind(C) :: c_distribution
    integer(c_size_t) :: size = 0
    integer(c_int) :: cut = cut_slab, axis = 0
    integer(c_int) :: parts(max_axes) = 0
    type(c_ptr) :: boxes = c_null_ptr
    integer(c_size_t) :: box_count = 0
    integer(c_int) :: order(max_axes) = 0
    integer(c_int64_t) :: strides(max_axes) = 0, halo_lower(max_axes) = 0, halo_upper(max_axes) = 0
    integer(c_int) :: r2c_padding = 0
    type(c_ptr) :: columns = c_null_ptr
    integer(c_size_t) :: column_count = 0
    real(c_double) :: radius = 0
  end type

  type, bind(C) :: c_mode_column
    integer(c_int64_t) :: first(max_axes) = 0, count = 0
  end type

  type, bind(C) :: c_problem
    integer(c_size_t) :: size = 0
    integer(c_int) :: ndim = 0
    integer(c_int64_t) :: shape(max_axes) = 0
    integer(c_int) :: transforms(max_axes) = 0
    integer(c_int) :: precision = 0, memory = 0, element = 0
    type(c_ptr) :: input = c_null_ptr, output = c_null_ptr
    integer(c_int) :: in_place = 0
    integer(c_int64_t) :: batch = 0, input_distance = 0, output_distance = 0
    integer(c_int) :: forward_scale = 0, backward_scale = 0
    integer(c_int) :: line(2) = 0
    integer(c_int) :: modes_nyquist = 0
    integer(c_int64_t) :: modes(max_axes) = 0, points(max_axes) = 0
    integer(c_int64_t) :: results = 0
    integer(c_int) :: between = 0
  end type

  type, bind(C) :: c_block
    integer(c_size_t) :: size
    integer(c_int) :: ndim, element, precision
    integer(c_int64_t) :: lo(max_axes), hi(max_axes), strides(max_axes)
    type(c_ptr) :: data
    integer(c_int64_t) :: fields, results, field_stride
    integer(c_int) :: memory
    type(c_ptr) :: stream
  end type

  type, bind(C) :: c_layout
    integer(c_size_t) :: size = 0
    type(c_box) :: box
    integer(c_int) :: order(max_axes) = 0
    integer(c_int64_t) :: strides(max_axes) = 0
    integer(c_int64_t) :: offset = 0, distance = 0, count = 0
    integer(c_size_t) :: element_bytes = 0
    integer(c_int) :: is_complex = 0
  end type

  type, bind(C) :: c_operation_time
    type(c_ptr) :: kind
    integer(c_int) :: stage, reshape, tile, stream, peer
    real(c_double) :: begin, end
    integer(c_int64_t) :: bytes, memory_read, memory_written
  end type

  type, bind(C) :: c_accuracy
    integer(c_size_t) :: size = 0
    real(c_double) :: l2 = 0, maximum = 0, bound = 0
  end type

  type, bind(C) :: c_trial_progress
    integer(c_size_t) :: size
    type(c_ptr) :: round
    integer(c_int) :: trial, most_trials
    type(c_ptr) :: options
    real(c_double) :: seconds
    type(c_ptr) :: best_options
    real(c_double) :: best_seconds
    integer(c_int) :: is_best
    real(c_double) :: seconds_left
  end type

  ! What a plan of Fortran knows besides its handle (descriptors.c has the same struct): per axis and side how far the
  ! array reaches beyond the box, by halo or padding.
  type, bind(C) :: plan_facts
    integer(c_int) :: in_place = 0, on_gpu = 0
    integer(c_int) :: padded_axis = -1
    integer(c_int64_t) :: batch(0:1) = 1  ! per side: an operator may leave another number of arrays
    integer(c_int64_t) :: lower(max_axes, 0:1) = 0, upper(max_axes, 0:1) = 0
  end type

  interface
    function weft_status_name_c(status) bind(C, name="weft_status_name") result(name)
      import :: c_int, c_ptr
      integer(c_int), value :: status
      type(c_ptr) :: name
    end function
    function weft_last_message_c() bind(C, name="weft_last_message") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    integer(c_int) function weft_last_error_c(error) bind(C, name="weft_last_error")
      import :: c_int, c_error
      type(c_error), intent(inout) :: error
    end function
    function weft_version_c() bind(C, name="weft_version") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    subroutine weft_free_c(memory) bind(C, name="weft_free")
      import :: c_ptr
      type(c_ptr), value :: memory
    end subroutine
    integer(c_size_t) function strlen(text) bind(C)
      import :: c_size_t, c_ptr
      type(c_ptr), value :: text
    end function
  end interface

  ! Communicators and teams.
  interface
    integer(c_int) function weft_comm_self_c(comm) bind(C, name="weft_comm_self")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: comm
    end function
    integer(c_int) function weft_comm_split_c(comm, colour, part) bind(C, name="weft_comm_split")
      import :: c_int, c_ptr
      type(c_ptr), value :: comm
      integer(c_int), value :: colour
      type(c_ptr), intent(inout) :: part
    end function
    integer(c_int) function weft_comm_rank_c(comm, rank) bind(C, name="weft_comm_rank")
      import :: c_int, c_ptr
      type(c_ptr), value :: comm
      integer(c_int), intent(inout) :: rank
    end function
    integer(c_int) function weft_comm_size_c(comm, size) bind(C, name="weft_comm_size")
      import :: c_int, c_ptr
      type(c_ptr), value :: comm
      integer(c_int), intent(inout) :: size
    end function
    integer(c_int) function weft_comm_medium_c(comm, medium) bind(C, name="weft_comm_medium")
      import :: c_int, c_ptr
      type(c_ptr), value :: comm
      type(c_ptr), intent(inout) :: medium
    end function
    integer(c_int) function weft_comm_barrier_c(comm) bind(C, name="weft_comm_barrier")
      import :: c_int, c_ptr
      type(c_ptr), value :: comm
    end function
    integer(c_int) function weft_comm_free_c(comm) bind(C, name="weft_comm_free")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: comm
    end function
    integer(c_int) function weft_team_create_c(size, team) bind(C, name="weft_team_create")
      import :: c_int, c_ptr
      integer(c_int), value :: size
      type(c_ptr), intent(inout) :: team
    end function
    integer(c_int) function weft_team_size_c(team, size) bind(C, name="weft_team_size")
      import :: c_int, c_ptr
      type(c_ptr), value :: team
      integer(c_int), intent(inout) :: size
    end function
    integer(c_int) function weft_team_run_c(team, body, data) bind(C, name="weft_team_run")
      import :: c_int, c_ptr, c_funptr
      type(c_ptr), value :: team, data
      type(c_funptr), value :: body
    end function
    integer(c_int) function weft_team_free_c(team) bind(C, name="weft_team_free")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: team
    end function
  end interface

  ! Boxes, lines and options.
  interface
    integer(c_int) function weft_line_shape_c(n, shape) bind(C, name="weft_line_shape")
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: n
      integer(c_int64_t), intent(inout) :: shape(2)
    end function
    integer(c_int64_t) function weft_box_count_c(box) bind(C, name="weft_box_count")
      import :: c_int64_t, c_box
      type(c_box), intent(in) :: box
    end function
    integer(c_int) function weft_box_contains_c(box, part) bind(C, name="weft_box_contains")
      import :: c_int, c_box
      type(c_box), intent(in) :: box, part
    end function
    integer(c_int) function weft_box_intersect_c(a, b, common) bind(C, name="weft_box_intersect")
      import :: c_int, c_box
      type(c_box), intent(in) :: a, b
      type(c_box), intent(inout) :: common
    end function
    integer(c_int) function weft_options_create_c(options) bind(C, name="weft_options_create")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: options
    end function
    integer(c_int) function weft_options_set_c(options, name, value) bind(C, name="weft_options_set")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: options
      character(c_char), intent(in) :: name(*), value(*)
    end function
    integer(c_int) function weft_options_set_int_c(options, name, value) bind(C, name="weft_options_set_int")
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: options
      character(c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: value
    end function
    integer(c_int) function weft_options_get_c(options, name, value) bind(C, name="weft_options_get")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: options
      character(c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: value
    end function
    integer(c_int) function weft_options_is_set_c(options, name, is_set) bind(C, name="weft_options_is_set")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: options
      character(c_char), intent(in) :: name(*)
      integer(c_int), intent(inout) :: is_set
    end function
    integer(c_int) function weft_options_text_c(options, text) bind(C, name="weft_options_text")
      import :: c_int, c_ptr
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: text
    end function
    integer(c_int) function weft_options_free_c(options) bind(C, name="weft_options_free")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: options
    end function
  end interface

  ! Plans.
  interface
    integer(c_int) function weft_plan_create_c(comm, problem, options, plan) bind(C, name="weft_plan_create")
      import :: c_int, c_ptr
      type(c_ptr), value :: comm, problem, options
      type(c_ptr), intent(inout) :: plan
    end function
    integer(c_int) function weft_plan_free_c(plan) bind(C, name="weft_plan_free")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: plan
    end function
    integer(c_int) function weft_execute_c(plan, direction, in, out, workspace, bytes) bind(C, name="weft_execute")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan, in, out, workspace
      integer(c_int), value :: direction
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function weft_start_c(plan, direction, in, out, workspace, bytes) bind(C, name="weft_start")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan, in, out, workspace
      integer(c_int), value :: direction
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function weft_test_c(plan, complete) bind(C, name="weft_test")
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
      integer(c_int), intent(inout) :: complete
    end function
    integer(c_int) function weft_wait_c(plan) bind(C, name="weft_wait")
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
    end function
    integer(c_int) function weft_plan_set_stream_c(plan, stream) bind(C, name="weft_plan_set_stream")
      import :: c_int, c_ptr
      type(c_ptr), value :: plan, stream
    end function
    integer(c_int) function weft_plan_layout_c(plan, side, layout) bind(C, name="weft_plan_layout")
      import :: c_int, c_ptr, c_layout
      type(c_ptr), value :: plan
      integer(c_int), value :: side
      type(c_layout), intent(inout) :: layout
    end function
    integer(c_int) function weft_plan_between_box_c(plan, box) bind(C, name="weft_plan_between_box")
      import :: c_int, c_ptr, c_box
      type(c_ptr), value :: plan
      type(c_box), intent(inout) :: box
    end function
    integer(c_int) function weft_plan_buffer_bytes_c(plan, bytes) bind(C, name="weft_plan_buffer_bytes")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan
      integer(c_size_t), intent(inout) :: bytes
    end function
    integer(c_int) function weft_plan_workspace_bytes_c(plan, bytes) bind(C, name="weft_plan_workspace_bytes")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan
      integer(c_size_t), intent(inout) :: bytes
    end function
    integer(c_int) function weft_plan_scale_factor_c(plan, factor) bind(C, name="weft_plan_scale_factor")
      import :: c_int, c_ptr, c_double
      type(c_ptr), value :: plan
      real(c_double), intent(inout) :: factor
    end function
    integer(c_int) function weft_plan_logical_length_c(plan, axis, length) bind(C, name="weft_plan_logical_length")
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: plan
      integer(c_int), value :: axis
      integer(c_int64_t), intent(inout) :: length
    end function
    integer(c_int) function weft_plan_columns_c(plan, columns, count) bind(C, name="weft_plan_columns")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan
      type(c_ptr), intent(inout) :: columns
      integer(c_size_t), intent(inout) :: count
    end function
    integer(c_int) function weft_plan_wavenumbers_c(plan, axis, nyquist, values, count) &
        bind(C, name="weft_plan_wavenumbers")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan
      integer(c_int), value :: axis, nyquist
      type(c_ptr), intent(inout) :: values
      integer(c_size_t), intent(inout) :: count
    end function
    integer(c_int) function weft_plan_hermitian_weights_c(plan, axis, values, count) &
        bind(C, name="weft_plan_hermitian_weights")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan
      integer(c_int), value :: axis
      type(c_ptr), intent(inout) :: values
      integer(c_size_t), intent(inout) :: count
    end function
    integer(c_int) function weft_plan_dealiasing_mask_c(plan, axis, fraction, values, count) &
        bind(C, name="weft_plan_dealiasing_mask")
      import :: c_double, c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan
      integer(c_int), value :: axis
      real(c_double), value :: fraction
      type(c_ptr), intent(inout) :: values
      integer(c_size_t), intent(inout) :: count
    end function
    integer(c_int) function weft_plan_record_times_c(plan, on) bind(C, name="weft_plan_record_times")
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
      integer(c_int), value :: on
    end function
    integer(c_int) function weft_plan_operation_times_c(plan, element_size, times, count) &
        bind(C, name="weft_plan_operation_times")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan
      integer(c_size_t), value :: element_size
      type(c_ptr), intent(inout) :: times
      integer(c_size_t), intent(inout) :: count
    end function
    integer(c_int) function weft_plan_text_c(plan, text) bind(C, name="weft_plan_text")
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
      type(c_ptr), intent(inout) :: text
    end function
    integer(c_int) function weft_plan_explain_c(plan, text) bind(C, name="weft_plan_explain")
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
      type(c_ptr), intent(inout) :: text
    end function
    integer(c_int) function weft_plan_explain_json_c(plan, text) bind(C, name="weft_plan_explain_json")
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
      type(c_ptr), intent(inout) :: text
    end function
    integer(c_int) function weft_plan_program_c(plan, direction, text) bind(C, name="weft_plan_program")
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
      integer(c_int), value :: direction
      type(c_ptr), intent(inout) :: text
    end function
  end interface

  ! Ready-made operators on modes.
  interface
    integer(c_int) function weft_mode_operator_derivative_c(problem, axis, order, lengths, op) &
        bind(C, name="weft_mode_operator_derivative")
      import :: c_int, c_ptr
      type(c_ptr), value :: problem, lengths
      integer(c_int), value :: axis, order
      type(c_ptr), intent(inout) :: op
    end function
    integer(c_int) function weft_mode_operator_gradient_c(problem, lengths, components, op) &
        bind(C, name="weft_mode_operator_gradient")
      import :: c_int, c_ptr
      type(c_ptr), value :: problem, lengths
      integer(c_int), value :: components
      type(c_ptr), intent(inout) :: op
    end function
    integer(c_int) function weft_mode_operator_divergence_c(problem, lengths, components, op) &
        bind(C, name="weft_mode_operator_divergence")
      import :: c_int, c_ptr
      type(c_ptr), value :: problem, lengths
      integer(c_int), value :: components
      type(c_ptr), intent(inout) :: op
    end function
    integer(c_int) function weft_mode_operator_curl_c(problem, lengths, components, op) &
        bind(C, name="weft_mode_operator_curl")
      import :: c_int, c_ptr
      type(c_ptr), value :: problem, lengths
      integer(c_int), value :: components
      type(c_ptr), intent(inout) :: op
    end function
    integer(c_int) function weft_mode_operator_solenoidal_part_c(problem, lengths, components, op) &
        bind(C, name="weft_mode_operator_solenoidal_part")
      import :: c_int, c_ptr
      type(c_ptr), value :: problem, lengths
      integer(c_int), value :: components
      type(c_ptr), intent(inout) :: op
    end function
    integer(c_int) function weft_mode_operator_laplacian_c(problem, lengths, op) &
        bind(C, name="weft_mode_operator_laplacian")
      import :: c_int, c_ptr
      type(c_ptr), value :: problem, lengths
      type(c_ptr), intent(inout) :: op
    end function
    integer(c_int) function weft_mode_operator_inverse_helmholtz_c(problem, shift, lengths, op) &
        bind(C, name="weft_mode_operator_inverse_helmholtz")
      import :: c_double, c_int, c_ptr
      type(c_ptr), value :: problem, lengths
      real(c_double), value :: shift
      type(c_ptr), intent(inout) :: op
    end function
    integer(c_int) function weft_mode_operator_shift_c(problem, distances, lengths, op) &
        bind(C, name="weft_mode_operator_shift")
      import :: c_double, c_int, c_ptr
      type(c_ptr), value :: problem, lengths
      real(c_double), intent(in) :: distances(*)
      type(c_ptr), intent(inout) :: op
    end function
    integer(c_int) function weft_mode_operator_filter_c(problem, factor, user, lengths, op) &
        bind(C, name="weft_mode_operator_filter")
      import :: c_funptr, c_int, c_ptr
      type(c_ptr), value :: problem, user, lengths
      type(c_funptr), value :: factor
      type(c_ptr), intent(inout) :: op
    end function
    integer(c_int) function weft_mode_operator_product_c(plan, modes, conjugated, op) &
        bind(C, name="weft_mode_operator_product")
      import :: c_int, c_ptr
      type(c_ptr), value :: plan, modes
      integer(c_int), value :: conjugated
      type(c_ptr), intent(inout) :: op
    end function
    integer(c_int) function weft_mode_operator_free_c(op) bind(C, name="weft_mode_operator_free")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: op
    end function
  end interface

  ! Gradients.
  interface
    integer(c_int) function weft_gradient_create_c(comm, problem, options, lengths, components, gradient) &
        bind(C, name="weft_gradient_create")
      import :: c_int, c_ptr
      type(c_ptr), value :: comm, problem, options, lengths
      integer(c_int), value :: components
      type(c_ptr), intent(inout) :: gradient
    end function
    integer(c_int) function weft_gradient_free_c(gradient) bind(C, name="weft_gradient_free")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: gradient
    end function
    integer(c_int) function weft_gradient_execute_c(gradient, in, out) bind(C, name="weft_gradient_execute")
      import :: c_int, c_ptr
      type(c_ptr), value :: gradient, in, out
    end function
    integer(c_int) function weft_gradient_set_stream_c(gradient, stream) bind(C, name="weft_gradient_set_stream")
      import :: c_int, c_ptr
      type(c_ptr), value :: gradient, stream
    end function
    integer(c_int) function weft_gradient_layout_c(gradient, side, layout) bind(C, name="weft_gradient_layout")
      import :: c_int, c_ptr, c_layout
      type(c_ptr), value :: gradient
      integer(c_int), value :: side
      type(c_layout), intent(inout) :: layout
    end function
    integer(c_int) function weft_gradient_axes_c(gradient, axes, count) bind(C, name="weft_gradient_axes")
      import :: c_int, c_ptr
      type(c_ptr), value :: gradient
      integer(c_int), intent(inout) :: axes(*), count
    end function
    integer(c_int) function weft_gradient_workspace_bytes_c(gradient, bytes) bind(C, name="weft_gradient_workspace_bytes")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: gradient
      integer(c_size_t), intent(inout) :: bytes
    end function
    integer(c_int) function weft_gradient_text_c(gradient, text) bind(C, name="weft_gradient_text")
      import :: c_int, c_ptr
      type(c_ptr), value :: gradient
      type(c_ptr), intent(inout) :: text
    end function
  end interface

  ! Wisdom, trials, information.
  interface
    integer(c_int) function weft_export_wisdom_c(file, done) bind(C, name="weft_export_wisdom")
      import :: c_int, c_char
      character(c_char), intent(in) :: file(*)
      integer(c_int), intent(inout) :: done
    end function
    integer(c_int) function weft_import_wisdom_c(file, done) bind(C, name="weft_import_wisdom")
      import :: c_int, c_char
      character(c_char), intent(in) :: file(*)
      integer(c_int), intent(inout) :: done
    end function
    integer(c_int) function weft_forget_wisdom_c() bind(C, name="weft_forget_wisdom")
      import :: c_int
    end function
    integer(c_int) function weft_interrupt_trials_if_c(asked) bind(C, name="weft_interrupt_trials_if")
      import :: c_int, c_funptr
      type(c_funptr), value :: asked
    end function
    integer(c_int) function weft_report_trials_to_c(told) bind(C, name="weft_report_trials_to")
      import :: c_int, c_funptr
      type(c_funptr), value :: told
    end function
    integer(c_int) function weft_information_json_c(text) bind(C, name="weft_information_json")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: text
    end function
  end interface

  ! descriptors.c
  interface
    integer(c_int) function weft_fortran_fail(operation, got, expected) bind(C)
      import :: c_int, c_char
      character(c_char), intent(in) :: operation(*), got(*), expected(*)
    end function
    pure integer(c_int) function weft_fortran_message_length() bind(C)
      import :: c_int
    end function
    integer(c_int) function weft_fortran_execute(plan, facts, direction, starts, in, out, workspace) bind(C)
      import :: c_int, c_ptr, plan_facts
      type(c_ptr), value :: plan
      type(plan_facts), intent(in) :: facts
      integer(c_int), value :: direction, starts
      type(*), dimension(..), asynchronous :: in
      type(*), dimension(..), intent(inout), asynchronous, optional :: out, workspace
    end function
    integer(c_int) function weft_fortran_apply(plan, facts, direction, op, user, in, out, workspace) bind(C)
      import :: c_int, c_funptr, c_ptr, plan_facts
      type(c_ptr), value :: plan, user
      type(c_funptr), value :: op
      type(plan_facts), intent(in) :: facts
      integer(c_int), value :: direction
      type(*), dimension(..) :: in
      type(*), dimension(..), intent(inout), optional :: out, workspace
    end function
    integer(c_int) function weft_fortran_apply_mode_operator(plan, facts, direction, op, in, out, workspace) bind(C)
      import :: c_int, c_ptr, plan_facts
      type(c_ptr), value :: plan, op
      type(plan_facts), intent(in) :: facts
      integer(c_int), value :: direction
      type(*), dimension(..) :: in
      type(*), dimension(..), intent(inout), optional :: out, workspace
    end function
    integer(c_int) function weft_fortran_gradient_apply(gradient, facts, in, out) bind(C)
      import :: c_int, c_ptr, plan_facts
      type(c_ptr), value :: gradient
      type(plan_facts), intent(in) :: facts
      type(*), dimension(..), intent(in) :: in
      type(*), dimension(..), intent(inout) :: out
    end function
    integer(c_int) function weft_fortran_product(plan, modes, conjugated, op) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
      type(*), dimension(..), intent(in), target :: modes
      integer(c_int), value :: conjugated
      type(c_ptr), intent(inout) :: op
    end function
    integer(c_int) function weft_fortran_measured_error(plan, facts, direction, in, accuracy) bind(C)
      import :: c_int, c_ptr, plan_facts, c_accuracy
      type(c_ptr), value :: plan
      type(plan_facts), intent(in) :: facts
      integer(c_int), value :: direction
      type(*), dimension(..), intent(in) :: in
      type(c_accuracy), intent(inout) :: accuracy
    end function
    integer(c_int) function weft_fortran_shell_spectrum(plan, facts, modes, units, unit_count, sums, count) bind(C)
      import :: c_double, c_int, c_ptr, c_size_t, plan_facts
      type(c_ptr), value :: plan
      type(plan_facts), intent(in) :: facts
      type(*), dimension(..), intent(in) :: modes
      real(c_double), intent(in), optional :: units(*)
      integer(c_int), value :: unit_count
      type(c_ptr), intent(inout) :: sums
      integer(c_size_t), intent(inout) :: count
    end function
    integer(c_int) function weft_fortran_margins(facts, side, layout, lower, upper) bind(C)
      import :: c_int, c_int64_t, plan_facts, c_layout
      type(plan_facts), intent(in) :: facts
      integer(c_int), value :: side
      type(c_layout), intent(in) :: layout
      integer(c_int64_t), intent(inout) :: lower(*), upper(*)
    end function
    integer(c_int) function weft_fortran_strides(array, rank, strides) bind(C)
      import :: c_int, c_int64_t
      type(*), dimension(..), intent(in) :: array
      integer(c_int), intent(inout) :: rank
      integer(c_int64_t), intent(inout) :: strides(*)
    end function
    integer(c_int) function weft_fortran_view_real32(plan, facts, side, allocates, memory, array) bind(C)
      import :: c_int, c_ptr, plan_facts, c_float
      type(c_ptr), value :: plan, memory
      type(plan_facts), intent(in) :: facts
      integer(c_int), value :: side, allocates
      real(c_float), pointer, intent(inout) :: array(..)
    end function
    integer(c_int) function weft_fortran_view_real64(plan, facts, side, allocates, memory, array) bind(C)
      import :: c_int, c_ptr, plan_facts, c_double
      type(c_ptr), value :: plan, memory
      type(plan_facts), intent(in) :: facts
      integer(c_int), value :: side, allocates
      real(c_double), pointer, intent(inout) :: array(..)
    end function
    integer(c_int) function weft_fortran_view_complex32(plan, facts, side, allocates, memory, array) bind(C)
      import :: c_int, c_ptr, plan_facts, c_float_complex
      type(c_ptr), value :: plan, memory
      type(plan_facts), intent(in) :: facts
      integer(c_int), value :: side, allocates
      complex(c_float_complex), pointer, intent(inout) :: array(..)
    end function
    integer(c_int) function weft_fortran_view_complex64(plan, facts, side, allocates, memory, array) bind(C)
      import :: c_int, c_ptr, plan_facts, c_double_complex
      type(c_ptr), value :: plan, memory
      type(plan_facts), intent(in) :: facts
      integer(c_int), value :: side, allocates
      complex(c_double_complex), pointer, intent(inout) :: array(..)
    end function
    integer(c_int) function weft_fortran_gradient_view_real32(gradient, facts, side, allocates, memory, array) bind(C)
      import :: c_int, c_ptr, plan_facts, c_float
      type(c_ptr), value :: gradient, memory
      type(plan_facts), intent(in) :: facts
      integer(c_int), value :: side, allocates
      real(c_float), pointer, intent(inout) :: array(..)
    end function
    integer(c_int) function weft_fortran_gradient_view_real64(gradient, facts, side, allocates, memory, array) bind(C)
      import :: c_int, c_ptr, plan_facts, c_double
      type(c_ptr), value :: gradient, memory
      type(plan_facts), intent(in) :: facts
      integer(c_int), value :: side, allocates
      real(c_double), pointer, intent(inout) :: array(..)
    end function
    integer(c_int) function weft_fortran_gradient_view_complex32(gradient, facts, side, allocates, memory, array) bind(C)
      import :: c_int, c_ptr, plan_facts, c_float_complex
      type(c_ptr), value :: gradient, memory
      type(plan_facts), intent(in) :: facts
      integer(c_int), value :: side, allocates
      complex(c_float_complex), pointer, intent(inout) :: array(..)
    end function
    integer(c_int) function weft_fortran_gradient_view_complex64(gradient, facts, side, allocates, memory, array) bind(C)
      import :: c_int, c_ptr, plan_facts, c_double_complex
      type(c_ptr), value :: gradient, memory
      type(plan_facts), intent(in) :: facts
      integer(c_int), value :: side, allocates
      complex(c_double_complex), pointer, intent(inout) :: array(..)
    end function
    subroutine weft_fortran_deallocate_real32(array) bind(C)
      import :: c_float
      real(c_float), pointer, intent(inout) :: array(..)
    end subroutine
    subroutine weft_fortran_deallocate_real64(array) bind(C)
      import :: c_double
      real(c_double), pointer, intent(inout) :: array(..)
    end subroutine
    subroutine weft_fortran_deallocate_complex32(array) bind(C)
      import :: c_float_complex
      complex(c_float_complex), pointer, intent(inout) :: array(..)
    end subroutine
    subroutine weft_fortran_deallocate_complex64(array) bind(C)
      import :: c_double_complex
      complex(c_double_complex), pointer, intent(inout) :: array(..)
    end subroutine
  end interface
end module
