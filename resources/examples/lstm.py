"""nn.LSTM with two layers over ten steps, made of small operations as in PyTorch 1.13 on the CPU."""
import torch
from torch import nn


def loss():
    lstm = nn.LSTM(16, 16, num_layers=2, batch_first=True)
    output, _ = lstm(torch.randn(4, 10, 16))
    return output.sum()


if __name__ == '__main__':
    torch.manual_seed(0)
    value = loss()
    value.backward()
    print(f'sum {value.item():.4f}')
