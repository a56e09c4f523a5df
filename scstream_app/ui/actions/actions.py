"""The table of actions, for menus, buttons and keys, and the QActions of the menus made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QAction, QKeySequence

from scstream_app.render import views

#: What an action needs to be available; `scstream_app.ui.document.action_availability` checks it.
Needs = Literal[
    "nothing",
    "something open or opening",
    "open document",
    "idle document",
    "session",
    "undo",
    "redo",
    "segments",
    "object",
    "playback",
    "play",
    "steps",
    "run",
    "live run",
]
_DIGITS = "1234567890"
#: The wipe, which only the window has, is the eighth view; new views of the table are behind it.
_WIPE_PLACE = 7
_SMALL_WORDS = frozenset({"and", "at", "by", "in", "of", "on", "or", "the", "to", "with"})


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """Description of an action.

    Parameters
    ----------
    id : str
    menu : str
        The menu that it is in; empty for an action of a panel only.
    title : str
        The menu entry; empty for a separator.
    keys : tuple of str
        Default shortcuts; menus show the first.
    needs : str
    tip : str
        What it does, where the title does not say it.
    word : str
        The button's text in a panel, if it is shorter than the title.
    keys_of : str
        For an action of a panel: id of the action whose keys it shares.
    checkable : bool
    group : str
        Actions of a group are exclusive: one of them is checked.
    """

    id: str
    menu: str
    title: str
    keys: tuple[str, ...] = ()
    needs: Needs = "nothing"
    tip: str = ""
    word: str = ""
    keys_of: str = ""
    checkable: bool = False
    group: str = ""

    @property
    def menu_path(self) -> str:
        """Where the action is in the menus.

        >>> ActionSpec("open", "File", "Open Video…").menu_path
        'File > Open Video…'
        """
        return f"{self.menu} > {self.title}"


def _separator(menu: str) -> ActionSpec:
    return ActionSpec("", menu, "")


def _views() -> Iterator[ActionSpec]:
    """Yield the actions of the views, in the order of `views.VIEWS`; the first ten have the digits as keys."""
    titles = [(f"view_{name}", view.title) for name, view in views.VIEWS.items() if view.in_window]
    titles.insert(_WIPE_PLACE, ("view_wipe", "Wipe"))
    for place, (id, title) in enumerate(titles):
        keys = tuple(_DIGITS[place : place + 1])
        yield ActionSpec(id, "View", _headline(title), keys, "open document", checkable=True, group="view")


def _headline(title: str) -> str:
    """Write a title as menus do.

    >>> _headline("Side by side")
    'Side by Side'
    """
    return " ".join(word if word in _SMALL_WORDS else word[:1].upper() + word[1:] for word in title.split())


def _theme(id: str, title: str) -> ActionSpec:
    return ActionSpec(id, "View", title, checkable=True, group="theme")


#: In the order of the menus; actions without a menu belong to a panel.
SPECS: tuple[ActionSpec, ...] = (
    ActionSpec("open", "File", "Open Video…", ("Ctrl+O",)),
    ActionSpec("open_folder", "File", "Open Image Sequence…", ("Ctrl+Shift+O",)),
    ActionSpec("open_camera", "File", "Open Camera…"),
    ActionSpec("open_url", "File", "Open URL…"),
    ActionSpec("open_session", "File", "Open Session…"),
    _separator("File"),
    ActionSpec(
        "save",
        "File",
        "Save Session",
        ("Ctrl+S",),
        "session",
        "Choose a folder for the session; its frames are on the disk already",
    ),
    ActionSpec("save_as", "File", "Save Session As…", ("Ctrl+Shift+S",), "session"),
    ActionSpec("export", "File", "Export…", ("Ctrl+E",), "session", "Write masks, mattes, movies, tables or volumes"),
    _separator("File"),
    ActionSpec(
        "save_model",
        "File",
        "Save Model…",
        needs="session",
        tip="Write the model of the segments to a small file, to segment other clips with it",
    ),
    ActionSpec(
        "use_model",
        "File",
        "Segment Another Clip with This Model…",
        needs="session",
        tip="Start another clip with this clip's segments: segments that look alike get the same ids",
    ),
    ActionSpec(
        "open_model",
        "File",
        "Open Video with Model…",
        tip="Start a clip with the segments of a saved model",
    ),
    _separator("File"),
    ActionSpec("close", "File", "Close", ("Ctrl+W",), "something open or opening"),
    ActionSpec("quit", "File", "Quit", ("Ctrl+Q",)),
    ActionSpec("undo", "Edit", "Undo", ("Ctrl+Z",), "undo"),
    ActionSpec("redo", "Edit", "Redo", ("Ctrl+Shift+Z", "Ctrl+Y"), "redo"),
    _separator("Edit"),
    ActionSpec(
        "hide", "Edit", "Hide or Show Segments", ("H",), "segments", "Hide or show the selected segments", word="Hide"
    ),
    ActionSpec(
        "isolate",
        "Edit",
        "Isolate or Show All",
        needs="segments",
        tip="Dim all but the selected segments, or show all again",
        word="Isolate",
    ),
    ActionSpec(
        "recolour", "", "Colour…", needs="segments", tip="Choose a colour for the selected segments in the overlay"
    ),
    ActionSpec(
        "rename", "Edit", "Rename…", ("F2",), "segments", "Rename the selected segment or object", word="Rename"
    ),
    ActionSpec(
        "merge",
        "Edit",
        "Merge Segments",
        ("M",),
        "segments",
        "Merge the selected segments from the next frame on, and lock the result",
        word="Merge",
    ),
    ActionSpec(
        "split",
        "Edit",
        "Split Segment",
        ("Alt+M",),
        "segments",
        "Split the selected segments into their sub-clusters from the next frame on, and lock the parts; "
        "the dashed line in the newest frame shows where",
        word="Split",
    ),
    ActionSpec(
        "lock",
        "Edit",
        "Lock or Unlock Segments",
        needs="segments",
        tip="Keep the model from splitting or merging the selected segments",
        word="Lock",
    ),
    ActionSpec(
        "group",
        "Edit",
        "Add to Object…",
        ("G",),
        "segments",
        "Add the selected segments to a new or an existing object; objects can be cut out and exported",
    ),
    ActionSpec(
        "ungroup",
        "Edit",
        "Remove from Object",
        ("Del",),
        "segments",
        "Remove the selected segments from the highlighted object, or else from all objects, from this frame on",
    ),
    ActionSpec(
        "palette_colour", "", "Palette Colour", needs="segments", tip="Give the selected segments their palette colours"
    ),
    ActionSpec("rename_object", "", "Rename…", needs="object", tip="Rename the highlighted object", keys_of="rename"),
    ActionSpec("recolour_object", "", "Colour…", needs="object", tip="Choose a colour for the highlighted object"),
    ActionSpec("delete_object", "", "Delete", needs="object", tip="Delete the highlighted object; its segments stay"),
    _separator("Edit"),
    ActionSpec("preferences", "Edit", "Preferences…", ("Ctrl+,",)),
    *_views(),
    _separator("View"),
    ActionSpec("fit", "View", "Fit to Window", ("F",), "open document"),
    ActionSpec("actual_size", "View", "Actual Size", ("Ctrl+0",), "open document"),
    ActionSpec("zoom_in", "View", "Zoom In", ("Ctrl++", "Ctrl+="), "open document"),
    ActionSpec("zoom_out", "View", "Zoom Out", ("Ctrl+-",), "open document"),
    ActionSpec("full_screen", "View", "Full Screen", ("F11",), checkable=True),
    _separator("View"),
    _theme("theme_system", "System Theme"),
    _theme("theme_light", "Light Theme"),
    _theme("theme_dark", "Dark Theme"),
    ActionSpec("play", "Playback", "Play or Pause", ("Space",), "play"),
    ActionSpec("next", "Playback", "Next Frame", ("Right", "."), "steps"),
    ActionSpec("previous", "Playback", "Previous Frame", ("Left", ","), "steps"),
    ActionSpec("forward", "Playback", "Forward 10 Frames", ("Shift+Right",), "steps"),
    ActionSpec("back", "Playback", "Back 10 Frames", ("Shift+Left",), "steps"),
    ActionSpec("start", "Playback", "Go to Start", ("Home",), "steps"),
    ActionSpec("end", "Playback", "Go to End", ("End",), "steps"),
    ActionSpec(
        "next_event",
        "Playback",
        "Next Event",
        ("N",),
        "playback",
        "Go to the next frame with a birth, split, merge or death",
    ),
    ActionSpec("previous_event", "Playback", "Previous Event", ("P",), "playback"),
    ActionSpec(
        "next_uncertain",
        "Playback",
        "Next Uncertain Frame",
        ("U",),
        "playback",
        "Go to the next of the frames with the highest uncertainty",
    ),
    ActionSpec("previous_uncertain", "Playback", "Previous Uncertain Frame", ("Shift+U",), "playback"),
    ActionSpec("slower", "Playback", "Slower", ("[",), "playback"),
    ActionSpec("faster", "Playback", "Faster", ("]",), "playback"),
    ActionSpec("normal_speed", "Playback", "Normal Speed", ("Backspace",), "playback"),
    ActionSpec("loop", "Playback", "Loop", ("L",), "playback", checkable=True),
    ActionSpec("set_in", "Playback", "Set In Point", ("I",), "playback"),
    ActionSpec("set_out", "Playback", "Set Out Point", ("O",), "playback"),
    ActionSpec("clear_range", "Playback", "Clear In and Out", needs="playback"),
    ActionSpec("pause_segmenting", "Segmentation", "Pause Segmentation", ("Shift+Space",), "run", checkable=True),
    ActionSpec("record", "Segmentation", "Record", ("Ctrl+R", "R"), "live run", checkable=True),
    ActionSpec(
        "restart",
        "Segmentation",
        "Segment Again",
        needs="idle document",
        tip="Segment the clip again from its first frame with the current settings",
    ),
    ActionSpec("guide", "Help", "Guide"),
    ActionSpec("shortcuts", "Help", "Keys and Mouse", ("F1",)),
    ActionSpec("about", "Help", "About ScStream Studio"),
)

BY_ID: Mapping[str, ActionSpec] = MappingProxyType({spec.id: spec for spec in SPECS if spec.title})
#: Actions that are in a menu.
MENU_ACTIONS: tuple[ActionSpec, ...] = tuple(spec for spec in BY_ID.values() if spec.menu)


class Actions(QObject):
    """The menus' QActions by id, with the keys that the user chose.

    ``keys_changed`` is emitted when actions have other keys.
    """

    keys_changed = Signal()

    def __init__(self, parent: QObject, settings: QSettings) -> None:
        super().__init__(parent)
        self._settings = settings
        self._actions = {spec.id: self._make(spec) for spec in MENU_ACTIONS}

    def _make(self, spec: ActionSpec) -> QAction:
        action = QAction(spec.title, self)
        action.setObjectName(spec.id)
        action.setCheckable(spec.checkable)
        action.setStatusTip(spec.tip)
        self._assign_keys(action, spec, self.keys(spec))
        return action

    def _assign_keys(self, action: QAction, spec: ActionSpec, keys: Iterable[str]) -> None:
        action.setShortcuts([QKeySequence(key) for key in keys])
        tip = spec.title.rstrip("…")
        key = action.shortcut().toString()
        action.setToolTip(f"{tip} ({key})" if key else tip)

    def __getitem__(self, id: str) -> QAction:
        return self._actions[id]

    def bind(self, handlers: Mapping[str, Callable[[], object]]) -> None:
        """Connect actions to the functions that do them."""
        for id, handler in handlers.items():
            self._actions[id].triggered.connect(lambda _checked=False, act=handler: act())

    def enable(self, why_disabled: Callable[[str], str], ids: Iterable[str] | None = None) -> None:
        """Enable the actions, all by default, for which there is no reason against it; status tips show the reasons."""
        for id in self._actions if ids is None else ids:
            reason = why_disabled(id)
            self._actions[id].setEnabled(not reason)
            self._actions[id].setStatusTip(reason or BY_ID[id].tip)

    # --- keys

    def keys(self, spec: ActionSpec) -> tuple[str, ...]:
        """Return the keys of an action: those that the user chose, else its default keys."""
        chosen = self._settings.value(f"keys/{spec.id}")
        return spec.keys if chosen is None else tuple(str(chosen).split(" | ")) if chosen else ()

    def set_keys(self, id: str, keys: Iterable[str]) -> None:
        """Give an action other keys, and store them."""
        chosen = tuple(keys)
        self._settings.setValue(f"keys/{id}", " | ".join(chosen))
        self._assign_keys(self._actions[id], BY_ID[id], chosen)
        self.keys_changed.emit()

    def key(self, id: str) -> str:
        """Return the first key of an action as text; empty if it has none."""
        return self._actions[id].shortcut().toString()

    def reset_keys(self) -> None:
        """Give all actions their default keys."""
        self._settings.remove("keys")
        for spec in MENU_ACTIONS:
            self._assign_keys(self._actions[spec.id], spec, spec.keys)
        self.keys_changed.emit()
