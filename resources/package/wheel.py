#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a wheel of Tapedeck without the window: the program, its libraries and fonts, and the Python package.

    wheel.py SOURCE WORK OUT

WORK is a folder for what can be made again: the root of Debian 11 (old_root.sh), the build, the tree of the wheel. The wheel
goes to the folder OUT. It runs with the C library of Debian 11 and any later one. The package in it is for any Python
from 3.9; Tapedeck's own engine in it is for the Python that runs this script.

The program is in tapedeck/_program/, as below a prefix: bin, lib, libexec, share. It finds its files from there
(app/common/paths.c), and its libraries by an rpath.
"""
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

PREFIX = '/tapedeck/_program'
# Every Linux with glibc has these; the others come along.
SYSTEM_LIBRARIES = re.compile(r'(libc|libm|libdl|libpthread|librt|libutil|libresolv|libgcc_s|ld-linux-[\w-]+)\.so\.\d+')
FONTS = ['/usr/share/fonts/opentype/cantarell/Cantarell-Regular.otf', '/usr/share/fonts/opentype/cantarell/Cantarell-Bold.otf',
         '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf', '/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf']
FONT_LICENSES = {'fonts-cantarell', 'fonts-dejavu-core'}
# For the window and for a system's folders: nothing looks there.
UNUSED = ['applications', 'bash-completion', 'icons', 'locale', 'man', 'metainfo', 'mime']
METADATA = """\
Metadata-Version: 2.1
Name: tapedeck
Version: {version}
Summary: A debugger and profiler for autograd graphs: records every scheduling decision of a backward pass
License: LGPL-2.1-or-later
Classifier: License :: OSI Approved :: GNU Lesser General Public License v2 or later (LGPLv2+)
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Debuggers
Requires-Python: >=3.9
Description-Content-Type: text/markdown

