# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parts of the module do what the real PyTorchs do.

    test_cases.py PART...     what PART_cases.py sees
"""
import os
import sys
import unittest

import seen_cases
import skipping

FOLDER = os.path.dirname(os.path.abspath(__file__))
PARTS = sys.argv[1:]


class Cases(unittest.TestCase):
    maxDiff = None

    def test_same_as_pytorch(self):
        for part in PARTS:
            seen_cases.compare(self, os.path.join(FOLDER, part + '_cases.py'))


if __name__ == '__main__':
    skipping.main(argv=sys.argv[:1], verbosity=2)
