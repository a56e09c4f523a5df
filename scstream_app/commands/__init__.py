"""The commands of `scstream`, one module each; a module is imported when its command runs."""

#: A line on each command, in the order of the help.
COMMANDS = {
    "segment": "Segment a video, images or a camera into a session and files.",
    "resume": "Resume an interrupted session.",
    "export": "Export the frames of a session to files.",
    "evaluate": "Score masks or segments against a ground truth.",
    "info": "Show versions, codecs and cameras for a bug report, or describe a session.",
    "bench": "Compare the engine with other methods.",
}
