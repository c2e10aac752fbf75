"""Two streams of one device: backward kernels run on the streams of the forward pass."""
import contextlib

import torch

try:
    from torch import sim
    device, side = 'sim:0', torch.Stream('sim:0')
    main = sim.current_stream()
except (ImportError, RuntimeError):  # no simulated device: one stream, which is the CPU itself
    device = side = None

x = torch.tensor([0.5]).to(device or 'cpu').requires_grad_()
a = x.sin()
if side:
    side.wait_stream(main)
with side or contextlib.nullcontext():
    b = a.exp()
    c = b * 2
if side:
    main.wait_stream(side)
loss = a.tanh() * c
loss.backward()
print('x.grad', x.grad.to('cpu'))
