/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * log, sin and cos of floats by the polynomials of Moshier's Cephes library. They are evaluated as
 * in vector code on processors with fused multiply-add. PyTorch makes its normal numbers with them;
 * ours must be equal in the last bit. Any thread. */
#pragma once

/* td_cephes_log takes a positive normal number, td_cephes_sincos one in [0, 8192). */
float td_cephes_log(float x);
void td_cephes_sincos(float x, float *sine, float *cosine);
