# SPDX-License-Identifier: LGPL-2.1-or-later
"""Optimizers and schedulers on PyTorch 2.13 and on Tapedeck: the same numbers to the last bit, states, prints and texts."""
import os

import both_engines

HERE = os.path.dirname(os.path.abspath(__file__))


# PyTorch takes square roots with a library that rounds some of them the other way.
ROOTS = ('Adafactor', 'Adam', 'AdamW', 'RMSprop', 'Adagrad', 'Adadelta', 'NAdam', 'RAdam')


class Optimizers(both_engines.BothEngines):
    cases = os.path.join(HERE, 'optim_cases.py')
    tolerances = {**{name: 1e-5 for name in ROOTS}, **{f'{name} double': 1e-13 for name in ROOTS},
                  'LBFGS': 1e-3, 'LBFGS double': 1e-9, 'resumed': 1e-5, 'tensor_rate': 1e-6}


class Schedules(both_engines.BothEngines):
    cases = os.path.join(HERE, 'schedule_cases.py')
    tolerances = dict.fromkeys(('averaged', 'averaged with buffers', 'averaged, ema', 'averaged one by one, ema',
                                'averaged one by one'), 1e-6)  # batch norm sums in another order


if __name__ == '__main__':
    both_engines.main()
