"""Stand-in for SGLang's compiled kernels: the torch-native CPU path imports many names of them and calls one."""

import importlib.abc
import importlib.machinery
import sys
import types


def assign_req_to_token_pool_cpu(req_pool_indices, req_to_token, start, end, out_cache_loc, stride):
    """Writes the next cache slots of each request into its row of the request-to-token table."""
    taken = 0
    for index, row in enumerate(req_pool_indices.tolist()):
        first, last = int(start[index]), int(end[index])
        req_to_token[row, first:last] = out_cache_loc[taken : taken + last - first]
        taken += last - first


def _missing(name):
    def refuse(*_args, **_kwargs):
        raise NotImplementedError(f"{name} needs the compiled kernels, which the CPU test engine does not have")

    return refuse


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _missing(name)


class _Submodules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Every `sgl_kernel.x` exists and has every name, so that imports at the top of files succeed."""

    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith("sgl_kernel."):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__getattr__ = __getattr__
        module.__path__ = []
        return module

    def exec_module(self, module):
        """Nothing to run: the module is empty but for its `__getattr__`."""


sys.meta_path.append(_Submodules())
