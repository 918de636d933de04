"""The one kind of error that handful raises for what a person gave it."""


class HandfulError(ValueError):
    """Something given to handful can't be used; the message is one sentence that says what and what to do."""
