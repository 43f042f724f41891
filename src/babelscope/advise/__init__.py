"""Which encoder and recipe for my language? What can be seen beforehand, runs that stop early, and a verdict.

`command` goes through all of it: facts and a plan, a race of the recipes, the outcome, and the page. It uses the same
steps, engine and store as studies do.
"""
