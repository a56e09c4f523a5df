"""Everything that a menu, a button or a key can do, as data: the menus, the F1 sheet and the settings read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QAction, QKeySequence


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """An action: its menu, its title, its keys (the first is shown), whether it is a switch, and its group if any."""

    id: str
    menu: str
    title: str
    keys: tuple[str, ...] = ()
    checkable: bool = False
    group: str = ""

    @property
    def menu_path(self) -> str:
        """Where it is to be found, whatever keys it has.

        >>> ActionSpec("open", "File", "Open Video…").menu_path
        'File > Open Video…'
        """
        return f"{self.menu} > {self.title}"


#: In the order of the menus; an empty title is a separator.
SPECS: tuple[ActionSpec, ...] = (
    ActionSpec("open", "File", "Open Video…", ("Ctrl+O",)),
    ActionSpec("open_folder", "File", "Open Image Sequence…", ("Ctrl+Shift+O",)),
    ActionSpec("open_camera", "File", "Open Camera…"),
    ActionSpec("open_url", "File", "Open URL…"),
    ActionSpec("open_session", "File", "Open Session…"),
    ActionSpec("separator_1", "File", ""),
    ActionSpec("save", "File", "Save Session", ("Ctrl+S",)),
    ActionSpec("save_as", "File", "Save Session As…", ("Ctrl+Shift+S",)),
    ActionSpec("export", "File", "Export…", ("Ctrl+E",)),
    ActionSpec("separator_7", "File", ""),
    ActionSpec("save_model", "File", "Save Model…"),
    ActionSpec("use_model", "File", "Segment Another Clip with This Model…"),
    ActionSpec("open_model", "File", "Open Video with Model…"),
    ActionSpec("separator_2", "File", ""),
    ActionSpec("close", "File", "Close", ("Ctrl+W",)),
    ActionSpec("quit", "File", "Quit", ("Ctrl+Q",)),
    ActionSpec("undo", "Edit", "Undo", ("Ctrl+Z",)),
    ActionSpec("redo", "Edit", "Redo", ("Ctrl+Shift+Z", "Ctrl+Y")),
    ActionSpec("separator_3", "Edit", ""),
    ActionSpec("hide", "Edit", "Hide or Show Segments", ("H",)),
    ActionSpec("isolate", "Edit", "Isolate or Show All"),
    ActionSpec("rename", "Edit", "Rename…", ("F2",)),
    ActionSpec("merge", "Edit", "Merge Segments", ("M",)),
    ActionSpec("split", "Edit", "Split Segment", ("Alt+M",)),
    ActionSpec("lock", "Edit", "Lock or Unlock Segments"),
    ActionSpec("group", "Edit", "Add to Object…", ("G",)),
    ActionSpec("ungroup", "Edit", "Remove from Object", ("Del",)),
    ActionSpec("separator_6", "Edit", ""),
    ActionSpec("preferences", "Edit", "Preferences…", ("Ctrl+,",)),
    ActionSpec("view_original", "View", "Original", ("1",), True, "view"),
    ActionSpec("view_overlay", "View", "Overlay", ("2",), True, "view"),
    ActionSpec("view_mean_colour", "View", "Mean Colour", ("3",), True, "view"),
    ActionSpec("view_boundaries", "View", "Boundaries", ("4",), True, "view"),
    ActionSpec("view_uncertainty", "View", "Uncertainty", ("5",), True, "view"),
    ActionSpec("view_matte", "View", "Object Matte", ("6",), True, "view"),
    ActionSpec("view_side_by_side", "View", "Side by Side", ("7",), True, "view"),
    ActionSpec("view_wipe", "View", "Wipe", ("8",), True, "view"),
    ActionSpec("separator_4", "View", ""),
    ActionSpec("fit", "View", "Fit to Window", ("F",)),
    ActionSpec("actual_size", "View", "Actual Size", ("Ctrl+0",)),
    ActionSpec("zoom_in", "View", "Zoom In", ("Ctrl++", "Ctrl+=")),
    ActionSpec("zoom_out", "View", "Zoom Out", ("Ctrl+-",)),
    ActionSpec("full_screen", "View", "Full Screen", ("F11",), True),
    ActionSpec("separator_5", "View", ""),
    ActionSpec("theme_system", "View", "Colours of the System", (), True, "theme"),
    ActionSpec("theme_light", "View", "Light", (), True, "theme"),
    ActionSpec("theme_dark", "View", "Dark", (), True, "theme"),
    ActionSpec("play", "Playback", "Play or Pause", ("Space",)),
    ActionSpec("next", "Playback", "Next Frame", ("Right", ".")),
    ActionSpec("previous", "Playback", "Previous Frame", ("Left", ",")),
    ActionSpec("forward", "Playback", "Forward 10 Frames", ("Shift+Right",)),
    ActionSpec("back", "Playback", "Back 10 Frames", ("Shift+Left",)),
    ActionSpec("start", "Playback", "To the Start", ("Home",)),
    ActionSpec("end", "Playback", "To the End", ("End",)),
    ActionSpec("next_event", "Playback", "Next Event", ("N",)),
    ActionSpec("previous_event", "Playback", "Previous Event", ("P",)),
    ActionSpec("next_uncertain", "Playback", "Next Uncertain Frame", ("U",)),
    ActionSpec("previous_uncertain", "Playback", "Previous Uncertain Frame", ("Shift+U",)),
    ActionSpec("slower", "Playback", "Slower", ("[",)),
    ActionSpec("faster", "Playback", "Faster", ("]",)),
    ActionSpec("normal_speed", "Playback", "Normal Speed", ("Backspace",)),
    ActionSpec("loop", "Playback", "Loop", ("L",), True),
    ActionSpec("set_in", "Playback", "Set In Point", ("I",)),
    ActionSpec("set_out", "Playback", "Set Out Point", ("O",)),
    ActionSpec("clear_range", "Playback", "Clear In and Out"),
    ActionSpec("pause_segmenting", "Segmentation", "Pause Segmentation", ("Shift+Space",), True),
    ActionSpec("record", "Segmentation", "Record", ("Ctrl+R", "R"), True),
    ActionSpec("restart", "Segmentation", "Segment Again"),
    ActionSpec("guide", "Help", "Guide"),
    ActionSpec("shortcuts", "Help", "Keys and Mouse", ("F1",)),
    ActionSpec("about", "Help", "About ScStream Studio"),
)

#: What titles cannot say, for the status bar.
TIPS: Mapping[str, str] = MappingProxyType(
    {
        "save": "Everything is on the disk already: choose where the session is to stay",
        "export": "Write masks, mattes, movies, tables or volumes",
        "save_model": "Write what has been learnt of the segments, a small file, to be used on other clips",
        "use_model": "Begin with the segments of this clip: what looks alike gets the same ids",
        "open_model": "Begin with the segments of a model that was saved",
        "hide": "Take the tint off the selected segments, or put it back",
        "isolate": "Dim everything but the selected segments, or show all again",
        "rename": "Give the selected segment a name; in the list of objects, the highlighted one another",
        "merge": "Make the selected segments one, from the next frame on; while frames are being segmented",
        "split": (
            "Divide the selected segments in two, from the next frame on, while frames are being segmented; "
            "the dashed line in the newest frame shows where"
        ),
        "lock": "Keep the selected segments from splitting and merging by themselves",
        "group": "Put the selected segments together under a name; objects can be cut out and exported",
        "ungroup": "Take the selected segments out of their object",
        "next_event": "The next frame on which a segment appears, splits, merges or goes",
        "next_uncertain": "The next of the frames on which segments are least certain",
        "restart": "From the first frame, with the settings in force",
    }
)


class Actions(QObject):
    """The actions of a window by their ids, with the keys that a person chose.

    ``keys_changed`` comes when some of them have other keys.
    """

    keys_changed = Signal()

    def __init__(self, parent: QObject, settings: QSettings) -> None:
        super().__init__(parent)
        self._settings = settings
        self._actions = {spec.id: self._make(spec) for spec in SPECS if spec.title}

    def _make(self, spec: ActionSpec) -> QAction:
        action = QAction(spec.title, self)
        action.setObjectName(spec.id)
        action.setCheckable(spec.checkable)
        self._give(action, spec, self.keys(spec))
        return action

    def _give(self, action: QAction, spec: ActionSpec, keys: Iterable[str]) -> None:
        action.setShortcuts([QKeySequence(key) for key in keys])
        tip = spec.title.rstrip("…")
        key = action.shortcut().toString()
        action.setToolTip(f"{tip} ({key})" if key else tip)
        action.setStatusTip(TIPS.get(spec.id, ""))

    def __getitem__(self, id: str) -> QAction:
        return self._actions[id]

    def bind(self, handlers: Mapping[str, Callable[[], object]]) -> None:
        """Say what each action does."""
        for id, handler in handlers.items():
            self._actions[id].triggered.connect(lambda _checked=False, act=handler: act())

    def enable(self, ids: Iterable[str], enabled: bool) -> None:
        """Let these be used, or not."""
        for id in ids:
            self._actions[id].setEnabled(enabled)

    # --- keys

    def keys(self, spec: ActionSpec) -> tuple[str, ...]:
        """The keys of an action: those that a person chose, else its own."""
        chosen = self._settings.value(f"keys/{spec.id}")
        return spec.keys if chosen is None else tuple(str(chosen).split(" | ")) if chosen else ()

    def set_keys(self, id: str, keys: Iterable[str]) -> None:
        """Give an action other keys, and remember them."""
        chosen = tuple(keys)
        self._settings.setValue(f"keys/{id}", " | ".join(chosen))
        self._give(self._actions[id], BY_ID[id], chosen)
        self.keys_changed.emit()

    def key(self, id: str) -> str:
        """The key of an action as people read it; nothing if it has none."""
        return self._actions[id].shortcut().toString()

    def reset_keys(self) -> None:
        """Go back to the keys that actions come with."""
        self._settings.remove("keys")
        for spec in SPECS:
            if spec.title:
                self._give(self._actions[spec.id], spec, spec.keys)
        self.keys_changed.emit()


BY_ID: Mapping[str, ActionSpec] = MappingProxyType({spec.id: spec for spec in SPECS})
