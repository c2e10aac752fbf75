"""A small GPT with tied embeddings, two steps of AdamW."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = (part.view(n, length, self.n_heads, -1).transpose(1, 2) for part in self.qkv(x).split(width, 2))
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        past = torch.ones(length, length, dtype=torch.bool).tril()
        weights = self.dropout(F.softmax(scores.masked_fill(~past, float('-inf')), -1))
        return self.out((weights @ v).transpose(1, 2).contiguous().view(n, length, width))


class Layer(nn.Module):
    def __init__(self, width, n_heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, n_heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, n_words=40, length=12, width=32, n_heads=4, n_layers=2):
        super().__init__()
        self.words, self.places = nn.Embedding(n_words, width), nn.Embedding(length, width)
        self.layers = nn.ModuleList(Layer(width, n_heads) for _ in range(n_layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, n_words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, words):
        x = self.words(words) + self.places(torch.arange(words.size(1)))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


torch.manual_seed(3)
net = GPT()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
words = torch.randint(0, 40, (2, 13))
for step in range(2):
    logits = net(words[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    print(f'step {step} loss {loss.item():.6f} norm {norm.item():.6f}')
