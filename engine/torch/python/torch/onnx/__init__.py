# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.onnx, which is not here. Whatever a program calls says so."""


def _refuse(name):
    raise NotImplementedError(f"torch.onnx.{name} is not supported: Tapedeck's engine exports no models")


def export(*args, **kwargs):
    _refuse('export')


def dynamo_export(*args, **kwargs):
    _refuse('dynamo_export')


def is_in_onnx_export():
    return False
