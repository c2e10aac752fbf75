# SPDX-License-Identifier: LGPL-2.1-or-later
"""Neural networks, zero to hero, makemore: a multilayer perceptron on three letters"""
import random

import torch
import torch.nn.functional as F

words = 'emma olivia ava isabella sophia charlotte mia amelia harper evelyn abigail emily'.split()
chars = sorted(list(set(''.join(words))))
stoi = {s: i + 1 for i, s in enumerate(chars)}
stoi['.'] = 0
itos = {i: s for s, i in stoi.items()}
block_size, V = 3, len(itos)


def build_dataset(words):
    X, Y = [], []
    for w in words:
        context = [0] * block_size
        for ch in w + '.':
            ix = stoi[ch]
            X.append(context)
            Y.append(ix)
            context = context[1:] + [ix]
    X, Y = torch.tensor(X), torch.tensor(Y)
    print(X.shape, Y.shape)
    return X, Y


random.seed(42)
random.shuffle(words)
Xtr, Ytr = build_dataset(words[:9])
Xdev, Ydev = build_dataset(words[9:])
g = torch.Generator().manual_seed(2147483647)
C = torch.randn((V, 10), generator=g)
W1 = torch.randn((30, 50), generator=g)
b1 = torch.randn(50, generator=g)
W2 = torch.randn((50, V), generator=g)
b2 = torch.randn(V, generator=g)
parameters = [C, W1, b1, W2, b2]
print(sum(p.nelement() for p in parameters))
for p in parameters:
    p.requires_grad = True
lre = torch.linspace(-3, 0, 1000)
lrs = 10 ** lre
print(lrs[::250])
for i in range(30):
    ix = torch.randint(0, Xtr.shape[0], (16,), generator=g)
    emb = C[Xtr[ix]]
    h = torch.tanh(emb.view(-1, 30) @ W1 + b1)
    logits = h @ W2 + b2
    loss = F.cross_entropy(logits, Ytr[ix])
    for p in parameters:
        p.grad = None
    loss.backward()
    for p in parameters:
        p.data += -0.1 * p.grad
    if i % 10 == 0:
        print(i, f'{loss.item():.4f}')
with torch.no_grad():
    print(f'{F.cross_entropy(torch.tanh(C[Xdev].view(-1, 30) @ W1 + b1) @ W2 + b2, Ydev).item():.4f}')
for _ in range(3):
    out, context = [], [0] * block_size
    while len(out) < 12:
        emb = C[torch.tensor([context])]
        h = torch.tanh(emb.view(1, -1) @ W1 + b1)
        probs = F.softmax(h @ W2 + b2, dim=1)
        ix = torch.multinomial(probs, num_samples=1, generator=g).item()
        context = context[1:] + [ix]
        out.append(ix)
        if ix == 0:
            break
    print(''.join(itos[i] for i in out))
