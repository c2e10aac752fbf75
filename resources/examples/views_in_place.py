"""Writes through views (CopySlices), then operations that read the result: reductions, indexing, joins."""
import torch


def loss():
    w = torch.randn(3, 3, requires_grad=True)
    b = w.clone()
    b[0] = b[1] * 2
    b[:, 1].mul_(3)
    return (b.index_select(0, torch.tensor([0, 2])).norm()
            + torch.where(b > 0, b, b * 2).max()
            + b.gather(0, torch.zeros(1, 3, dtype=torch.long)).log_softmax(1).sum()
            + torch.cat([b, b.t()], 0).std()
            + b.abs().clamp(0.1, 1).sqrt().prod(0).sum())


if __name__ == '__main__':
    torch.manual_seed(0)
    value = loss()
    value.backward()
    print(f'sum {value.item():.4f}')
