"""`sudoku-gym train` and `app`: commands that hand over to a trainer or a server."""

from __future__ import annotations

from tyro.conf import UseAppendAction

from sudoku_gym import plugins


def train(arguments: list[str]) -> int:
    """Run the trainer that is named first on the arguments after it; list trainers without one."""
    trainers = plugins.available("trainers")
    if not arguments or arguments[0] in ("-h", "--help"):
        print("usage: sudoku-gym train TRAINER [--help]\n\nTrainers:\n")
        print("\n".join(f"  {name}" for name in trainers) or "  none is installed")
        return 0
    name, *rest = arguments
    if name not in trainers:
        raise ValueError(f"no trainer {name!r}: use {plugins.join_names(trainers)}")
    return int(plugins.load("trainers", name)(rest) or 0)


def app(
    *,
    policy: UseAppendAction[tuple[str, ...]] = (),
    trust: bool = False,
    host: str = "127.0.0.1",
    port: int = 7860,
    auth: str = "",
) -> int:
    """Show a page on which policies play side by side, move by move.

    Args:
        policy: Offer this one too: an installed policy with options, module:attribute, or the
            folder of a checkpoint. The page offers what is installed and these. May be given
            several times; the first two play at once.
        trust: Allow checkpoints to load and run arbitrary code.
        host: Address to listen at; 0.0.0.0 shows the page to everyone who reaches this machine.
        port: Port to listen at; 0 takes the first free one from 7860 on.
        auth: user:password that visitors must give.
    """
    user, _, password = auth.partition(":")
    if auth and not (user and password):
        raise ValueError("--auth: write user:password")
    from sudoku_gym.app.page import layout

    left, right = (*policy, "expert-iteration", "hidden-singles")[:2]
    page = layout([*policy, *plugins.available("policies")], (left, right), trust)
    page.launch(
        server_name=host,
        server_port=port or None,
        auth=(user, password) if auth else None,
        show_error=True,
    )
    return 0
