"""Numba, set up once: every compiled function of the package is made by `compiled`.

No fastmath anywhere: equal inputs must give equal bits whatever the number of simulations.
Numba's on-disk cache watches the file of a function, not those of the functions that it calls,
so the cache folder is keyed by a hash of all compiled sources of this package, with the versions
of Numba, LLVM's binding and Python, and the processor's name. Where no such folder can be written,
nothing is cached: Numba's own choice would be a folder beside the sources, without that key.

Kernels count no references and have no heap (Numba's option `_nrt`): counting, which is atomic,
costs a third of a physics step. So a kernel works on the arrays that it is given, makes none
(Numba then says "NRT required but not enabled") and returns numbers, or tuples of them, no array.
Those that last long enough to have scratch of their own are made by `allocating`, and what they
call may be either.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import llvmlite.binding
import numba
from numba.core import config

F = TypeVar("F", bound=Callable[..., Any])


_settings: Any = config  # process-wide, filled in when Numba is imported
_log = logging.getLogger("tendon_gym")


def _cache_key() -> str:
    """Return a name for the machine code of exactly these sources on this machine."""
    package = Path(__file__).parent
    digest = hashlib.sha256()
    for source in sorted(package.rglob("*.py")):
        text = source.read_bytes()
        if b"compiled" in text:
            digest.update(str(source.relative_to(package)).encode() + b"\0" + text)
    processor = llvmlite.binding.get_host_cpu_name()
    for part in (numba.__version__, llvmlite.__version__, sys.version, processor):
        digest.update(part.encode())
    return f"kernels-{digest.hexdigest()[:16]}"


def _cache_folder() -> Path | None:
    """Return a writable folder for the machine code, or None if there is none."""
    base = _settings.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        folder = Path(base).expanduser() / "tendon_gym" / _cache_key()
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError) as error:  # RuntimeError: no home folder
        _log.warning("no cache for compiled kernels (%s); NUMBA_CACHE_DIR can name one", error)
        return None
    return folder


CACHE_FOLDER = _cache_folder()


def compiled(function: F) -> F:
    """Compile a function with Numba: no GIL, cached on disk, arithmetic in the order written.

    NUMBA_DISABLE_JIT=1 leaves it plain Python, for a debugger.
    """
    return _compile(function)


def brief(function: F) -> F:
    """Compile a function as `compiled` does, but for calls that keep the GIL.

    Letting it go and getting it back is a good part of a call that takes a microsecond. And calls
    that keep it come one after the other, so that they may share work arrays.
    """
    return _compile(function, nogil=False)


def allocating(function: F) -> F:
    """Compile a function that makes arrays, as scratch or to return them to another such function.

    It counts references, and a function made by `compiled` can't call it.
    """
    return _compile(function, _nrt=True)


def inlined(function: F) -> F:
    """Compile a small function as `compiled` does, always made part of what calls it."""
    return _compile(function, forceinline=True)


def _compile(function: F, **options: Any) -> F:
    # Numba fixes a function's cache folder when it is decorated, from a process-wide setting;
    # the setting is put back at once, so that other packages keep theirs.
    theirs = _settings.CACHE_DIR
    _settings.CACHE_DIR = str(CACHE_FOLDER or "")
    options = {
        "nogil": True,
        "cache": CACHE_FOLDER is not None,
        "error_model": "numpy",
        "_nrt": False,
        **options,
    }
    try:
        dispatcher: Any = numba.njit(**options)(function)
    finally:
        _settings.CACHE_DIR = theirs
    return dispatcher


def bind(kernel: Any, *arguments: Any) -> Callable[[], Any]:
    """Return a function that runs a kernel on the present values of these very objects.

    Before a call Numba looks at the type of every argument, 0.3 us for a structured array. What
    runs again and again on the same objects skips that.
    """
    return functools.partial(entry(kernel, *arguments), *arguments)


def entry(kernel: Any, *arguments: Any) -> Callable[..., Any]:
    """Return the machine code of a kernel for arguments of just these types, to be called directly.

    It doesn't look at the types of what it is called with: `bind` tells why.
    """
    if _settings.DISABLE_JIT:
        return kernel
    return kernel.compile(tuple(numba.typeof(argument) for argument in arguments))


def announce_compilation() -> None:
    """Log one line if the kernels are about to be compiled, which takes a while, once."""
    if _settings.DISABLE_JIT or (CACHE_FOLDER and any(CACHE_FOLDER.rglob("*.nbc"))):
        return
    _log.warning(
        "compiling control, kinematics, reward and observation kernels into %s: "
        "about half a minute, once for this version on this machine",
        CACHE_FOLDER or "memory",
    )
