"""A display that records its calls."""

from dataclasses import dataclass, field

from rocketmq_capacity.progress.progress import Display, Phase, ProgressStep


@dataclass
class Told(Display):
    """The calls that a display got, in order."""

    events: list[str] = field(default_factory=list)

    def begins(self, step: ProgressStep) -> None:
        self.events.append(f"{step.name} begins")

    def phase_begins(self, phase: Phase) -> None:
        self.events.append(f"{phase.name} begins")

    def looks(self) -> None:
        self.events.append("looks")

    def phase_ends(self, phase: Phase) -> None:
        self.events.append(f"{phase.name} ends")

    def ends(self) -> None:
        self.events.append("ends")

    def tells(self, line: str, level: str) -> None:
        self.events.append(f"{level} {line}")

    def closes(self) -> None:
        self.events.append("closes")

    def without_looks(self) -> list[str]:
        """What does not depend on how long it takes."""
        return [event for event in self.events if event != "looks"]
