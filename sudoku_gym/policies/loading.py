"""How a policy is found: by its name, its path in Python, or the folder of a checkpoint.

A folder may come from anywhere, so its `config.json` is data: the name in it is only looked up.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sudoku_gym import plugins
from sudoku_gym.policies.hub import HUB_PREFIX, fetch_checkpoint
from sudoku_gym.policies.protocols import (
    CompleteSolver,
    Policy,
    Predictor,
    PredictorPolicy,
    Solver,
    SolverPolicy,
)
from sudoku_gym.storage.reading import read_json

CONFIG_FILE = "config.json"
_LONGEST_NAME = 200


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
    is_path = isinstance(name_or_path, os.PathLike)
    name, found, options = find_policy(
        os.path.join(os.curdir, name_or_path) if is_path else os.fspath(name_or_path)
    )
    if trust and name.startswith(HUB_PREFIX):
        raise ValueError(f"{name}: what comes from the Hub is data; leave trust (--trust) out")
    with plugins.suggest_extra(name):
        if isinstance(found, Path):
            made = _load_checkpoint(found, trust, options, kwargs)
        else:
            made = _make(found, name, options, kwargs)
        return _as_policy(made, name)


def load_solver(name_or_path: str | os.PathLike[str], *, trust: bool = False) -> CompleteSolver:
    """Make a solver that proves how many solutions boards have, as the search of a network does.

    The arguments are those of `load_policy`, as in `load_solver("calphazero?search=retry")`.

    Raises:
        ValueError: as `load_policy`, or if what it finds is no such solver.
        ModuleNotFoundError: if it needs an extra.
    """
    policy = load_policy(name_or_path, trust=trust)
    solver = policy.solver if isinstance(policy, SolverPolicy) else policy
    if not isinstance(solver, CompleteSolver):
        raise ValueError(
            f"{os.fspath(name_or_path)!r} proves nothing about the solutions of a board (it lacks "
            "search(puzzles, geometry, limit) or solve(puzzles, geometry)): use one that does, as "
            "'calphazero?search=retry'"
        )
    return solver


def find_policy(text: str) -> tuple[str, Any, dict[str, Any]]:
    """Find what `load_policy` makes a policy of, without making it.

    Returns:
        The name without options; the class, function or policy that it stands for, or the folder
        of a checkpoint as a Path; and the options.

    Raises:
        ValueError: if there is no such policy, or the options have another form.
        ModuleNotFoundError: if it needs an extra.
    """
    name, options, is_folder = split_policy(text)
    if name.startswith(HUB_PREFIX):
        with plugins.suggest_extra(name):
            return name, fetch_checkpoint(name), options
    return name, Path(name) if is_folder else _find(name), options


def split_policy(text: str) -> tuple[str, dict[str, Any], bool]:
    """Return the name and the options in a policy's name, and whether it is that of a folder.

    Raises:
        ValueError: if the options have another form.
    """
    before, _, _ = text.partition("?")
    is_name = before.startswith(HUB_PREFIX) or plugins.names_attribute(before)
    is_name |= before in plugins.available(plugins.POLICIES)
    # A folder may have a question mark in its own name, but hides nothing that is installed.
    if not is_name and os.path.isdir(text):
        return text, {}, True
    name, options = plugins.split_options(text)
    return name, options, not is_name and os.path.isdir(name)


def _find(name: str) -> Any:
    entries = plugins.available(plugins.POLICIES)
    if name in entries:
        return plugins.load(plugins.POLICIES, name)
    if ":" in name:
        return plugins.load_attribute(name)
    raise ValueError(
        f"no policy {name!r:.200}: use {plugins.join_names(entries)}, module:attribute, "
        "the folder of a checkpoint, or hf:owner/name"
    )


def _make(found: Any, name: str, options: dict[str, Any], kwargs: dict[str, Any]) -> Any:
    if isinstance(found, type) or not isinstance(found, Policy | Solver | Predictor):
        if not callable(found):
            raise ValueError(f"{name!r} is a {type(found).__name__}, neither a policy nor a class")
        return found(**plugins.checked_options(found, name, options, kwargs))
    if options or kwargs:
        raise ValueError(
            f"{name!r} is a finished policy and takes no {', '.join({**options, **kwargs})}"
        )
    return found


def _load_checkpoint(
    folder: Path, trust: bool, options: dict[str, Any], kwargs: dict[str, Any]
) -> Any:
    agent, path = agent_of(folder), folder / CONFIG_FILE
    if trust:
        plugins.import_environments(_read_config(folder))
    found = _find_agent(agent, path, trust)
    load = getattr(found, "load", found)
    if not callable(load) or not plugins.takes_first(load, folder):
        raise ValueError(f"{path}: its agent {agent!r} is none that loads a folder")
    return load(folder, **plugins.checked_options(load, str(folder), options, kwargs, 1))


def _find_agent(agent: str, path: Path, trust: bool) -> Any:
    if trust or ":" not in agent:
        try:
            return _find(agent)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    known = plugins.join_names(plugins.available(plugins.POLICIES))
    raise ValueError(
        f"{path} names the agent {agent!r}, and a checkpoint may name installed policies only "
        f"({known}); if you trust its author, and let it run any code, pass "
        "trust=True (--trust in the shell)"
    )


def _as_policy(made: Any, name: str) -> Policy:
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


def agent_of(folder: Path) -> str:
    """Return the name that stands as `"agent"` in the configuration of a checkpoint or a run.

    Raises:
        ValueError: if there is no configuration, it is no JSON, or it names no agent.
    """
    agent: str = _read_config(folder)["agent"]
    return agent


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG_FILE
    try:
        config: Any = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{folder} is no checkpoint: it has no {CONFIG_FILE}") from None
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON: {error}") from None
    agent = config.get("agent") if isinstance(config, dict) else None
    if not isinstance(agent, str) or not 0 < len(agent) <= _LONGEST_NAME:
        raise ValueError(f'{path} must name its agent: "agent": the name of an installed policy')
    return dict(config)
