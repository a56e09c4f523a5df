"""Entry points of `scstream` and `scstream-studio`, and of `python -m scstream_app`."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout

from scstream_app.terminal.exit_codes import INTERRUPTED


def main() -> int:
    """Run the command-line program; handles Ctrl-C also during its imports, which take a second or two."""
    if sys.argv[1:] == ["--version"]:
        # The parser of the command line takes longer to import than all the rest of this.
        from scstream_app import __version__
        from scstream_app.terminal.streams import fail_safe_streams, output_code

        with fail_safe_streams() as output:
            print(f"scstream {__version__}")
            return output_code(output)
    try:
        from scstream_app import crash_report, logs
        from scstream_app.cli import main as command

        with logs.logging_to_file(sys.argv[1:]), crash_report.watching_for_faults():
            return command()
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED


def window() -> int:
    """Run the program from a menu entry: without a console, a message box shows why it failed."""
    if sys.stderr is not None:
        return main()
    # Windows starts the program without a console, and then without standard streams.
    messages = io.StringIO()
    with redirect_stdout(messages), redirect_stderr(messages):
        try:
            code = main()
        except Exception as error:
            print(f"Unexpected error: {type(error).__name__}: {error}.", file=messages)
            code = 1
    if code:
        from scstream_app.ui.qt.dialogs.display import show_failure

        show_failure(messages.getvalue().strip() or f"The program ended with exit code {code}.")
    return code


if __name__ == "__main__":
    sys.exit(main())
