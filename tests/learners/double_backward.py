# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, double backward with functions of one's own"""
import torch
from torch.autograd import Function, gradcheck, gradgradcheck


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2

    @staticmethod
    def backward(ctx, grad_out):
        x, = ctx.saved_tensors
        return grad_out * 2 * x


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        result = torch.exp(x)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_out):
        result, = ctx.saved_tensors
        return result * grad_out


class Sinh(Function):
    @staticmethod
    def forward(ctx, x):
        expx, expnegx = torch.exp(x), torch.exp(-x)
        ctx.save_for_backward(expx, expnegx)
        return (expx - expnegx) / 2, expx, expnegx

    @staticmethod
    def backward(ctx, grad_out, _grad_out_exp, _grad_out_negexp):
        expx, expnegx = ctx.saved_tensors
        grad_input = grad_out * (expx + expnegx) / 2
        grad_input += _grad_out_exp * expx
        grad_input -= _grad_out_negexp * expnegx
        return grad_input


torch.manual_seed(0)
x = torch.rand(3, 3, requires_grad=True, dtype=torch.double)
for function in (Square.apply, Exp.apply, lambda x: Sinh.apply(x)[0]):
    print(gradcheck(function, x), gradgradcheck(function, x))
out = Square.apply(torch.tensor(3., requires_grad=True))
print(out, out.grad_fn.name(), out.grad_fn.next_functions[0][0].name()[-14:])
