"""A leaf runs as soon as it is ready, and a heap decides between several leaves."""
import torch


def parameter():
    return torch.nn.Parameter(torch.tensor([0.5]))


class Pair(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = parameter(), parameter()

    def forward(self):
        early = self.a.sin()
        late = self.b.exp()
        return early * late


class Five(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.d, self.e, self.f, self.g = [parameter() for _ in range(5)]

    def forward(self):
        return torch.cat([self.c, self.d, self.e, self.f, self.g]).sum()


pair, five = Pair(), Five()
pair().backward()
five().backward()
print('gradients', pair.a.grad, five.g.grad)
