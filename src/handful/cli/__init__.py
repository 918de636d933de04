"""The command line: words into calls, progress on the screen, exit statuses."""

import sys


def main() -> None:
    """Run `handful` as the shell asked for it."""
    from handful.cli.app import app

    # An id that the terminal's encoding lacks must not end a run after all its work.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="handful")
