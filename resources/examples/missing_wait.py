"""A side stream reads while the default stream still writes. Nothing makes it wait, and the tape shows this."""
# devices: cpu,sim:1
import contextlib
import sys

import torch

try:
    from torch import sim
    device, side = 'sim:0', torch.Stream('sim:0')
    main = sim.current_stream()
except (ImportError, RuntimeError):  # no simulated device: the CPU has no streams, and nothing is missing
    device = side = None

x = torch.ones(32, 32).to(device or 'cpu')
w = torch.full((32, 32), 0.01).to(device or 'cpu').requires_grad_()

h = x @ w  # on the default stream
if side and 'wait' in sys.argv[1:]:
    side.wait_stream(main)  # what is missing without the argument
with side or contextlib.nullcontext():
    y = torch.relu(h).sum()  # may run before h is there
if side:
    main.wait_stream(side)

y.backward()
print(f'loss {y.item():.2f}, gradient {w.grad.sum().item():.2f}')
