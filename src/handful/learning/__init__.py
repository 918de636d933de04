"""Networks and how they are trained: what needs torch stands here, and nothing outside imports it unasked.

Install with ``pip install 'handful[torch]'``.
"""
