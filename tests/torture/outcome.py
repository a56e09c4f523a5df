"""What happened in the cases of an attack: counters that add up."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

#: Counters that must stay 0, in the order in which they are printed.
FAULTS = ("crashes", "hangs", "lost_frames", "wrong_ids", "outside")


@dataclass
class Outcome:
    """Counters of one case or of many.

    Attributes
    ----------
    cases, steps : number of cases; of steps in the window.
    refused : cases that ended with an error message that names the problem.
    opened : cases that ended with a result.
    crashes : exceptions that nothing expected, and processes that ended by a signal of their own.
    hangs : cases that took longer than their time limit.
    lost_frames : frames that are missing after the run was resumed.
    wrong_ids : frames whose ids are not those of an uninterrupted run.
    outside : files that were written outside the folders they belong to.
    faults : one line for each fault.
    measures : figures that are no counters.
    """

    cases: int = 0
    steps: int = 0
    refused: int = 0
    opened: int = 0
    crashes: int = 0
    hangs: int = 0
    lost_frames: int = 0
    wrong_ids: int = 0
    outside: int = 0
    faults: list[str] = field(default_factory=list)
    measures: dict[str, float] = field(default_factory=dict)

    def add(self, other: Outcome) -> None:
        """Add the counters of another outcome."""
        for one in fields(self):
            if one.type == "int":
                setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))
        self.faults += other.faults
        self.measures.update(other.measures)

    def fault(self, kind: str, text: str, count: int = 1) -> None:
        """Count a fault, and describe it."""
        setattr(self, kind, getattr(self, kind) + count)
        self.faults.append(f"{kind}: {text}")

    @property
    def sound(self) -> bool:
        """Whether no counter of faults has counted."""
        return not any(getattr(self, name) for name in FAULTS)
