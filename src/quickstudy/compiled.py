"""The earlier name of `quickstudy.numba_gateway`, for files that import it."""

import sys

from quickstudy import numba_gateway

sys.modules[__name__] = numba_gateway
