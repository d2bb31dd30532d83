"""The info of a batch, in the form that `SyncVectorEnv` gives its infos.

Every key comes with a mask `_key` that says which boards have it. Sources: Gymnasium's
`VectorEnv._add_info` and `SyncVectorEnv.step`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.envs.outcomes import OutcomeArrays, read_info


def batch_infos(
    masks: NDArray[np.int8], arrays: OutcomeArrays | None, has_info: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the infos of a batch.

    Args:
        masks: int8 `[B, A]`, the action masks; `[B, 0]` leaves them out.
        arrays: what the kernels wrote, whose memory the infos share; None leaves it out.
        has_info: bool `[B]`, the boards that have infos.
    """
    infos: dict[str, Any] = {"action_mask": masks} if masks.shape[1] else {}
    if arrays is not None:
        infos |= read_info(arrays)
    for key in tuple(infos):
        infos["_" + key] = has_info.copy()
    return infos


def final_infos(
    observations: NDArray[np.int8],
    masks: NDArray[np.int8],
    arrays: OutcomeArrays | None,
    over: NDArray[np.bool_],
) -> dict[str, Any]:
    """Return copies of `final_obs` and `final_info` for the boards with `over [B]`.

    As in `SyncVectorEnv`, `final_obs` is an array of objects, None where the episode goes on, and
    `final_info` holds zeros there.
    """
    final_obs = np.full(len(over), None, dtype=object)
    for index in np.flatnonzero(over).tolist():
        final_obs[index] = observations[index].copy()
    final_info = batch_infos(masks, arrays, over)
    for key, values in final_info.items():
        if not key.startswith("_"):
            final_info[key] = np.zeros_like(values)
            final_info[key][over] = values[over]
    return {
        "final_obs": final_obs,
        "_final_obs": over.copy(),
        "final_info": final_info,
        "_final_info": over.copy(),
    }
