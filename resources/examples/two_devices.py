"""Two branches on two simulated devices: two queues, two threads, one join on the CPU."""
# devices: cpu,sim:2
import torch


def device(name):
    """The device if it is there, else the CPU: without devices the same script has one queue."""
    try:
        return torch.zeros(1).to(name).device
    except RuntimeError:
        return torch.device('cpu')


torch.manual_seed(2)
first, second = device('sim:0'), device('sim:1')
x = torch.randn(64, 64)
w0 = torch.randn(64, 64).to(first).requires_grad_()
w1 = torch.randn(64, 64).to(second).requires_grad_()

a, b = x.to(first), x.to(second)
for _ in range(3):
    a = torch.tanh(a @ w0)
    b = torch.tanh(b @ w1)
loss = (a.to('cpu') * b.to('cpu')).mean()
loss.backward()

print(f'on {first} and {second}: loss {loss.item():.6f}')
print(f'gradients {w0.grad.abs().sum().item():.4f} {w1.grad.abs().sum().item():.4f}')
