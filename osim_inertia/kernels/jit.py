"""How kernels are compiled: decorators that keep the first run short.

Numba makes a library of every function it compiles, with all that the function calls linked in, optimizes it as a whole
and turns it into machine code; a function ten calls deep goes through that ten times. Here a function that is called by
another kernel is only a `_Part`: typed and lowered, no more. Whatever is called from Python is a `_Whole`, which
collects all its parts, is optimized once, and is kept on disk. Decorators:

    kernel    may make arrays
    lean      reads and writes arrays it is given but makes and returns none: without Numba's counting of references,
              which costs more than most of the arithmetic here
    inlined   as lean, put into its callers: for functions that take many arrays and are called in an inner loop
    fused     as lean, with one rounding for a product and the sum it goes into, where the processor can: for rotating
              vectors, where the last bit decides nothing
    shared    as lean, but kept on disk for other kernels, too: for what almost all of them call

NumPy's rules for division hold (1/0 is infinite, 0/0 is NaN), because OpenSim's construction runs on NaN in its
degenerate cases and the result depends on it. No entry points from C are built.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from threading import Lock
from typing import Any

from numba import njit, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder


class _NoEnvironment:
    """Numba's code generator for a part, which has no machine code in which to set an environment."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def set_env(self, name: str, environment: Any) -> None:
        """Leave it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)


class _Part(JITCodeLibrary):
    """The code of one function, without what it calls."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        return _NoEnvironment(self._codegen)


class _Whole(JITCodeLibrary):
    """The code of a function and of all it calls."""

    def finalize(self) -> None:
        found: dict[JITCodeLibrary, None] = {}
        _collect(self, found)
        self._linking_libraries = list(reversed(found))  # callers first: what nobody needs yet, LLVM would not link
        super().finalize()


def _collect(library: JITCodeLibrary, found: dict[JITCodeLibrary, None]) -> None:
    """All that a library needs, callees before callers."""
    for other in library._linking_libraries:
        if other not in found:
            if isinstance(other, _Part):
                _collect(other, found)
            found[other] = None


class _WholeCompiler(CompilerBase):
    library: type[JITCodeLibrary] = _Whole

    def define_pipelines(self) -> list[Any]:
        state = self.state
        if state.library is None:
            state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        return [DefaultPassBuilder.define_nopython_pipeline(state)]

    def _compile_core(self) -> Any:
        """Without collecting garbage: the compiler makes much and leaves little."""
        was_on = gc.isenabled()
        gc.disable()
        try:
            return super()._compile_core()
        finally:
            if was_on:
                gc.enable()


class _PartCompiler(_WholeCompiler):
    library = _Part


_LOCK = Lock()
_RULES: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_WHOLE: dict[str, Any] = {**_RULES, "pipeline_class": _WholeCompiler}
_PART: dict[str, Any] = {**_RULES, "no_cpython_wrapper": True, "pipeline_class": _PartCompiler}


def _kept(function: Callable[..., Any], **options: Any) -> Any:
    """Compiled whole and kept on disk; where no folder can be written, compiled in every process (`warmup` says so)."""
    try:
        return njit(**_WHOLE, cache=True, **options)(function)
    except RuntimeError:  # Numba finds no place for its cache
        return njit(**_WHOLE, **options)(function)


class Kernel:
    """A function with two faces: a part of the kernels that call it, and whole for Python."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.part = njit(**_PART, **options)(function)
        self._function, self._options = function, options
        self._whole: Any = None
        self.__doc__, self.__name__, self.__module__ = function.__doc__, function.__name__, function.__module__

    @property
    def whole(self) -> Any:
        """What Python calls."""
        if self._whole is None:
            with _LOCK:  # two threads would compile it twice
                self._whole = self._whole or _kept(self._function, **self._options)
        return self._whole

    @property
    def _numba_type_(self) -> types.Dispatcher:
        """What Numba takes this for inside other kernels."""
        return types.Dispatcher(self.part)

    @property
    def py_func(self) -> Callable[..., Any]:
        """The function as it is written, for Python: where loading machine code would take longer than running it."""
        return self._function

    def __call__(self, *arguments: Any) -> Any:
        return self.whole(*arguments)


def kernel(function: Callable[..., Any]) -> Any:
    """Decorator: may make arrays; for Python and kernels."""
    return Kernel(function, _nrt=True)


def lean(function: Callable[..., Any]) -> Any:
    """Decorator: makes no arrays; for Python and kernels."""
    return Kernel(function, _nrt=False)


def inlined(function: Callable[..., Any]) -> Any:
    """Decorator: as lean, put into the kernels that call it."""
    return Kernel(function, _nrt=False, forceinline=True)


def fused(function: Callable[..., Any]) -> Any:
    """Decorator: as lean, products rounded together with the sums they go into."""
    return Kernel(function, _nrt=False, fastmath={"contract"})


def shared(function: Callable[..., Any]) -> Any:
    """Decorator: as lean, kept on disk for other kernels."""
    return _kept(function, _nrt=False)
