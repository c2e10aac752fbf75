"""A GPT of two layers whose output layer shares the embedding's weight."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, size, n_heads, dropout):
        super().__init__()
        self.n_heads, self.dropout = n_heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.wide, self.narrow = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def attend(self, x, mask):
        batch, time, size = x.shape
        q, k, v = [part.view(batch, time, self.n_heads, -1).transpose(1, 2) for part in self.qkv(x).split(size, 2)]
        scores = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(k.size(-1)))
        weights = self.dropout(F.softmax(scores.masked_fill(~mask[:time, :time], float('-inf')), -1))
        return self.out((weights @ v).transpose(1, 2).contiguous().view(batch, time, size))

    def forward(self, x, mask):
        x = x + self.dropout(self.attend(self.norm1(x), mask))
        return x + self.dropout(self.narrow(F.gelu(self.wide(self.norm2(x)))))


class GPT(nn.Module):
    def __init__(self, n_words=50, n_times=16, size=32, n_heads=4, n_layers=2):
        super().__init__()
        self.words, self.times = nn.Embedding(n_words, size), nn.Embedding(n_times, size)
        self.dropout = nn.Dropout(0.1)
        self.blocks = nn.ModuleList([Block(size, n_heads, self.dropout) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(size)
        self.head = nn.Linear(size, n_words, bias=False)
        self.head.weight = self.words.weight
        self.register_buffer('mask', torch.tril(torch.ones(n_times, n_times)).bool())

    def forward(self, text):
        x = self.dropout(self.words(text) + self.times(torch.arange(text.size(1))))
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(self.norm(x))


def model():
    return GPT()


def loss(gpt):
    text = torch.randperm(50)[:32].view(2, 16)
    return F.cross_entropy(gpt(text).view(-1, 50), text.view(-1))


if __name__ == '__main__':
    torch.manual_seed(0)
    value = loss(model())
    value.backward()
    print(f'loss {value.item():.3f}')
