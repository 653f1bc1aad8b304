! Weft for Fortran: `use weft` gives all that docs/fortran.md describes. What it consists of is in the other files.
module weft
  use weft_status_module, only: weft_success, weft_failure, weft_bad_handle, weft_bad_argument, weft_no_memory, &
    weft_internal, weft_error, weft_message, weft_last_error, weft_status_name, weft_version
  use weft_axes_module, only: weft_box, weft_intersect
  use weft_problems_module, only: weft_distribution, weft_slab, weft_pencil, weft_brick, weft_grid, weft_boxes, &
    weft_own_box, weft_fastest, weft_columns, weft_sphere, &
    weft_problem, weft_line_shape, weft_max_dimensions, weft_none, weft_c2c, weft_r2c, weft_dct1, weft_dct2, &
    weft_dct3, weft_dct4, weft_dst1, weft_dst2, weft_dst3, weft_dst4, weft_float32, weft_float64, weft_host, weft_cuda, &
    weft_element_auto, weft_real, weft_complex, weft_nyquist_shared, weft_nyquist_odd, weft_nyquist_single, &
    weft_between_none, weft_between_modes, weft_between_points, &
    weft_unscaled, weft_symmetric, weft_full
  use weft_ranks_module, only: weft_comm, weft_comm_self, weft_team, weft_body
  use weft_options_module, only: weft_options
  use weft_operators_module, only: weft_operator, weft_block
  use weft_mode_operators_module, only: weft_mode_operator, weft_filter
  use weft_plans_module, only: weft_plan, weft_layout, weft_operation_time, weft_accuracy, weft_deallocate, &
    weft_forward, weft_backward, weft_input, weft_output, weft_nyquist_kept, weft_nyquist_zero
  use weft_gradients_module, only: weft_gradient
  use weft_trials_module, only: weft_export_wisdom, weft_import_wisdom, weft_forget_wisdom, weft_interrupt_trials_if, &
    weft_report_trials_to, weft_trial_progress, weft_information_json, weft_asked, weft_told
  use weft_communicators_module  ! weft_comm_mpi, as far as this build has MPI
  implicit none
  public
end module
