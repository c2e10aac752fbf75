"""Two devices race: in one step the slow branch comes last, in the next one first. The sum of two gradients has another order."""
# devices: cpu,sim:2
import time

import torch

devices = ['sim:0', 'sim:1']
try:
    torch.ones(1).to('sim:0')
except (ImportError, RuntimeError):  # no simulated devices: one thread, and always one order
    devices = ['cpu', 'cpu']

x = torch.tensor([0.1, 0.7], requires_grad=True)
slow = [0.0, 0.0]


def wait_on(branch):
    def wait(gradient):
        time.sleep(slow[branch])
    return wait


for step in range(4):
    slow[step % 2], slow[1 - step % 2] = 0.05, 0.0
    branches = [x.to(device) * (3.1 + branch) for branch, device in enumerate(devices)]
    for branch, y in enumerate(branches):
        y.register_hook(wait_on(branch))
    (branches[0].to('cpu') + branches[1].to('cpu')).sum().backward()

print('x.grad', x.grad)
