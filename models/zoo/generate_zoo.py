"""Write every model of the zoo again: python models/zoo/generate_zoo.py

The catalogue is in zoo_joints, zoo_structure and zoo_paths; the spelling of each document version in zoo_xml.
"""

from __future__ import annotations

from pathlib import Path

from zoo_joints import custom_models, function_models, joint_models, reversed_models
from zoo_paths import constraint_models, path_models
from zoo_structure import document_models, frame_models, tree_models
from zoo_xml import Zoo, document

FOLDER = Path(__file__).resolve().parent
CHAPTERS = (joint_models, custom_models, function_models, reversed_models, frame_models, tree_models, document_models,
            constraint_models, path_models)  # fmt: skip


def catalogue() -> list[Zoo]:
    """All models."""
    return [zoo for chapter in CHAPTERS for zoo in chapter()]


def documents() -> dict[str, str]:
    """File name to text."""
    return {f"{zoo.name}_{version}.osim": document(zoo, version) for zoo in catalogue() for version in zoo.versions}


def main() -> None:
    """Write the files; remove models that are no longer in the catalogue."""
    texts = documents()
    for stale in FOLDER.glob("*.osim"):
        if stale.name not in texts:
            stale.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(texts)} models written")


if __name__ == "__main__":
    main()
