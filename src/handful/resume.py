"""A run that goes on where an earlier one was ended: its certificate is all that it needs to know."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path

import numpy as np

from handful.certificate import Certificate
from handful.errors import HandfulError
from handful.problem import Problem
from handful.proof import Proof
from handful.selection import Selection


def saved(path: Path, problem: Problem) -> Certificate | None:
    """The certificate in this file, if there is one; a HandfulError where it belongs to another problem."""
    if not path.absolute().parent.is_dir():
        raise HandfulError(f"checkpoint {path}: there is no folder {path.absolute().parent}; make it, or give another")
    if not path.exists():
        return None
    found, pool = Certificate.read(path), problem.pool
    same = {
        "pool": found.fingerprint == pool.fingerprint,
        "metric": found.metric == str(pool.metric),
        "number of picks": len(found.picks) == problem.budget,
        "mass range": (found.low, found.high) == (problem.shares.low, problem.shares.high),
        "earlier picks": np.array_equal(found.already, problem.forced),
        "candidates": len(found.prices) == pool.n and np.array_equal(found.allowed, pool.candidates),
        "masses": len(found.prices) == pool.n and np.array_equal(found.point_masses, pool.masses),
    }
    for name, is_same in same.items():
        if not is_same:
            raise HandfulError(f"checkpoint {path} is of a run with another {name}: give another file, or remove it")
    return found


def proof_of(certificate: Certificate) -> Proof:
    """The proof to go on with; every use of a vector has its own place, so that each can be replaced."""
    vectors, proof = certificate.vectors, Proof(parents=[], branches=[], included=[], closing=[])
    for parent, branch, included, vector in certificate.cases.tolist():
        proof.parents.append(parent)
        proof.branches.append(branch)
        proof.included.append(bool(included))
        proof.closing.append(len(proof.prices))
        proof.prices.append(vectors[vector])
    for (case, vector), rows in groupby(certificate.discarded.tolist(), key=lambda row: (row[0], row[2])):
        proof.discard(case, np.array([candidate for _, candidate, _ in rows]), vectors[vector])
    for region, most in enumerate(certificate.region_most.tolist()):
        proof.regions.append((certificate.regions[certificate.regions[:, 0] == region, 1], most))
    return proof


def keep(selection: Selection, path: Path) -> None:
    """Write the certificate aside and move it into place, so that there is a whole one at any time."""
    aside = path.with_name(f".{path.name}.part")
    Certificate.of(selection).write(aside)
    os.replace(aside, path)