{readme}"""
WHEEL = """\
Wheel-Version: 1.0
Generator: tapedeck
Root-Is-Purelib: false
Tag: py3-none-manylinux_{glibc}_{machine}
"""


def run(*words, **options):
    return subprocess.run([*map(str, words)], check=True, text=True, **options)


def native_file(root):
    """What Meson must know: a compiler for that root, whose programs look for libraries beside them."""
    triplet = run('gcc', '-print-multiarch', capture_output=True).stdout.strip()
    libs = root / 'usr/lib' / triplet
    compiler = ['gcc', f'--sysroot={root}', f'-B{libs}']
    if shutil.which('ccache'):
        compiler.insert(0, 'ccache')
    # from the own engine's package, from bin, from libexec/tapedeck, and among themselves; they are older than DT_RUNPATH, which does
    # not count for the libraries of libraries
    places = ':'.join('$ORIGIN' + place for place in ('/../../_program/lib/tapedeck', '/../lib/tapedeck', '/../../lib/tapedeck', ''))
    links = [f'-L{libs}', '-Wl,--push-state,--no-as-needed', '-ldl', '-lpthread', '-Wl,--pop-state', f'-Wl,-rpath-link,{libs}',
             '-Wl,--disable-new-dtags', f'-Wl,-rpath,{places}']
    return f"[binaries]\nc = {compiler}\n[built-in options]\nc_link_args = {links}\nlibdir = 'lib'\n", libs


def build(source, work, root):
    """The tree of an installation, with /tapedeck for the folder of the package."""
    text, libs = native_file(root)
    text = f'# for {source}\n{text}'
    native, folder, tree = work / 'native.ini', work / 'build', work / 'tree'
    is_for_this = native.exists() and native.read_text(encoding='utf-8') == text  # not for where the checkout was before
    native.write_text(text, encoding='utf-8')
    environment = os.environ | {'PKG_CONFIG_SYSROOT_DIR': str(root), 'PKG_CONFIG_ALLOW_SYSTEM_LIBS': '1',
                                'PKG_CONFIG_LIBDIR': f'{libs}/pkgconfig:{root}/usr/share/pkgconfig'}
    if not (is_for_this and (folder / 'build.ninja').exists()):
        shutil.rmtree(folder, ignore_errors=True)
        run('meson', 'setup', folder, source, '--native-file', native, f'--prefix={PREFIX}', '-Dpython.purelibdir=/',
            '-Dpython.platlibdir=/', '-Dgtk=disabled', '-Dcuda=disabled', '-Dtests=false', env=environment)
    run('ninja', '-C', folder, env=environment)
    shutil.rmtree(tree, ignore_errors=True)
    run('meson', 'install', '-C', folder, '--no-rebuild', '--quiet', '--strip', env=environment | {'DESTDIR': str(tree)})
    for name in UNUSED:
        shutil.rmtree(tree / PREFIX[1:] / 'share' / name, ignore_errors=True)
    return tree, libs


def binaries(tree):
    return [path for path in tree.rglob('*') if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b'\x7fELF']


def needed(path):
    told = run('objdump', '-p', path, capture_output=True).stdout
    return re.findall(r'NEEDED +(\S+)', told)


def bring_libraries(tree, libs):
    """Copies what the binaries need, and what that needs. Returns the files that were copied from."""
    target = tree / PREFIX[1:] / 'lib/tapedeck'
    brought, left = {}, binaries(tree)
    while left:
        for name in needed(left.pop()):
            if SYSTEM_LIBRARIES.fullmatch(name) or name in brought:
                continue
            found = libs / name
            if not found.exists():
                sys.exit(f'wheel.py: {name} is not in {libs}')
            brought[name] = found.resolve()
            shutil.copy(found.resolve(), target / name)
            (target / name).chmod(0o755)
            run('strip', '--strip-unneeded', target / name)
            left.append(target / name)
    return brought.values()


def forget_templates(tree):
    """fontconfig reads the settings of this folder too, whatever fonts.conf says. Those of a later one make it complain."""
    [library] = (tree / PREFIX[1:] / 'lib/tapedeck').glob('libfontconfig.so.*')
    folder, nowhere = b'/usr/share/fontconfig/conf.avail\0', b'/nonexistent'
    text = library.read_bytes()
    assert text.count(folder) == 1, f'{library.name} has another folder of templates'
    library.write_bytes(text.replace(folder, nowhere.ljust(len(folder), b'\0')))


def oldest_glibc(tree):
    """The version of the C library that the binaries ask for."""
    versions = set()
    for path in binaries(tree):
        versions.update(re.findall(r'GLIBC_2\.(\d+)', run('objdump', '-T', path, capture_output=True).stdout))
    return max(map(int, versions))


def bring_fonts(tree, source):
    target = tree / PREFIX[1:] / 'share/tapedeck/fonts'
    target.mkdir(parents=True)
    for font in [*FONTS, source / 'resources/package/wheel/fonts.conf.in']:
        shutil.copy(font, target)
    # fontconfig of Debian 11 leaves such a file in a folder of fonts, if there is none; pip would not know it
    (target / '.uuid').write_text(f"{uuid.uuid5(uuid.NAMESPACE_URL, 'tapedeck fonts')}", encoding='utf-8')


def owners(root, files):
    """The packages in the root that these files are from."""
    def name(path):
        return path.removeprefix('usr/')  # /lib is /usr/lib in the root
    wanted = {name(os.path.relpath(file, root)) for file in files}
    found = set()
    for listing in glob.glob(f'{root}/../lists/*'):
        if wanted & set(map(name, Path(listing).read_text(encoding='utf-8').split())):
            found.add(os.path.basename(listing))
    return found


def write_info(tree, source, root, files):
    """What pip must know, and the licences of everything that came along."""
    about = run('meson', 'introspect', '--projectinfo', source / 'meson.build', capture_output=True).stdout
    version = re.search(r'"version": "([^"]+)"', about)[1]
    glibc, machine = f'2.{oldest_glibc(tree)}', platform.machine()
    info = tree / f'tapedeck-{version}.dist-info'
    licenses = info / 'licenses'
    licenses.mkdir(parents=True)
    shutil.copy(source / 'COPYING', licenses)
    for package in owners(root, files):
        shutil.copy(root / 'usr/share/doc' / package / 'copyright', licenses / package)
    for package in FONT_LICENSES:
        shutil.copy(Path('/usr/share/doc') / package / 'copyright', licenses / package)
    readme = (source / 'README.md').read_text(encoding='utf-8')
    (info / 'METADATA').write_text(METADATA.format(version=version, readme=readme), encoding='utf-8')
    (info / 'WHEEL').write_text(WHEEL.format(glibc=glibc.replace('.', '_'), machine=machine), encoding='utf-8')
    # pip makes a script of this that also works below a path with spaces
    (info / 'entry_points.txt').write_text('[console_scripts]\ntapedeck = _tapedeck_program:main\n', encoding='utf-8')
    starter = (source / 'resources/package/wheel/_tapedeck_program.py').read_text(encoding='utf-8')
    (tree / '_tapedeck_program.py').write_text(starter.replace('@MACHINE@', machine).replace('@GLIBC@', glibc), encoding='utf-8')


def main():
    source, work, out = (Path(word).resolve() for word in sys.argv[1:])
    root = work / 'debian-11/root'
    work.mkdir(parents=True, exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    run(source / 'resources/package/old_root.sh', work / 'debian-11')
    tree, libs = build(source, work, root)
    files = bring_libraries(tree, libs)
    forget_templates(tree)
    bring_fonts(tree, source)
    write_info(tree, source, root, files)
    run(sys.executable, '-m', 'wheel', 'pack', tree, '--dest-dir', out)


main()
