"""A two-layer LSTM on sequences of words, and one written out cell by cell with a sparse embedding."""
import torch
from torch import nn
from torch.nn import functional as F


class Cells(nn.Module):
    def __init__(self, n_words, n):
        super().__init__()
        self.embedding = nn.Embedding(n_words, n, sparse=True)
        self.input, self.hidden, self.output = nn.Linear(n, 4 * n), nn.Linear(n, 4 * n), nn.Linear(n, n_words)

    def forward(self, words):
        embedded = self.embedding(words)
        h = c = torch.zeros(words.size(0), self.embedding.embedding_dim)
        outputs = []
        for t in range(words.size(1)):
            i, f, g, o = (self.input(embedded[:, t]) + self.hidden(h)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outputs.append(self.output(h))
        return torch.stack(outputs, 1)


torch.manual_seed(2)
words = torch.randint(0, 50, (4, 10))

embedding, lstm, decoder = nn.Embedding(50, 16), nn.LSTM(16, 16, 2, batch_first=True), nn.Linear(16, 50)
outputs, (h, c) = lstm(embedding(words))
loss = F.cross_entropy(decoder(outputs).flatten(0, 1), words.flatten()) + h.pow(2).mean() + c.pow(2).mean()
loss.backward()
print('nn.LSTM', loss.item(), [round(p.grad.norm().item(), 5) for p in lstm.parameters()])

cells = Cells(50, 16)
loss = F.cross_entropy(cells(words).flatten(0, 1), words.flatten())
loss.backward()
print('cells', loss.item(), cells.embedding.weight.grad.is_sparse, cells.hidden.weight.grad.norm().item())
