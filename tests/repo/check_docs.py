# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds the documents to the program: commands, packages, folders and links are named where a reader looks."""
import json
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(os.environ.get("SOURCE_ROOT", "."))
BUILD = pathlib.Path(os.environ.get("BUILD_ROOT", "build"))
TAPEDECK = os.environ.get("TAPEDECK", str(BUILD / "app" / "tapedeck"))
FILE_NAME = re.compile(r"`([\w/]+\.(?:c|h|cpp|hpp|py|def|ui|xml))`")
MARKDOWN_LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def commands():
    return re.findall(r"^TD_COMMAND\((\w+)", text_of("app/commands.def"), re.MULTILINE)


def packages(*purposes):
    """Of bootstrap, for one of the purposes, or all."""
    table = re.search(r"^packages='\n(.*?)^'", text_of("bootstrap"), re.MULTILINE | re.DOTALL)[1]
    rows = [line.split() for line in table.splitlines()]
    return [row[0] for row in rows if not purposes or row[1] in purposes]


def documents():
    found = [path for path in ROOT.rglob("*.md")
             if not path.relative_to(ROOT).parts[0].startswith(("build", "out", "."))]
    assert found, "no documents"
    return found


def source_folders():
    return sorted(path.parent.relative_to(ROOT).as_posix()
                  for top in ("app", "engine", "ui") for path in (ROOT / top).rglob("meson.build")
                  if any(path.parent.glob("*.[ch]")))


class Documents(unittest.TestCase):
    def assert_all_named(self, names, text, where):
        self.assertTrue(names)
        missing = [name for name in names if name not in text]
        self.assertEqual(missing, [], f"not in {where}")

    def test_readme_is_a_front_page(self):
        """The picture and the commands come first, it is short enough to be read, and it leads to each page."""
        text = text_of("README.md")
        self.assertRegex(text, r"^!\[.*\]\(.*\)\n\n# Tapedeck\n\n.*\n\n```\n\./bootstrap run ")
        self.assertLessEqual(len(text.splitlines()), 200)
        read_on = text.partition("\n## Read on\n")[2]
        self.assert_all_named([f"](resources/docs/{path.name}): " for path in (ROOT / "resources/docs").glob("*.md")], read_on, "README.md")

    def assert_page_names(self, page, names):
        self.assert_all_named([f"`{name}" for name in names], text_of(f"resources/docs/{page}"), page)

    def test_a_page_names_every_command(self):
        self.assert_page_names("commands.md", [f"tapedeck {name}" for name in commands()])

    def test_a_page_names_every_package(self):
        self.assert_page_names("installing.md", [f"{name}`" for name in packages()])

    def test_debian_packages_name_what_bootstrap_installs_to_run(self):
        self.assert_all_named(packages("run"), text_of("resources/package/debian/control"), "debian/control")

    def test_a_page_names_every_folder(self):
        self.assert_page_names("architecture.md", [f"{name}`" for name in source_folders()])

    def test_files_are_called_by_the_words_of_the_glossary(self):
        rows = re.findall(r"^\| ([\w .-]+?) \| .+ \| ([\w, ]*?) ?\|$", text_of("resources/docs/words.md"), re.MULTILINE)[1:]
        self.assertGreater(len(rows), 35)
        avoided = {word: instead for instead, words in rows for word in words.split(", ") if word}
        self.assertIn("wrong", avoided)
        found = [f"{path.relative_to(ROOT)}: {word} is called {avoided[word]}" for top in ("app", "engine", "ui")
                 for path in (ROOT / top).rglob("*.[chp]*") for word in avoided if re.search(rf"(^|_){word}s?(_|$)", path.stem)]
        self.assertEqual(found, [])

    def test_one_file_knows_where_the_pytorchs_are(self):
        """A test that looks for it by itself may take an environment that is half installed."""
        texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py") if path.name != "check_docs.py"}
        self.assertEqual([name for name, text in texts.items() if "torch-2.13" in text], ["torches.py"])
        del texts["torches.py"]
        named = re.compile(r"(?<!^#!)/usr/bin/python|torches\._|\bPYTHONS\b")
        self.assertEqual([name for name, text in texts.items() if named.search(text)], [])

    def test_no_two_tests_share_a_name(self):
        """run_tests.py runs a test again by its name."""
        with open(BUILD / "meson-info" / "intro-tests.json", encoding="utf-8") as file:
            names = [test["name"] for test in json.load(file)]
        self.assertEqual(sorted({name for name in names if names.count(name) > 1}), [])

    def test_man_page_names_every_command(self):
        page = (BUILD / "resources" / "tapedeck.1").read_text(encoding="utf-8")
        self.assert_all_named([f".SS tapedeck {name}" for name in commands()], page, "the man page")

    def test_completion_offers_every_command(self):
        script = (f'source "{ROOT}/resources/tapedeck.bash"; COMP_WORDS=(tapedeck ""); COMP_CWORD=1\n'
                  f'_tapedeck "{TAPEDECK}" "" tapedeck; printf "%s\\n" "${{COMPREPLY[@]}}"')
        offered = subprocess.run(["bash", "-c", script], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout.split()
        self.assertEqual([name for name in commands() if name not in offered], [])

    def test_files_exist(self):
        there = {path.relative_to(ROOT).as_posix() for top in ("app", "engine", "resources", "tests", "ui")
                 for path in (ROOT / top).rglob("*.*")}
        gone = [f"{path.relative_to(ROOT)}: {name}" for path in documents()
                for name in FILE_NAME.findall(path.read_text(encoding="utf-8"))
                if not any(("/" + file).endswith("/" + name) for file in there)]
        self.assertEqual(gone, [])

    def test_no_two_actions_share_a_key(self):
        table = text_of("ui/window/window_actions.c").partition("actions[] = {")[2].partition("\n};")[0]
        entries = re.findall(r'(?:\{|TD_STEP\(\w+, )"([\w-]+)", N_\((?:"(?:[^"\\]|\\.)*"\s*)+\),\s*(?:"([^"]*)"|NULL),', table + text_of("ui/window/steps.def"))
        self.assertIn("event-step", [name for name, _ in entries])
        keys = [(key, action) for action, all_keys in entries for key in all_keys.split()]
        self.assertGreater(len(keys), 50)
        shared = {key: [action for other, action in keys if other == key] for key, _ in keys}
        self.assertEqual({key: actions for key, actions in shared.items() if len(actions) > 1}, {})

    def test_links_lead_somewhere(self):
        broken = [f"{path.relative_to(ROOT)}: {link}" for path in documents()
                  for link in MARKDOWN_LINK.findall(path.read_text(encoding="utf-8"))
                  if "://" not in link and not (path.parent / link).exists()]
        self.assertEqual(broken, [])


if __name__ == "__main__":
    unittest.main()
