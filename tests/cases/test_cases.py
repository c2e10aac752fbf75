# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first finding of each reported mistake names its cause: cases.py has what it must say."""
import json
import os
import re
import unittest

import cases
import run_cases
import skipping
import torches


class Cases(unittest.TestCase):
    def test_first_finding(self):
        """Half of the cases with each PyTorch."""
        for python in torches.pythons():
            wanted = [case for i, case in enumerate(cases.OWN) if python in torches.of_test(self, i) and not case.least]
            for case, (verdict, _, words) in run_cases.try_cases(python, wanted).items():
                with self.subTest(case=case.name, python=python):
                    self.assertIn(verdict, ('yes', 'partly') if case.partly != cases.NEVER else ('yes',), words)

    def test_one_mistake(self):
        """What a NaN leads to through the weights is no second finding."""
        python = torches.of_test(self)[-1]
        case, = (case for case in cases.OWN if case.name == 'nan_in_batch')
        found = run_cases.record(python, [case], None, ('--anomaly', 'nonfinite'))[case]
        self.assertEqual(len(found), 1, found)

    def test_addresses(self):
        """Each program names the report that it is rebuilt from, and has a case."""
        names = {name[:-3] for name in os.listdir(cases.HERE) if name.endswith('.py')}
        self.assertEqual(names, {case.name for case in cases.OWN})
        for name in names:
            with open(os.path.join(cases.HERE, name + '.py')) as file:
                self.assertRegex(file.read(), r'As reported in https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+"""')

    def test_table(self):
        """No row of the table in the repository is `other`: what is not found is not guessed."""
        with open(os.path.join(run_cases.HERE, 'outcomes.json')) as file:
            rows = json.load(file)['rows']
        self.assertEqual([row for row in rows if row[2] == 'other'], [])
        for name, version, verdict, _, words in rows:
            case, = (case for case in (*cases.OWN, *cases.GIVEN) if os.path.basename(case.name) == name)
            self.assertTrue(verdict != 'yes' or re.search(case.words, words, re.DOTALL), (name, version, words))


if __name__ == '__main__':
    torches.need_compiler()
    skipping.main()
