"""The rules of CONTRIBUTING.md: sizes, docstrings, citations, public names, and everything a user reads is run.

Examples of README and docs run in a made-up laboratory folder (lab_files) beside the shipped models. A command whose
input files are the reader's own is parsed only.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from lab_files import lab_folder

import osim_inertia as oi
from osim_inertia.cli.main import COMMANDS, main

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
LONGEST_FILE = 400  # lines
TEXT = {".py", ".md", ".toml", ".yml", ".yaml", ".cff", ".bib", ".osim", ".json", ".csv", ".xml", ".html", ".mot",
        ".sto", ".trc"}  # fmt: skip
KEY = re.compile(r"\[([A-Z][A-Za-z]+\d{4}[a-z]?)(?:,[^\]]*)?\]")
MACHINE_PATH = re.compile(r"(?<![\w.])(?:/(?:home|Users|root|work|farm)/[\w.]|[A-Z]:\\Users)")
PROMISED = ("models/", "walk/")  # files an example may count on
LONG = ("train-wrap",)  # takes minutes, so that it is parsed here, and run with fewer steps in tests/neural
PUBLIC_NAMES = [
    "FileError", "Model", "ModelError", "OsimError", "OsimInertiaError", "System", "Table", "inverse_dynamics_of",
    "inverse_kinematics", "joint_reactions", "rank_muscles", "read_markers", "read_model", "read_osim", "read_table",
    "with_muscle_mass", "write_model", "write_osim", "write_table",
]  # fmt: skip


def files_of_the_project() -> list[Path]:
    """What git tracks or would track; without git, all that is not made by tools."""
    if shutil.which("git") and (ROOT / ".git").exists():
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
        return sorted(ROOT / name for name in names if (ROOT / name).is_file())
    made = ("__pycache__", "build", "dist", "results")
    return sorted(path for path in ROOT.rglob("*") if path.is_file()
                  and not any(part in made or part.startswith(".") for part in path.relative_to(ROOT).parts))


FILES = files_of_the_project()
PACKAGE = [path for path in FILES if path.suffix == ".py" and path.is_relative_to(ROOT / "osim_inertia")]
PAGES = [path for path in FILES if path.suffix == ".md" and (path.parent == ROOT or path.is_relative_to(DOCS))]
MODELS = [path for path in FILES if path.suffix == ".osim" and path.is_relative_to(ROOT / "models")]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# ---- code -----------------------------------------------------------------------------------------------------------
def test_no_python_file_is_longer_than_four_hundred_lines():
    lines = {name_of(path): len(path.read_text().splitlines()) for path in FILES if path.suffix == ".py"}
    assert not {name: count for name, count in lines.items() if count > LONGEST_FILE}


def test_every_module_says_what_it_is():
    assert PACKAGE
    assert not [name_of(path) for path in PACKAGE if not ast.get_docstring(ast.parse(path.read_text()))]


def test_public_names_change_only_on_purpose():
    assert list(oi.__all__) == PUBLIC_NAMES
    assert all(hasattr(oi, name) for name in PUBLIC_NAMES)


def test_imports_keep_to_the_contract():
    pytest.importorskip("importlinter")
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run([sys.executable, "-c", program, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_text_has_paths_of_a_machine():
    found = []
    for path in FILES:
        hits = MACHINE_PATH.finditer(path.read_text(errors="replace")) if path.suffix in TEXT else ()
        found += [f"{name_of(path)}: {hit.group()}" for hit in hits]
    assert not found


# ---- citations ------------------------------------------------------------------------------------------------------
def test_every_citation_is_in_the_references():
    known = set(re.findall(r"^@\w+\{(\w+),", (DOCS / "references.bib").read_text(), re.MULTILINE))
    cited = {(name_of(path), key) for path in [*PACKAGE, *PAGES] for key in KEY.findall(path.read_text())}
    assert cited
    assert not [(page, key) for page, key in cited if key not in known]


def test_every_equation_that_code_cites_is_in_the_theory():
    theory = (DOCS / "theory.md").read_text()
    numbered = [int(number) for number in re.findall(r"\S {3,}\((\d+)\)$", theory, re.MULTILINE)]
    assert numbered == list(range(1, len(numbered) + 1))
    cited = {(name_of(path), int(number)) for path in PACKAGE
             for number in re.findall(r"theory\.md \((\d+)\)", path.read_text())}  # fmt: skip
    assert cited
    assert not [(page, number) for page, number in cited if number not in numbered]


# ---- models ---------------------------------------------------------------------------------------------------------
def test_every_model_loads():
    assert MODELS
    for path in MODELS:
        system = oi.System(oi.read_osim(path))
        assert len(system.default_pose()) == system.n, name_of(path)


# ---- commands -------------------------------------------------------------------------------------------------------
def parsed(words: list[str]) -> click.Context:
    """The context of `osim-inertia WORDS`; wrong usage raises."""
    command = main.get_command(click.Context(main), words[0])
    assert command is not None, f"there is no command '{words[0]}'"
    parent = click.Context(main, info_name="osim-inertia", **main.context_settings)
    return command.make_context(words[0], words[1:], parent=parent)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_examples_parse_and_run_where_their_files_are_known(name, workplace):
    command = main.get_command(click.Context(main), name)
    paragraphs = [" ".join(text.split()) for text in (command.help or "").split("\n\n")]
    examples = [text.removeprefix("Example: ") for text in paragraphs if text.startswith("Example: ")]
    assert examples
    for example in examples:
        words = shlex.split(example)
        assert words[:2] == ["osim-inertia", name]
        run_command(words[1:], f"help of {name}", promised=("walk/",))


@pytest.mark.parametrize(("page", "script"), [("cli.md", "make_cli_page"), ("validation.md", "make_validation_page")])
def test_pages_made_by_scripts_are_up_to_date(page, script):
    spec = importlib.util.spec_from_file_location(script, DOCS / f"{script}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / page).read_text(encoding="utf-8") == module.page(), f"run: python docs/{script}.py"


# ---- documentation --------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Block:
    language: str
    line: int
    text: str


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for hit in re.finditer(r"^```(\w+)[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield Block(hit.group(1), text.count("\n", 0, hit.start()) + 2, hit.group(2))


def commands(block: Block) -> Iterator[list[str]]:
    """The words after osim-inertia of each such line; continued lines are joined, comments cut off."""
    for line in block.text.replace("\\\n", " ").splitlines():
        for part in line.removeprefix("$ ").split("&&"):
            words = shlex.split(part, comments=True)
            if len(words) > 1 and Path(words[0]).name == "osim-inertia":  # also .venv/bin/osim-inertia
                yield words[1:]


def input_files(words: list[str]) -> list[str]:
    """Files a command reads: its positional arguments."""
    context = parsed(words)
    given = [context.params.get(parameter.name) for parameter in context.command.params
             if isinstance(parameter, click.Argument)]
    flat = [item for value in given for item in (value if isinstance(value, tuple) else (value,))]
    return [str(item) for item in flat if isinstance(item, Path)]


def run_command(words: list[str], place: str, promised: tuple[str, ...] = PROMISED) -> None:
    if words[0].startswith("-"):
        assert CliRunner().invoke(main, words).exit_code == 0, place
        return
    missing = [name for name in input_files(words) if not Path(name).exists()]
    assert not [name for name in missing if name.startswith(promised)], f"{place}: {missing} should be there"
    if missing or words[0] in LONG:
        return
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, f"{place}: osim-inertia {' '.join(words)}\n{result.output}\n{result.exception!r}"


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory):
    root = tmp_path_factory.mktemp("laboratory")
    lab_folder(root)
    shutil.copytree(ROOT / "models", root / "models", ignore=shutil.ignore_patterns("zoo", "__pycache__"))
    return root


@pytest.fixture
def workplace(laboratory, tmp_path, monkeypatch):
    """A fresh copy of the laboratory as the working folder, without a browser."""
    shutil.copytree(laboratory, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(click, "launch", lambda *arguments, **options: 0)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_examples_of_the_documentation_run(page, workplace):
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        place = f"{name_of(page)}, line {block.line}"
        if block.language == "python":
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
            with contextlib.redirect_stdout(io.StringIO()):
                exec(code, names)
        elif block.language in ("bash", "console", "sh", "shell"):
            for words in commands(block):
                run_command(words, place)


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "api.md").read_text()
    methods = [name for name, item in vars(oi.System).items()
               if not name.startswith("_") and (callable(item) or isinstance(item, property))]  # fmt: skip
    inner = {"frames", "run", "n", "has_angular_speeds", "path_names"}  # used between modules, or told in words
    assert methods
    assert not [name for name in [*PUBLIC_NAMES, *methods] if name not in inner and not re.search(rf"\b{name}\b", text)]


def test_documentation_builds_without_warnings(tmp_path):
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
