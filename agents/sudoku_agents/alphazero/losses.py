"""The loss of cAlphaZero."""

from __future__ import annotations

import torch
from torch import Tensor


def losses(
    logits: Tensor, values: Tensor, search_policy: Tensor, returns: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    r"""Return the three terms of the loss.

    $$\ell = \lambda (r - v_s)^2 - p_s^\top \log \pi_s + \xi\, \pi_s^\top \log \pi_s$$

    Source: cAlphaZero (Agarwal et al.), equation 5; the caller weighs and adds.

    Args:
        logits: float32 `[..., B, A]`, of pi_s; far below the others where illegal.
        values: float32 `[..., B]`, v_s.
        search_policy: float32 `[B, A]`, p_s.
        returns: float32 `[B]`, r.

    Returns:
        The squared error, the cross entropy, and the entropy of pi_s, averaged over the batch and
        over any axes before it, such as the rounds of a recurrent body.
    """
    log_policy = torch.log_softmax(logits, -1)
    value_loss = (returns - values).square().mean()
    policy_loss = -(search_policy * log_policy).sum(-1).mean()
    entropy = -(log_policy.exp() * log_policy).sum(-1).mean()
    return value_loss, policy_loss, entropy
