"""How a policy is found: by its name, its path in Python, or the folder of a checkpoint.

A folder may come from anywhere, so its `config.json` is data: the name in it is only looked up.
"""

from __future__ import annotations

import os
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

from sudoku_gym import plugins
from sudoku_gym.policies.hub import HUB_PREFIX, fetch_checkpoint
from sudoku_gym.policies.protocols import Policy, Predictor, PredictorPolicy, Solver, SolverPolicy
from sudoku_gym.storage.reading import error_context, read_json, sha256_of

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "weights.safetensors"


def load_policy(
    name_or_path: str | os.PathLike[str], *, trust: bool = False, **kwargs: Any
) -> Policy:
    """Make a policy from its name, its path in Python, or the folder of a checkpoint.

    Args:
        name_or_path: an entry point of the group `sudoku_gym.policies`, e.g. `"hidden-singles"`;
            `"module:attribute"`, a class or a function that makes a policy, or a policy itself;
            a folder whose `config.json` names its agent, an entry point, as `"agent"`; or
            `"hf:owner/name@revision"`, such a folder on the Hugging Face Hub. Each may be
            followed by options, as in `"calphazero?simulations=64"`: `key=value` with `&` between
            them, where a value is a number, `true`, `false`, `null` or a word. A folder that is
            called like one of the others is given as a path, `"./calphazero"`.
        trust: let a folder name any `"module:attribute"` as its agent, and the module that
            registers its environment. What a checkpoint names is imported and run, so say this
            only of a folder whose author you trust.
        **kwargs: passed to the class or function, together with the options in the name.

    Returns:
        The policy; a solver comes as a `SolverPolicy`, a predictor as a `PredictorPolicy`.

    Raises:
        ValueError: if there is no such policy (the message lists those there are), the object
            found is none, it takes no such option (the message lists those it takes), or a folder
            names an agent that is not installed.
        ModuleNotFoundError: if it needs an extra; the message says how to install it.
    """
    name, found, options = find_policy(name_or_path)
    with plugins.suggest_extra(name):
        if isinstance(found, Path):
            if trust and name.startswith(HUB_PREFIX):
                raise ValueError(f"{name}: what comes from the Hub is data; leave trust out")
            found = partial(_agent_in(found, trust), found)
        if not isinstance(found, type) and isinstance(found, Policy | Solver | Predictor):
            if options or kwargs:
                given = ", ".join({**options, **kwargs})
                raise ValueError(f"{name!r} is a finished policy and takes no {given}")
            made = found
        elif callable(found):
            options = plugins.checked_options(found, name, options, kwargs)
            made = found(**options)
        else:
            raise ValueError(f"{name!r} is a {type(found).__name__}, neither a policy nor a class")
    if isinstance(made, Policy):
        return made
    if isinstance(made, Solver):
        return SolverPolicy(made)
    if isinstance(made, Predictor):
        return PredictorPolicy(made)
    raise ValueError(
        f"{name!r} made a {type(made).__name__}, which is no policy: it needs the methods "
        "reset(puzzles, geometry, rng) and act(boards, action_masks)"
    )


def find_policy(name_or_path: str | os.PathLike[str]) -> tuple[str, Any, dict[str, Any]]:
    """Find what `load_policy` makes a policy of, without making it.

    Returns:
        The name without options; the class, function or policy that it stands for, or the folder
        of a checkpoint as a Path; and the options.
    """
    if isinstance(name_or_path, os.PathLike):
        return os.fspath(name_or_path), Path(name_or_path), {}
    name, options = plugins.split_options(name_or_path)
    entries = plugins.available("policies")
    if name in entries:
        return name, plugins.load("policies", name), options
    if name.startswith(HUB_PREFIX):
        with plugins.suggest_extra(name):
            return name, fetch_checkpoint(name), options
    if os.path.isdir(name):
        return name, Path(name), options
    if ":" in name:
        return name, plugins.load_attribute(name), options
    raise ValueError(
        f"no policy {name!r}: use {plugins.join_names(entries)}, module:attribute, the folder of "
        "a checkpoint, or hf:owner/name"
    )


def weights_sha256(name: str) -> str | None:
    """Return the SHA-256 of the file of weights that a policy is made from, None if it has none.

    `name` is that of the policy, as `load_policy` takes it. Raises as `find_policy`.
    """
    file = weights_file(name)
    return None if file is None else sha256_of(file)


def weights_file(name: str) -> Path | None:
    """Return the file of weights that a policy is made from, None if it has none.

    It is that of a checkpoint, or the latest of a run, whose folder is named itself or is the first
    argument, by default or as an option, of what makes the policy; or the file that this argument
    names. Raises as `find_policy`.
    """
    _, found, options = find_policy(name)
    if not isinstance(found, Path):
        first = next(iter(signature(found).parameters.values()), None) if callable(found) else None
        given = options.get(first.name, first.default) if first else None
        if not isinstance(given, str | os.PathLike):
            return None
        found = Path(given)
    if found.is_file():
        return found
    files = [folder / WEIGHTS_FILE for folder in [found, *checkpoints_of(found)[-1:]]]
    return next(filter(Path.is_file, files), None)


def checkpoints_of(run: Path) -> list[Path]:
    """Return the folders of a run's checkpoints, oldest first."""
    found = (path.parent for path in run.glob(f"checkpoints/*/{WEIGHTS_FILE}"))
    return sorted((path for path in found if path.name.isdigit()), key=lambda path: int(path.name))


def _agent_in(folder: Path, trust: bool) -> Any:
    """Return what loads the folder of a checkpoint; only `trust` imports what it names."""
    config, path = _read_config(folder), folder / CONFIG_FILE
    agent, entries = config["agent"], plugins.available("policies")
    if trust:
        for env in (config.get("env", ""), *config.get("envs", ())):
            plugins.import_environment(env)
    if agent in entries:
        found = plugins.load("policies", agent)
    elif trust and ":" in agent:
        found = plugins.load_attribute(agent)
    else:
        raise ValueError(
            f"{path} names the agent {agent!r}, and a checkpoint may name installed policies only "
            f"({plugins.join_names(entries)}); if you trust its author, and let it run any code, "
            "pass trust=True (--trust in the shell)"
        )
    return getattr(found, "load", found)


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG_FILE
    with error_context(path, "a checkpoint must name its agent"):
        config: dict[str, Any] = read_json(path)
        if not isinstance(config["agent"], str):
            raise ValueError(f"{config['agent']!r} is no name of a policy")
        return config
