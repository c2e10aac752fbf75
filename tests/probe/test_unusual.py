# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs with tensors, hooks, modules and handlers that are not the usual kind print and end as they do unrecorded, at
# each way of recording and on both PyTorchs. Their tapes keep every rule.
import pathlib

import skipping
import together
import torches
from record_case import CORPUS, TAPEDECK, RecordCase

WAYS = {'default': (), 'everything': ('--anomaly=nonfinite', '--stats=full', '--stacks'), 'hooks': ('--level', '2', '--anomaly=nonfinite')}
PROGRAMS = {path.stem: [str(path)] for path in sorted(pathlib.Path(CORPUS, 'unusual').glob('*.py'))}


class Unusual(RecordCase):
    def test_programs_do_not_feel_the_recorder(self):
        for version, python in torches.observed().items():
            plain = together.run(python, PROGRAMS, self.folder, self.environment)
            for name, end in plain.items():
                self.assertEqual(end.returncode, 0, (version, name, end.stderr))
            for way, options in WAYS.items():
                recorded = together.run(python, PROGRAMS, self.folder, self.environment, [TAPEDECK, 'record', *options])
                for name, end in recorded.items():
                    with self.subTest(version=version, program=name, way=way):
                        self.assertEqual((end.returncode, end.stdout), (plain[name].returncode, plain[name].stdout), end.stderr)
                        self.assert_checked(end.tape)


if __name__ == '__main__':
    skipping.main()
