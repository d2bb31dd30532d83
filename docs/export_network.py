"""Write the network of `expert-iteration` as JavaScript, for the page that plays it in the browser.

Usage: python docs/export_network.py
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

from safetensors.numpy import load_file

from sudoku_agents.calphazero.policy import DEFAULT_RESTARTS, START_ROUNDS
from sudoku_agents.expert_iteration.policy import PRETRAINED
from sudoku_gym.storage.atomic import write_text

SCRIPT = Path(__file__).parent / "javascripts" / "weights.js"
UNUSED = "heads.value."  # expert iteration trains no value


def exported(folder: Path = PRETRAINED) -> str:
    """Return the script: the network's settings, and its tensors as float32 in base64."""
    config = json.loads((folder / "config.json").read_text())
    network = config["network"]
    assert network["type"] == "factor-graph" and network["intersections"], network
    content = {
        "settings": {
            "channels": network["channels"],
            "segment": network["rounds"],
            "rounds": START_ROUNDS,
            "convergenceMargin": network["convergence_margin"],
            "threshold": config["threshold"],
            "restarts": DEFAULT_RESTARTS,
        },
        "tensors": {
            name: base64.b64encode(tensor.astype("<f4").tobytes()).decode()
            for name, tensor in sorted(load_file(folder / "weights.safetensors").items())
            if not name.startswith(UNUSED)
        },
    }
    return (
        "// Written by docs/export_network.py from agents/sudoku_agents/expert_iteration/"
        "pretrained.\n"
        f"globalThis.SudokuGymWeights = {json.dumps(content, indent=1)};\n"
    )


if __name__ == "__main__":
    write_text(SCRIPT, exported())
    print(f"wrote {SCRIPT} ({SCRIPT.stat().st_size:,} bytes)")
