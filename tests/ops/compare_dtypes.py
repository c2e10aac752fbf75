# SPDX-License-Identifier: LGPL-2.1-or-later
"""Operations on every dtype, and on pairs of dtypes: Tapedeck's engine computes, promotes, prints and refuses as PyTorch
2.13 does. Halves agree to the last bit, but for the rows of ROUGH. The rows name every function that both have and that
computes. Skipped where PyTorch 2.13 is not installed.

    compare_dtypes.py [sample]     `sample` takes every 20th row alone
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

import dtype_rows
import skipping
import torches

TAPEDECK = os.environ['TAPEDECK']
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'dtype_cases.py')
STEP = 20 if 'sample' in sys.argv[1:] else 1
PLAIN = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}

# PyTorch rounds some of these on the way, by kernel: a sum of exponentials, a mean, a product of three factors. Convolutions
# differ between processors.
ROUGH = ('softmax', 'cross_entropy', 'layer_norm', 'batch_norm', 'mse_loss', 'norm()', 'bilinear', 'max_norm', 'per_sample_weights',
         'glu(', 'instance_norm', 'rms_norm', 'scaled_dot_product_attention', 'SGD', 'Adam', 'NAdam', 'RAdam', 'RMSprop', 'Ada',
         'rsqrt', 'logsumexp', 'logit', 'xlogy', 'matrix_power', 'blackman', 'hypot', 'logaddexp', 'logcumsumexp', 'addmv',
         'renorm', 'sinc', 'local_response_norm', 'conv')
HALF_STEPS = {'torch.float16': 2 ** -8, 'torch.bfloat16': 2 ** -5}


INTEGERS = 'uint8 int8 int16 int32 int64'
# Where Tapedeck is known to differ: what a row begins with, and for which dtypes. resources/docs/differences.md tells most of them.
KNOWN = [
    # It refuses.
    ('F.avg_pool', 'int64'), ('F.conv', INTEGERS), ('F.max_pool2d', INTEGERS), ('F.dropout', INTEGERS + ' bool'),
    ('p.polygamma', INTEGERS + ' bool'),
    ('F.lp_pool', 'int64 bool'), ('torch.view_as_complex', 'float16'),
    # It takes what PyTorch refuses.
    ('F.local_response_norm', None), ('F.rrelu(x, training=True)', 'float16'), ("F.pad(m[None], (", 'bool'), ('torch.isin', 'bool'),
    ("changed(x, 'cumprod_', 0, dtype", None), ("changed(x, 'cumsum_', 0, dtype", None), ("changed(x, 'clamp_m", 'bool'),
    ('F.hardtanh', 'uint8'), ('m.nanmedian', 'bool'), ("m.scatter_reduce(1, j, m, 'mean", 'bool'), ("m.index_reduce(0, i[:1], m[:1], 'mean", 'bool'),
    # Its result differs: PyTorch turns a bound below 0 into a byte; draws many halves in another order; has complex32; its
    # matrix_exp of halves is NaN.
    ('x.cl', 'uint8 bool'), ("changed(x, 'cl", 'uint8'), ('torch.randn(20', 'float16 bfloat16'), ('torch.complex', 'float16'), ('torch.polar', 'float16'),
    ('p.pow(1.2', 'float16'), ('(1 + 1j) ** p', 'float16'), ('torch.pow(1j', 'float16'), ("changed(p, 'pow_', 1.2", None),
    ('q.addr', 'bool'), ('q.matrix_exp', 'float16 bfloat16'), ('F.interpolate(c, size=3', 'uint8 float16 bfloat16'),
    ('F.upsample_bilinear', 'uint8 float16 bfloat16'), ('F.grid_sample', 'float16 bfloat16'),
    # Another error.
    ("changed(m, 'cum", 'bool'), ("changed(x, 'cum", 'bool'), ("changed(m, 'scatter_reduce_', 1, j, m, 'mean", 'bool'), ("changed(m, 'index_reduce_', 0, i[:1], m[:1], 'mean", 'bool'),
]
# The same of complex numbers, which PyTorch takes in fewer layers, or with another error.
KNOWN_OF_COMPLEX = (
    # It refuses.
    'x.logaddexp', 'x.logcumsumexp', 'm.logsumexp', "m.scatter_reduce(1, j, m, 'mean", "m.index_reduce(0, i[:1], m[:1], 'mean",
    "changed(m, 'scatter_reduce_", "changed(m, 'index_reduce_", 'q.', 'torch.eye(2).to(x.dtype).cholesky', 'F.conv', 'F.dropout(x, 1.0',
    'F.silu', 'torch.nn.', 'x.clone().normal_', 'x.clone().uniform_', 'torch.normal',
    # It takes what PyTorch refuses.
    'x.unique', 'm.unique', 'x.nansum(dtype', 'm.nansum(1, dtype', "changed(x, 'cum", 'F.cosine_similarity', 'F.glu', 'F.interpolate', 'F.kl_div', 'F.local_response_norm',
    'F.upsample', 'F.avg_pool3d', 'x.clone().bernoulli_',
    # Another error.
    'torch.hann_window', 'torch.hamming_window', 'torch.blackman_window', 'F.adaptive_max_pool', 'F.max_pool3d', 'x.clone().random_',
    'torch.randint', 'F.rrelu', "changed(x, 'div_', y, rounding_mode", "m.scatter_reduce(1, j, m, 'amax", 'F.max_pool', 'F.ctc_loss', 'F.grid_sample',
)
# Functions that compute nothing, or nothing that a dtype changes.
NO_ROWS = set('''
    are_deterministic_algorithms_enabled as_subclass backward broadcast_shapes cuda dense_dim device_count dump finfo get_default_dtype
    get_float32_matmul_precision get_num_threads get_rng_state iinfo initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled
    is_grad_enabled is_inference_mode_enabled is_storage is_warn_always_enabled load manual_seed multi_head_attention_forward
    pin_memory record_stream register_post_accumulate_grad_hook save seed set_anomaly_enabled set_default_device
    set_default_dtype set_default_tensor_type set_float32_matmul_precision set_num_threads set_printoptions set_rng_state
    set_warn_always share_memory_ sparse_dim storage typename use_deterministic_algorithms
'''.split())


def run(command):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'out.json')
        done = subprocess.run([*command(folder), CASES, out, str(STEP)], cwd=folder, env=PLAIN, text=True, capture_output=True, timeout=250)
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        with open(out) as file:
            return json.load(file)


def largest(a):
    return max(map(largest, a), default=0) if isinstance(a, list) else abs(a) if isinstance(a, float) else 0


def close(a, b, step, least):
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(close(x, y, step, least) for x, y in zip(a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=step, abs_tol=least)
    return a == b and type(a) is type(b)


def named():
    """The functions of dtype_rows.py, and those in place that are made of them."""
    rows = dtype_rows.METHODS + dtype_rows.MODULE + dtype_rows.LAYERS + dtype_rows.DRAWS
    plain = set(re.findall(r'\b([A-Za-z]\w*)\(', rows))
    return plain | {name + '_' for name in plain}


def is_known(row):
    return any(row.startswith(start) and (dtypes is None or row.rpartition(', ')[2] in dtypes.split()) for start, dtypes in KNOWN)


def both_refuse(theirs, ours):
    return theirs[0] == ours[0] == 'raised' and theirs[1] == ours[1]


def may_differ(row, theirs, ours):
    """Of the rows of dtype_rows.py the texts of errors are not compared."""
    if ours is None:
        return row.startswith('changed(')
    if row.endswith((', complex64', ', complex128')) and 'raised' in (theirs[0], ours[0]) and row.startswith(KNOWN_OF_COMPLEX):
        return True
    return both_refuse(theirs, ours) or is_known(row)


def alike(row, theirs, ours):
    if row.startswith('gradients'):
        return all(a == b or a and b and alike(row[10:], a, b) for a, b in zip(theirs, ours, strict=True))
    step = 1e-5
    if 'float16' in theirs[0]:
        step = HALF_STEPS[theirs[0]] if any(word in row for word in ROUGH) else 0
    least = step * largest(theirs[2:]) if 'conv' in row else step / 10
    return theirs[:2] == ours[:2] and close(theirs[2:], ours[2:], step, least)


class CompareDtypes(unittest.TestCase):
    maxDiff = None

    def test_every_row(self):
        python = torches.python_of('2.13.0')
        ours = run(lambda folder: [TAPEDECK, 'run', '--devices', 'cpu', '--semantics', '2.13', '-o',
                                   os.path.join(folder, 'x.tape')])
        theirs = run(lambda folder: [python])
        names = set(ours.pop('names')) & set(theirs.pop('names'))
        exact = set(ours.pop('exact')) & set(theirs.pop('exact'))
        self.assertGreater(len(theirs), 11000 / STEP)
        for row, their in theirs.items():
            our = ours.get(row)
            with self.subTest(row):
                fine = row not in exact and may_differ(row, their, our)
                self.assertTrue(fine or alike(row, their, our), f'{their}, {our}')
        if STEP == 1:
            self.assertEqual(sorted(names - NO_ROWS - named()), [])


if __name__ == '__main__':
    sys.argv[1:] = []
    skipping.main(verbosity=2)
