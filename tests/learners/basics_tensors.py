# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, Learn the Basics: tensors"""
import numpy as np
import torch

torch.manual_seed(0)
data = [[1, 2], [3, 4]]
x_data = torch.tensor(data)
np_array = np.array(data)
x_np = torch.from_numpy(np_array)
x_ones = torch.ones_like(x_data)
print(f'Ones Tensor: \n {x_ones} \n')
x_rand = torch.rand_like(x_data, dtype=torch.float)
print(f'Random Tensor: \n {x_rand} \n')
shape = (2, 3,)
print(torch.rand(shape), torch.ones(shape), torch.zeros(shape), sep='\n')
tensor = torch.rand(3, 4)
print(tensor.shape, tensor.dtype, tensor.device)
if torch.cuda.is_available():
    tensor = tensor.to('cuda')
tensor = torch.ones(4, 4)
print(f'First row: {tensor[0]}')
print(f'First column: {tensor[:, 0]}')
print(f'Last column: {tensor[..., -1]}')
tensor[:, 1] = 0
print(tensor)
t1 = torch.cat([tensor, tensor, tensor], dim=1)
print(t1)
y1 = tensor @ tensor.T
y2 = tensor.matmul(tensor.T)
y3 = torch.rand_like(y1)
torch.matmul(tensor, tensor.T, out=y3)
print(torch.equal(y1, y2), torch.equal(y1, y3))
z3 = torch.rand_like(tensor)
torch.mul(tensor, tensor, out=z3)
agg = tensor.sum()
print(agg.item(), type(agg.item()))
tensor.add_(5)
print(tensor)
t = torch.ones(5)
n = t.numpy()
t.add_(1)
print(f't: {t}', f'n: {n}')
n = np.ones(5)
t = torch.from_numpy(n)
np.add(n, 1, out=n)
print(f't: {t}', f'n: {n}')
