"""`python -m handful` is the same as `handful`."""

from handful.cli import main

main()
