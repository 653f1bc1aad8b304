// The names of Intel MKL's functions that Weft looks for, with nothing behind them: for tests of where the
// library is found.
extern "C" {
long create() __asm__("DftiCreateDescriptor");
long set() __asm__("DftiSetValue");
long commit() __asm__("DftiCommitDescriptor");
long forward() __asm__("DftiComputeForward");
long backward() __asm__("DftiComputeBackward");
long free_descriptor() __asm__("DftiFreeDescriptor");
const char* message() __asm__("DftiErrorMessage");
void set_threads() __asm__("MKL_Set_Num_Threads");
int most_threads() __asm__("MKL_Get_Max_Threads");

long create() {
  return 1;
}
long set() {
  return 1;
}
long commit() {
  return 1;
}
long forward() {
  return 1;
}
long backward() {
  return 1;
}
long free_descriptor() {
  return 1;
}
const char* message() {
  return "an imitation";
}
void set_threads() {}
int most_threads() {
  return 1;
}
}
