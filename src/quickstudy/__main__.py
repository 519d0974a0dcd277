"""`python -m quickstudy`: the same as the command `quickstudy`."""

from __future__ import annotations

import sys

from quickstudy.base.errors import Stopped, was_interrupted


def start() -> None:
    """Run the command. Ctrl-C while anything is imported ends it with one line, too."""
    try:
        from quickstudy.cli.main import main

        main()
    except (KeyboardInterrupt, Exception) as error:
        if not was_interrupted(error):
            raise
        sys.stderr.write(f"{Stopped()}\n")
        sys.exit(Stopped.exit_status)


if __name__ == "__main__":
    start()
