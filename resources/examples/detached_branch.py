"""A detach() too many cuts one of two branches off the loss: no gradient reaches its parameters, and nothing complains."""
import torch
from torch import nn

torch.manual_seed(0)


class TwoBranches(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(4, 3)
        self.right = nn.Linear(4, 3)

    def forward(self, x):
        return self.left(x) + torch.tanh(self.right(x)).detach()  # was meant for a picture of the values


net = TwoBranches()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()

print('right.weight.grad', net.right.weight.grad)
