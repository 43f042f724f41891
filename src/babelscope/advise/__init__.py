"""Which encoder and recipe for my language? What can be seen beforehand, runs that stop early, and a verdict."""
