# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: skip-grams with negative sampling"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

np.random.seed(0)
torch.manual_seed(0)
corpus = 'the king and the queen rule the land while the dog and the cat sleep'.split()
vocab = sorted(set(corpus))
index = {word: i for i, word in enumerate(vocab)}
pairs = [(index[corpus[i]], index[corpus[j]]) for i in range(len(corpus)) for j in range(max(0, i - 2), min(len(corpus), i + 3))
         if i != j]
counts = np.bincount([index[word] for word in corpus])
weights = torch.from_numpy(counts ** 0.75).float()


class SkipGram(nn.Module):
    def __init__(self, n, dim):
        super().__init__()
        self.input, self.output = nn.Embedding(n, dim, sparse=True), nn.Embedding(n, dim, sparse=True)
        self.input.weight.data.uniform_(-0.5 / dim, 0.5 / dim)
        self.output.weight.data.zero_()

    def forward(self, center, context, negative):
        v, u, n = self.input(center), self.output(context), self.output(negative)
        positive_score = F.logsigmoid((v * u).sum(1))
        negative_score = F.logsigmoid(-torch.bmm(n, v.unsqueeze(2)).squeeze(2)).sum(1)
        return -(positive_score + negative_score).mean()


model = SkipGram(len(vocab), 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
data = torch.tensor(pairs)
for epoch in range(5):
    for batch in data[torch.randperm(len(data))].split(16):
        negative = torch.multinomial(weights, len(batch) * 3, replacement=True).view(len(batch), 3)
        loss = model(batch[:, 0], batch[:, 1], negative)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, f'{loss.item():.4f}')
emb = F.normalize(model.input.weight.detach(), dim=1)
print(F.cosine_similarity(emb[index['king']], emb[index['queen']], dim=0).shape, (emb @ emb.T).diag())
