"""Faults without end, made at random: of what users give, of stores, and of the processes that work on them.

    PYTHONPATH=tools python -m faults --minutes 90

An *attempt* makes one of a kind of faults and looks at what comes of it. All of it follows from the kind and a number;
what goes wrong is printed with both, and `--kind KIND --first NUMBER --attempts 1` does it again.
"""
