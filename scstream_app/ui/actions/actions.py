"""Everything that a menu, a button or a key can do, as data: the menus, the F1 sheet and the settings read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QAction, QKeySequence


@dataclass(frozen=True, slots=True)
class Spec:
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

        >>> Spec("open", "File", "Open Video…").menu_path
        'File > Open Video…'
        """
        return f"{self.menu} > {self.title}"


#: In the order of the menus; an empty title is a separator.
SPECS: tuple[Spec, ...] = (
    Spec("open", "File", "Open Video…", ("Ctrl+O",)),
    Spec("open_folder", "File", "Open Image Sequence…", ("Ctrl+Shift+O",)),
    Spec("open_camera", "File", "Open Camera…"),
    Spec("open_url", "File", "Open URL…"),
    Spec("open_session", "File", "Open Session…"),
    Spec("separator_1", "File", ""),
    Spec("save", "File", "Save Session", ("Ctrl+S",)),
    Spec("save_as", "File", "Save Session As…", ("Ctrl+Shift+S",)),
    Spec("export", "File", "Export…", ("Ctrl+E",)),
    Spec("separator_7", "File", ""),
    Spec("save_model", "File", "Save Model…"),
    Spec("use_model", "File", "Segment Another Clip with This Model…"),
    Spec("open_model", "File", "Open Video with Model…"),
    Spec("separator_2", "File", ""),
    Spec("close", "File", "Close", ("Ctrl+W",)),
    Spec("quit", "File", "Quit", ("Ctrl+Q",)),
    Spec("undo", "Edit", "Undo", ("Ctrl+Z",)),
    Spec("redo", "Edit", "Redo", ("Ctrl+Shift+Z", "Ctrl+Y")),
    Spec("separator_3", "Edit", ""),
    Spec("hide", "Edit", "Hide or Show Segments", ("H",)),
    Spec("isolate", "Edit", "Isolate or Show All"),
    Spec("rename", "Edit", "Rename…", ("F2",)),
    Spec("merge", "Edit", "Merge Segments", ("M",)),
    Spec("split", "Edit", "Split Segment", ("Alt+M",)),
    Spec("lock", "Edit", "Lock or Unlock Segments"),
    Spec("group", "Edit", "Add to Object…", ("G",)),
    Spec("ungroup", "Edit", "Remove from Object", ("Del",)),
    Spec("separator_6", "Edit", ""),
    Spec("preferences", "Edit", "Preferences…", ("Ctrl+,",)),
    Spec("view_original", "View", "Original", ("1",), True, "view"),
    Spec("view_overlay", "View", "Overlay", ("2",), True, "view"),
    Spec("view_mean_colour", "View", "Mean Colour", ("3",), True, "view"),
    Spec("view_boundaries", "View", "Boundaries", ("4",), True, "view"),
    Spec("view_uncertainty", "View", "Uncertainty", ("5",), True, "view"),
    Spec("view_matte", "View", "Object Matte", ("6",), True, "view"),
    Spec("view_side_by_side", "View", "Side by Side", ("7",), True, "view"),
    Spec("view_wipe", "View", "Wipe", ("8",), True, "view"),
    Spec("separator_4", "View", ""),
    Spec("fit", "View", "Fit to Window", ("F",)),
    Spec("actual_size", "View", "Actual Size", ("Ctrl+0",)),
    Spec("zoom_in", "View", "Zoom In", ("Ctrl++", "Ctrl+=")),
    Spec("zoom_out", "View", "Zoom Out", ("Ctrl+-",)),
    Spec("full_screen", "View", "Full Screen", ("F11",), True),
    Spec("separator_5", "View", ""),
    Spec("theme_system", "View", "Colours of the System", (), True, "theme"),
    Spec("theme_light", "View", "Light", (), True, "theme"),
    Spec("theme_dark", "View", "Dark", (), True, "theme"),
    Spec("play", "Playback", "Play or Pause", ("Space",)),
    Spec("next", "Playback", "Next Frame", ("Right", ".")),
    Spec("previous", "Playback", "Previous Frame", ("Left", ",")),
    Spec("forward", "Playback", "Forward 10 Frames", ("Shift+Right",)),
    Spec("back", "Playback", "Back 10 Frames", ("Shift+Left",)),
    Spec("start", "Playback", "To the Start", ("Home",)),
    Spec("end", "Playback", "To the End", ("End",)),
    Spec("next_event", "Playback", "Next Event", ("N",)),
    Spec("previous_event", "Playback", "Previous Event", ("P",)),
    Spec("next_uncertain", "Playback", "Next Uncertain Frame", ("U",)),
    Spec("previous_uncertain", "Playback", "Previous Uncertain Frame", ("Shift+U",)),
    Spec("slower", "Playback", "Slower", ("[",)),
    Spec("faster", "Playback", "Faster", ("]",)),
    Spec("normal_speed", "Playback", "Normal Speed", ("Backspace",)),
    Spec("loop", "Playback", "Loop", ("L",), True),
    Spec("set_in", "Playback", "Set In Point", ("I",)),
    Spec("set_out", "Playback", "Set Out Point", ("O",)),
    Spec("clear_range", "Playback", "Clear In and Out"),
    Spec("pause_segmenting", "Segmentation", "Pause Segmentation", ("Shift+Space",), True),
    Spec("record", "Segmentation", "Record", ("Ctrl+R", "R"), True),
    Spec("restart", "Segmentation", "Segment Again"),
    Spec("guide", "Help", "Guide"),
    Spec("shortcuts", "Help", "Keys and Mouse", ("F1",)),
    Spec("about", "Help", "About ScStream Studio"),
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

    def _make(self, spec: Spec) -> QAction:
        action = QAction(spec.title, self)
        action.setObjectName(spec.id)
        action.setCheckable(spec.checkable)
        self._give(action, spec, self.keys(spec))
        return action

    def _give(self, action: QAction, spec: Spec, keys: Iterable[str]) -> None:
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

    def keys(self, spec: Spec) -> tuple[str, ...]:
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


BY_ID: Mapping[str, Spec] = MappingProxyType({spec.id: spec for spec in SPECS})
