"""A language model of one LSTM, written cell by cell over ten steps, with a sparse embedding."""
import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, n_words=50, size=16):
        super().__init__()
        self.words = nn.Embedding(n_words, size, sparse=True)
        self.of_input = nn.Linear(size, 4 * size)
        self.of_state = nn.Linear(size, 4 * size)
        self.out = nn.Linear(size, n_words)

    def forward(self, text):
        h = c = torch.zeros(text.size(0), self.out.in_features)
        outputs, words = [], self.words(text)
        for t in range(text.size(1)):
            gates = self.of_input(words[:, t]) + self.of_state(h)
            i, f, g, o = gates.chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outputs.append(self.out(h))
        return torch.stack(outputs, 1)


def model():
    return Model()


def loss(net):
    text = torch.randperm(50)[:40].view(4, 10)
    return F.cross_entropy(net(text).view(-1, 50), text.view(-1))


if __name__ == '__main__':
    torch.manual_seed(0)
    value = loss(model())
    value.backward()
    print(f'loss {value.item():.4f}')
