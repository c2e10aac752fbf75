"""Q = 3a^3 - b^2: two leaves, two powers, and which of them goes first."""
import torch

a = torch.tensor([2.0, 3.0], requires_grad=True)
b = torch.tensor([6.0, 4.0], requires_grad=True)
Q = 3 * a**3 - b**2
Q.backward(gradient=torch.tensor([1.0, 1.0]))

print('a.grad', a.grad, 'expected', 9 * a.detach() ** 2)
print('b.grad', b.grad, 'expected', -2 * b.detach())
