"""A side stream reads what the default stream still writes: nothing makes it wait, and the tape says so."""
# devices: cpu,sim:1
import sys

import torch
from torch import sim

x = torch.ones(256, 256).to('sim:0')
w = torch.full((256, 256), 0.01).to('sim:0').requires_grad_()
side = torch.Stream('sim:0')

h = x @ w  # on the default stream
if 'wait' in sys.argv[1:]:
    side.wait_stream(sim.current_stream())  # what is missing without the argument
with sim.stream(side):
    y = torch.relu(h).sum()  # may run before h is there
sim.current_stream().wait_stream(side)

y.backward()
print(f'loss {y.item():.2f}, gradient {w.grad.sum().item():.2f}')
