"""What leaves a store: results from one to another, in one file for another lab, and in places that machines share.

A module enters here if it moves, compares or removes results. None of them computes any.

    places     a store by its address
    remote     the store that machines share without locks: a folder here, and what all of them see, of which
    results        what is published
    leases         who computes what
    drafts         what another machine goes on from
    objects        all of these as named bytes: in a `folder`, or in a `bucket`; which of them, `addresses` tells
    cache          the folder here
    exchange   results from one store to another
    garbage    what a store can do without
    archive    a study's results as one file
    apart      how far two results of a step are apart
"""
