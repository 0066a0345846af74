"""Plans that once broke a promise, as `python -m tests.simulation` printed them. They stay."""

from __future__ import annotations

from tests.simulation.plan import Call, Edit, Plan

ONCE_BROKEN: tuple[Plan, ...] = (
    # Two runs matched for the same catch-up; the first cleared it, and the second dropped what was new since.
    Plan(
        seed=6691,
        start="fresh",
        modes=("instant", "instant", "instant"),
        jobs=(0.0, 166.0),
        calls=(Call(at_s=0.0, troubles=((25, "late 610"),)), Call(at_s=602.0, name=1)),
    ),
    # Suspended between its claim and its question, a run asked in another one's time: a pair was paid for twice.
    Plan(
        seed=1,
        start="verdicts",
        modes=("instant",),
        jobs=(0.0,),
        calls=(Call(at_s=0.0, troubles=(("create matches", "late 700"),)), Call(at_s=620.0, name=1)),
    ),
    # A digest was accepted and its rows flipped, then the process died; its person stopped, or paused: it expired.
    Plan(
        seed=2214, start="half flipped", modes=("daily",), edits=(Edit(at_s=508.3, person=0, what="stop"),), slow=False
    ),
    Plan(
        seed=3063,
        start="half flipped",
        modes=("daily",),
        edits=(Edit(at_s=27.5, person=0, what="pause:1"),),
        slow=False,
    ),
    # Suspended between its aliases and its job, a run created the job a second time, under its old id.
    Plan(
        seed=13168,
        start="renamed",
        modes=("instant",),
        jobs=(0.0, 0.0),
        calls=(
            Call(at_s=0.0, troubles=(("create jobs", "stop 610"),)),
            Call(at_s=604.9, name=1),
            Call(at_s=612.4, name=2),
        ),
        slow=False,
    ),
)
