"""Stand-in for SGLang's compiled kernels: the torch-native CPU path imports many names of them and calls one."""


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

