"""Our SConstruct's side: what happens before a build, while it runs and at its end."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import SCons.Node
import SCons.Node.Alias
import SCons.Script

from netra_build.asm.tools.bounds import BYTES, SECONDS
from netra_build.build.cache.store import store_place
from netra_build.build.freshness.finished import trust_noted
from netra_build.build.record.reasons import Ending
from netra_build.build.run.execution import Tally
from netra_build.core.errors import EXIT_BAD_INPUT, NetraError
from netra_build.core.processes import usable_threads
from netra_build.core.texts import duration_text
from netra_build.scons.command_line import declare_asked, flag, read_variables
from netra_build.scons.context import BuildContext
from netra_build.scons.methods import NetraUserError
from netra_build.scons.request import keep_request, note_running, restore_request
from netra_build.scons.steps import Step, node_is_done
from netra_build.scons.up_to_date import UpToDateCheck

KNOWN_STATUSES = (1, 2, 3, 4, 5, 70)


def declare(env: Any, check: UpToDateCheck) -> int | None:
    """Declare what the command line asks for, to be built when this returns None.

    Otherwise the exit status is returned: the request was answered, or refused with one line.
    """
    context: BuildContext = env["NETRA_CONTEXT"]
    context.has_front = True
    trust_noted(check.noted)
    if check.is_usable:
        note_running(context)
    try:
        values = read_variables(check.variables, check.targets)
        context.verify = flag(values, "verify")
        env["NETRA_VERBOSE"] = flag(values, "verbose")
        env["NETRA_ROCM_PATH"] = context.input_trace.variable(check.environment, "ROCM_PATH")
        env.Replace(**{name: check.environment.get(name, "") for name in (SECONDS, BYTES)})
        env["NETRA_TOOLCHAIN"] = values.get("toolchain", "")
        place = store_place(values.get("store", ""), check.environment)
        if place is not None:
            env["NETRA_STORE"], env["NETRA_STORE_BYTES"] = str(place.root), place.max_bytes
        env["NETRA_LIBRARY_ROOT"] = values.get("library_root", "#")
        restored = restore_request(env, check) if _is_build(env) else None
        if restored is not None:
            files = f"{len(restored.outputs)} files"
            print("\n".join([*restored.said, f"netra: restored {files} from the store"]))
            return 0
        declare_asked(env, values, check.targets)
        if "why" in values:
            from netra_build.inspect.why import why_text

            context.notes.clear()
            known = context.run_record(env), context.freshness(env)
            print(why_text(values["why"], context.executions, *known))
            return 0
    except (NetraUserError, NetraError) as error:
        print(f"netra: {error}", file=sys.stderr)
        return error.status
    _use_possible_jobs(env)
    if not _is_quiet(env) and not env["NETRA_VERBOSE"]:
        _show_progress(env, check.environment.get("TERM", ""))
    return None


def _use_possible_jobs(env: Any) -> None:
    jobs = env.GetOption("num_jobs")
    usable = usable_threads(jobs) if jobs > 1 else jobs
    if usable < jobs:
        print(f"netra: the system starts {usable} of {jobs} threads; -j1 is used", file=sys.stderr)
        SCons.Script.Main.OptionsParser.values.num_jobs = 1  # -j counts more than SetOption


def _show_progress(env: Any, term: str) -> None:
    """Show one live line in place of the build lines, if the terminal can."""
    if not sys.stdout.isatty() or term in ("", "dumb"):
        return
    from netra_build.core.terminal import LiveLine

    context, began = env["NETRA_CONTEXT"], time.monotonic()
    tally, total = context.tally, len(context.steps)

    def text(width: int) -> str:
        seconds, settled = time.monotonic() - began, len(_settled(context))
        return progress_line(tally, settled, total, seconds, width) if tally.running() else ""

    env["PRINT_CMD_LINE_FUNC"] = lambda *_: None
    LiveLine(sys.stdout, text).start()


def _is_build(env: Any) -> bool:
    return not any(env.GetOption(name) for name in ("clean", "no_exec", "help"))


def _is_quiet(env: Any) -> bool:
    return not _is_build(env) or env.GetOption("silent")


def finish(env: Any, check: UpToDateCheck, has_failed: bool) -> int:
    """Print what is worth knowing after the build; if all is done, note it for the next time.

    Returns the exit status for a file that is not what was made or found: nobody vouches for it.
    """
    context: BuildContext = env["NETRA_CONTEXT"]
    moment_ns, status = time.time_ns(), 0
    is_done = not has_failed and _is_done(check.targets or ["product"])
    try:
        if is_done:
            context.notes += context.warnings()
        if check.is_usable and is_done:
            keep_request(env, check, moment_ns)
        elif _is_build(env) and not has_failed:
            context.confirmed()
    except NetraError as error:
        print(f"netra: {error}", file=sys.stderr)
        status = error.status
    context.finish()
    for note in context.notes:
        print(f"netra: {note}")
    if not _is_quiet(env) and any(step.node.get_state() for step in context.steps):
        counts = context.tally.counts((s.output_paths, s.input_paths) for s in _settled(context))
        print(counts.line(time.time() - SCons.Script.start_time))
    return status


def _is_done(targets: Sequence[str]) -> bool:
    nodes = [SCons.Node.Alias.default_ans.lookup(target) for target in targets]
    return all(node is not None and node_is_done(node) for node in nodes)


def exit_status(failure: Any) -> int:
    """Return the exit code of a failed node: ours, or 2 for what SCons itself ran into."""
    return failure.status if failure.status in KNOWN_STATUSES else EXIT_BAD_INPUT


def _settled(context: BuildContext) -> list[Step]:
    """Return what SCons has found to be up to date."""
    return [step for step in context.steps if step.node.get_state() == SCons.Node.up_to_date]


LONGEST_SUBJECT = 48


def progress_line(tally: Tally, settled: int, total: int, seconds: float, width: int) -> str:
    """Return the line, cut to ``width`` characters.

    ``settled`` actions of ``total`` had nothing to do; the build has taken ``seconds`` so far.
    """
    ran, restored = tally.count(Ending.RAN), tally.count(Ending.RESTORED)
    worked = ran + restored
    done = min(worked + settled, total)
    parts = [f"[{done}/{total}]"]
    running = tally.running()
    if running:
        more = f" and {len(running) - 1} more" if len(running) > 1 else ""
        parts.append(f"{_shortened(running[0])}{more}")
    if restored:
        parts.append(f"restored {restored}")
    if worked and done < total:
        parts.append(f"about {duration_text(seconds / worked * (total - done))} left")
    return "  ".join(parts)[:width]


def _shortened(line: str) -> str:
    """Return label and subject of a build line; what it makes would not fit."""
    text = " ".join(line.split(" -> ")[0].split())
    return text if len(text) <= LONGEST_SUBJECT else text[: LONGEST_SUBJECT - 3] + "..."
