"""What happens in one simulation, made before it begins: so that a failing one can be printed and made smaller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace

KIND = (("accepted", 1),)


@dataclass(frozen=True, slots=True)
class Call:
    """Somebody calls /cron at `at_s`. `name` is its own through all shrinking: its process's luck hangs on it.

    Each of `troubles` befalls one operation of this run, by its number (from 1) or as the first of its name
    ("send alert", "swap digests"). What: "kill-before", "kill-after" (the process is gone), "refused" (not done,
    raises), "untold" (done, raises), "lost" (done, told that it was not), "stop N" (suspended for N seconds before
    it), "late N" (the same after it, before the answer is heard).
    """

    at_s: float
    name: int = 0
    troubles: tuple[tuple[int | str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """A person changes something."""

    at_s: float
    person: int
    what: str  # "mode:daily", "at:20:00", "zone:...", "pause:hours", "stop", "save", "delete", "back"


@dataclass(frozen=True, slots=True)
class Plan:
    """`start` names a prepared scene; times count from its end."""

    seed: int
    start: str
    modes: tuple[str, ...]
    jobs: tuple[float, ...] = ()  # when each appears on the board
    calls: tuple[Call, ...] = ()
    edits: tuple[Edit, ...] = ()
    outcomes: tuple[tuple[str, int], ...] = KIND  # what the provider does, and its weight; kind again at the end
    answers: tuple[tuple[str, int], ...] = (("answered", 1),)  # the same of the model
    slow: bool = True  # whether the store and the provider take their time


def smaller(plan: Plan) -> Iterator[Plan]:
    """Plans with one thing less, the big cuts first."""
    for name in ("calls", "edits", "jobs"):
        items = getattr(plan, name)
        size = len(items) // 2 or len(items)
        while size:
            for start in range(0, len(items), size):
                yield replace(plan, **{name: items[:start] + items[start + size :]})
            size //= 2
    if len(plan.modes) > 1:
        yield replace(plan, modes=plan.modes[:-1], edits=tuple(e for e in plan.edits if e.person < len(plan.modes) - 1))
    for number, call in enumerate(plan.calls):
        for at in range(len(call.troubles)):
            less = replace(call, troubles=call.troubles[:at] + call.troubles[at + 1 :])
            yield replace(plan, calls=(*plan.calls[:number], less, *plan.calls[number + 1 :]))
    for outcome in plan.outcomes if len(plan.outcomes) > 1 else ():
        yield replace(plan, outcomes=(outcome,))
    if len(plan.answers) > 1:
        yield replace(plan, answers=plan.answers[:1])
    if plan.slow:
        yield replace(plan, slow=False)


def as_python(value: object) -> str:
    """A plan as it is pasted into once_broken.py: what is as usual is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        told = [
            f"{field.name}={as_python(found)}"
            for field in fields(value)
            if (found := getattr(value, field.name)) != field.default
        ]
        return f"{type(value).__name__}({', '.join(told)})"
    if isinstance(value, tuple):
        return f"({', '.join(map(as_python, value))}{',' if len(value) == 1 else ''})"
    return repr(value)
