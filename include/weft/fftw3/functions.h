/* The functions of weft/fftw3-mpi.h in one precision. That header includes this file once for each.

   Everything that takes a communicator is collective over it, except the local sizes. */

/* Must come before any other function here; MPI has to be initialised. Local. */
extern void WEFT_FFTW_MPI(init)(void);
/* Forgets all wisdom, FFTW's included, and gives up the communicators that no plan uses. Collective. */
extern void WEFT_FFTW_MPI(cleanup)(void);

/* How an array of n[0] x ... x n[rank-1] points of howmany numbers is divided: this rank has local_n0 rows of
   the first dimension from local_0_start on, and where plans are TRANSPOSED local_n1 of the second from
   local_1_start on. A rank without points gets 0 and 0. Blocks are of block0 and block1 rows, or
   FFTW_MPI_DEFAULT_BLOCK. Returns how many numbers, complex for dft, r2c and c2r (there n[rank-1] counts
   complex points, n/2+1), real for r2r and transposes, an array needs room for on this rank, for input and
   output; at least 1. Local. */
extern ptrdiff_t WEFT_FFTW_MPI(local_size_many_transposed)(int rank, const ptrdiff_t* n, ptrdiff_t howmany,
                                                           ptrdiff_t block0, ptrdiff_t block1, MPI_Comm comm,
                                                           ptrdiff_t* local_n0, ptrdiff_t* local_0_start,
                                                           ptrdiff_t* local_n1, ptrdiff_t* local_1_start);
extern ptrdiff_t WEFT_FFTW_MPI(local_size_many)(int rank, const ptrdiff_t* n, ptrdiff_t howmany,
                                                ptrdiff_t block0, MPI_Comm comm, ptrdiff_t* local_n0,
                                                ptrdiff_t* local_0_start);
extern ptrdiff_t WEFT_FFTW_MPI(local_size_transposed)(int rank, const ptrdiff_t* n, MPI_Comm comm,
                                                      ptrdiff_t* local_n0, ptrdiff_t* local_0_start,
                                                      ptrdiff_t* local_n1, ptrdiff_t* local_1_start);
extern ptrdiff_t WEFT_FFTW_MPI(local_size)(int rank, const ptrdiff_t* n, MPI_Comm comm, ptrdiff_t* local_n0,
                                           ptrdiff_t* local_0_start);
extern ptrdiff_t WEFT_FFTW_MPI(local_size_2d)(ptrdiff_t n0, ptrdiff_t n1, MPI_Comm comm, ptrdiff_t* local_n0,
                                              ptrdiff_t* local_0_start);
extern ptrdiff_t WEFT_FFTW_MPI(local_size_2d_transposed)(ptrdiff_t n0, ptrdiff_t n1, MPI_Comm comm,
                                                         ptrdiff_t* local_n0, ptrdiff_t* local_0_start,
                                                         ptrdiff_t* local_n1, ptrdiff_t* local_1_start);
extern ptrdiff_t WEFT_FFTW_MPI(local_size_3d)(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, MPI_Comm comm,
                                              ptrdiff_t* local_n0, ptrdiff_t* local_0_start);
extern ptrdiff_t WEFT_FFTW_MPI(local_size_3d_transposed)(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2,
                                                         MPI_Comm comm, ptrdiff_t* local_n0,
                                                         ptrdiff_t* local_0_start, ptrdiff_t* local_n1,
                                                         ptrdiff_t* local_1_start);
/* The same for one dimension: points from local_i_start of the input and from local_o_start of the output, in
   natural order. Both sides differ, and change places with the sign, unless there are at least as many
   numbers in a point as ranks. Then, and on one rank, the functions above serve as well; else they end the
   program. */
extern ptrdiff_t WEFT_FFTW_MPI(local_size_many_1d)(ptrdiff_t n0, ptrdiff_t howmany, MPI_Comm comm, int sign,
                                                   unsigned flags, ptrdiff_t* local_ni,
                                                   ptrdiff_t* local_i_start, ptrdiff_t* local_no,
                                                   ptrdiff_t* local_o_start);
extern ptrdiff_t WEFT_FFTW_MPI(local_size_1d)(ptrdiff_t n0, MPI_Comm comm, int sign, unsigned flags,
                                              ptrdiff_t* local_ni, ptrdiff_t* local_i_start,
                                              ptrdiff_t* local_no, ptrdiff_t* local_o_start);

/* Plans. Each returns NULL on all ranks if it cannot be made, and one rank says why on standard error.
   Planning leaves the arrays as they are, and executions out of place leave the input as it was. Transforms
   are not scaled. The howmany numbers of a point are neighbours in memory. The last dimension of a real array
   of r2c and c2r has room for 2(n/2+1) numbers, in place and out of place. */
extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_many_dft)(int rank, const ptrdiff_t* n, ptrdiff_t howmany, ptrdiff_t in_block,
                                 ptrdiff_t out_block, WEFT_FFTW(complex) * in, WEFT_FFTW(complex) * out,
                                 MPI_Comm comm, int sign, unsigned flags);
extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_dft)(int rank, const ptrdiff_t* n, WEFT_FFTW(complex) * in, WEFT_FFTW(complex) * out,
                            MPI_Comm comm, int sign, unsigned flags);
extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_dft_1d)(ptrdiff_t n0, WEFT_FFTW(complex) * in, WEFT_FFTW(complex) * out, MPI_Comm comm,
                               int sign, unsigned flags);
extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_dft_2d)(ptrdiff_t n0, ptrdiff_t n1, WEFT_FFTW(complex) * in, WEFT_FFTW(complex) * out,
                               MPI_Comm comm, int sign, unsigned flags);
extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_dft_3d)(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, WEFT_FFTW(complex) * in,
                               WEFT_FFTW(complex) * out, MPI_Comm comm, int sign, unsigned flags);

extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_many_dft_r2c)(int rank, const ptrdiff_t* n, ptrdiff_t howmany, ptrdiff_t in_block,
                                     ptrdiff_t out_block, WEFT_FFTW_REAL* in, WEFT_FFTW(complex) * out,
                                     MPI_Comm comm, unsigned flags);
extern WEFT_FFTW(plan) WEFT_FFTW_MPI(plan_dft_r2c)(int rank, const ptrdiff_t* n, WEFT_FFTW_REAL* in,
                                                   WEFT_FFTW(complex) * out, MPI_Comm comm, unsigned flags);
extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_dft_r2c_2d)(ptrdiff_t n0, ptrdiff_t n1, WEFT_FFTW_REAL* in, WEFT_FFTW(complex) * out,
                                   MPI_Comm comm, unsigned flags);
extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_dft_r2c_3d)(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, WEFT_FFTW_REAL* in,
                                   WEFT_FFTW(complex) * out, MPI_Comm comm, unsigned flags);

extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_many_dft_c2r)(int rank, const ptrdiff_t* n, ptrdiff_t howmany, ptrdiff_t in_block,
                                     ptrdiff_t out_block, WEFT_FFTW(complex) * in, WEFT_FFTW_REAL* out,
                                     MPI_Comm comm, unsigned flags);
extern WEFT_FFTW(plan) WEFT_FFTW_MPI(plan_dft_c2r)(int rank, const ptrdiff_t* n, WEFT_FFTW(complex) * in,
                                                   WEFT_FFTW_REAL* out, MPI_Comm comm, unsigned flags);
extern WEFT_FFTW(plan) WEFT_FFTW_MPI(plan_dft_c2r_2d)(ptrdiff_t n0, ptrdiff_t n1, WEFT_FFTW(complex) * in,
                                                      WEFT_FFTW_REAL* out, MPI_Comm comm, unsigned flags);
extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_dft_c2r_3d)(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, WEFT_FFTW(complex) * in,
                                   WEFT_FFTW_REAL* out, MPI_Comm comm, unsigned flags);

/* Of the kinds FFTW_REDFT and FFTW_RODFT; others are refused. */
extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_many_r2r)(int rank, const ptrdiff_t* n, ptrdiff_t howmany, ptrdiff_t in_block,
                                 ptrdiff_t out_block, WEFT_FFTW_REAL* in, WEFT_FFTW_REAL* out, MPI_Comm comm,
                                 const WEFT_FFTW(r2r_kind) * kinds, unsigned flags);
extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_r2r)(int rank, const ptrdiff_t* n, WEFT_FFTW_REAL* in, WEFT_FFTW_REAL* out,
                            MPI_Comm comm, const WEFT_FFTW(r2r_kind) * kinds, unsigned flags);
extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_r2r_2d)(ptrdiff_t n0, ptrdiff_t n1, WEFT_FFTW_REAL* in, WEFT_FFTW_REAL* out,
                               MPI_Comm comm, WEFT_FFTW(r2r_kind) kind0, WEFT_FFTW(r2r_kind) kind1,
                               unsigned flags);
extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_r2r_3d)(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, WEFT_FFTW_REAL* in,
                               WEFT_FFTW_REAL* out, MPI_Comm comm, WEFT_FFTW(r2r_kind) kind0,
                               WEFT_FFTW(r2r_kind) kind1, WEFT_FFTW(r2r_kind) kind2, unsigned flags);

/* From n0 x n1 points of howmany real numbers, cut along n0, to n1 x n0, cut along n1. TRANSPOSED_IN, _OUT:
   this rank's part of the input is n1 x local_n0, of the output n0 x local_n1. */
extern WEFT_FFTW(plan)
    WEFT_FFTW_MPI(plan_many_transpose)(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t howmany, ptrdiff_t block0,
                                       ptrdiff_t block1, WEFT_FFTW_REAL* in, WEFT_FFTW_REAL* out,
                                       MPI_Comm comm, unsigned flags);
extern WEFT_FFTW(plan) WEFT_FFTW_MPI(plan_transpose)(ptrdiff_t n0, ptrdiff_t n1, WEFT_FFTW_REAL* in,
                                                     WEFT_FFTW_REAL* out, MPI_Comm comm, unsigned flags);

/* Execute a plan of this library on other arrays, in place if and only if the plan is. Collective over the
   plan's communicator. Misuse ends the program, as in fftw_execute, since there is no status to return:
   MPI_Abort, after a message. Transposes are executed by execute_r2r. */
extern void WEFT_FFTW_MPI(execute_dft)(WEFT_FFTW(plan) plan, WEFT_FFTW(complex) * in,
                                       WEFT_FFTW(complex) * out);
extern void WEFT_FFTW_MPI(execute_dft_r2c)(WEFT_FFTW(plan) plan, WEFT_FFTW_REAL* in,
                                           WEFT_FFTW(complex) * out);
extern void WEFT_FFTW_MPI(execute_dft_c2r)(WEFT_FFTW(plan) plan, WEFT_FFTW(complex) * in,
                                           WEFT_FFTW_REAL* out);
extern void WEFT_FFTW_MPI(execute_r2r)(WEFT_FFTW(plan) plan, WEFT_FFTW_REAL* in, WEFT_FFTW_REAL* out);

/* Adds the wisdom of all ranks to rank 0's; that of rank 0 to all others'. Of Weft and of FFTW, float and
 * double. */
extern void WEFT_FFTW_MPI(gather_wisdom)(MPI_Comm comm);
extern void WEFT_FFTW_MPI(broadcast_wisdom)(MPI_Comm comm);
