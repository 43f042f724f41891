"""What leaves a store: results from one to another, in one file for another lab, and in places that machines share.

A module enters here if it moves, compares or removes results. None of them computes any.
"""
