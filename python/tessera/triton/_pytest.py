"""A plug-in for pytest: `pytest --tessera-check=gfx942` runs the kernels that tests launch on an emulator.

A fault of a kernel fails its test, with the line of Python. With several targets each test runs for each of them.
Tests of unittest.TestCase take no parameters: they run for the first target. Emulation begins before conftest.py files
are imported, which may launch kernels or ask for the device; pytest imports the plug-ins of `-p` earlier.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

_SESSION = "tessera-check-session"  # the plug-in that is registered for a session with emulation


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tessera", "Triton's kernels without a GPU")
    group.addoption(
        "--tessera-check",
        action="append",
        default=[],
        metavar="TARGET[,TARGET...]",
        help="run the kernels of Triton that tests launch on an emulator of sm_90a, gfx942, ..., or on the interpreter,"
        " and fail tests whose kernels have a fault",
    )


def _targets(given: list[str]) -> list[str]:
    targets = [t.strip() for option in given for t in option.split(",")]
    return list(dict.fromkeys(t for t in targets if t))


@pytest.hookimpl(hookwrapper=True)  # pytest's own, which imports conftest.py files, is a wrapper, too
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    _begin(early_config, early_config.known_args_namespace.tessera_check)
    yield


def pytest_configure(config: pytest.Config) -> None:
    if not config.pluginmanager.has_plugin(_SESSION):  # a conftest.py file names this plug-in
        _begin(config, config.getoption("--tessera-check"))


def _begin(config: pytest.Config, given: list[str]) -> None:
    targets = _targets(given)
    if not targets:
        if given:
            raise pytest.UsageError("--tessera-check needs a target: sm_90a, gfx942, ..., or interpreter")
        return
    from .. import Error, targets as known

    try:
        unknown = [t for t in targets if t not in ("interpreter", *known())]
    except Error as e:
        raise pytest.UsageError(f"--tessera-check: {e}") from None
    if unknown:
        raise pytest.UsageError(
            f"--tessera-check: there is no target '{unknown[0]}'; targets: interpreter, {', '.join(known())}"
        )
    try:
        import triton  # noqa: F401
    except ImportError as e:
        raise pytest.UsageError(f"--tessera-check needs Triton: {e}") from None
    try:
        plugin = _Plugin(config, targets)
    except Error as e:
        raise pytest.UsageError(f"--tessera-check: {e}") from None
    config.pluginmanager.register(plugin, _SESSION)


class _Plugin:
    """The emulation of a session: of the first target while tests are collected, then of each test's own."""

    def __init__(self, config: pytest.Config, targets: list[str]):
        self._targets = targets
        self._current: str | None = None
        self._stack = contextlib.ExitStack()
        self._driver: Any = None
        self._launches: dict[str, int] = dict.fromkeys(targets, 0)
        self._enter(targets[0])
        config.add_cleanup(self._leave)

    def _enter(self, target: str) -> None:
        if target == self._current:
            return
        from ._check import checking

        self._leave()
        self._driver = self._stack.enter_context(checking(target))
        self._current = target

    def _leave(self) -> None:
        if self._current is not None:
            self._launches[self._current] += self._driver.launches
        self._stack.close()
        self._current = None

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if len(self._targets) > 1:
            metafunc.fixturenames.append("_tessera_target")
            metafunc.parametrize("_tessera_target", self._targets, indirect=True, scope="session")

    @pytest.fixture(scope="session")
    def _tessera_target(self, request: Any) -> str:
        return request.param

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        call = getattr(item, "callspec", None)
        self._enter(call.params.get("_tessera_target", self._targets[0]) if call else self._targets[0])

    def pytest_report_header(self) -> str:
        return f"tessera: kernels run on {', '.join(self._targets)}"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from ._check import launches

        self._leave()
        counts = ", ".join(f"{launches(n)} on {target}" for target, n in self._launches.items())
        terminalreporter.write_line(f"tessera: {counts} without a fault")
