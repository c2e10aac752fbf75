# SPDX-License-Identifier: LGPL-2.1-or-later
"""Neural networks, zero to hero, makemore: counted bigrams and one layer"""
import torch
import torch.nn.functional as F

words = 'emma olivia ava isabella sophia charlotte mia amelia harper evelyn abigail emily'.split()
N = torch.zeros((27, 27), dtype=torch.int32)
chars = sorted(list(set(''.join(words))))
stoi = {s: ord(s) - 96 for s in chars}
stoi['.'] = 0
itos = {i: s for s, i in stoi.items()}
for w in words:
    chs = ['.'] + list(w) + ['.']
    for ch1, ch2 in zip(chs, chs[1:]):
        N[stoi[ch1], stoi[ch2]] += 1
print(N[0])
g = torch.Generator().manual_seed(2147483647)
P = (N + 1).float()
P /= P.sum(1, keepdims=True)
for i in range(4):
    out, ix = [], 0
    while True:
        p = P[ix]
        ix = torch.multinomial(p, num_samples=1, replacement=True, generator=g).item()
        out.append(itos.get(ix, '?'))
        if ix == 0:
            break
    print(''.join(out))
log_likelihood, n = 0.0, 0
for w in words:
    chs = ['.'] + list(w) + ['.']
    for ch1, ch2 in zip(chs, chs[1:]):
        log_likelihood += torch.log(P[stoi[ch1], stoi[ch2]])
        n += 1
print(f'{log_likelihood=}')
print(f'{-log_likelihood / n}')
xs, ys = [], []
for w in words:
    chs = ['.'] + list(w) + ['.']
    for ch1, ch2 in zip(chs, chs[1:]):
        xs.append(stoi[ch1])
        ys.append(stoi[ch2])
xs, ys = torch.tensor(xs), torch.tensor(ys)
num = xs.nelement()
g = torch.Generator().manual_seed(2147483647)
W = torch.randn((27, 27), generator=g, requires_grad=True)
for k in range(5):
    xenc = F.one_hot(xs, num_classes=27).float()
    logits = xenc @ W
    counts = logits.exp()
    probs = counts / counts.sum(1, keepdims=True)
    loss = -probs[torch.arange(num), ys].log().mean() + 0.01 * (W ** 2).mean()
    print(f'{loss.item():.4f}')
    W.grad = None
    loss.backward()
    W.data += -50 * W.grad
