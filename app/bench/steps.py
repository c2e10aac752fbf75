# SPDX-License-Identifier: LGPL-2.1-or-later
"""steps.py FOLDER_OF_EXAMPLES: trains the models of the examples, on the engine of this process.

Reads lines "MODEL N", and answers each with the processor time of a training step in nanoseconds: N steps, on average. So
other programs on the machine do not count. All threads of this process do.
"""
import contextlib
import io
import os
import runpy
import sys
import time

import torch

# Examples that train as soon as they run. Their loops compute this loss of `net`.
LOSSES = {'mlp': 'nn.functional.cross_entropy(net(x), target)',
          'digits': 'F.cross_entropy(net(images[:BATCH]), labels[:BATCH])',
          'detached_branch': 'net(torch.randn(8, 4)).square().mean()'}

# Others have functions model() and loss(net). Here a model also is as wide as in the world outside.
WIDE = {'resnet18_wide': ('resnet18', {'width': 64}, {'images': 8})}


def silent(path):
    with contextlib.redirect_stdout(io.StringIO()):
        return runpy.run_path(path)


def model_and_loss(name):
    example, of_model, of_loss = WIDE.get(name, (name, {}, {}))
    names = silent(os.path.join(sys.argv[1], example + '.py'))
    if name in LOSSES:
        code = compile(LOSSES[name], name, 'eval')
        return names['net'], lambda net: eval(code, names)
    return names['model'](**of_model), lambda net: names['loss'](net, **of_loss)


def training(name):
    torch.manual_seed(0)
    net, loss_of = model_and_loss(name)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.001)

    def step():
        loss = loss_of(net)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return step


def main():
    steps = {}
    torch.set_num_threads(1)
    print(1, flush=True)
    for line in sys.stdin:
        name, n = line.split()
        if name not in steps:
            steps[name] = training(name)
        begin = time.process_time_ns()
        for _ in range(int(n)):
            steps[name]()
        print((time.process_time_ns() - begin) / int(n), flush=True)


main()
