# SPDX-License-Identifier: LGPL-2.1-or-later
"""Operations that are made of others, as PyTorch makes them. FUNCTIONS stand in the package, METHODS in Tensor."""
from torch._composed import (comparing, complex_parts, creation, dtypes, pointwise, printing, products,  # noqa: F401
                             reducing, sampling, shapes)  # (they fill the tables)
from torch._composed.table import FUNCTIONS, METHODS  # noqa: F401
