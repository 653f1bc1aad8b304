// FFTW's types and functions, whose names differ by precision, under one name for both.
#pragma once

#include <fftw3.h>

namespace weft {

template <class Real>
struct Fftw;

template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  using Complex = fftw_complex;
  using Dim = fftw_iodim64;
  static constexpr auto c2c = fftw_plan_guru64_dft;
  static constexpr auto r2c = fftw_plan_guru64_dft_r2c;
  static constexpr auto c2r = fftw_plan_guru64_dft_c2r;
  static constexpr auto r2r = fftw_plan_guru64_r2r;
  static constexpr auto run = fftw_execute;
  static constexpr auto run_c2c = fftw_execute_dft;
  static constexpr auto run_r2c = fftw_execute_dft_r2c;
  static constexpr auto run_c2r = fftw_execute_dft_c2r;
  static constexpr auto run_r2r = fftw_execute_r2r;
  static constexpr auto destroy = fftw_destroy_plan;
  static constexpr auto allocate = fftw_malloc;
  static constexpr auto release = fftw_free;
  static constexpr auto limit_planning = fftw_set_timelimit;
  static constexpr auto make_thread_safe = fftw_make_planner_thread_safe;
  static constexpr auto export_wisdom = fftw_export_wisdom_to_string;
  static constexpr auto import_wisdom = fftw_import_wisdom_from_string;
  static constexpr auto forget_wisdom = fftw_forget_wisdom;
};

template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  using Dim = fftwf_iodim64;
  static constexpr auto c2c = fftwf_plan_guru64_dft;
  static constexpr auto r2c = fftwf_plan_guru64_dft_r2c;
  static constexpr auto c2r = fftwf_plan_guru64_dft_c2r;
  static constexpr auto r2r = fftwf_plan_guru64_r2r;
  static constexpr auto run = fftwf_execute;
  static constexpr auto run_c2c = fftwf_execute_dft;
  static constexpr auto run_r2c = fftwf_execute_dft_r2c;
  static constexpr auto run_c2r = fftwf_execute_dft_c2r;
  static constexpr auto run_r2r = fftwf_execute_r2r;
  static constexpr auto destroy = fftwf_destroy_plan;
  static constexpr auto allocate = fftwf_malloc;
  static constexpr auto release = fftwf_free;
  static constexpr auto limit_planning = fftwf_set_timelimit;
  static constexpr auto make_thread_safe = fftwf_make_planner_thread_safe;
  static constexpr auto export_wisdom = fftwf_export_wisdom_to_string;
  static constexpr auto import_wisdom = fftwf_import_wisdom_from_string;
  static constexpr auto forget_wisdom = fftwf_forget_wisdom;
};

}  // namespace weft
