# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the documentation as a site of plain pages: make_site.py --program TAPEDECK --source ROOT --output FOLDER.

The examples are recorded meanwhile, into --work. A recording is used again as long as its script and the program stay the same: so
a second site has the same bytes. A site from an empty --work differs in the times that recordings have, and in what threads did
by chance."""
import argparse
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True  # the folder of the sources stays as it is

try:
    import markdown  # noqa: F401, here for its message
except ImportError:
    sys.exit("make_site.py: python3-markdown is missing: apt install python3-markdown, or ./bootstrap site")

import command_pages
import documents
import example_pages
import lesson_pages
import table_pages
import window_page
from links import Links
from program import Program
from tapes import Tapes
from template import Site


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=pathlib.Path, required=True, help="tapedeck")
    parser.add_argument("--source", type=pathlib.Path, required=True, help="the root of the sources")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="where the site goes; what is there is removed")
    parser.add_argument("--tables", type=pathlib.Path, required=True, help="where the tests wrote what they saw")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where recordings are kept")
    return parser.parse_args()


def main():
    wanted = options()
    program = Program(wanted.program.absolute(), wanted.source.absolute(), wanted.work.absolute())
    tapes = Tapes(program)
    if wanted.output.exists() and any(wanted.output.iterdir()) and not (wanted.output / "style.css").exists():
        sys.exit(f"make_site.py: {wanted.output}: is not empty, and no site")
    part = wanted.output.with_name(wanted.output.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    site = Site(part, program)
    links = Links(program, {link: page for page, _, _, link in table_pages.made(program.source, wanted.tables)})
    example_pages.write(site, tapes, links)
    lesson_pages.write(site, tapes)
    command_pages.write(site, tapes, links)
    window_page.write(site)
    documents.write(site, links, table_pages.write(site, links, wanted.tables))
    shutil.rmtree(wanted.output, ignore_errors=True)
    part.rename(wanted.output)
    size = sum(path.stat().st_size for path in wanted.output.rglob("*") if path.is_file())
    print(f"{wanted.output / 'index.html'}: {site.n_pages} pages, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
